// Package configcmd contains the commands of `reviewer config`: where each setting comes from,
// and which settings are invalid.
//
// Out of scope: the meaning of settings, which is up to the policy's rules.
package configcmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/settings"
	"github.com/spf13/cobra"
)

// Unusable lists the parts of merged settings that would fail when they are first used; here: the settings apply on this machine.
type Unusable func(a *cli.App, s *settings.Settings, here bool) ([]string, error)

// Command is `reviewer config`.
func Command(a *cli.App, unusable Unusable) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Example: "  reviewer config show risk\n  reviewer config check",
		Short:   "Show where each setting comes from, and check settings",
		Long: "Settings are the numbers, lists and texts of the policy: those of the built-in layer,\n" +
			"as changed by the settings.yaml of other layers. " + cli.ExitHelp(),
	}
	return cli.Group(cmd, configShowCommand(a), configCheckCommand(a, unusable))
}
