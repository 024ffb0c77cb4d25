package sessioncmd

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// A call and what came of it are one moment; a call about which nothing is reported by
// the next prompt is of unknown fate, and one that nobody asked about stands for
// itself.
func TestTimelineOutcomes(t *testing.T) {
	line := newTimeline(1000, history.New())
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
		line.add(r)
	}
	var got []string
	for _, m := range line.pick(shownSession{}) {
		got = append(got, m.who()+" "+m.label()+" "+string(m.Outcome))
	}
	want := "main allow ran|sub allow failed|main block denied|main allow unknown|sub allow unknown|sub stop |main post ran|person prompt |main allow pending|main note "
	if strings.Join(got, "|") != want {
		t.Errorf("the time line is %q", got)
	}
}

// On a terminal lines are cut to its width, whatever is in them; the
// terminal acts on nothing but our own colours.
func TestMomentsAreSafeToPrint(t *testing.T) {
	evil := "\x1b]0;title\x07\r\n\u202eevil\u2028 " + strings.Repeat("längs ", 100)
	m := &timelineEntry{ID: "f8dc9b3b-35", Agent: evil, Tool: evil, What: evil, Answer: engine.Block, Outcome: engine.OutcomeDenied, Error: evil,
		Failure: evil, Form: evil, Written: []string{evil}, Rules: []engine.RuleResult{{ID: evil, Message: evil}},
		Patterns: []engine.Finding{{ID: "loop", Level: "high", Details: evil}}, Labels: []engine.Label{engine.LabelSecret}}
	var plain, coloured bytes.Buffer
	m.print(&plain, term.Paint{}, 80)
	m.print(&coloured, term.Paint{On: true}, 80)
	for text := range strings.Lines(plain.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(text, "\n")); n > 80 || strings.ContainsAny(text, "\x1b\x07\r\u202e\u2028") {
			t.Errorf("a line has %d characters: %q", n, text)
		}
	}
	if !strings.Contains(coloured.String(), "\x1b[31;1mblock") || strings.Contains(coloured.String(), "\x1b]") {
		t.Errorf("on a terminal it is %q", coloured.String())
	}
	var whole bytes.Buffer
	m.print(&whole, term.Paint{}, (&cli.App{Streams: term.Streams{Env: func(string) string { return "" }}}).Width(&term.Output{}))
	if !strings.Contains(whole.String(), strings.Repeat("längs ", 99)) {
		t.Error("a line is cut where no terminal cuts it")
	}
}
