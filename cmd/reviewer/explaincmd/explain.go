package explaincmd

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// toExplain is the command line of `policy explain`.
type toExplain struct {
	event
	out term.Output
	all bool
}

// PolicyCommand is `reviewer policy explain`.
func PolicyCommand(a *cli.App) *cobra.Command {
	var t toExplain
	cmd := &cobra.Command{
		Use:   "explain [EVENT]",
		Short: "Explain a decision in full, including near misses",
		Long: "EVENT is a file with a hook input of Claude Code or an event of reviewer, - for\n" +
			"standard input, or the id of a record of the log. If there are several events, the\n" +
			"last one is explained; the others are its history. --bash COMMAND stands for\n" +
			"an event with that shell command, and --tool NAME --args JSON for a call of any tool.\n\n" +
			"The explanation shows what the call means, which conditions are true, which rules fired,\n" +
			"and which narrowly missed: for a CEL condition the part that was false, for a Rego\n" +
			"rule the line where evaluation stopped, each with its values. The scores follow:\n" +
			"their components, the layer that sets each number, and the distance to the next level.\n\n" +
			"`reviewer audit why` shows a decision as it was recorded; this command evaluates the\n" +
			"policy again, and also explains calls that were never made.",
		Example: "  reviewer policy explain --bash 'rm -rf data' --policy ./policy\n" +
			"  reviewer policy explain --tool Write --args '{\"file_path\": \"db/schema.sql\", \"content\": \"\"}'\n" +
			"  reviewer policy explain f8dc9b3b-37\n" +
			"  reviewer policy explain --bash 'make deploy' --now 2026-01-31T23:30",
		Args: cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := t.decide(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			x, err := explanationOf(cmd.Context(), a, d, &t)
			if err != nil {
				return err
			}
			return t.out.Write(a.Stdout, func(w io.Writer) error {
				if t.out.Format == "json" {
					return term.WriteDocument(w, x)
				}
				page{w, a.Paint(&t.out), t.all, cmp.Or(a.Columns(&t.out), pageWidth)}.print(x)
				return nil
			})
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVarP(&t.all, "all", "a", false, "list every rule that was evaluated, not only near misses")
	t.out.Flags(cmd, "text", "json")
	return cmd
}

// WriteExplanation writes how a record of the log was decided, as `reviewer policy explain` does without a terminal.
func WriteExplanation(ctx context.Context, a *cli.App, w io.Writer, id string) error {
	var t toExplain
	d, err := t.decideRecord(ctx, a, id)
	if err != nil {
		return err
	}
	x, err := explanationOf(ctx, a, d, &t)
	if err != nil {
		return err
	}
	page{w: w, width: explainedWidth}.print(x)
	return nil
}

// explainedWidth is the width of an explanation that no terminal shows.
const explainedWidth = 110

// verdictOf returns the word of a matrix cell; empty: there is none.
func verdictOf(settings map[string]any, risk, rationality string) string {
	matrix, _ := settings["matrix"].(map[string]any)
	row, _ := matrix[risk].(map[string]any)
	word, _ := row[rationality].(string)
	return word
}

// sortedTexts converts words to strings and sorts them.
func sortedTexts[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	slices.Sort(out)
	return out
}
