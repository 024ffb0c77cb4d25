// Package incidentcmd contains the commands of `reviewer incident`, one file each: they
// list and show what stopped sessions, export reports, and close incidents.
//
// Out of scope: what an incident is (engine/incident), and resuming sessions.
package incidentcmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/spf13/cobra"
)

// Command is `reviewer incident`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "incident",
		Short:   "List, show, export and close incidents: sessions that the policy stopped",
		Example: "  reviewer incident list --open\n  reviewer incident show last",
		Long: "An incident is opened by the decision that stops a session, and closed by a person. It is read\n" +
			"from the log: its id is the id of that decision's record. ID is that id or a prefix of it, or\n" +
			"the id of a session (its latest incident), or last.",
	}
	return cli.Group(cmd, listCommand(a), showCommand(a), exportCommand(a), closeCommand(a))
}

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "incident list", Title: "the incidents", Of: listed{}, List: "incidents"},
		{Command: "incident show", Title: "report about an incident", Of: incident.Incident{}},
		{Command: "incident export", Title: "report about an incident", Of: incident.Incident{}},
		{Command: "incident close", Title: "the incident that was closed", Of: closed{}},
	}
}
