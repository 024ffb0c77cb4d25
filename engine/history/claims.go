package history

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxChanged bounds the files that are listed as changed and not checked.
const maxChanged = 8

// claimFacts compares what an agent's last message claims with what is known of
// the session; nil: it claims nothing.
func (h *State) claimFacts(agent *agentState, r *engine.Record) *engine.ClaimFacts {
	if r.Event == nil || r.Event.Says == nil {
		return nil
	}
	f := &engine.ClaimFacts{Changed: agent.unchecked(), Runs: agent.runsSinceCheck(), Missing: []string{}}
	for _, name := range r.Event.Says.Missing {
		if !h.touched(name) {
			f.Missing = append(f.Missing, name)
		}
	}
	return f
}

// touched reports whether the session did something to a file, whichever folder
// it is named in.
func (h *State) touched(name string) bool {
	key := truncateKey(name)
	return slices.ContainsFunc(h.Paths, func(p pathEntry) bool { return p.Key == key || namesPath(strings.TrimPrefix(name, "./"), p.Key) })
}

// unchecked lists the files of the workspace that the agent changed after the
// latest call that may have checked the work. Names that were cut short are left
// out: it is not known what kind of file they are of.
func (a *agentState) unchecked() []string {
	list := []string{}
	for _, p := range slices.Backward(a.Ring) {
		if p.mayCheck() || len(list) == maxChanged {
			break
		}
		if _, cut := stemOf(p.Target); !cut && p.changesWork() && !slices.Contains(list, p.Target) {
			list = append(list, p.Target)
		}
	}
	return list
}

// runsSinceCheck counts the calls since the agent's latest check that may have
// checked the work as well.
func (a *agentState) runsSinceCheck() int64 {
	n := int64(0)
	for _, p := range slices.Backward(a.Ring) {
		if p.Outcome == engine.OutcomeDenied {
			continue
		}
		if p.Check {
			break
		}
		if p.mayCheck() {
			n++
		}
	}
	return n
}

// mayCheck reports whether an action may have checked the work: a check, or any
// action that runs something. What only reads, talks or gives a file its content
// checks nothing.
func (p *ringEntry) mayCheck() bool {
	if p.Outcome == engine.OutcomeDenied {
		return false
	}
	types := p.Types.list()
	return p.Check || p.Into == "" && p.Kind != engine.EffectFileRead && !slices.Contains(types, engine.TypeMessage) ||
		slices.ContainsFunc(types, func(t engine.Type) bool { return t == engine.TypeUnknown || t == engine.TypeAgentSpawn })
}

// changesWork reports whether an action gives an ordinary file, or a test, of the
// workspace its content.
func (p *ringEntry) changesWork() bool {
	where, class, _ := strings.Cut(p.Class, "/")
	return p.Into != "" && p.altered() && (class == "" || class == string(engine.ClassTest)) &&
		(where == string(engine.LocationInside) || where == string(engine.LocationWorktree))
}
