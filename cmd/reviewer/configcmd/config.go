// Package configcmd holds the commands of `reviewer config`: where each setting
// comes from, and what is wrong with settings.
//
// Not its business: what settings mean, which the policy's own rules say.
package configcmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/spf13/cobra"
)

// Command is `reviewer config`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show where each setting comes from, and check settings",
		Long: "Settings are the numbers, lists and words of the policy: the base layer's, and what the\n" +
			"settings.yaml of other layers makes of them. Exit codes: 0 fine, 1 could not run, 2 findings.",
	}
	return cli.Group(cmd, configShowCommand(a), configCheckCommand(a))
}
