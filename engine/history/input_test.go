package history

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/google/go-cmp/cmp"
)

func TestInputOfNothing(t *testing.T) {
	in := NewInput(&engine.Record{Phase: engine.PhasePrompt, T: 1_700_000_000_000}, lenient(), engine.View{})
	if d := cmp.Diff(engine.TimeFacts{MS: 1_700_000_000_000, Hour: 22, Minute: 13, Weekday: "tuesday"}, in.Time); d != "" {
		t.Error(d)
	}
	if in.Agent != engine.MainAgent || len(in.History.Follows) > 0 || !in.History.FirstTime {
		t.Errorf("%+v", in)
	}
	raw, err := json.Marshal(in)
	if err != nil || strings.Contains(string(raw), "null") {
		t.Errorf("policy would see a null: %s (%v)", raw, err)
	}
}

// An action whose lists are nil is seen with empty ones.
func TestInputHasNoNulls(t *testing.T) {
	in := NewInput(&engine.Record{Phase: engine.PhasePre, Action: &engine.Action{Effects: []engine.Effect{{Kind: engine.EffectNetwork}}}}, lenient(), engine.View{Windows: []engine.Window{{Name: "w", Last: 3}}})
	raw, err := json.Marshal(in)
	if err != nil || strings.Contains(string(raw), "null") {
		t.Errorf("policy would see a null: %s (%v)", raw, err)
	}
}

