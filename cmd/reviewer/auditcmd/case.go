package auditcmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
		Use:   "case ID",
		Short: "Cut a case for `policy test` out of the log: the session up to one decision",
		Long: "ID is a record's id as `reviewer denials` lists it, a session's id, or last. The case holds\n" +
			"what happened in the session up to that record, and expects what was decided.\n\n" +
			"The log does not hold everything: texts that were written, outputs and prompts are\n" +
			"not in it, and secrets are replaced. The case says what is missing. It is run\n" +
			"against the policy that decided; where it comes out otherwise, that is said, and\n" +
			"the case is marked todo.",
		Example: "  reviewer audit case f8dc9b3b-37 -o policy/cases/found/found.yaml\n" +
			"  reviewer policy test policy/cases/found",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := cutCase(cmd.Context(), a, args[0], name, policy)
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
	cmd.Flags().StringVar(&name, "name", "", "name of the case (default: what is called)")
	cmd.Flags().StringVar(&policy, "policy", "", "folder of the policy to run it against (default: the one that decided)")
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
	x, err := cases.Cut(name, home, records, rec.N)
	if err != nil {
		return nil, err
	}
	e, err := explaincmd.PolicyOf(a, store, rec, policy)
	if err != nil {
		return nil, err
	}
	if x.Case.Todo, err = whetherItHolds(ctx, a, x, e); err != nil {
		return nil, err
	}
	return cases.Write(aboutCase(rec, x), x.Case)
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

// aboutCase says above a case where it is from, and what it lacks.
func aboutCase(rec *engine.Record, x cases.Excerpt) []string {
	lines := []string{fmt.Sprintf("Cut out of the log: record %s, %s UTC.", rec.ID(), UTC(rec.T))}
	if len(x.Lost) > 0 {
		lines = append(lines, "Not recorded, and so not here: "+strings.Join(x.Lost, "; ")+".")
	}
	return lines
}

// whetherItHolds runs the case against a policy, and says why it does not hold;
// empty: it does.
func whetherItHolds(ctx context.Context, a *cli.App, x cases.Excerpt, e *bundles.Effective) (string, error) {
	why, err := FailsOn(ctx, trial.NewRunner(cli.Environment(), e.Layers...), x)
	if err != nil || why == "" {
		return "", err
	}
	fmt.Fprintf(a.Stderr,
		"reviewer: the case does not come out as it was decided (%s), since not everything was recorded; it is marked todo\n", why)
	return "not everything was recorded: " + why, nil
}

// FailsOn runs a case as a file would hold it, and says what comes out
// otherwise; empty: nothing.
func FailsOn(ctx context.Context, runner *trial.Runner, x cases.Excerpt) (string, error) {
	text, err := cases.Write(nil, x.Case)
	if err != nil {
		return "", err
	}
	list, err := cases.Parse("case.yaml", text)
	if err != nil {
		return "", fmt.Errorf("the case that was cut out cannot be read (please report this): %w", err)
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

// UTC is a moment as it is written in documents that others read.
func UTC(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05") }
