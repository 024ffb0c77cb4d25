package auditcmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/transcript"
	"github.com/spf13/cobra"
)

func auditReconcileCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "reconcile TRANSCRIPT…",
		Short:   "Find calls that ran without a review, for example because hooks were disabled",
		Example: "  reviewer audit reconcile ~/.claude/projects",
		Args:    cli.AtLeast(cli.Argument{Name: "FILE", What: "transcripts of the client, or folders of them, such as ~/.claude/projects"}),
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
				r, err := reconcile(store, t)
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

func reconcile(store *audit.Store, t transcript.Transcript) (transcript.Reconciliation, error) {
	logged := map[string]transcript.LoggedCall{}
	key := engine.SessionKey{Harness: t.Harness, Session: t.Session}
	for r, err := range store.Records(key, 0) {
		if err != nil {
			return transcript.Reconciliation{}, fmt.Errorf("read session %s: %w", t.Session, err)
		}
		if r.Kind == engine.KindPre {
			logged[r.Call] = transcript.LoggedCall{ID: r.ID(), Answer: engine.AnswerOf(r).Effect}
		}
	}
	return transcript.Reconcile(t, func(_, call string) (transcript.LoggedCall, bool) {
		c, ok := logged[call]
		return c, ok
	}), nil
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
