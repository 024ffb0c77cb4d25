package policycmd

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/skeleton"
	"github.com/spf13/cobra"
)

func policyNewPatternCommand(a *cli.App) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "pattern ID",
		Short: "Begin a pattern: a rule that measures, with a threshold and levels",
		Long: "A pattern measures something over the history of a session. From its threshold on\n" +
			"it is a finding, whose level raises the risk of the call; rules may ask for it.",
		Example: "  reviewer policy new pattern shop.flailing --in policy",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := openPolicy(dir)
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
			return finish(cmd.Context(), a, u, fmt.Sprintf("reviewer policy test %s --run %s", dir, skeleton.CasesFile(p.ID)))
		},
	}
	cmd.Flags().StringVar(&dir, "in", ".", "folder of the policy")
	return cmd
}
