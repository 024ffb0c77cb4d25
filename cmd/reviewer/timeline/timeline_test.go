package timeline

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// A call and what came of it are one moment; a call about which nothing is reported by
// the next prompt is of unknown fate, and one that nobody asked about stands for
// itself.
func TestTimelineOutcomes(t *testing.T) {
	line := New(1000, history.New())
	pre := func(agent, call string, effect engine.Verdict) *engine.Record {
		return &engine.Record{Kind: engine.KindPre, Agent: agent, Call: call, T: 2000, Answer: &engine.AnswerFacts{Effect: effect}}
	}
	post := func(agent, call string, o engine.Outcome) *engine.Record {
		return &engine.Record{Kind: engine.KindPost, Agent: agent, Call: call, T: 3000, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: o}}}
	}
	for _, r := range []*engine.Record{
		pre("", "a", engine.Allow), pre("sub", "a", engine.Allow), post("sub", "a", engine.OutcomeFailed), pre("", "b", engine.Block), post("", "a", engine.OutcomeRan),
		pre("", "c", engine.Allow), pre("sub", "d", engine.Allow), {Kind: engine.KindStop, Agent: "sub"}, post("", "nobody", engine.OutcomeRan),
		{Kind: engine.KindPrompt}, pre("", "e", engine.Allow), {Kind: engine.KindNote, Note: &engine.Note{What: "duplicate"}},
		{Kind: engine.KindNote, Phase: engine.PhaseOther, Note: &engine.Note{What: "Notification"}}, {Kind: engine.KindNote, Note: &engine.Note{What: "recovered"}},
	} {
		line.Add(r)
	}
	var got []string
	for _, m := range line.Pick(0, "", false) {
		got = append(got, m.Who()+" "+m.Label()+" "+string(m.Outcome))
	}
	want := "main allow ran|sub allow failed|main block denied|main allow unknown|sub allow unknown|sub stop |main post ran|person prompt |main allow pending|main note "
	if strings.Join(got, "|") != want {
		t.Errorf("the time line is %q", got)
	}
}
