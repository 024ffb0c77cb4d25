package policycmd

import (
	"github.com/agent-reviewer/reviewer/bundles/safeclaw"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

func importSafeclawCommand(a *cli.App) *cobra.Command {
	i := &importing{origin: "SafeClaw's policy", read: safeclaw.Import}
	cmd := &cobra.Command{
		Use:   "safeclaw FILE",
		Short: "Make an access list of a policy of SafeClaw",
		Long: "Reads a policy file of SafeClaw (- is standard input). The list gives the answers of\n" +
			"SafeClaw's own simulator. Where it is not known what SafeClaw makes of a rule, or\n" +
			"where that cannot be said here, the rule is read strictly: the exit code is 2, a\n" +
			"remark says what to do, and the original stands as a comment above the rule.",
		Example: "  reviewer policy import safeclaw ~/.safeclaw/policies/default.json -o access/team.yaml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return importPolicy(a, args[0], i) },
	}
	i.flags(cmd)
	return cmd
}
