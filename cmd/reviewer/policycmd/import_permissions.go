package policycmd

import (
	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/bundles/permissions"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/spf13/cobra"
)

func importPermissionsCommand(a *cli.App) *cobra.Command {
	i := &importing{origin: "Claude Code's permissions", read: func(file string, raw []byte, read foreign.Reader) (*foreign.Policy, error) {
		return permissions.Import(file, raw, wiring.Personal(file), read)
	}}
	cmd := &cobra.Command{
		Use:   "claude-permissions FILE",
		Short: "Convert the permission rules of Claude Code's settings into an access list",
		Long: "Reads a settings file of Claude Code, or only its permissions (- is standard input).\n" +
			"The list matches the calls that the client's own rules match. Calls that match no\n" +
			"rule are left to the agent's own prompts: set the list's default to deny to hold\n" +
			"them up. Rules that cannot be converted exactly are left out and kept as comments;\n" +
			"the exit code is then 2.",
		Example: "  reviewer policy import claude-permissions .claude/settings.json -o access/claude.yaml",
		Args:    cli.Needs(cli.Argument{Name: "FILE", What: "a settings file of the client, such as .claude/settings.json"}),
		RunE:    func(_ *cobra.Command, args []string) error { return importPolicy(a, args[0], i) },
	}
	i.flags(cmd)
	return cmd
}
