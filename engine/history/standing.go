package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxStandingObjects bounds what a prohibition of a file names. It belongs to FoldVersion.
const maxStandingObjects = 3

// foldStanding records what instruction files forbid. What a file says that changed while the session runs wants a question:
// the agent may have written it. It revokes nothing until the next session.
func (h *State) foldStanding(s *engine.Standing) {
	g := &h.Goals
	if s == nil || s.MAC == "" || h.Knows(s) {
		return
	}
	first := g.StandingMAC == ""
	g.StandingMAC = prefix(s.MAC, digestLength)
	for _, st := range s.Statements {
		if st.Kind != engine.Forbids || st.Act == "" {
			continue
		}
		st.Objects = st.Objects[:min(len(st.Objects), maxStandingObjects)]
		st.From = engine.ClipJSON(st.From, keyLength)
		if st = h.bounded(st); !first && !g.stands(st) {
			st.Until = engine.UntilAsked
		}
		if !g.stands(st) && len(g.Standing) < engine.MaxStanding {
			g.Standing = append(g.Standing, heldStatement{Statement: st})
		}
	}
}

// Knows reports whether the session has read instruction files as they are.
func (h *State) Knows(s *engine.Standing) bool {
	return h.Goals.StandingMAC == prefix(s.MAC, digestLength)
}

// stands reports whether a prohibition of a file is known, or a person lifted it.
func (s *goalState) stands(n engine.Statement) bool {
	return slices.ContainsFunc(slices.Concat(s.Standing, s.Lifted), func(f heldStatement) bool { return f.From != "" && f.Same(n) })
}