func TestFacts(t *testing.T) {
	read, opaque := engine.Effect{Kind: engine.EffectFileRead, Location: engine.LocationInside}, []engine.Opaque{{Reason: "code"}}
	for name, test := range map[string]struct {
		effects []engine.Effect
		opaque  []engine.Opaque
		want    []string
	}{
		"nothing":                     {nil, nil, []string{}},
		"not understood":              {nil, opaque, []string{"not_understood"}},
		"reads":                       {[]engine.Effect{read, read}, nil, []string{"reads_only"}},
		"reads, and something opaque": {[]engine.Effect{read}, opaque, []string{"not_understood"}},
		"reads elsewhere":             {[]engine.Effect{{Kind: engine.EffectFileRead, Location: engine.LocationTemp}}, nil, []string{"outside_workspace", "reads_only"}},
		"reads and writes":            {[]engine.Effect{read, {Kind: engine.EffectFileWrite, Location: engine.LocationInside}}, nil, []string{"changes", "changes_files"}},
		"deletes":                     {[]engine.Effect{{Kind: engine.EffectFileDelete, Location: engine.LocationInside}}, nil, []string{"changes", "changes_files", "deletes"}},
		"deletes all below":           {[]engine.Effect{{Kind: engine.EffectFileDelete, Recursive: true, Location: engine.LocationInside}}, nil, []string{"changes", "changes_files", "deletes", "deletes_recursive"}},
		"writes all below":            {[]engine.Effect{{Kind: engine.EffectFileWrite, Recursive: true, Location: engine.LocationInside}}, nil, []string{"changes", "changes_files"}},
		"deletes something":           {[]engine.Effect{{Kind: engine.EffectFileDelete, Location: engine.LocationUnknown}}, nil, []string{"changes", "changes_files", "deletes", "outside_workspace", "unknown_target"}},
		"reads something":             {[]engine.Effect{{Kind: engine.EffectFileRead, Location: engine.LocationUnknown}}, nil, []string{"outside_workspace", "reads_only"}},
		"sends":                       {[]engine.Effect{{Kind: engine.EffectNetwork}}, nil, []string{"changes", "external_network"}},
		"sends to itself":             {[]engine.Effect{{Kind: engine.EffectNetwork, Loopback: true}}, nil, []string{"changes"}},
		"with privileges":             {[]engine.Effect{{Kind: engine.EffectSystemCall, Privileged: true}}, nil, []string{"changes", "privileged"}},
		"reads with privileges":       {[]engine.Effect{{Kind: engine.EffectFileRead, Privileged: true, Location: engine.LocationInside}}, nil, []string{"privileged", "reads_only"}},
	} {
		in := NewInput(&engine.Record{Phase: engine.PhasePre, Action: &engine.Action{Effects: test.effects, Opaque: test.opaque}}, lenient(), engine.View{})
		if d := cmp.Diff(test.want, in.Facts); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// story makes the records of a session at random, with as few names as make
// them meet.
type story struct {
	*rand.Rand
	n int64
}

func newStory(seed uint64) *story { return &story{Rand: rand.New(rand.NewPCG(seed, 1))} }

func (s *story) pick(words ...string) string { return words[s.IntN(len(words))] }

func (s *story) record() *engine.Record {
	s.n++
	r := &engine.Record{
		V: engine.FormatVersion, N: s.n, T: 1_700_000_000_000 + s.n*1000 - s.Int64N(5000), Chain: strings.Repeat("c", 32),
		Agent: s.agent(), Call: s.pick("", "c1", "c2", "c3", fmt.Sprint("c", s.n)),
	}
	switch s.IntN(12) {
	case 0:
		r.Kind, r.Phase, r.Event = engine.KindPrompt, engine.PhasePrompt, &engine.EventFacts{Goal: s.goal()}
	case 1:
		r.Kind, r.Phase = engine.KindStop, engine.PhaseStop
	case 2:
		r.Kind, r.Control = engine.KindControl, &engine.Control{
			Do: s.pick(engine.ControlStop, engine.ControlResume, engine.ControlAllowOnce, engine.ControlAllowSession, engine.ControlScope), Path: s.pick("", "./a", "/b/"), Reason: s.pick("", "x"), By: s.pick("", "anna"),
			Print: s.print(), CWD: s.pick("", "/w"),
		}
	case 3:
		r.Kind, r.Act = engine.KindAct, &engine.Act{Kind: engine.EmergencyStop, Result: "y"}
	case 4, 5, 6, 7:
		r.Kind, r.Phase = engine.KindPost, engine.PhasePost
		r.Event = &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.Outcome(s.pick(engine.Outcomes()...)), Class: s.pick("", "e1", "e2"), Content: &engine.ContentFacts{MAC: s.pick("a", "b"), Bytes: s.Int64N(1 << 20)},
			Trouble: engine.Trouble(s.pick("", "auth", "missing", "bad luck")), MS: s.Int64N(1000), Marks: s.hashes()}}
		s.action(r)
		r.Findings = s.findings()
	default:
		r.Kind, r.Phase = engine.KindPre, engine.PhasePre
		r.Event = &engine.EventFacts{Tool: s.pick("Bash", "Edit"), CWD: s.pick("", "/w")}
		v := engine.Verdict(s.pick(engine.Verdicts()...))
		r.Decision, r.Answer = &engine.Decision{Decision: v, Enforced: v}, &engine.AnswerFacts{Effect: v}
		s.action(r)
		r.Findings = s.findings()
	}
	return r
}

// agent is one of a few, and now and then one of more than are remembered.
func (s *story) agent() string {
	if s.IntN(20) == 0 {
		return fmt.Sprint("agent", s.IntN(2*maxAgents))
	}
	return s.pick("", "sub", "other")
}

func (s *story) goal() *engine.Goal {
	if s.IntN(4) == 0 {
		return nil
	}
	return &engine.Goal{
		Intents: []engine.Intent{engine.Intent(s.pick(append(engine.Intents(), "x")...)), engine.Intent(s.pick(engine.Intents()...))}, Names: []string{s.pick("a", "./b", "/c", "long/"+strings.Repeat("x", 80))},
		Words: s.hashes(), Marks: s.hashes(),
		Constraints: []engine.Constraint{{Kind: engine.ConstraintKind(s.pick(append(engine.ConstraintKinds(), "x")...)), What: s.pick("", "a", fmt.Sprint("f", s.IntN(60)))}},
	}
}

func (s *story) hashes() []string {
	var list []string
	for range s.IntN(12) {
		list = append(list, mark(fmt.Sprint(s.IntN(300))))
	}
	return list
}

func (s *story) findings() []engine.Finding {
	if s.IntN(3) > 0 {
		return nil
	}
	return []engine.Finding{{ID: s.pick("loop", "drift", fmt.Sprint("f", s.IntN(60))), Level: s.pick("", "low", "high"), Measure: 1}}
}

