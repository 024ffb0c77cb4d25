package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

// DiffCommand is policy diff.
func DiffCommand(a *cli.App) *cobra.Command {
	var exitCode bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Compare the meaning of two policies, and show what is tightened or loosened",
		Long: "Compares rules, patterns, settings, access lists, detectors, Rego and manifests, not files:\n" +
			"comments, formatting and file names are ignored. BEFORE and AFTER are each\n" + active.RefForms + ".\n\n" +
			"Each change is marked with its effect: tightened, loosened, mixed (some of each), undecided\n" +
			"(only a simulation can show it) or none (texts for people). The effect is\n" +
			"derived from the order of settings, verdicts and effects, and never guessed.",
		Example: "  reviewer policy diff default active\n  reviewer policy diff git:main:policy policy --exit-code\n  reviewer policy diff shop-1.3.0.tar.gz shop-1.4.0.tar.gz -f github\n  reviewer policy diff git:v1.3:policy policy -f changelog",
		Args: cli.Needs(cli.Argument{Name: "BEFORE", What: "the earlier policy: " + active.RefForms},
			cli.Argument{Name: "AFTER", What: "the later policy: " + active.RefForms}),
		RunE: func(cmd *cobra.Command, args []string) error {
			changes, err := policyDiff(cmd.Context(), a, args[0], args[1])
			if err != nil {
				return err
			}
			write := func(w io.Writer, o *term.Output) error { return showDiff(a, w, o, args, changes) }
			err = errors.Join(out.Write(a.Stdout, func(w io.Writer) error { return write(w, &out) }),
				a.Summary(&term.Outputs{List: []term.Output{out}}, write))
			if err == nil && exitCode && !changes.Empty() {
				err = &cli.ExitError{Code: cli.ExitFindings}
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 2 if the policies differ in meaning")
	out.Flags(cmd, "text", "json", "github", "changelog")
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
		return term.WriteDocument(w, c)
	case "github":
		return diffGitHub(w, refs, c)
	case "changelog":
		return diffChangelog(w, c)
	}
	DiffText(w, a.Paint(out), refs, c)
	return nil
}

// DiffSummary counts changes in a sentence.
func DiffSummary(c diff.Changes) string {
	switch {
	case !c.Empty():
	case c.Before.Digest == c.After.Digest:
		return "no difference: the policies are the same"
	default:
		return "no difference in meaning: only comments, formatting or file names differ"
	}
	text, sep := term.Counted(len(c.List), "change", "changes"), ": "
	for _, n := range []struct {
		count int
		word  string
	}{
		{c.Counts.Loosened, "loosened"}, {c.Counts.Mixed, "mixed"}, {c.Counts.Tightened, "tightened"},
		{c.Counts.Undecided, "undecided"}, {c.Counts.Unaffected, "without effect on decisions"},
	} {
		if n.count > 0 {
			text += fmt.Sprintf("%s%d %s", sep, n.count, n.word)
			sep = ", "
		}
	}
	return text
}
