package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// watches reports whether an action only observes something that changes by itself, so that
// repeating it is waiting. A call that also does anything else does not watch.
func watches(r *toolReader, a *engine.Action) bool {
	w := watcher{r.in.Rows}
	switch {
	case !onlyLooking(a.Effects):
		return false
	case r.tool.row.Watches:
		return true
	case len(a.Opaque) > 0:
		return false
	}
	found := w.server(a.Effects) || w.files(a.Effects)
	for _, c := range a.Commands {
		if w.command(c) {
			found = true
		} else if !w.beside(c) && !w.server(a.Effects) {
			return false
		}
	}
	return found
}

// watcher recognises by the rows of a policy what changes by itself.
type watcher struct{ set *rows.Set }

// command reports whether a command begins with the words of one that watches.
func (w watcher) command(c engine.Command) bool {
	words := append([]string{programName(c)}, slices.Concat(c.Sub, c.Operands)...)
	return slices.ContainsFunc(w.set.Words("watches.commands"), func(known string) bool {
		want := strings.Fields(known)
		return len(want) <= len(words) && slices.Equal(want, words[:len(want)])
	})
}

func (w watcher) beside(c engine.Command) bool {
	return slices.Contains(w.set.Words("watches.beside"), programName(c))
}

// server reports whether an action only queries servers of this machine.
func (w watcher) server(effects []engine.Effect) bool {
	asked := func(e engine.Effect) bool {
		return e.Kind == engine.EffectNetwork && e.Loopback || e.Location == engine.LocationNull
	}
	return slices.ContainsFunc(effects, func(e engine.Effect) bool { return e.Kind == engine.EffectNetwork }) &&
		!slices.ContainsFunc(effects, func(e engine.Effect) bool { return !asked(e) })
}

// files reports whether all files that are read are written by something that is running.
func (w watcher) files(effects []engine.Effect) bool {
	read := 0
	for i := range effects {
		e := &effects[i]
		if e.Kind != engine.EffectFileRead || !slices.ContainsFunc(w.set.Words("watches.files"), func(end string) bool {
			return strings.HasSuffix(mask.Lower(e.Target), end)
		}) {
			return false
		}
		read++
	}
	return read > 0
}

// onlyLooking reports whether effects change nothing. If nothing more is known about a
// program, its name decides.
func onlyLooking(effects []engine.Effect) bool {
	return !slices.ContainsFunc(effects, func(e engine.Effect) bool {
		switch e.Kind {
		case engine.EffectFileRead:
			return false
		case engine.EffectProcess:
			return e.Verb != "exec"
		case engine.EffectNetwork:
			return e.Egress
		case engine.EffectFileWrite:
			return e.Location != engine.LocationNull
		}
		return true
	})
}

func programName(c engine.Command) string { return strings.TrimSuffix(mask.Lower(c.Name), ".exe") }
