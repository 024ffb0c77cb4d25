package audit

import (
	"fmt"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

func spokenCall(id string, effect engine.Verdict, days int64, macs ...string) *engine.Record {
	return &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, T: 1000, Call: id, Event: &engine.EventFacts{Tool: "CronCreate"},
		Answer: &engine.AnswerFacts{Effect: effect}, Prompts: &engine.PromptTexts{MACs: macs, Days: days}}
}

// TestPromptSource: what calls said is known to every process of the home, as long as it can become a prompt.
func TestPromptSource(t *testing.T) {
	const day = 24 * 60 * 60 * 1000
	var many []string
	for i := range 3 * digestsOfLine {
		many = append(many, fmt.Sprintf("%016x", i))
	}
	for name, c := range map[string]struct {
		calls []*engine.Record
		ask   []string
		at    int64
		want  string // id of the call after the chain's first digits
	}{
		"nothing was said":         {nil, []string{"a"}, 1000, ""},
		"another text":             {[]*engine.Record{spokenCall("1", engine.Ask, 2, "a")}, []string{"b"}, 1000, ""},
		"one of several parts":     {[]*engine.Record{spokenCall("1", engine.Allow, 2, "a", "b")}, []string{"x", "b"}, 1000, "2"},
		"the last moment":          {[]*engine.Record{spokenCall("1", engine.Allow, 2, "a")}, []string{"a"}, 1000 + 2*day, "2"},
		"over":                     {[]*engine.Record{spokenCall("1", engine.Allow, 2, "a")}, []string{"a"}, 1001 + 2*day, ""},
		"never over":               {[]*engine.Record{spokenCall("1", engine.Allow, 0, "a")}, []string{"a"}, 1 << 50, "2"},
		"the longer term counts":   {[]*engine.Record{spokenCall("1", engine.Allow, 0, "a"), spokenCall("2", engine.Allow, 2, "a")}, []string{"a"}, 1 << 50, "2"},
		"the later one counts":     {[]*engine.Record{spokenCall("1", engine.Allow, 2, "a"), spokenCall("2", engine.Allow, 3, "a")}, []string{"a"}, 1000 + 3*day, "3"},
		"a call that was denied":   {[]*engine.Record{spokenCall("1", engine.Block, 2, "a")}, []string{"a"}, 1000, ""},
		"more than a line can say": {[]*engine.Record{spokenCall("1", engine.Allow, 2, many...)}, many[len(many)-1:], 1000, "2"},
	} {
		s := testStore(t)
		s.Now = func() int64 { return 1000 }
		key := engine.SessionKey{Harness: "claude-code", Session: "s1"}
		if got, err := s.PromptSource(c.ask, c.at); got != nil || err != nil {
			t.Errorf("%s, before: %v, %v", name, got, err)
		}
		err := s.Update(t.Context(), key, func(tail history.Tail) error {
			open := openRecord()
			open.T = 1000
			if err := tail.Append(open); err != nil {
				return err
			}
			for _, r := range c.calls {
				if err := tail.Append(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for who, store := range map[string]*Store{"this process": s, "another": {Dir: s.Dir}} {
			got, err := store.PromptSource(c.ask, c.at)
			if err != nil {
				t.Fatal(err)
			}
			id := ""
			if got != nil {
				id = got.Of[9:] // after the digits of the chain
			}
			if id != c.want {
				t.Errorf("%s, %s: call %q, want %q", name, who, id, c.want)
			}
		}
	}
}
