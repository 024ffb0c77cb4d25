package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
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
		Agent: s.pick("", "sub", "other"), Call: s.pick("", "c1", "c2", "c3", fmt.Sprint("c", s.n)),
	}
	switch s.IntN(12) {
	case 0:
		r.Kind, r.Phase = KindPrompt, PhasePrompt
	case 1:
		r.Kind, r.Phase = KindStop, PhaseStop
	case 2:
		r.Kind, r.Control = KindControl, &Control{
			Do: s.pick(ControlStop, ControlResume, ControlAllowOnce, ControlAllowSession), Reason: s.pick("", "x"), By: s.pick("", "anna"),
			Print: s.print(), CWD: s.pick("", "/w"),
		}
	case 3:
		r.Kind, r.Act = KindAct, &Act{Kind: EmergencyStop, Result: "y"}
	case 4, 5, 6, 7:
		r.Kind, r.Phase = KindPost, PhasePost
		r.Event = &EventFacts{Result: &ResultFacts{Outcome: Outcome(s.pick(Outcomes()...)), Class: s.pick("", "e1", "e2"), Content: &ContentFacts{MAC: s.pick("a", "b")}}}
		s.action(r)
	default:
		r.Kind, r.Phase = KindPre, PhasePre
		r.Event = &EventFacts{Tool: s.pick("Bash", "Edit"), CWD: s.pick("", "/w")}
		v := Verdict(s.pick(Verdicts()...))
		r.Decision, r.Answer = &Decision{Decision: v, Enforced: v}, &AnswerFacts{Effect: v}
		s.action(r)
	}
	return r
}

func (s *story) print() string { return hexSum([]byte(s.pick("p1", "p2", "p3")))[:16] }

func (s *story) action(r *Record) {
	a := &Action{Types: []Type{Type(s.pick(Types()...))}, Fingerprint: s.print()}
	for range s.IntN(3) {
		a.Effects = append(a.Effects, Effect{
			Kind: EffectKind(s.pick(EffectKinds()...)), Verb: s.pick("move", "write", "delete"), Short: s.pick("", "./a", "./b", "./c"),
			Target: s.pick("", "example.com", "example.org"), Exists: s.pick("", "yes", "no"), Certainty: Certainty(s.pick(Certainties()...)),
			Location: Location(s.pick(Locations()...)), Class: Class(s.pick("", "env_file", "credential")),
		})
	}
	for range s.IntN(4) {
		a.Tokens = append(a.Tokens, s.pick("aaaa0000", "bbbb0000", "cccc0000"))
	}
	r.Action, r.SHA = a, &SHA{Args: hexSum([]byte(s.pick("x", "y")))}
}

// What policy sees depends on the log alone: not on whether the history was
// kept, or read back after any record; not on earlier looks at it; and a look
// changes nothing.
func TestInputDependsOnTheLogOnly(t *testing.T) {
	windows := []Window{{Name: "last", Last: 7}, {Name: "recently", For: 20 * time.Second}}
	for seed := range uint64(15) {
		s := newStory(seed)
		kept, read := NewHistory(), NewHistory()
		for range 120 {
			r := s.record()
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
	s := newStory(1)
	h := NewHistory()
	states := map[string]bool{}
	for range 60 {
		r := s.record()
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
		t.Errorf("60 records have %d states", len(states))
	}
}
