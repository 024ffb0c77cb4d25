package lint

import (
	"io/fs"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// ofRule reports whether a problem concerns the rule that is examined: it is in its row, in a module
// or case file that names it, or it is an error that makes the policy unusable.
func (p *policy) ofRule(f *engine.Problem) bool {
	const never = "rule.never" // depends on modules that were not read
	if p.rule == "" || !f.Warning && f.Code != never {
		return true
	}
	layer, file, _ := strings.Cut(f.File, "/")
	if strings.HasSuffix(file, ".rego") || strings.HasPrefix(file, "cases/") {
		content, err := fs.ReadFile(p.layers[layer].Files, file)
		return err == nil && p.naming(string(content))
	}
	return p.rowAt(f.File, f.Line) == p.rule
}

// rowAt returns the id of the row that contains a line of a file: the last one whose id is not below it.
func (p *policy) rowAt(file string, line int) (id string) {
	last := 0
	for row, spot := range p.places() {
		if in, at, _ := spot("id", 0, 0); in == file && last < at && at <= line {
			last, id = at, row
		}
	}
	return id
}
