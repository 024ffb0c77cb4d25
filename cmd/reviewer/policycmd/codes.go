package policycmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/codes"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

func policyCodesCommand(a *cli.App) *cobra.Command {
	var out term.Outputs
	cmd := &cobra.Command{
		Use:   "codes [CODE]",
		Short: "List the codes of findings, or describe one",
		Long: "Each finding of `reviewer policy check` has a code, such as rule.lapses. With a CODE,\n" +
			"this prints what it means, why it matters, how to fix it and how to ignore a warning.\n" +
			"A comment above the row, rule or line that a warning is about accepts it, with a reason:\n" +
			"    # reviewer:ignore rule.lapses by day another list applies\n" +
			"The .manifest sets the severity of a code for a whole layer: off, warning or error:\n" +
			"    \"metadata\": {\"lint\": {\"rule.untested\": \"error\"}}\n" +
			"Errors, and warnings about ignores (ignore.*), cannot be ignored. Reports and the signed\n" +
			"statement of a release count what was ignored.",
		Example: "  reviewer policy codes\n  reviewer policy codes rule.lapses",
		Args:    cli.AtMost(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codes.Names(), cobra.ShellCompDirectiveNoFileComp // each command would wait for the names
		},
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := codesAsked(args)
			if err != nil {
				return err
			}
			if err := out.Read(); err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer, o *term.Output) error {
				switch {
				case o.Format == "json":
					return term.WriteList(w, "codes", list)
				case len(args) == 1:
					return printCode(w, list[0])
				}
				return printCodes(w, list)
			})
		},
	}
	out.Flags(cmd, "text", "json")
	return cmd
}

func codesAsked(args []string) ([]codes.Code, error) {
	if len(args) == 0 {
		return codes.All(), nil
	}
	c, known := codes.Of(args[0])
	if !known {
		near := engine.Nearest(args[0], codes.Names())
		if near != "" {
			return nil, cli.Usage("no finding has the code %q; did you mean %q?", args[0], near)
		}
		return nil, cli.Usage("no finding has the code %q; `reviewer policy codes` lists them", args[0])
	}
	return []codes.Code{c}, nil
}

func printCodes(w io.Writer, list []codes.Code) error {
	for _, c := range list {
		if _, err := fmt.Fprintf(w, "%s %s %s\n", term.Pad(c.Code, 18), term.Pad(c.Level, 8), c.Title); err != nil {
			return err
		}
	}
	return nil
}

func printCode(w io.Writer, c codes.Code) error {
	lines := []string{c.Code + ": " + c.Title, ""}
	for line := range strings.Lines(c.Help()) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "    ") {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, term.Wrap(line, 80)...)
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}
