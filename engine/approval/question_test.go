package approval

import (
	"errors"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func asked(n int64) *engine.Record {
	return &engine.Record{Kind: engine.KindPre, N: n, T: askedAt, Chain: testChain,
		Answer: &engine.AnswerFacts{Effect: engine.Ask, Pending: &engine.Pending{Digest: digest, Until: until}}}
}

func said(n, t int64, c engine.Control) *engine.Record {
	c.Record = id()
	if c.Decided == nil {
		c.Decided = &engine.Decided{Who: engine.DecidedPerson}
	}
	return &engine.Record{Kind: engine.KindControl, N: n, T: t, Chain: testChain, Control: &c}
}

// TestAccepts has answers that are refused, with the reason that the person reads.
func TestAccepts(t *testing.T) {
	approve := engine.Control{Do: engine.ControlApprove, Digest: digest}
	for name, c := range map[string]struct {
		before []*engine.Record
		stop   bool
		n, t   int64
		digest string
		want   error
	}{
		"in time":            {nil, false, 2, until, digest, nil},
		"a moment too late":  {nil, false, 2, until + 1, digest, ErrLate},
		"another digest":     {nil, false, 2, until, "f" + digest[1:], ErrOther},
		"no digest":          {nil, false, 2, until, "", ErrOther},
		"another question":   {nil, false, 3, until, digest, ErrUnknown},
		"answered before":    {[]*engine.Record{said(3, 1500, approve)}, false, 2, until, digest, ErrAnswered},
		"the session stops":  {nil, true, 2, until, digest, ErrStopped},
		"answered too late":  {[]*engine.Record{said(3, until+1, approve)}, false, 2, until + 1, digest, ErrLate},
		"wrong, then stop":   {[]*engine.Record{said(3, 1500, engine.Control{Do: engine.ControlApprove, Digest: "x"})}, true, 2, until, digest, ErrStopped},
		"no person approves": {[]*engine.Record{said(3, 1500, engine.Control{Do: engine.ControlApprove, Digest: digest, Decided: &engine.Decided{Who: "timeout"}})}, false, 2, until, digest, nil},
	} {
		qs := Questions(nil).Fold(asked(2), testChain, false)
		for _, r := range c.before {
			qs = qs.Fold(r, testChain, false)
		}
		if c.stop {
			qs = qs.Fold(&engine.Record{Kind: engine.KindControl, N: 9, T: 1600, Control: &engine.Control{Do: engine.ControlStop}}, testChain, true)
		}
		if got := qs.Accepts(c.n, c.digest, c.t); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestForgets: the newest questions are kept, and one that was forgotten is denied.
func TestForgets(t *testing.T) {
	var qs Questions
	for n := range int64(Max + 5) {
		qs = qs.Fold(asked(n+2), testChain, false)
	}
	if len(qs) != Max || qs.Of(2) != nil || qs.Of(Max+6) == nil {
		t.Errorf("%d questions: %v", len(qs), qs)
	}
	if step := qs.Of(2).Next(id(), askedAt, func() string { return "" }); step.Wait || step.Allow || step.Record != nil {
		t.Errorf("a forgotten question: %+v", step)
	}
	qs = qs.Fold(said(99, 1500, engine.Control{Do: engine.ControlDeny, Digest: digest}), testChain, false)
	if qs.Waiting(1500) != Max {
		t.Errorf("an answer to a forgotten question changed another: %v", qs)
	}
}

// TestOtherChains: the ledger repeats answers of other chains.
func TestOtherChains(t *testing.T) {
	qs := Questions(nil).Fold(asked(2), testChain, false)
	copied := said(3, 1500, engine.Control{Do: engine.ControlApprove, Digest: digest, Of: testChain})
	if qs = qs.Fold(copied, testChain, false); qs[0].State != Pending {
		t.Errorf("a copy in the ledger answered: %v", qs)
	}
}
