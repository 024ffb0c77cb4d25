package explaincmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// later makes records of words: the answers to the same call again, or what a
// person does.
func later(words string) []*engine.Record {
	var list []*engine.Record
	for _, word := range strings.Fields(words) {
		r := &engine.Record{Chain: strings.Repeat("c", 32), N: int64(len(list)) + 3, Kind: engine.KindPre}
		said := engine.Approval{Of: "cccccccc-2", Approved: word == "yes", By: engine.ByInference}
		switch word {
		case "once", "session":
			r.Kind, r.Control = engine.KindControl, &engine.Control{Do: "allow_" + word, By: "anna", Print: "p", CWD: "/w"}
		case "other":
			r.Kind, r.Control = engine.KindControl, &engine.Control{Do: engine.ControlAllowOnce, By: "anna", Print: "q", CWD: "/w"}
		case "yes":
			r.Kind, r.Answer = engine.KindPost, &engine.AnswerFacts{Approvals: []engine.Approval{said}}
		case "no":
			r.Kind, r.Answer = engine.KindPrompt, &engine.AnswerFacts{Approvals: []engine.Approval{{Of: "cccccccc-1"}, said}}
		case "elsewhere":
			r = held(r, engine.Allow, "/tmp")
		default:
			r = held(r, engine.Verdict(word), "/w")
		}
		list = append(list, r)
	}
	return list
}

func held(r *engine.Record, v engine.Verdict, dir string) *engine.Record {
	r.Kind, r.Answer = engine.KindPre, &engine.AnswerFacts{Effect: v}
	r.Event, r.Action = &engine.EventFacts{CWD: dir}, &engine.Action{Fingerprint: "p"}
	return r
}

func TestFate(t *testing.T) {
	const allowed = "anna allowed it once (cccccccc-3)"
	for _, test := range []struct {
		effect engine.Verdict
		later  string
		want   []string // without the times
	}{
		{engine.Allow, "yes once allow", nil},
		{engine.Warn, "once allow", nil},
		{engine.Block, "", nil},
		{engine.Block, "allow other allow", nil},
		{engine.Ask, "", []string{"not answered yet"}},
		{engine.Ask, "yes", []string{"a person approved it (inferred: the call ran, cccccccc-3)"}},
		{engine.Ask, "no yes", []string{"a person refused it (inferred: it had not run by the next prompt, cccccccc-3)", "a person approved it (inferred: the call ran, cccccccc-4)"}},
		{engine.Block, "once", []string{allowed}},
		{engine.Modify, "once elsewhere allow allow", []string{allowed, "that let call cccccccc-5 through"}},
		{engine.Block, "once block warn allow", []string{allowed, "call cccccccc-4 was still answered block", "that let call cccccccc-5 through"}},
		{engine.Block, "once ask allow", []string{allowed, "call cccccccc-4 was still answered ask"}},
		{engine.Block, "session once allow allow", []string{"anna allowed it until the session ends (cccccccc-3)", "anna allowed it once (cccccccc-4)",
			"that let call cccccccc-5 through", "that let call cccccccc-6 through"}},
		{engine.Block, "session" + strings.Repeat(" allow", 7), []string{"anna allowed it until the session ends (cccccccc-3)",
			"that let call cccccccc-4 through", "that let call cccccccc-5 through", "that let call cccccccc-6 through",
			"that let call cccccccc-7 through", "that let call cccccccc-8 through", "and 2 more"}},
	} {
		r := held(&engine.Record{Chain: strings.Repeat("c", 32), N: 2}, test.effect, "/w")
		got, err := OutcomeOf(r, func(yield func(*engine.Record, error) bool) {
			for _, r := range later(test.later) {
				if !yield(r, nil) {
					return
				}
			}
		})
		for i, line := range got {
			if _, text, ok := strings.Cut(line, "  "); ok {
				got[i] = text
			}
		}
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
			t.Errorf("%s, then %s: %v\n got %q\nwant %q", test.effect, test.later, err, got, test.want)
		}
	}
}
