package classify

import (
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// startup looks into what a tool puts into a start-up file, and what it takes
// out of one.
func (r *reading) startup() {
	for _, e := range r.script.Effects {
		if e.Command >= 0 || e.Kind != engine.EffectFileWrite || !shell.StartsShells(e.Target.Text) {
			continue
		}
		for i, name := range slices.Sorted(maps.Keys(r.contents)) {
			if text := r.contents[name]; i < shell.MaxStartup && len(text) <= shell.MaxStartupText {
				shell.LaterGuard(text, r.in, r.script.Signals)
			}
		}
		return
	}
}
