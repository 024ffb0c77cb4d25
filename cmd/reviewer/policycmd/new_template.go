package policycmd

import (
	"path/filepath"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// newFromTemplate lets `policy new DIR --template NAME` be short for `policy new
// bundle`: a template is a whole policy.
func newFromTemplate(a *cli.App, group *cobra.Command) *cobra.Command {
	var want wantedBundle
	var out term.Output
	out.Flags(group, term.Text, "json")
	want.flags(group)
	refuse, help := group.Args, group.RunE
	group.Use = "new [DIR --template NAME]"
	group.Long += "\n\n" + templatesHelp()
	group.Example = "  reviewer policy new policy --template team\n" +
		"  reviewer policy new bundle policy --name shop"
	group.Args = func(cmd *cobra.Command, args []string) error {
		if want.template != "" {
			return cli.Needs(cli.Argument{Name: "DIR", What: "an empty or new folder, such as ./policy"})(cmd, args)
		}
		return refuse(cmd, args)
	}
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if want.template == "" {
			return help(cmd, args)
		}
		return newBundle(cmd.Context(), a, &out, filepath.Clean(args[0]), want)
	}
	return group
}
