package policycmd

import (
	"github.com/agent-reviewer/reviewer/bundles/permissions"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

func importPermissionsCommand(a *cli.App) *cobra.Command {
	i := &importing{origin: "Claude Code's permissions", read: permissions.Import}
	cmd := &cobra.Command{
		Use:   "claude-permissions FILE",
		Short: "Convert the permission rules of Claude Code's settings into an access list",
		Long: "Reads a settings file of Claude Code, or only its permissions (- is standard input).\n" +
			"Rules that deny or ask may match more calls than the original; rules that allow\n" +
			"never do. Calls that match no rule are left to the agent's own prompts: set the\n" +
			"list's default to deny to hold them up. Rules that deny or ask and cannot be\n" +
			"converted are kept as comments; the exit code is then 2.",
		Example: "  reviewer policy import claude-permissions .claude/settings.json -o access/claude.yaml",
		Args:    cli.Needs(cli.Argument{Name: "FILE", What: "a settings file of the client, such as .claude/settings.json"}),
		RunE:    func(_ *cobra.Command, args []string) error { return importPolicy(a, args[0], i) },
	}
	i.flags(cmd)
	return cmd
}
