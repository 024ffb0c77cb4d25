package auditcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/transcript"
	"github.com/spf13/cobra"
)

func auditReconcileCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "reconcile TRANSCRIPT…",
		Short: "Find calls that ran without a review, for example because hooks were disabled",
		Long: "Compares the calls in transcripts with those in the log, by the ids of calls. Gemini CLI, Copilot\n" +
			"CLI and droid give hooks no ids: there, a call is matched with the earliest one in the log that\n" +
			"has the same tool and arguments and is not yet matched. A call that reviewer changed is then\n" +
			"found only if the transcript has the arguments that the model wrote. Exit code 2 if a call was not reviewed.",
		Example: "  reviewer audit reconcile ~/.claude/projects",
		Args:    cli.AtLeast(cli.Argument{Name: "TRANSCRIPT", What: "transcripts of the client, or folders of them, such as ~/.claude/projects"}),
		RunE: func(_ *cobra.Command, paths []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			mac, err := store.MAC()
			if err != nil {
				return err
			}
			transcripts, sources, err := readTranscripts(a, paths, cli.Masking(mac))
			if err != nil {
				return err
			}
			list := []transcript.Reconciliation{}
			for _, t := range transcript.Merge(transcripts) {
				r, err := Reconcile(store, mac, t)
				if err != nil {
					return err
				}
				list = append(list, r)
			}
			if err := out.Write(a.Stdout, func(w io.Writer) error { return printReconciliation(a, w, &out, list) }); err != nil {
				return err
			}
			if err := reportSources(a, sources); err != nil {
				return err
			}
			return unreviewed(list)
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// Reconcile compares a transcript with the log of its session.
func Reconcile(store *audit.Store, mac func([]byte) string, t transcript.Transcript) (transcript.Reconciliation, error) {
	log := loggedCalls{mac: mac, written: t.Written, ids: map[string]transcript.LoggedCall{}, made: map[string][]transcript.LoggedCall{}}
	key := engine.SessionKey{Harness: t.Harness, Session: t.Session}
	for r, err := range store.Records(key, 0) {
		if err != nil {
			return transcript.Reconciliation{}, fmt.Errorf("read session %s: %w", t.Session, err)
		}
		if r.Kind == engine.KindPre {
			log.add(r)
		}
	}
	return transcript.Reconcile(t, log.find), nil
}

// loggedCalls are the calls of a session in the log.
type loggedCalls struct {
	mac     func([]byte) string
	written map[string]transcript.WrittenCall // the transcript's calls
	ids     map[string]transcript.LoggedCall
	made    map[string][]transcript.LoggedCall // of agents that give hooks no ids, in order
}

func (l *loggedCalls) add(r *engine.Record) {
	call := transcript.LoggedCall{ID: r.ID(), Answer: engine.AnswerOf(r).Effect}
	if r.Event != nil {
		made := history.MadeID(r.Event.Tool, r.ArgsMAC())
		if strings.HasPrefix(r.Call, made) {
			l.made[made] = append(l.made[made], call)
			return
		}
	}
	l.ids[r.Call] = call
}

// find returns the entry of a call: by its id, else the earliest one of an equal call that no other call
// has. If the agent gave no id, the log made one from the tool and the arguments.
func (l *loggedCalls) find(e engine.Event) (transcript.LoggedCall, bool) {
	if call, found := l.ids[e.Call]; found || len(l.made) == 0 {
		return call, found
	}
	written, is := l.written[e.Call]
	args, err := engine.Canonical(written.Args)
	if !is || err != nil {
		return transcript.LoggedCall{}, false
	}
	made := history.MadeID(written.Tool, l.mac(args))
	if len(l.made[made]) == 0 {
		return transcript.LoggedCall{}, false
	}
	l.ids[e.Call] = l.made[made][0] // for its parts
	l.made[made] = l.made[made][1:]
	return l.ids[e.Call], true
}

func printReconciliation(a *cli.App, w io.Writer, out *term.Output, list []transcript.Reconciliation) error {
	if out.Format == "json" {
		return term.WriteList(w, "sessions", list)
	}
	p := a.Paint(out)
	for _, r := range list {
		fmt.Fprintf(w, "session %s: %s, %d of them reviewed\n", r.Session, term.Counted(int(r.Calls), "call", "calls"), r.Reviewed)
		for _, d := range r.Unreviewed {
			fmt.Fprintf(w, "  %s not reviewed: %s %s (%s)\n", p.Verdict("fail"), d.Tool, d.Call, d.Outcome)
		}
		for _, d := range r.RanDenied {
			fmt.Fprintf(w, "  %s ran although %s denied it: %s %s\n", p.Verdict("fail"), d.Record, d.Tool, d.Call)
		}
	}
	return nil
}

func unreviewed(list []transcript.Reconciliation) error {
	var unreviewed, ran int
	for _, r := range list {
		unreviewed, ran = unreviewed+len(r.Unreviewed), ran+len(r.RanDenied)
	}
	if unreviewed+ran == 0 {
		return nil
	}
	return cli.Findings("%s not reviewed, and %d that ran although denied: hooks were off or failed; run `reviewer doctor`",
		term.Counted(unreviewed, "call was", "calls were"), ran)
}
