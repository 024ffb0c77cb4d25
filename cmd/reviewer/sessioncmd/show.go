package sessioncmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/timeline"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/spf13/cobra"
)

// shownSession describes how much of a session is shown.
type shownSession struct {
	since    int64  // Unix milliseconds
	agent    string // only what this agent did; empty: everyone
	patterns bool   // show only findings of patterns
}

func sessionShowCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var since cli.SinceFlag
	var shown shownSession
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show what happened in a session: prompts, actions, decisions, patterns, interventions",
		Long: "Prints the timeline of a session, one line per action: the time since the session began,\n" +
			"the record's id, the agent, the answer, the outcome, and the call. Below it are the\n" +
			"rules that fired, the patterns that were found, and what was changed.",
		Example: "  reviewer session show\n  reviewer session show f8dc9b3b --patterns",
		Args:    cli.AtMost(1),
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if shown.since, err = since.MS(time.Now()); err != nil {
				return err
			}
			store, s, err := a.Session(cli.OrLast(args))
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showTimeline(a, w, &out, store, s, shown) })
		},
	}
	since.Flags(cmd, "show only what happened since this time")
	cmd.Flags().StringVar(&shown.agent, "agent", "", "show only this agent's actions: main, or the id of a sub-agent")
	cmd.Flags().BoolVar(&shown.patterns, "patterns", false, "show only findings of patterns")
	out.Flags(cmd, "text", "json")
	return cmd
}

// shownDocument is a session's time line as JSON.
type shownDocument struct {
	listedSession
	Labels   []engine.Label    `json:"labels"`           // of what was read
	Scope    []string          `json:"scope"`            // paths that a person added
	Said     []history.Said    `json:"statements"`       // what prompts forbid, order and permit, as far as it holds
	Client   *engine.Client    `json:"client,omitempty"` // from which its events come
	Written  map[string]int64  `json:"written"`          // paths that were written or deleted, by location
	Timeline []*timeline.Entry `json:"timeline"`
}

// showTimeline prints a session as far as its log can be read, and then reports the
// damage.
func showTimeline(a *cli.App, w io.Writer, out *term.Output, store *audit.Store, s audit.Session, shown shownSession) error {
	state, stateErr := store.State(s)
	line := timeline.New(s.First, state)
	var broken error
	for r, err := range store.Records(s.Key, 0) {
		if broken = err; err != nil {
			break
		}
		line.Add(r)
	}
	moments := line.Pick(shown.since, shown.agent, shown.patterns)
	facts := history.NewInput(&engine.Record{}, state, engine.View{}).Session
	doc := shownDocument{listedSession{auditcmd.DocumentOf(s), s.Asked, s.Prompts, counts(s.Fired)}, facts.Labels,
		facts.Scope, state.Goals.Statements(), s.Client, facts.Written, moments}
	if out.Format == "json" {
		return errors.Join(broken, term.WriteDocument(w, doc))
	}
	printTimeline(a, w, out, s, doc)
	if broken == nil {
		broken = stateErr
	}
	return broken
}

func printTimeline(a *cli.App, w io.Writer, out *term.Output, s audit.Session, doc shownDocument) {
	p, width := a.Paint(out), a.Width(out)
	fmt.Fprintf(w, "%s\n\n",
		term.OneLine(fmt.Sprintf("session %s of %s in %s, since %s", doc.Session, doc.Harness, doc.Workspace, term.Clock(s.First)), width))
	for _, m := range doc.Timeline {
		printEntry(w, p, width, m)
	}
	if len(doc.Timeline) == 0 {
		fmt.Fprintln(w, "no matching events")
	}
	fmt.Fprintf(w, "\n%s, %d denied, %d asked about, %s\n", term.Counted(int(doc.Actions), "call", "calls"), doc.Denied, doc.Asked,
		term.Counted(int(doc.Prompts), "prompt", "prompts"))
	labels := make([]string, len(doc.Labels))
	for i, l := range doc.Labels {
		labels[i] = string(l)
	}
	for _, more := range []string{
		term.After("patterns: ", tally(doc.Patterns)), term.After("written or deleted: ", tally(doc.Written)),
		term.After("read: ", strings.Join(labels, ", ")), term.After("added to the scope: ", strings.Join(doc.Scope, ", ")),
	} {
		if more != "" {
			fmt.Fprintln(w, term.OneLine(more, width))
		}
	}
	for _, said := range doc.Said {
		fmt.Fprintln(w, term.OneLine(string(said.Kind)+" "+SaidLine(said), width))
	}
	if doc.Client != nil && doc.Client.Missing != "" {
		fmt.Fprintln(w, term.OneLine("its client does not count as a person's: "+doc.Client.Missing, width))
	}
	if doc.Stopped != nil {
		fmt.Fprintln(w, p.Colour("31;1", term.OneLine("stopped by "+doc.Stopped.By+term.After(": ", doc.Stopped.Reason), width)))
	}
}

// printEntry writes an entry as a line, with its details below.
func printEntry(w io.Writer, p term.Paint, width int, m *timeline.Entry) {
	word := p.Verdict(term.Pad(m.Label(), 9))
	begin := fmt.Sprintf("%9s %s %s ", sinceStart(m.After), term.Pad(m.ID, 13), term.Pad(term.OneLine(m.Who(), 12), 6))
	end := term.Pad(string(m.Outcome), 8) + m.Text()
	fmt.Fprintf(w, "%s%s%s\n", p.Faint(begin), word, term.OneLine(end, width-len([]rune(begin))-9))
	const indent = "          "
	for _, more := range m.Details() {
		fmt.Fprintf(w, "%s%s\n", indent, p.Colour(more.Colour, term.OneLine(more.Text, width-len(indent))))
	}
}

// sinceStart formats a time since the session began as hours, minutes, seconds.
func sinceStart(ms int64) string {
	s := max(ms, 0) / 1000
	return fmt.Sprintf("+%d:%02d:%02d", s/3600, s/60%60, s%60)
}
