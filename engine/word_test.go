package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// allow is what a person types in a terminal about a call in a directory.
func (s *tale) allow(do string, a Action, dir string) *tale {
	s.add(&Record{Kind: KindControl, Control: &Control{Do: do, By: "anna", Print: a.Fingerprint, CWD: dir}})
	return s
}

// in is a call in a directory.
func (s *tale) in(a Action, dir string, v Verdict) *tale {
	s.add(&Record{Kind: KindPre, Phase: PhasePre, Call: fmt.Sprint("c", s.h.N+1), Event: &EventFacts{CWD: dir}, Action: &a, Answer: &AnswerFacts{Effect: v}})
	return s
}

func (s *tale) control(do string) *tale {
	s.add(&Record{Kind: KindControl, Control: &Control{Do: do}})
	return s
}

// sessionEnd is the agent's own word that the session is over; it may be taken up again.
func (s *tale) sessionEnd() *tale {
	s.add(&Record{Kind: KindNote, Phase: PhaseEnd})
	return s
}

// word is what policy is told of a person's word about a call in /w.
func (s *tale) word(a Action) string {
	r := &Record{Kind: KindPre, Phase: PhasePre, T: s.t, Agent: s.agent, Event: &EventFacts{CWD: "/w"}, Action: &a}
	in := NewInput(r, s.h, View{})
	if told := strings.Contains(fmt.Sprint(in.Facts), FactAllowed); told != (in.Session.Allowed != "") || told != (in.Session.AllowedBy == "anna") {
		return fmt.Sprintf("facts %v, allowed %q by %q", in.Facts, in.Session.Allowed, in.Session.AllowedBy)
	}
	return in.Session.Allowed
}

func TestAllowedByPerson(t *testing.T) {
	push, other := Action{Fingerprint: "push"}, Action{Fingerprint: "other"}
	once := func() *tale { return newTale().in(push, "/w", Block).allow(ControlAllowOnce, push, "/w") }
	session := func() *tale { return newTale().in(push, "/w", Block).allow(ControlAllowSession, push, "/w") }
	full := func() *tale {
		s := once()
		for i := range maxAllowed {
			s.allow(ControlAllowSession, Action{Fingerprint: fmt.Sprint(i)}, "/w")
		}
		return s
	}
	for name, test := range map[string]struct {
		tale *tale
		next Action
		want string
	}{
		"nothing":                        {newTale(), push, ""},
		"once":                           {once(), push, AllowedOnce},
		"other arguments":                {once(), other, ""},
		"another directory":              {newTale().allow(ControlAllowOnce, push, "/w/sub"), push, ""},
		"no directory":                   {newTale().allow(ControlAllowOnce, push, ""), push, ""},
		"no arguments":                   {newTale().allow(ControlAllowSession, Action{}, "/w"), Action{}, ""},
		"used":                           {once().in(push, "/w", Allow), push, ""},
		"used with a warning":            {once().in(push, "/w", Warn), push, ""},
		"used in another form":           {once().in(push, "/w", Modify), push, ""},
		"asked about: it may run":        {once().in(push, "/w", Ask), push, ""},
		"denied for another reason":      {once().in(push, "/w", Block), push, AllowedOnce},
		"no verdict is a denial":         {once().in(push, "/w", "perhaps"), push, AllowedOnce},
		"another call ran":               {once().in(other, "/w", Allow), push, AllowedOnce},
		"it ran elsewhere":               {once().in(push, "/tmp", Allow), push, AllowedOnce},
		"twice is once":                  {once().allow(ControlAllowOnce, push, "/w").in(push, "/w", Allow), push, ""},
		"once more":                      {once().in(push, "/w", Allow).allow(ControlAllowOnce, push, "/w"), push, AllowedOnce},
		"session":                        {session(), push, AllowedSession},
		"session, used":                  {session().in(push, "/w", Allow).in(push, "/w", Allow), push, AllowedSession},
		"session, then once":             {session().allow(ControlAllowOnce, push, "/w").in(push, "/w", Allow), push, AllowedSession},
		"once, then session":             {once().allow(ControlAllowSession, push, "/w").in(push, "/w", Allow), push, AllowedSession},
		"session, which ended":           {session().sessionEnd(), push, ""},
		"once, and the session ended":    {once().sessionEnd(), push, AllowedOnce},
		"two calls":                      {once().allow(ControlAllowOnce, other, "/w").in(push, "/w", Allow), other, AllowedOnce},
		"stop and resume take none back": {once().control(ControlStop).in(push, "/w", Block).control(ControlResume), push, AllowedOnce},
		"too many: the oldest is gone":   {full(), push, ""},
		"too many: the newest is there":  {full(), Action{Fingerprint: fmt.Sprint(maxAllowed - 1)}, AllowedSession},
	} {
		if got := test.tale.word(test.next); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		test.tale.agent = "sub"
		if got := test.tale.word(test.next); got != test.want {
			t.Errorf("%s, to another agent: %q, want %q", name, got, test.want)
		}
	}
	cut := &Record{Kind: KindPre, Phase: PhasePre, Event: &EventFacts{CWD: "/w"}, Action: &push, Cut: []Cut{{Field: "event.cwd"}}}
	if in := NewInput(cut, session().h, View{}); in.Session.Allowed != "" {
		t.Error("a directory of which only the beginning is known is taken for another")
	}
	if in := NewInput(&Record{Kind: KindPost, Phase: PhasePost, Event: &EventFacts{CWD: "/w"}, Action: &push}, once().h, View{}); in.Session.Allowed != "" {
		t.Error("policy is told of a person's word after the call too")
	}
}

