package auditcmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/spf13/cobra"
)

func auditReconcileCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:   "reconcile TRANSCRIPT…",
		Short: "Find calls that ran without a review: the only way to see that hooks were off",
		Args:  cobra.MinimumNArgs(1),
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
			list := []harness.Reconciliation{}
			for _, t := range harness.Merge(transcripts) {
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
			return doubts(list)
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

func reconcile(store *audit.Store, t harness.Transcript) (harness.Reconciliation, error) {
	logged := map[string]harness.LoggedCall{}
	key := engine.SessionKey{Harness: t.Harness, Session: t.Session}
	for r, err := range store.Records(key, 0) {
		if err != nil {
			return harness.Reconciliation{}, fmt.Errorf("read session %s: %w", t.Session, err)
		}
		if r.Kind == engine.KindPre {
			logged[r.Call] = harness.LoggedCall{ID: r.ID(), Answer: engine.AnswerOf(r).Effect}
		}
	}
	return harness.Reconcile(t, func(_, call string) (harness.LoggedCall, bool) {
		c, ok := logged[call]
		return c, ok
	}), nil
}

func printReconciliation(a *cli.App, w io.Writer, out *term.Output, list []harness.Reconciliation) error {
	if out.Format == "json" {
		return term.WriteJSON(w, list)
	}
	p := a.Paint(out)
	for _, r := range list {
		fmt.Fprintf(w, "session %s: %d calls, %d of them reviewed\n", r.Session, r.Calls, r.Reviewed)
		for _, d := range r.Unreviewed {
			fmt.Fprintf(w, "  %s not reviewed: %s %s (%s)\n", p.Verdict("fail"), d.Tool, d.Call, d.Outcome)
		}
		for _, d := range r.RanDenied {
			fmt.Fprintf(w, "  %s ran although %s denied it: %s %s\n", p.Verdict("fail"), d.Record, d.Tool, d.Call)
		}
	}
	return nil
}

func doubts(list []harness.Reconciliation) error {
	var unreviewed, ran int
	for _, r := range list {
		unreviewed, ran = unreviewed+len(r.Unreviewed), ran+len(r.RanDenied)
	}
	if unreviewed+ran == 0 {
		return nil
	}
	return cli.Findings("%d calls were not reviewed and %d ran although they were denied: hooks were off or failed; run `reviewer doctor`",
		unreviewed, ran)
}