func (s *story) print() string { return engine.HexSum([]byte(s.pick("p1", "p2", "p3")))[:16] }

func (s *story) action(r *engine.Record) {
	a := &engine.Action{Types: []engine.Type{engine.Type(s.pick(engine.Types()...))}, Fingerprint: s.print()}
	for range s.IntN(3) {
		a.Effects = append(a.Effects, engine.Effect{
			Kind: engine.EffectKind(s.pick(engine.EffectKinds()...)), Verb: s.pick("move", "write", "delete"), Short: s.pick("", "./a", "./b", "./c"),
			Target: s.pick("", "example.com", "example.org"), Exists: s.pick("", "yes", "no"), Certainty: engine.Certainty(s.pick(engine.Certainties()...)),
			Location: engine.Location(s.pick(engine.Locations()...)), Class: engine.Class(s.pick("", "env_file", "credential", "test")), Recursive: s.IntN(4) == 0, Egress: s.IntN(2) == 0,
			Host: s.pick("", "", "ssh:db"), Entry: s.pick("", "file", "dir"), Reversibility: engine.Reversibility(s.pick(engine.Reversibilities()...)),
		})
	}
	for range s.IntN(4) {
		a.Tokens = append(a.Tokens, s.pick("aaaa0000", "bbbb0000", "cccc0000"))
	}
	a.Words, a.Marks, a.Hosts = s.hashes(), s.hashes(), []string{s.pick("example.com", "example.org", fmt.Sprint("h", s.IntN(100)))}
	a.Check, a.Waits = s.IntN(4) == 0, s.IntN(8) == 0
	if s.IntN(3) == 0 {
		a.Contents = map[string]engine.ContentFacts{"content": {MAC: mark(s.pick("x", "y")), Bytes: s.Int64N(1 << 30)}}
	}
	r.Action, r.SHA = a, &engine.SHA{Args: engine.HexSum([]byte(s.pick("x", "y")))}
}

// What policy sees depends on the log alone: not on whether the history was
// kept, or read back after any record, or recomputed from the beginning; not on
// earlier views of it; and a view changes nothing. Two histories are generated; six
// with REVIEWER_EVERY=1 (`make fidelity`).
func TestInputDependsOnTheLogOnly(t *testing.T) {
	windows := []engine.Window{{Name: "last", Last: 7}, {Name: "recently", For: 20 * time.Second}}
	count := sweep.Count(t, "records of generated histories")
	for seed := range uint64(6) {
		if !sweep.Has(int(seed), 3) {
			continue
		}
		s := newStory(seed)
		kept, read := lenient(), lenient()
		var log []*engine.Record
		for range 300 {
			r := s.record()
			count.Add(1)
			log = append(log, r)
			before := state(t, kept)
			want := seen(t, r, kept, windows)
			if again := seen(t, r, kept, windows); again != want || state(t, kept) != before {
				t.Fatalf("seed %d, record %d: looking changes what is seen", seed, r.N)
			}
			if got := seen(t, asWritten(t, r), read, windows); got != want {
				t.Fatalf("seed %d, record %d:\n%s", seed, r.N, cmp.Diff(want, got))
			}
			kept.Append(r)
			read.Append(asWritten(t, r))
			if s.IntN(3) == 0 {
				var back State
				if err := json.Unmarshal([]byte(state(t, read)), &back); err != nil {
					t.Fatal(err)
				}
				back.Lenient = true
				read = &back
			}
		}
		again := lenient()
		for _, r := range log {
			again.Append(r)
		}
		if state(t, again) != state(t, kept) {
			t.Fatalf("seed %d: recomputed, the state differs:\n%s", seed, cmp.Diff(state(t, kept), state(t, again)))
		}
		testSteady(t, kept)
	}
}

func seen(t *testing.T, r *engine.Record, h *State, windows []engine.Window) string {
	t.Helper()
	in := NewInput(r, h, engine.View{Windows: windows, Last: engine.MaxLast})
	b, err := engine.CanonicalOf(&in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func state(t *testing.T, h *State) string {
	t.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
