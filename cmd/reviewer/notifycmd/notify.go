// Package notifycmd contains the commands of `reviewer notify`, one file each: they deliver,
// list and test notifications about stops and requests for approval.
//
// Out of scope: how something is delivered (engine/notify) and through which channels
// (engine/notify/channel). In a hook, this package only writes to the spool and
// starts processes; it delivers nothing.
package notifycmd

import (
	"fmt"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/notify/channel"
	"github.com/agent-reviewer/reviewer/engine/settings"
	"github.com/spf13/cobra"
)

// Command is `reviewer notify`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "notify",
		Short:   "Deliver, list and test notifications about stops and approvals",
		Example: "  reviewer notify test\n  reviewer notify list",
		Long: "People are notified of a stop, and of an action that waits for approval, through the channels in\n" +
			"interventions.notification_channels. The organisation and user layers can set them; a project cannot.\n" +
			"See docs/notifications.md.",
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

// Problem is something about a channel that a person should change.
type Problem = channel.Problem

// ChannelProblems finds what keeps the channels of a state directory from being used. Nothing is sent.
func ChannelProblems(a *cli.App, store *audit.Store) ([]Problem, error) {
	to, err := configuration(a, store.Dir)
	return to.problems, err
}

// UnusableChannels lists what keeps the channels of merged settings from being used. On machines other than the one
// where the settings apply, files and variables with secrets may be missing: here reports whether that counts.
func UnusableChannels(a *cli.App, s *settings.Settings, here bool) ([]string, error) {
	to, err := configurationOf(a, s)
	var list []string
	for _, p := range to.problems {
		if p.Broken && (here || !p.Absent) {
			list = append(list, fmt.Sprintf("interventions.notification_channels: channel %s: %s", p.Channel, p.Text))
		}
	}
	return list, err
}

// spoolOf is the spool of a state directory.
func spoolOf(store *audit.Store) notify.Spool {
	return notify.Spool{Dir: filepath.Join(store.Dir, "notify")}
}
