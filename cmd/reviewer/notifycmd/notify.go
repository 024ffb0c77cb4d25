// Package notifycmd contains the commands of `reviewer notify`, one file each: they deliver,
// list and test notifications about stops.
//
// Out of scope: how something is delivered (engine/notify) and over which channels
// (engine/notify/channel). Nothing on a hook's path imports this package's commands
// but Start, which only starts a process.
package notifycmd

import (
	"path/filepath"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/spf13/cobra"
)

// Command is `reviewer notify`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "notify",
		Short:   "Deliver, list and test notifications about stopped sessions",
		Example: "  reviewer notify test\n  reviewer notify list",
		Long: "People are notified of a stop through the channels in interventions.notification_channels. The\n" +
			"organisation and user layers can set them; a project cannot. See docs/incident-reports.md.",
	}
	return cli.Group(cmd, deliverCommand(a), listCommand(a), testCommand(a))
}

// Documents lists the output of these commands with -f json.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "notify list", Title: "notifications with their deliveries", Of: notify.Item{}, List: "notifications"},
		{Command: "notify test", Title: "result of the test of each channel", Of: tested{}, List: "channels"},
	}
}

// spoolOf is the spool of a state directory.
func spoolOf(store *audit.Store) notify.Spool {
	return notify.Spool{Dir: filepath.Join(store.Dir, "notify")}
}
