package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestInputOfNothing(t *testing.T) {
	in := NewInput(&Record{Phase: PhasePrompt, T: 1_700_000_000_000}, NewHistory(), View{})
	if d := cmp.Diff(TimeFacts{MS: 1_700_000_000_000, Hour: 22, Minute: 13, Weekday: "tuesday"}, in.Time); d != "" {
		t.Error(d)
	}
	if in.Agent != MainAgent || in.History.Progression != "explores" || !in.History.FirstTime {
		t.Errorf("%+v", in)
	}
	raw, err := json.Marshal(in)
	if err != nil || strings.Contains(string(raw), "null") {
		t.Errorf("policy would see a null: %s (%v)", raw, err)
	}
}

// An action whose lists are nil is seen with empty ones.
func TestInputHasNoNulls(t *testing.T) {
	in := NewInput(&Record{Phase: PhasePre, Action: &Action{Effects: []Effect{{Kind: EffectNetwork}}}}, NewHistory(), View{Windows: []Window{{Name: "w", Last: 3}}})
	raw, err := json.Marshal(in)
	if err != nil || strings.Contains(string(raw), "null") {
		t.Errorf("policy would see a null: %s (%v)", raw, err)
	}
}

func TestFacts(t *testing.T) {
	read, opaque := Effect{Kind: EffectFileRead, Location: LocationInside}, []Opaque{{Reason: "code"}}
	for name, test := range map[string]struct {
		effects []Effect
		opaque  []Opaque
		want    []string
	}{
		"nothing":                     {nil, nil, []string{}},
		"not understood":              {nil, opaque, []string{"not_understood"}},
		"reads":                       {[]Effect{read, read}, nil, []string{"reads_only"}},
		"reads, and who knows":        {[]Effect{read}, opaque, []string{"not_understood"}},
		"reads elsewhere":             {[]Effect{{Kind: EffectFileRead, Location: LocationTemp}}, nil, []string{"outside_workspace", "reads_only"}},
		"reads and writes":            {[]Effect{read, {Kind: EffectFileWrite, Location: LocationInside}}, nil, []string{"changes", "changes_files"}},
		"deletes":                     {[]Effect{{Kind: EffectFileDelete, Location: LocationInside}}, nil, []string{"changes", "changes_files", "deletes"}},
		"deletes all below":           {[]Effect{{Kind: EffectFileDelete, Recursive: true, Location: LocationInside}}, nil, []string{"changes", "changes_files", "deletes", "deletes_recursive"}},
		"writes all below":            {[]Effect{{Kind: EffectFileWrite, Recursive: true, Location: LocationInside}}, nil, []string{"changes", "changes_files"}},
		"deletes something":           {[]Effect{{Kind: EffectFileDelete, Location: LocationUnknown}}, nil, []string{"changes", "changes_files", "deletes", "outside_workspace", "unknown_target"}},
		"reads something":             {[]Effect{{Kind: EffectFileRead, Location: LocationUnknown}}, nil, []string{"outside_workspace", "reads_only"}},
		"sends":                       {[]Effect{{Kind: EffectNetwork}}, nil, []string{"changes", "external_network"}},
		"sends to itself":             {[]Effect{{Kind: EffectNetwork, Loopback: true}}, nil, []string{"changes"}},
		"with rights":                 {[]Effect{{Kind: EffectSystemCall, Privileged: true}}, nil, []string{"changes", "privileged"}},
		"reads with rights, and ends": {[]Effect{{Kind: EffectFileRead, Privileged: true, Location: LocationInside}}, nil, []string{"privileged", "reads_only"}},
	} {
		in := NewInput(&Record{Phase: PhasePre, Action: &Action{Effects: test.effects, Opaque: test.opaque}}, NewHistory(), View{})
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

func (s *story) record() *Record {
	s.n++
	r := &Record{
		V: FormatVersion, N: s.n, T: 1_700_000_000_000 + s.n*1000 - s.Int64N(5000), Chain: strings.Repeat("c", 32),
		Agent: s.agent(), Call: s.pick("", "c1", "c2", "c3", fmt.Sprint("c", s.n)),
	}
	switch s.IntN(12) {
	case 0:
		r.Kind, r.Phase, r.Event = KindPrompt, PhasePrompt, &EventFacts{Goal: s.goal()}
	case 1:
		r.Kind, r.Phase = KindStop, PhaseStop
	case 2:
		r.Kind, r.Control = KindControl, &Control{
			Do: s.pick(ControlStop, ControlResume, ControlAllowOnce, ControlAllowSession, ControlScope), Path: s.pick("", "./a", "/b/"), Reason: s.pick("", "x"), By: s.pick("", "anna"),
			Print: s.print(), CWD: s.pick("", "/w"),
		}
	case 3:
		r.Kind, r.Act = KindAct, &Act{Kind: EmergencyStop, Result: "y"}
	case 4, 5, 6, 7:
		r.Kind, r.Phase = KindPost, PhasePost
		r.Event = &EventFacts{Result: &ResultFacts{Outcome: Outcome(s.pick(Outcomes()...)), Class: s.pick("", "e1", "e2"), Content: &ContentFacts{MAC: s.pick("a", "b"), Bytes: s.Int64N(1 << 20)},
			Trouble: Trouble(s.pick("", "auth", "missing", "bad luck")), MS: s.Int64N(1000), Marks: s.hashes()}}
		s.action(r)
		r.Findings = s.findings()
	default:
		r.Kind, r.Phase = KindPre, PhasePre
		r.Event = &EventFacts{Tool: s.pick("Bash", "Edit"), CWD: s.pick("", "/w")}
		v := Verdict(s.pick(Verdicts()...))
		r.Decision, r.Answer = &Decision{Decision: v, Enforced: v}, &AnswerFacts{Effect: v}
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

func (s *story) goal() *Goal {
	if s.IntN(4) == 0 {
		return nil
	}
	return &Goal{
		Intents: []Intent{Intent(s.pick(append(Intents(), "x")...)), Intent(s.pick(Intents()...))}, Names: []string{s.pick("a", "./b", "/c", "long/"+strings.Repeat("x", 80))},
		Words: s.hashes(), Marks: s.hashes(),
		Constraints: []Constraint{{ConstraintKind(s.pick(append(ConstraintKinds(), "x")...)), s.pick("", "a", fmt.Sprint("f", s.IntN(60)))}},
	}
}

func (s *story) hashes() []string {
	var list []string
	for range s.IntN(12) {
		list = append(list, mark(fmt.Sprint(s.IntN(300))))
	}
	return list
}

func (s *story) findings() []Finding {
	if s.IntN(3) > 0 {
		return nil
	}
	return []Finding{{ID: s.pick("loop", "drift", fmt.Sprint("f", s.IntN(60))), Level: s.pick("", "low", "high"), Measure: 1}}
}

func (s *story) print() string { return hexSum([]byte(s.pick("p1", "p2", "p3")))[:16] }

func (s *story) action(r *Record) {
	a := &Action{Types: []Type{Type(s.pick(Types()...))}, Fingerprint: s.print()}
	for range s.IntN(3) {
		a.Effects = append(a.Effects, Effect{
			Kind: EffectKind(s.pick(EffectKinds()...)), Verb: s.pick("move", "write", "delete"), Short: s.pick("", "./a", "./b", "./c"),
			Target: s.pick("", "example.com", "example.org"), Exists: s.pick("", "yes", "no"), Certainty: Certainty(s.pick(Certainties()...)),
			Location: Location(s.pick(Locations()...)), Class: Class(s.pick("", "env_file", "credential", "test")), Recursive: s.IntN(4) == 0, Egress: s.IntN(2) == 0,
			Host: s.pick("", "", "ssh:db"), Entry: s.pick("", "file", "dir"), Reversibility: Reversibility(s.pick(Reversibilities()...)),
		})
	}
	for range s.IntN(4) {
		a.Tokens = append(a.Tokens, s.pick("aaaa0000", "bbbb0000", "cccc0000"))
	}
	a.Words, a.Marks, a.Hosts = s.hashes(), s.hashes(), []string{s.pick("example.com", "example.org", fmt.Sprint("h", s.IntN(100)))}
	a.Check, a.Waits = s.IntN(4) == 0, s.IntN(8) == 0
	if s.IntN(3) == 0 {
		a.Contents = map[string]ContentFacts{"content": {MAC: mark(s.pick("x", "y")), Bytes: s.Int64N(1 << 30)}}
	}
	r.Action, r.SHA = a, &SHA{Args: hexSum([]byte(s.pick("x", "y")))}
}

// What policy sees depends on the log alone: not on whether the history was
// kept, or read back after any record, or computed again from the beginning; not
// on earlier looks at it; and a look changes nothing. Two histories are made up;
// six with REVIEWER_EVERY=1 (`make fidelity`).
func TestInputDependsOnTheLogOnly(t *testing.T) {
	windows := []Window{{Name: "last", Last: 7}, {Name: "recently", For: 20 * time.Second}}
	seeds := uint64(2)
	if os.Getenv("REVIEWER_EVERY") != "" {
		seeds = 6
	}
	for seed := range seeds {
		s := newStory(seed)
		kept, read := NewHistory(), NewHistory()
		var log []*Record
		for range 300 {
			r := s.record()
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
				var back History
				if err := json.Unmarshal([]byte(state(t, read)), &back); err != nil {
					t.Fatal(err)
				}
				read = &back
			}
		}
		again := NewHistory()
		for _, r := range log {
			again.Append(r)
		}
		if state(t, again) != state(t, kept) {
			t.Fatalf("seed %d: computed again, the state is another:\n%s", seed, cmp.Diff(state(t, kept), state(t, again)))
		}
		testSteady(t, kept)
	}
}

func seen(t *testing.T, r *Record, h *History, windows []Window) string {
	t.Helper()
	in := NewInput(r, h, View{Windows: windows, Last: MaxLast})
	b, err := CanonicalOf(&in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func state(t *testing.T, h *History) string {
	t.Helper()
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A review is the same each time, and its digests say of what.
func TestReviewRepeats(t *testing.T) {
	p := &Policy{Matcher: always(say(Warn)), Decider: always(say(Warn)), View: View{Windows: []Window{{Name: "w", Last: 2}}}}
	l := newMemoryLog()
	for i := range 30 {
		for _, phase := range []Phase{PhasePre, PhasePost} {
			e := event(phase, fmt.Sprint("c", i))
			e.Args = json.RawMessage(fmt.Sprintf(`{"n":%d}`, i%7))
			handle(t, newReviewer(l, always(say(Warn))), e)
		}
	}
	h := NewHistory()
	states := map[string]bool{}
	for _, r := range l.records {
		first, err1 := p.Review(t.Context(), r, h)
		again, err2 := p.Review(t.Context(), r, h)
		if err1 != nil || err2 != nil || !cmp.Equal(first, again) {
			t.Fatalf("%v, %v: %s", err1, err2, cmp.Diff(first, again))
		}
		if want, err := Digest(&first.Input); err != nil || first.SHA.Input != want {
			t.Fatalf("the input's digest is %s, want %s (%v)", first.SHA.Input, want, err)
		}
		if r.SHA != nil && first.SHA.Args != r.SHA.Args {
			t.Fatalf("the arguments' digest is %s, want %s", first.SHA.Args, r.SHA.Args)
		}
		states[first.SHA.State] = true
		h.Append(r)
	}
	if len(states) < 30 {
		t.Errorf("%d records have %d states", len(l.records), len(states))
	}
}
