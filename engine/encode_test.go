package engine

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/quick"
)

// TestEncoderEqualsCanonical holds the direct way against the long one.
func TestEncoderEqualsCanonical(t *testing.T) {
	e := newEncoder(reflect.TypeFor[Input]())
	args := map[string]any{
		"command": "ls \u2028 \U0001F600", "n": json.Number("1.50"), "big": json.Number("12345678901234567890"),
		"list": []any{true, nil, "x", 3.25}, "content": &ContentFacts{Bytes: 1, Secrets: map[string]int{"aws": 2}},
		"value": ContentFacts{Lines: 3}, "broken": "a\xffb", "nested": map[string]any{"\U0001F600": 1, "\ufb33": 2},
	}
	check := func(in Input, withArgs bool) bool {
		if withArgs {
			in.Event.Args = args
		}
		got, state, err := e.digests(&in)
		if err != nil {
			t.Errorf("digests: %v", err)
			return false
		}
		want, err1 := Digest(&in)
		wantState, err2 := Digest(struct {
			Session SessionFacts `json:"session"`
			History HistoryFacts `json:"history"`
		}{in.Session, in.History})
		if err1 != nil || err2 != nil {
			return true // the long way refuses some random strings as duplicate keys
		}
		return got == want && state == wantState
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		if in := randomInput(r); !check(in, r.IntN(2) == 0) {
			t.Fatalf("the two ways differ for %+v", in)
		}
	}
	if err := quick.Check(func(s string, n int64, f float64, b bool) bool {
		in := randomInput(r)
		in.Event.Tool, in.Time.MS = s, n%(1<<53)
		in.Event.Args = map[string]any{s: f, "b": b}
		return check(in, false)
	}, nil); err != nil {
		t.Error(err)
	}
}

func randomInput(r *rand.Rand) Input {
	in := Input{Phase: PhasePre, Facts: []string{}, History: HistoryFacts{Windows: map[string]WindowFacts{}, Presupposes: []Precondition{}}}
	for range r.IntN(4) {
		in.Action.Effects = append(in.Action.Effects, Effect{Kind: EffectNetwork, Target: string(rune(r.IntN(0x3000))), Command: r.IntN(9) - 1, Egress: r.IntN(2) == 0})
		in.History.Windows[string(rune('a'+r.IntN(20)))] = WindowFacts{Events: r.Int64N(100), Errors: map[string]int64{"x": 1}}
		in.Action.Opaque = append(in.Action.Opaque, Opaque{Reason: "syntax"})
	}
	if r.IntN(2) == 0 {
		in.History.Call = &CallFacts{Decision: Allow, Enforced: Block}
		in.Event.Result = &ResultFacts{Outcome: OutcomeRan, MS: r.Int64N(1000)}
	}
	return in
}
