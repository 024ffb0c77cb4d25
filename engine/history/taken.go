package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxTakenFrom bounds the sessions of which is known how far they were read. What is forgotten
// is taken again. It belongs to FoldVersion.
const maxTakenFrom = 16

// takenFrom is how far another session was read.
type takenFrom struct {
	Chain string `json:"c"` // first digits of its chain
	N     int64  `json:"n"`
}

func (t *takenFrom) size() int { return len(t.Chain) + 16 + digits(t.N) }

// Given is what other sessions can take of a session.
type Given struct {
	Stop    *Stopped
	Denials []engine.TakenDenial
	Limits  []engine.TakenLimit
}

// Empty reports whether there is nothing to take.
func (g *Given) Empty() bool { return g.Stop == nil && len(g.Denials)+len(g.Limits) == 0 }

// Given returns what came after a record: a stop that can be lifted, denials of the last
// actions, and the throttling that applies until the next prompt. What the session itself
// took from another one is not given on.
func (h *State) Given(after, within int64) Given {
	var g Given
	if s := h.Stop; s != nil && s.N > after && !s.Taken && !s.Final {
		g.Stop = s
	}
	for _, d := range h.Denials {
		if d.N > after && !d.Taken && ago(h.Actions, d.At) <= within {
			g.Denials = append(g.Denials, engine.TakenDenial{N: d.N, Print: d.Print, Kind: d.Kind, Verb: d.Verb, Target: d.Target,
				Harm: d.Harm, Person: d.Person})
		}
	}
	for _, i := range h.Interventions {
		if i.N > max(after, h.PromptN) && i.Kind == engine.ResourceThrottling && !i.Lifted && !i.taken() {
			g.Limits = append(g.Limits, engine.TakenLimit{N: i.N, Issue: i.Issue, Factor: i.Factor})
		}
	}
	g.Denials, g.Limits = keepLast(g.Denials, engine.MaxTaken), keepLast(g.Limits, engine.MaxTaken)
	return g
}

// TakenTo returns how far a chain was read; 0: it was not.
func (h *State) TakenTo(chain string) int64 {
	for _, t := range h.Taken {
		if t.Chain == prefix(chain, digestLength) {
			return t.N
		}
	}
	return 0
}

// LastCall returns the time of the latest call of any agent; 0: there was none.
func (h *State) LastCall() int64 {
	var last int64
	for _, a := range h.Agents {
		if n := len(a.Ring); n > 0 {
			last = max(last, a.Ring[n-1].T)
		}
	}
	return last
}

// foldTaken makes what came from another session the session's own, as if it had happened with
// this record. It does not count as an action, nor as a denial of the session's own.
func (h *State) foldTaken(r *engine.Record) {
	t := r.Act.Taken
	from := takenFrom{prefix(boundKey(t.Chain, keyLength), digestLength), t.To}
	h.Taken = slices.DeleteFunc(h.Taken, func(o takenFrom) bool { return o.Chain == from.Chain })
	h.Taken = keepLast(append(h.Taken, from), maxTakenFrom)
	for _, d := range keepLast(slices.Clone(t.Denials), engine.MaxTaken) {
		h.Denials = append(h.Denials, denial{N: r.N, At: h.Actions, Print: boundKey(d.Print, digestLength), Kind: boundKey(d.Kind, digestLength),
			Verb: truncateKey(d.Verb), Target: truncateKey(d.Target), Harm: boundKey(d.Harm, digestLength), Person: d.Person, Taken: true})
	}
	h.foldTakenLimits(r)
	if r.Act.Kind == engine.EmergencyStop && h.Stop != nil && h.Stop.N == r.N {
		h.Stop.Taken = true
	}
}

// foldTakenLimits records interventions that no agent of the session had.
func (h *State) foldTakenLimits(r *engine.Record) {
	for _, l := range keepLast(slices.Clone(r.Act.Taken.Limits), engine.MaxTaken) {
		at := max(h.T, r.T)
		h.Interventions = keepLast(append(h.Interventions, intervention{
			N: r.N, At: h.Actions, T: at, Kind: engine.ResourceThrottling, Issue: truncateKey(l.Issue),
			Factor: min(max(l.Factor, 0), 1), Tokens: h.Tokens, Busy: h.Busy, Began: r.N, BeganT: at,
		}), maxInterventions)
	}
}

// taken reports whether an intervention was one of another session.
func (i *intervention) taken() bool { return i.Agent == "" }
