package policycmd

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/skeleton"
	"github.com/spf13/cobra"
)

func policyNewRuleCommand(a *cli.App) *cobra.Command {
	var dir string
	var inRego, inCEL bool
	cmd := &cobra.Command{
		Use:   "rule ID",
		Short: "Begin a rule, with a case in which it speaks and one in which it does not",
		Long: "ID is words joined by . _ or -, such as shop.kubectl. The part before the first\n" +
			"dot names the folder: rules/shop/shop.yaml and cases/shop/shop.yaml.\n\n" +
			"--cel writes a row with a condition, for what looks at the call alone. --rego\n" +
			"writes a module and its test beside the row, for what has to weigh.",
		Example: "  reviewer policy new rule shop.kubectl --in policy\n" +
			"  reviewer policy new rule shop.weekend --rego --in policy",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := openPolicy(dir)
			if err != nil {
				return err
			}
			r := skeleton.Rule{ID: args[0], Layer: u.layer, Rego: inRego}
			if err := u.newID(r.ID); err != nil {
				return err
			}
			list, err := r.Files()
			if err != nil {
				return err
			}
			if err := u.add(list); err != nil {
				return err
			}
			return finish(cmd.Context(), a, u, fmt.Sprintf("reviewer policy test %s --run '%s|%s'", dir, skeleton.CasesFile(r.ID), r.Name()))
		},
	}
	cmd.Flags().StringVar(&dir, "in", ".", "folder of the policy")
	cmd.Flags().BoolVar(&inRego, "rego", false, "the condition is a module in Rego")
	cmd.Flags().BoolVar(&inCEL, "cel", false, "the condition is one expression in CEL (the default)")
	cmd.MarkFlagsMutuallyExclusive("rego", "cel")
	return cmd
}
