package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// allow is what a person types in a terminal about a call in a directory.
func (s *tale) allow(do string, a engine.Action, dir string) *tale {
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: do, By: "anna", Print: a.Fingerprint, CWD: dir}})
	return s
}

// in is a call in a directory.
func (s *tale) in(a engine.Action, dir string, v engine.Verdict) *tale {
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: fmt.Sprint("c", s.h.N+1), Event: &engine.EventFacts{CWD: dir}, Action: &a, Answer: &engine.AnswerFacts{Effect: v}})
	return s
}

func (s *tale) control(do string) *tale {
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: do}})
	return s
}

// sessionEnd is the agent's own word that the session is over; it may be taken up again.
func (s *tale) sessionEnd() *tale {
	s.add(&engine.Record{Kind: engine.KindNote, Phase: engine.PhaseEnd})
	return s
}

// word returns what policy sees of a manual override of a call in /w.
func (s *tale) word(a engine.Action) string {
	r := &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, T: s.t, Agent: s.agent, Event: &engine.EventFacts{CWD: "/w"}, Action: &a}
	in := NewInput(r, s.h, engine.View{})
	if told := strings.Contains(fmt.Sprint(in.Facts), engine.FactAllowed); told != (in.Session.Allowed != "") || told != (in.Session.AllowedBy == "anna") {
		return fmt.Sprintf("facts %v, allowed %q by %q", in.Facts, in.Session.Allowed, in.Session.AllowedBy)
	}
	return in.Session.Allowed
}

func TestAllowedByPerson(t *testing.T) {
	push, other := engine.Action{Fingerprint: "push"}, engine.Action{Fingerprint: "other"}
	once := func() *tale { return newTale().in(push, "/w", engine.Block).allow(engine.ControlAllowOnce, push, "/w") }
	session := func() *tale {
		return newTale().in(push, "/w", engine.Block).allow(engine.ControlAllowSession, push, "/w")
	}
	full := func() *tale {
		s := once()
		for i := range maxAllowed {
			s.allow(engine.ControlAllowSession, engine.Action{Fingerprint: fmt.Sprint(i)}, "/w")
		}
		return s
	}
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want string
	}{
		"nothing":                       {newTale(), push, ""},
		"once":                          {once(), push, engine.AllowedOnce},
		"other arguments":               {once(), other, ""},
		"another directory":             {newTale().allow(engine.ControlAllowOnce, push, "/w/sub"), push, ""},
		"no directory":                  {newTale().allow(engine.ControlAllowOnce, push, ""), push, ""},
		"no arguments":                  {newTale().allow(engine.ControlAllowSession, engine.Action{}, "/w"), engine.Action{}, ""},
		"used":                          {once().in(push, "/w", engine.Allow), push, ""},
		"used with a warning":           {once().in(push, "/w", engine.Warn), push, ""},
		"used in another form":          {once().in(push, "/w", engine.Modify), push, ""},
		"asked about: it may run":       {once().in(push, "/w", engine.Ask), push, ""},
		"denied for another reason":     {once().in(push, "/w", engine.Block), push, engine.AllowedOnce},
		"no verdict is a denial":        {once().in(push, "/w", "perhaps"), push, engine.AllowedOnce},
		"another call ran":              {once().in(other, "/w", engine.Allow), push, engine.AllowedOnce},
		"it ran elsewhere":              {once().in(push, "/tmp", engine.Allow), push, engine.AllowedOnce},
		"twice is once":                 {once().allow(engine.ControlAllowOnce, push, "/w").in(push, "/w", engine.Allow), push, ""},
		"once more":                     {once().in(push, "/w", engine.Allow).allow(engine.ControlAllowOnce, push, "/w"), push, engine.AllowedOnce},
		"session":                       {session(), push, engine.AllowedSession},
		"session, used":                 {session().in(push, "/w", engine.Allow).in(push, "/w", engine.Allow), push, engine.AllowedSession},
		"session, then once":            {session().allow(engine.ControlAllowOnce, push, "/w").in(push, "/w", engine.Allow), push, engine.AllowedSession},
		"once, then session":            {once().allow(engine.ControlAllowSession, push, "/w").in(push, "/w", engine.Allow), push, engine.AllowedSession},
		"session, which ended":          {session().sessionEnd(), push, ""},
		"once, and the session ended":   {once().sessionEnd(), push, engine.AllowedOnce},
		"two calls":                     {once().allow(engine.ControlAllowOnce, other, "/w").in(push, "/w", engine.Allow), other, engine.AllowedOnce},
		"stop and resume revoke none":   {once().control(engine.ControlStop).in(push, "/w", engine.Block).control(engine.ControlResume), push, engine.AllowedOnce},
		"too many: the oldest is gone":  {full(), push, ""},
		"too many: the newest is there": {full(), engine.Action{Fingerprint: fmt.Sprint(maxAllowed - 1)}, engine.AllowedSession},
	} {
		if got := test.tale.word(test.next); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		test.tale.agent = "sub"
		if got := test.tale.word(test.next); got != test.want {
			t.Errorf("%s, to another agent: %q, want %q", name, got, test.want)
		}
	}
	cut := &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Event: &engine.EventFacts{CWD: "/w"}, Action: &push, Cut: []engine.Cut{{Field: "event.cwd"}}}
	if in := NewInput(cut, session().h, engine.View{}); in.Session.Allowed != "" {
		t.Error("a directory of which only the beginning is known is taken for another")
	}
	if in := NewInput(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Event: &engine.EventFacts{CWD: "/w"}, Action: &push}, once().h, engine.View{}); in.Session.Allowed != "" {
		t.Error("policy sees a manual override after the call too")
	}
}

