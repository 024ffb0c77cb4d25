package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

func (a *app) auditReplayCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "replay [ID…]",
		Short: "Decide everything again from the log: does each decision come out byte for byte?",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, sessions, err := a.chosen(args)
			if err != nil {
				return err
			}
			report, err := simulate.Replay(cmd.Context(), recordsOf(store, sessions), policiesOf(cmd.Context(), store), environment())
			if err != nil {
				return err
			}
			if err := out.write(a.stdout, func(w io.Writer) error { return a.printReplay(w, &out, report) }); err != nil {
				return err
			}
			if err := report.Err(); err != nil {
				return &exitError{exitFindings, err}
			}
			return nil
		},
	}
	out.flags(cmd, "text", "json")
	return cmd
}

// policiesOf finds policies in the store by their digest, each compiled once.
func policiesOf(ctx context.Context, store *audit.Store) func(string) (*engine.Policy, error) {
	kept := bundles.Store{Dir: filepath.Join(store.Dir, "policies")}
	compiled := map[string]*engine.Policy{}
	return func(digest string) (*engine.Policy, error) {
		if p := compiled[digest]; p != nil {
			return p, nil
		}
		e, err := kept.Get(digest)
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

func (a *app) printReplay(w io.Writer, out *output, r simulate.Report) error {
	if out.format == "json" {
		return writeJSON(w, r)
	}
	p := a.paint(out)
	fmt.Fprintf(w, "%d records, %d decisions: %d come out the same", r.Records, r.Decisions, r.Same)
	for _, n := range []struct {
		count int64
		what  string
	}{{r.Different, "differ"}, {r.Incomparable, "were made in another environment"}, {r.Degraded, "denials without a decision"}, {r.Keyframes, "states compared"}} {
		if n.count > 0 {
			fmt.Fprintf(w, ", %d %s", n.count, n.what)
		}
	}
	fmt.Fprintln(w)
	for _, digest := range slices.Sorted(maps.Keys(r.Missing)) {
		fmt.Fprintf(w, "%s %d decisions cannot be computed: %s\n", p.verdict("fail"), r.Missing[digest], r.Why[digest])
	}
	if r.First != nil {
		fmt.Fprintf(w, "%s %s\n", p.verdict("fail"), r.First)
	}
	return nil
}
