package cases

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// changes compares paths with those that an action changes.
func (c *comparison) changes(e *Expect, a *engine.Action) {
	if a == nil {
		a = &engine.Action{}
	}
	got := strings.Join(Changes(a), ", ")
	for _, p := range e.Changes {
		if !changes(a, p) {
			c.differs("changes", p, got)
		}
	}
	if e.Changes != nil && len(e.Changes) == 0 && got != "" {
		c.differs("changes", "none", got)
	}
	for _, p := range e.NotChanges {
		if changes(a, p) {
			c.differs("not_changes", "no "+p, got)
		}
	}
}

// Changes lists the paths that an action writes or deletes, as in Effect.Short.
func Changes(a *engine.Action) []string {
	var list []string
	for i := range a.Effects {
		if e := &a.Effects[i]; changesFile(e) && !slices.Contains(list, e.Place()) {
			list = append(list, e.Place())
		}
	}
	return list
}

func changesFile(e *engine.Effect) bool {
	return (e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete) && e.Short != "" && e.Location != engine.LocationNull
}

func changes(a *engine.Action, p string) bool {
	return slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
		below := e.Recursive || e.Certainty == engine.CertaintyGlob || e.Entry == "dir"
		return changesFile(&e) && (e.Place() == p || below && strings.HasPrefix(p, strings.TrimSuffix(e.Place(), "/")+"/"))
	})
}
