package policycmd

import (
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/skeleton"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyNewRuleCommand(a *cli.App) *cobra.Command {
	var dir string
	var inRego, inCEL bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "rule ID",
		Short: "Scaffold a rule, with a case in which it fires and one in which it does not",
		Long: "ID is words joined by . _ or -, such as shop.kubectl. The part before the first\n" +
			"dot names the folder: rules/shop/shop.yaml and cases/shop/shop.yaml.\n\n" +
			"--cel writes a row with a condition, for rules about the call alone. --rego writes\n" +
			"a module and its test in addition to the row, for rules that need more logic.",
		Example: "  reviewer policy new rule shop.kubectl --in policy\n" +
			"  reviewer policy new rule shop.weekend --rego --in policy",
		Args: cli.Needs(cli.Argument{Name: "ID", What: "words joined by . _ or -, such as shop.kubectl"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := openPolicy(&dir)
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
			return finish(cmd.Context(), a, &out, u, fmt.Sprintf("reviewer policy test %s --run '%s|%s'", dir, skeleton.CasesFile(r.ID), r.Name()))
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&dir, "in", "", "policy folder (default: the current one, else ./"+usualPolicy+")")
	cmd.Flags().BoolVar(&inRego, "rego", false, "write the condition as a Rego module")
	cmd.Flags().BoolVar(&inCEL, "cel", false, "write the condition as one CEL expression (the default)")
	cmd.MarkFlagsMutuallyExclusive("rego", "cel")
	return cmd
}
