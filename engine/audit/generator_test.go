package audit

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// generator makes records that the fold has something to do with. A hostile
// one fills every bounded structure with the longest keys that it can.
type generator struct {
	*rand.Rand
	hostile bool
}

func (g generator) record() *engine.Record {
	r := &engine.Record{T: 1_700_000_000_000 + g.Int64N(1e9), Agent: g.word(30), Call: g.word(80)}
	switch g.IntN(10) {
	case 0, 1, 2, 3, 4:
		r.Kind, r.Phase = engine.KindPre, engine.PhasePre
		g.call(r)
		r.Answer = &engine.AnswerFacts{Effect: g.verdict(), Mode: engine.ModeEnforced}
		r.Decision = &engine.Decision{Decision: g.verdict(), Enforced: r.Answer.Effect}
	case 5, 6, 7:
		r.Kind, r.Phase = engine.KindPost, engine.PhasePost
		g.call(r)
		outcomes := engine.Outcomes()
		r.Event.Result = &engine.ResultFacts{Outcome: engine.Outcome(outcomes[g.IntN(len(outcomes))]),
			Content: &engine.ContentFacts{MAC: g.hex()}}
		if r.Event.Result.Outcome != engine.OutcomeRan {
			r.Event.Result.Class = g.word(60)
		}
	case 8:
		kinds := []engine.Kind{engine.KindPrompt, engine.KindStop, engine.KindNote}
		r.Kind = kinds[g.IntN(len(kinds))]
	case 9:
		r.Kind = engine.KindControl
		choices := []string{engine.ControlStop, engine.ControlResume, engine.ControlAllowOnce, engine.ControlAllowSession}
		r.Control = &engine.Control{Do: choices[g.IntN(len(choices))], Reason: g.word(1 << 20), By: g.word(1 << 20), Print: g.print(), CWD: g.word(3)}
	}
	return r
}

func (g generator) call(r *engine.Record) {
	r.Event = &engine.EventFacts{Tool: g.word(200), CWD: g.word(3)}
	r.SHA = &engine.SHA{Args: g.hex()}
	r.Action = &engine.Action{Fingerprint: g.print(), Types: []engine.Type{}}
	for _, t := range engine.Types() {
		if g.hostile || g.IntN(4) == 0 {
			r.Action.Types = append(r.Action.Types, engine.Type(t))
		}
	}
	for range 16 {
		r.Action.Tokens = append(r.Action.Tokens, []string{g.hex()[:8], "éé\xff"}[g.IntN(2)])
	}
	for range 1 + g.IntN(8) {
		kinds := engine.EffectKinds()
		r.Action.Effects = append(r.Action.Effects, engine.Effect{
			Kind: engine.EffectKind(kinds[g.IntN(len(kinds))]), Verb: []string{"move", "write", "read"}[g.IntN(3)],
			Target: g.word(400), Short: g.word(400), Exists: []string{"", "yes", "no"}[g.IntN(3)],
			Certainty: engine.CertaintyExact, Location: engine.LocationHomeRoot, Class: engine.ClassMount,
		})
	}
}

func (g generator) verdict() engine.Verdict {
	v := engine.Verdicts()
	return engine.Verdict(v[g.IntN(len(v))])
}

// print returns one of few fingerprints, so that calls meet; a hostile one is new.
func (g generator) print() string {
	if g.hostile {
		return g.hex()[:16]
	}
	return fmt.Sprintf("%016x", g.IntN(20))
}

func (g generator) hex() string {
	return fmt.Sprintf("%016x%016x%016x%016x", g.Uint64(), g.Uint64(), g.Uint64(), g.Uint64())
}

// word returns one of n names; a hostile one is long, or grows when encoded.
func (g generator) word(n int) string {
	i := g.IntN(n)
	if !g.hostile {
		return fmt.Sprintf("name-%d", i)
	}
	fillers := []string{"x", "\x01", `"`, "\u2028", "é", "\xff", "\ufffd"}
	return strings.Repeat(fillers[i%len(fillers)], 10+i%60) + fmt.Sprint(i)
}
