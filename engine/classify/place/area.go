package place

import (
	"path"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// systemPath reports whether a path belongs to the operating system or to installed software, by the rows. On another machine,
// where nothing shows whose a folder is, exceptions do not count.
func (r *Resolver) systemPath(p string) bool {
	n, system := r.bare(p), r.tables.of(rows.System)
	if r.away {
		return slices.ContainsFunc(slices.Concat(system.known, system.added), func(m *matcher) bool { return m.means(n) })
	}
	return anyMatches(system.known, n) || anyMatches(system.added, n)
}

// area adds to an effect outside the workspace what its place is for, and to which repository it belongs.
func (r *Resolver) area(e *engine.Effect) {
	if !slices.Contains([]engine.Location{engine.LocationHome, engine.LocationOutside, engine.LocationSystem}, e.Location) {
		return
	}
	n := r.names(e.Target)
	if anyMatches(r.tables.of(rows.Data).known, n) {
		e.Area = engine.AreaData
	}
	e.Document = anyMatches(r.tables.of(rows.Documents).known, n)
	for dir := e.Target; r.Looking() && r.Here(dir) && dir != path.Dir(dir); dir = path.Dir(dir) {
		if r.Lstat(Join(dir, ".git")) != nil {
			e.Checkout = r.short(dir)
			break
		}
	}
}