// asks is a call that a person is asked about; post is how it ended.
func (s *tale) asks(call string) *tale {
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: call, Action: &engine.Action{Fingerprint: call}, Answer: &engine.AnswerFacts{Effect: engine.Ask}})
	return s
}

func (s *tale) post(call string, o engine.Outcome) *tale {
	s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: call, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: o}}})
	return s
}

func (s *tale) end(k engine.Kind) *tale {
	s.add(&engine.Record{Kind: k})
	return s
}

func TestApprovals(t *testing.T) {
	post := func(call string, o engine.Outcome) *engine.Record {
		return &engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: call, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: o}}}
	}
	prompt, stop := &engine.Record{Kind: engine.KindPrompt}, &engine.Record{Kind: engine.KindStop}
	yes, no := []engine.Approval{{Of: "cccccccc-2", Approved: true, By: engine.ByInference}}, []engine.Approval{{Of: "cccccccc-2", Approved: false, By: engine.ByInference}}
	many := newTale()
	for i := range maxApprovals + 3 {
		many.asks(fmt.Sprint(i))
	}
	var newest []engine.Approval
	for i := range maxApprovals {
		newest = append(newest, engine.Approval{Of: fmt.Sprint("cccccccc-", i+5), Approved: false, By: engine.ByInference})
	}
	elsewhere := newTale().asks("a")
	elsewhere.h.Calls[0].Agent = "sub"
	for name, test := range map[string]struct {
		tale *tale
		next *engine.Record
		want []engine.Approval
	}{
		"it ran":                     {newTale().asks("a"), post("a", engine.OutcomeRan), yes},
		"it ran and failed":          {newTale().asks("a"), post("a", engine.OutcomeFailed), yes},
		"it came to an end":          {newTale().asks("a"), &engine.Record{Kind: engine.KindPost, Call: "a"}, yes},
		"the agent says it was not":  {newTale().asks("a"), post("a", engine.OutcomeDenied), no},
		"another call":               {newTale().asks("a"), post("b", engine.OutcomeRan), nil},
		"nobody was asked":           {newTale().in(engine.Action{}, "/w", engine.Allow), post("c2", engine.OutcomeRan), nil},
		"the next prompt":            {newTale().asks("a"), prompt, no},
		"the end of the turn":        {newTale().asks("a"), stop, no},
		"another agent's turn":       {elsewhere, stop, nil},
		"of all agents":              {elsewhere, prompt, no},
		"an outcome is settled once": {newTale().asks("a").post("a", engine.OutcomeRan), prompt, nil},
		"reported once":              {newTale().asks("a").end(engine.KindStop), prompt, nil},
		"a late result counts":       {newTale().asks("a").end(engine.KindStop), post("a", engine.OutcomeRan), yes},
		"the newest of many":         {many, prompt, newest},
		"another kind of record":     {newTale().asks("a"), &engine.Record{Kind: engine.KindNote}, nil},
	} {
		before := state(t, test.tale.h)
		if d := cmp.Diff(test.want, test.tale.h.Approvals(test.next)); d != "" {
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
		want engine.AnswerCounts
	}{
		"nothing":         {newTale().in(engine.Action{}, "/w", engine.Block), engine.AnswerCounts{}},
		"pending":         {newTale().asks("a"), engine.AnswerCounts{Asked: 1}},
		"approved":        {newTale().asks("a").post("a", engine.OutcomeRan), engine.AnswerCounts{Asked: 1, Approved: 1}},
		"told twice":      {newTale().asks("a").post("a", engine.OutcomeRan).post("a", engine.OutcomeRan), engine.AnswerCounts{Asked: 1, Approved: 1}},
		"refused":         {newTale().asks("a").end(engine.KindPrompt), engine.AnswerCounts{Asked: 1, Refused: 1}},
		"refused once":    {newTale().asks("a").end(engine.KindStop).end(engine.KindPrompt), engine.AnswerCounts{Asked: 1, Refused: 1}},
		"the agent knows": {newTale().asks("a").post("a", engine.OutcomeDenied), engine.AnswerCounts{Asked: 1, Refused: 1}},
		"late":            {newTale().asks("a").end(engine.KindStop).post("a", engine.OutcomeFailed), engine.AnswerCounts{Asked: 1, Approved: 1}},
		"late, refused":   {newTale().asks("a").end(engine.KindStop).post("a", engine.OutcomeDenied), engine.AnswerCounts{Asked: 1, Refused: 1}},
		"several": {newTale().asks("a").asks("b").asks("c").post("b", engine.OutcomeRan).end(engine.KindStop).asks("d"),
			engine.AnswerCounts{Asked: 4, Approved: 1, Refused: 2}},
		"overruled": {newTale().allow(engine.ControlAllowOnce, engine.Action{Fingerprint: "a"}, "").allow(engine.ControlAllowSession, engine.Action{Fingerprint: "a"}, "").control(engine.ControlStop),
			engine.AnswerCounts{Overruled: 2}},
	} {
		if d := cmp.Diff(test.want, test.tale.next(engine.Action{}).Session.Answers); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Over any session, each question has at most one outcome, and what the records
// were told adds up to the counts.
func TestAnswersAddUp(t *testing.T) {
	for seed := range uint64(20) {
		s, h := newStory(seed), lenient()
		for range 300 {
			r := s.record()
			before, told := *h, h.Approvals(r)
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
			if h.Approved != before.Approved+yes || h.Refused > before.Refused+no || late && r.Kind != engine.KindPost {
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
	r := &engine.Record{N: s.h.N + 1, Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlAllowOnce, Print: "x"}}
	got, err := s.h.After(r)
	if err != nil || state(t, s.h) != before {
		t.Fatalf("the state was changed, or %v", err)
	}
	s.h.Append(r)
	if d := cmp.Diff(state(t, s.h), state(t, got)); d != "" {
		t.Error(d)
	}
}

// A word takes no more of a keyframe than is set aside for it, whatever it says.
func TestAllowedSize(t *testing.T) {
	for _, filler := range []string{"x", "é", `"`, "\x01", "\xff", "\u2028", "<"} {
		long := strings.Repeat(filler, 400)
		s := newTale()
		before := s.h.fixedSize()
		s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlAllowOnce, By: long, Print: long, CWD: long}})
		a := s.h.Allowed[0]
		b, err := engine.Marshal(a)
		if err != nil || len(b)+1 > a.size() || a.size() > 300 {
			t.Errorf("filler %q: %d bytes, taken for %d (%v)", filler, len(b)+1, a.size(), err)
		}
		if got := s.h.fixedSize() - before; got != a.size() {
			t.Errorf("filler %q: the state's size grew by %d, want %d", filler, got, a.size())
		}
	}
}

// What a person permitted is over after an expire record, which needs no signature; what they stopped is not.
func TestExpire(t *testing.T) {
	h := New()
	h.Lenient = true
	n := int64(0)
	add := func(c engine.Control) {
		n++
		h.Append(&engine.Record{Kind: engine.KindControl, N: n, T: n, Chain: "c", Control: &c})
	}
	h.Append(&engine.Record{Kind: engine.KindOpen, N: 1, T: 1, Chain: "c", Session: "s"})
	n = 1
	add(engine.Control{Do: engine.ControlAllowSession, Print: "0123456789abcdef", CWD: "/shop", Record: "c-1"})
	add(engine.Control{Do: engine.ControlScope, Path: "~/photos"})
	add(engine.Control{Do: engine.ControlStop, Reason: "enough"})
	if len(h.Permits()) != 2 {
		t.Fatalf("permitted: %+v", h.Permits())
	}
	h.Lenient = false
	add(engine.Control{Do: engine.ControlExpire})
	if len(h.Permits()) != 0 || h.Stop == nil {
		t.Errorf("afterwards permitted: %+v, stopped: %+v", h.Permits(), h.Stop)
	}
}
