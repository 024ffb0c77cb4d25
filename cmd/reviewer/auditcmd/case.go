package auditcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/spf13/cobra"
)

func auditCaseCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var policy, name string
	cmd := &cobra.Command{
		Use:   "case [ID]",
		Short: "Extract a case for `policy test` from the log: the session up to one decision",
		Long: "ID is a record's id as `reviewer denials` lists it, a session's id, or last. The case contains\n" +
			"what happened in the session up to that record, and expects the recorded decision. If the\n" +
			"call changed files other than those its review predicted, the case expects the changed files.\n\n" +
			"The log does not contain everything: written contents, outputs and prompts are not\n" +
			"recorded, and secrets are replaced. The case lists what is missing. It is run\n" +
			"against the policy that decided; if the result differs, a message says so and\n" +
			"the case is marked todo.",
		Example: "  reviewer audit case f8dc9b3b-37 -o policy/cases/found/found.yaml\n" +
			"  reviewer policy test policy/cases/found",
		Args: cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := cutCase(cmd.Context(), a, cli.OrLast(args), name, policy)
			if err != nil {
				return err
			}
			if out.File != "" {
				if err := os.MkdirAll(filepath.Dir(out.File), 0o755); err != nil {
					return fmt.Errorf("write case: %w", err)
				}
			}
			return out.Write(a.Stdout, func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the case (default: the call)")
	cli.PolicyVar(cmd.Flags(), &policy, "policy", "", cli.PolicyFlag+"; the case is run against it (default: the one that decided)")
	out.Flags(cmd, "yaml")
	return cmd
}

func cutCase(ctx context.Context, a *cli.App, selector, name, policy string) ([]byte, error) {
	store, s, err := a.Session(selector)
	if err != nil {
		return nil, err
	}
	rec, err := a.Find(store, selector)
	if err != nil {
		return nil, err
	}
	observed, err := observedOf(store, s.Key, rec)
	if err != nil {
		return nil, err
	}
	if rec, err = callOf(store, rec); err != nil {
		return nil, err
	}
	records, err := recordsUntil(store, s.Key, rec.N)
	if err != nil {
		return nil, err
	}
	home, err := a.UserHome()
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = nameOfCase(rec)
	}
	x, err := cutExpecting(name, home, records, rec, observed)
	if err != nil {
		return nil, err
	}
	e, err := explaincmd.PolicyOf(ctx, a, store, rec, policy)
	if err != nil {
		return nil, err
	}
	if x.Case.Todo, err = failureOf(ctx, a, x, e, observed); err != nil {
		return nil, err
	}
	return cases.Write(commentOf(rec, x), x.Case)
}

// observedOf returns the observed changes of a call if they differ from the expected ones.
// rec is the record of the call, or that of the comparison.
func observedOf(store *audit.Store, key engine.SessionKey, rec *engine.Record) (*engine.Observed, error) {
	of := rec.ID()
	if rec.Act != nil && rec.Act.Observed != nil {
		of = rec.Act.Of
	}
	for r, err := range store.Records(key, 0) {
		if err != nil {
			return nil, err
		}
		if r.Act != nil && r.Act.Of == of && r.Act.Observed != nil && r.Act.Observed.Differs() {
			return r.Act.Observed, nil
		}
	}
	return nil, nil
}

// callOf returns the record of the call that an act is about.
func callOf(store *audit.Store, rec *engine.Record) (*engine.Record, error) {
	if rec.Act.OfFiles() && rec.Act.Of != "" {
		return store.Find(rec.Act.Of)
	}
	return rec, nil
}

// cutExpecting cuts a case that expects the recorded decision and the observed changes of the
// call.
func cutExpecting(name, home string, records []*engine.Record, rec *engine.Record, o *engine.Observed) (cases.Excerpt, error) {
	if o == nil || rec.Decision == nil || rec.Action == nil {
		return cases.Cut(name, home, records, rec.N)
	}
	expect := cases.Expect{Decision: rec.Decision.Decision, RulesExactly: rec.Decision.RuleIDs(), NotChanges: o.Absent}
	for _, p := range append(cases.Changes(rec.Action), o.Unexpected...) {
		if !slices.Contains(o.Absent, p) && !slices.Contains(expect.Changes, p) && !strings.Contains(p, "…") {
			expect.Changes = append(expect.Changes, p)
		}
	}
	return cases.CutExpecting(name, home, records, rec.N, expect)
}

func nameOfCase(rec *engine.Record) string {
	what := rec.ID()
	if rec.Action != nil && rec.Action.Resource != "" {
		what = rec.Action.Resource
	}
	return term.OneLine(what, 60)
}

func recordsUntil(store *audit.Store, key engine.SessionKey, n int64) ([]*engine.Record, error) {
	var list []*engine.Record
	for r, err := range store.Records(key, 0) {
		if err != nil {
			return nil, err
		}
		if r.N > n {
			break
		}
		list = append(list, r)
	}
	return list, nil
}

// commentOf returns the comment above a case: its origin, and what it lacks.
func commentOf(rec *engine.Record, x cases.Excerpt) []string {
	lines := []string{fmt.Sprintf("Extracted from the log: record %s, %s UTC.", rec.ID(), UTC(rec.T))}
	if len(x.Lost) > 0 {
		lines = append(lines, "Not recorded, so missing here: "+strings.Join(x.Lost, "; ")+".")
	}
	return lines
}

// failureOf runs the case against a policy, and returns why it fails; empty if
// it passes.
func failureOf(ctx context.Context, a *cli.App, x cases.Excerpt, e *bundles.Effective, o *engine.Observed) (string, error) {
	why, err := Differences(ctx, trial.NewRunner(cli.Environment(), e.Layers...), x)
	if err != nil || why == "" {
		return "", err
	}
	if o != nil {
		fmt.Fprintf(a.Stderr, "reviewer: the call changed files other than expected (%s); the case is marked todo\n", why)
		return "the call changed files other than expected: " + why, nil
	}
	fmt.Fprintf(a.Stderr,
		"reviewer: the case does not reproduce the decision (%s), since not everything was recorded; it is marked todo\n", why)
	return "not everything was recorded: " + why, nil
}

// Differences runs a case as if it were in a file, and returns the differences; empty if there are
// none.
func Differences(ctx context.Context, runner *trial.Runner, x cases.Excerpt) (string, error) {
	text, err := cases.Write(nil, x.Case)
	if err != nil {
		return "", err
	}
	list, err := cases.Parse("case.yaml", text)
	if err != nil {
		return "", fmt.Errorf("the extracted case cannot be read (please report this): %w", err)
	}
	result, err := runner.Run(ctx, list[0])
	if err != nil || len(result.Failures) == 0 {
		return "", err
	}
	f := result.Failures[len(result.Failures)-1]
	var differ []string
	for _, d := range f.Differ {
		differ = append(differ, d.String())
	}
	return strings.TrimSuffix(strings.Join(append(differ, f.Wrong), "; "), "; "), nil
}

// UTC formats a time for documents that others read.
func UTC(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05") }