// asks is a call that a person is asked about; post is how it ended.
func (s *tale) asks(call string) *tale {
	s.add(&Record{Kind: KindPre, Phase: PhasePre, Call: call, Action: &Action{Fingerprint: call}, Answer: &AnswerFacts{Effect: Ask}})
	return s
}

func (s *tale) post(call string, o Outcome) *tale {
	s.add(&Record{Kind: KindPost, Phase: PhasePost, Call: call, Event: &EventFacts{Result: &ResultFacts{Outcome: o}}})
	return s
}

func (s *tale) end(k Kind) *tale {
	s.add(&Record{Kind: k})
	return s
}

func TestApprovals(t *testing.T) {
	post := func(call string, o Outcome) *Record {
		return &Record{Kind: KindPost, Phase: PhasePost, Call: call, Event: &EventFacts{Result: &ResultFacts{Outcome: o}}}
	}
	prompt, stop := &Record{Kind: KindPrompt}, &Record{Kind: KindStop}
	yes, no := []Approval{{"cccccccc-2", true, ByInference}}, []Approval{{"cccccccc-2", false, ByInference}}
	many := newTale()
	for i := range maxApprovals + 3 {
		many.asks(fmt.Sprint(i))
	}
	var newest []Approval
	for i := range maxApprovals {
		newest = append(newest, Approval{fmt.Sprint("cccccccc-", i+5), false, ByInference})
	}
	elsewhere := newTale().asks("a")
	elsewhere.h.Calls[0].Agent = "sub"
	for name, test := range map[string]struct {
		tale *tale
		next *Record
		want []Approval
	}{
		"it ran":                     {newTale().asks("a"), post("a", OutcomeRan), yes},
		"it ran and failed":          {newTale().asks("a"), post("a", OutcomeFailed), yes},
		"it came to an end":          {newTale().asks("a"), &Record{Kind: KindPost, Call: "a"}, yes},
		"the agent says it was not":  {newTale().asks("a"), post("a", OutcomeDenied), no},
		"another call":               {newTale().asks("a"), post("b", OutcomeRan), nil},
		"nobody was asked":           {newTale().in(Action{}, "/w", Allow), post("c2", OutcomeRan), nil},
		"the next prompt":            {newTale().asks("a"), prompt, no},
		"the end of the turn":        {newTale().asks("a"), stop, no},
		"another agent's turn":       {elsewhere, stop, nil},
		"of all agents":              {elsewhere, prompt, no},
		"what ran is not asked back": {newTale().asks("a").post("a", OutcomeRan), prompt, nil},
		"told once":                  {newTale().asks("a").end(KindStop), prompt, nil},
		"late word counts":           {newTale().asks("a").end(KindStop), post("a", OutcomeRan), yes},
		"the newest of many":         {many, prompt, newest},
		"another kind of record":     {newTale().asks("a"), &Record{Kind: KindNote}, nil},
	} {
		before := state(t, test.tale.h)
		if d := cmp.Diff(test.want, test.tale.h.approvals(test.next)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if state(t, test.tale.h) != before {
			t.Errorf("%s: looking changes the state", name)
		}
	}
}

func TestAnswerCounts(t *testing.T) {
	for name, test := range map[string]struct {
		tale *tale
		want AnswerCounts
	}{
		"nothing":         {newTale().in(Action{}, "/w", Block), AnswerCounts{}},
		"pending":         {newTale().asks("a"), AnswerCounts{Asked: 1}},
		"approved":        {newTale().asks("a").post("a", OutcomeRan), AnswerCounts{Asked: 1, Approved: 1}},
		"told twice":      {newTale().asks("a").post("a", OutcomeRan).post("a", OutcomeRan), AnswerCounts{Asked: 1, Approved: 1}},
		"refused":         {newTale().asks("a").end(KindPrompt), AnswerCounts{Asked: 1, Refused: 1}},
		"refused once":    {newTale().asks("a").end(KindStop).end(KindPrompt), AnswerCounts{Asked: 1, Refused: 1}},
		"the agent knows": {newTale().asks("a").post("a", OutcomeDenied), AnswerCounts{Asked: 1, Refused: 1}},
		"late":            {newTale().asks("a").end(KindStop).post("a", OutcomeFailed), AnswerCounts{Asked: 1, Approved: 1}},
		"late, refused":   {newTale().asks("a").end(KindStop).post("a", OutcomeDenied), AnswerCounts{Asked: 1, Refused: 1}},
		"several": {newTale().asks("a").asks("b").asks("c").post("b", OutcomeRan).end(KindStop).asks("d"),
			AnswerCounts{Asked: 4, Approved: 1, Refused: 2}},
		"overruled": {newTale().allow(ControlAllowOnce, Action{Fingerprint: "a"}, "").allow(ControlAllowSession, Action{Fingerprint: "a"}, "").control(ControlStop),
			AnswerCounts{Overruled: 2}},
	} {
		if d := cmp.Diff(test.want, test.tale.next(Action{}).Session.Answers); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Over any session, each question has at most one outcome, and what the records
// were told adds up to the counts.
func TestAnswersAddUp(t *testing.T) {
	for seed := range uint64(20) {
		s, h := newStory(seed), NewHistory()
		for range 300 {
			r := s.record()
			before, told := *h, h.approvals(r)
			h.Append(r)
			yes, no := int64(0), int64(0)
			for _, a := range told {
				if a.Approved {
					yes++
				} else {
					no++
				}
			}
			late := h.Refused < before.Refused+no
			if h.Approved != before.Approved+yes || h.Refused > before.Refused+no || late && r.Kind != KindPost {
				t.Fatalf("seed %d, record %d (%s): told %+v, and the counts went from %d and %d to %d and %d", seed, r.N, r.Kind, told, before.Approved, before.Refused, h.Approved, h.Refused)
			}
			if h.Refused < 0 || h.Approved+h.Refused > h.Asked {
				t.Fatalf("seed %d, record %d: %d asked, %d approved, %d refused", seed, r.N, h.Asked, h.Approved, h.Refused)
			}
		}
		if h.Approved == 0 || h.Refused == 0 || h.Overruled == 0 {
			t.Errorf("seed %d shows nothing: %d approved, %d refused, %d overruled", seed, h.Approved, h.Refused, h.Overruled)
		}
	}
}

func TestAfter(t *testing.T) {
	s := newTale().asks("a")
	before := state(t, s.h)
	r := &Record{N: s.h.N + 1, Kind: KindControl, Control: &Control{Do: ControlAllowOnce, Print: "x"}}
	got, err := s.h.After(r)
	if err != nil || state(t, s.h) != before {
		t.Fatalf("the state was changed, or %v", err)
	}
	s.h.Append(r)
	if d := cmp.Diff(state(t, s.h), state(t, got)); d != "" {
		t.Error(d)
	}
}

// gated is a reviewer whose policy denies or asks until a person has spoken.
func gated(l *memoryLog, v Verdict) *Reviewer {
	r := newReviewer(l, func(in *Input) (Decision, error) {
		if in.Session.Allowed != "" {
			return say(Allow), nil
		}
		return say(v), nil
	})
	r.Classifier = classifyFunc(func(e Event, workspace string) (Facts, error) {
		f, err := plainly(e, workspace)
		f.Event.CWD = e.CWD
		return f, err
	})
	return r
}

// allow records what a person types about a record.
func (l *memoryLog) allow(t *testing.T, do string, r *Record) {
	t.Helper()
	c := &Control{Do: do, By: "anna", Record: r.ID(), Print: r.Action.Fingerprint, CWD: r.Event.CWD}
	if err := l.append(&Record{Kind: KindControl, T: r.T, Control: c}); err != nil {
		t.Fatal(err)
	}
}

func TestHandleAllowed(t *testing.T) {
	for _, test := range []struct {
		do   string
		want string // answers to the same call three times, from a sub-agent, with other arguments, elsewhere
	}{
		{ControlAllowOnce, "allow block block block block block"},
		{ControlAllowSession, "allow allow allow allow block block"},
	} {
		l := newMemoryLog()
		r := gated(l, Block)
		handle(t, r, event(PhasePre, "first"))
		l.allow(t, test.do, l.last())
		sub, other, elsewhere := event(PhasePre, "c4"), event(PhasePre, "c5"), event(PhasePre, "c6")
		sub.Agent, other.Args, elsewhere.CWD = "a1", []byte(`{"n":2}`), "/w/sub"
		var got []string
		for _, e := range []Event{event(PhasePre, "c1"), event(PhasePre, "c2"), event(PhasePre, "c3"), sub, other, elsewhere} {
			got = append(got, string(handle(t, r, e).Effect))
		}
		if all := strings.Join(got, " "); all != test.want {
			t.Errorf("%s: %s, want %s", test.do, all, test.want)
		}
	}
}

// A hook that is installed twice asks twice about one call: the second gets the
// first one's answer, and uses nothing up.
func TestHandleAllowedTwice(t *testing.T) {
	l := newMemoryLog()
	r := gated(l, Ask)
	handle(t, r, event(PhasePre, "first"))
	l.allow(t, ControlAllowOnce, l.last())
	for _, want := range []AnswerMode{ModeEnforced, ModeDuplicate} {
		if a := handle(t, r, event(PhasePre, "c1")); a.Effect != Allow || a.Mode != want {
			t.Errorf("%s, %s; want allow, %s", a.Effect, a.Mode, want)
		}
	}
	if a := handle(t, r, event(PhasePre, "c2")); a.Effect != Ask {
		t.Errorf("the next such call is answered %s", a.Effect)
	}
}

// What came of a question is recorded with the event that tells it.
func TestHandleApprovals(t *testing.T) {
	l := newMemoryLog()
	r := gated(l, Ask)
	for _, call := range []string{"c1", "c2"} {
		handle(t, r, event(PhasePre, call))
	}
	for _, test := range []struct {
		e    Event
		want []Approval
	}{
		{event(PhasePost, "c1"), []Approval{{"cccccccc-2", true, ByInference}}},
		{event(PhaseBatch, ""), nil},
		{event(PhaseStop, ""), []Approval{{"cccccccc-3", false, ByInference}}},
		{event(PhasePrompt, ""), nil},
	} {
		handle(t, r, test.e)
		if d := cmp.Diff(test.want, l.last().Answer.Approvals); d != "" {
			t.Errorf("%s: %s", test.e.Phase, d)
		}
	}
}

func handle(t *testing.T, r *Reviewer, e Event) Answer {
	t.Helper()
	a, err := r.Handle(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A word takes no more of a keyframe than is set aside for it, whatever it says.
func TestAllowedSize(t *testing.T) {
	for _, filler := range []string{"x", "é", `"`, "\x01", "\xff", "\u2028", "<"} {
		long := strings.Repeat(filler, 400)
		s := newTale()
		before := s.h.fixedSize()
		s.add(&Record{Kind: KindControl, Control: &Control{Do: ControlAllowOnce, By: long, Print: long, CWD: long}})
		a := s.h.Allowed[0]
		b, err := marshal(a)
		if err != nil || len(b)+1 > a.size() || a.size() > 300 {
			t.Errorf("filler %q: %d bytes, taken for %d (%v)", filler, len(b)+1, a.size(), err)
		}
		if got := s.h.fixedSize() - before; got != a.size() {
			t.Errorf("filler %q: the state's size grew by %d, want %d", filler, got, a.size())
		}
	}
}
