package auditcmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles/kept"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

func auditReplayCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "replay [ID…]",
		Short:   "Recompute every decision from the log and check that it reproduces byte for byte",
		Example: "  reviewer audit replay\n  reviewer audit replay last -f json",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, sessions, err := a.Chosen(args)
			if err != nil {
				return err
			}
			a.NoteMissingHome()
			report, err := simulate.Replay(cmd.Context(), cli.RecordsOf(store, sessions), PoliciesOf(cmd.Context(), store), cli.Environment())
			if err != nil {
				return err
			}
			if err := out.Write(a.Stdout, func(w io.Writer) error { return printReplay(a, w, &out, report) }); err != nil {
				return err
			}
			if err := report.Err(); err != nil {
				return &cli.ExitError{Code: cli.ExitFindings, Err: err}
			}
			return nil
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

// PoliciesOf finds policies in the store by their digest, each compiled once.
func PoliciesOf(ctx context.Context, store *audit.Store) func(string) (*review.Policy, error) {
	policies := kept.Store{Dir: filepath.Join(store.Dir, "policies")}
	compiled := map[string]*review.Policy{}
	return func(digest string) (*review.Policy, error) {
		if p := compiled[digest]; p != nil {
			return p, nil
		}
		e, err := policies.Get(digest)
		if err != nil {
			return nil, err
		}
		p, err := wiring.Compile(ctx, e)
		if err == nil {
			compiled[digest] = p
		}
		return p, err
	}
}

func printReplay(a *cli.App, w io.Writer, out *term.Output, r simulate.Report) error {
	if out.Format == "json" {
		return term.WriteDocument(w, r)
	}
	p := a.Paint(out)
	fmt.Fprintf(w, "%s, %s: %d reproduced",
		engine.Counted(r.Records, "record", "records"), engine.Counted(r.Decisions, "decision", "decisions"), r.Same)
	for _, n := range []struct {
		count int64
		what  string
	}{{r.Different, "differ"}, {r.Incomparable, "were made in another environment"}, {r.Degraded, "denials without a decision"},
		{r.Keyframes, "states compared"}} {
		if n.count > 0 {
			fmt.Fprintf(w, ", %d %s", n.count, n.what)
		}
	}
	fmt.Fprintln(w)
	for _, digest := range slices.Sorted(maps.Keys(r.Missing)) {
		fmt.Fprintf(w, "%s %s cannot be recomputed: %s\n", p.Verdict("fail"),
			engine.Counted(r.Missing[digest], "decision", "decisions"), r.Why[digest])
	}
	if r.First != nil {
		fmt.Fprintf(w, "%s %s\n", p.Verdict("fail"), r.First)
	}
	return nil
}
