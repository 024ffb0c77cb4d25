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
		Short: "Convert a SafeClaw policy into an access list",
		Long: "Reads a policy file of SafeClaw (- is standard input). The list gives the answers of\n" +
			"SafeClaw's own simulator. If SafeClaw's handling of a rule is unknown, or cannot be\n" +
			"expressed here, the rule is left out: the exit code is 2, a message describes what to do,\n" +
			"and the original is kept as a comment.",
		Example: "  reviewer policy import safeclaw ~/.safeclaw/policies/default.json -o access/team.yaml",
		Args:    cli.Needs(cli.Argument{Name: "FILE", What: "the other tool's file"}),
		RunE:    func(_ *cobra.Command, args []string) error { return importPolicy(a, args[0], i) },
	}
	i.flags(cmd)
	return cmd
}
