package policycmd

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/skeleton"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyNewPatternCommand(a *cli.App) *cobra.Command {
	var dir string
	var out term.Output
	cmd := &cobra.Command{
		Use:   "pattern ID",
		Short: "Scaffold a pattern: a rule with a measure, a threshold and levels",
		Long: "A pattern measures something over the history of a session. At its threshold it\n" +
			"becomes a finding, whose level raises the risk of the call; rules can refer to it.",
		Example: "  reviewer policy new pattern shop.flailing --in policy",
		Args:    cli.Needs(cli.Argument{Name: "ID", What: "words joined by . _ or -, such as shop.flailing"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := openPolicy(&dir)
			if err != nil {
				return err
			}
			p := skeleton.Pattern{Rule: skeleton.Rule{ID: args[0], Layer: u.layer}}
			if err := u.newID(p.ID); err != nil {
				return err
			}
			list, err := p.Files()
			if err != nil {
				return err
			}
			if err := u.add(list); err != nil {
				return err
			}
			return finish(cmd.Context(), a, &out, u, fmt.Sprintf("reviewer policy test %s --run %s", dir, skeleton.CasesFile(p.ID)))
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&dir, "in", "", "policy folder (default: the current one, else ./"+usualPolicy+")")
	return cmd
}
