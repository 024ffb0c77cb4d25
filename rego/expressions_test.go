package rego

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// evaluated counts the expressions that OPA evaluates.
type evaluated int

func (*evaluated) Enabled() bool               { return true }
func (*evaluated) Config() topdown.TraceConfig { return topdown.TraceConfig{} }
func (n *evaluated) TraceEvent(e topdown.Event) {
	if e.Op == topdown.EvalOp {
		*n++
	}
}

// What most calls do takes few expressions: nearly all rules are left out by OPA's index, and what only a stricter
// answer needs is not computed.
func TestExpressions(t *testing.T) {
	e, _ := shipped(t)
	h, err := Compile(context.Background(), e.Modules(), e.Data)
	if err != nil {
		t.Fatal(err)
	}
	inside := func(kind engine.EffectKind, verb string) engine.Effect {
		return engine.Effect{Kind: kind, Verb: verb, Target: "/srv/shop/a.go", Short: "./a.go", Certainty: engine.CertaintyExact, Location: engine.LocationInside,
			Entry: "file", Exists: "yes", Git: "clean"}
	}
	for name, c := range map[string]struct {
		of     engine.Type
		facts  []string
		effect engine.Effect
		most   evaluated
	}{
		"a read":  {engine.TypeFileRead, []string{engine.FactReadsOnly}, inside(engine.EffectFileRead, "read"), 121},
		"an edit": {engine.TypeFileModification, []string{engine.FactChanges, engine.FactChangesFiles}, inside(engine.EffectFileWrite, "write"), 600},
	} {
		in := engine.Input{Phase: engine.PhasePre, Facts: c.facts, Kinds: []string{string(c.effect.Kind)}, Verbs: []string{c.effect.Verb},
			Action:  engine.Action{Types: []engine.Type{c.of}, Effects: []engine.Effect{c.effect}, Paths: []string{c.effect.Short}},
			Session: engine.SessionFacts{Workspace: "/srv/shop"}}
		var n evaluated
		term, err := h.eval(context.Background(), h.strict, h.encode.input(&in, nil), opa.EvalQueryTracer(&n))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := decode(term); err != nil || d.Decision != engine.Allow || n > c.most {
			t.Errorf("%s: %s (%v) with %d expressions, want allow with at most %d", name, d.Decision, err, n, c.most)
		}
	}
}
