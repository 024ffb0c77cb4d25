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
		Short: "Make an access list of the permission rules of Claude Code's settings",
		Long: "Reads a settings file of Claude Code, or its permissions alone (- is standard input).\n" +
			"Rules that deny or ask may match more calls than the original, rules that allow\n" +
			"never do. What none of them matches stays with the agent's own prompt: set the\n" +
			"list's default to deny to hold it up. Rules that deny or ask and cannot be carried\n" +
			"over stand as comments; the exit code is then 2.",
		Example: "  reviewer policy import claude-permissions .claude/settings.json -o access/claude.yaml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return importPolicy(a, args[0], i) },
	}
	i.flags(cmd)
	return cmd
}
