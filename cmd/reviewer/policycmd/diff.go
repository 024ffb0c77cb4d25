package policycmd

import (
	"context"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

func policyDiffCommand(a *cli.App) *cobra.Command {
	var exitCode bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Show what differs between two policies in what they mean, and what is tightened or loosened",
		Long: "Compares rules, patterns, settings, access lists, detectors, Rego and manifests, not files:\n" +
			"comments, form and the names of files do not count. BEFORE and AFTER are each\n" + here.RefForms + ".\n\n" +
			"Beside each change stands what it does by itself: tightened, loosened, mixed (one part this,\n" +
			"another that), undecided (only a simulation tells) or none (words for people). It is read off\n" +
			"the order that settings, verdicts and effects have, and never guessed.",
		Example: "  reviewer policy diff default active\n  reviewer policy diff git:main:policy policy --exit-code\n  reviewer policy diff shop-1.3.0.tar.gz shop-1.4.0.tar.gz -f github",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := policyDiff(cmd.Context(), a, args[0], args[1])
			if err != nil {
				return err
			}
			err = out.Write(a.Stdout, func(w io.Writer) error { return showDiff(a, w, &out, args, changes) })
			if err == nil && exitCode && !changes.Empty() {
				err = &cli.ExitError{Code: cli.ExitFindings}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 2 where the policies differ in what they mean")
	out.Flags(cmd, "text", "json", "github")
	return cmd
}

// policyDiff compares the policies that two references name.
func policyDiff(ctx context.Context, a *cli.App, before, after string) (diff.Changes, error) {
	first, err := a.PolicyRef(ctx, before)
	if err != nil {
		return diff.Changes{}, err
	}
	second, err := a.PolicyRef(ctx, after)
	if err != nil {
		return diff.Changes{}, err
	}
	return diff.Policies(first, second, rego.Differences)
}

func showDiff(a *cli.App, w io.Writer, out *term.Output, refs []string, c diff.Changes) error {
	switch out.Format {
	case "json":
		return term.WriteJSON(w, c)
	case "github":
		return diffGitHub(w, refs, c)
	}
	DiffText(w, a.Paint(out), refs, c)
	return nil
}

// DiffSummary counts changes in a sentence.
func DiffSummary(c diff.Changes) string {
	switch {
	case !c.Empty():
	case c.Before.Digest == c.After.Digest:
		return "no difference: it is the same policy"
	default:
		return "no difference in what they mean: only comments, form or names of files differ"
	}
	text, sep := term.Counted(len(c.List), "change", "changes"), ": "
	for _, n := range []struct {
		count int
		word  string
	}{
		{c.Counts.Loosened, "loosened"}, {c.Counts.Mixed, "mixed"}, {c.Counts.Tightened, "tightened"},
		{c.Counts.Undecided, "undecided"}, {c.Counts.Unaffected, "that decide nothing"},
	} {
		if n.count > 0 {
			text += fmt.Sprintf("%s%d %s", sep, n.count, n.word)
			sep = ", "
		}
	}
	return text
}
