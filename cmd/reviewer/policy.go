package main

import (
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/policycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/releasecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/simulatecmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/suggest"
	"github.com/spf13/cobra"
)

func policyCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "policy",
		Example: "  reviewer policy new bundle policy --name shop\n  reviewer policy check ./policy\n  reviewer policy test ./policy",
		Short:   "Write, test, sign, ship and inspect policies",
		Long:    cli.ExitHelp(),
	}
	cli.Group(cmd)
	for _, section := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"write", "Writing and testing:", slices.Concat(policycmd.Commands(a), []*cobra.Command{simulatecmd.Command(a), explaincmd.PolicyCommand(a), suggest.Command(a)})},
		{"ship", "Shipping and activating:", releasecmd.Commands(a)},
	} {
		cli.Section(cmd, section.id, section.title, section.commands...)
	}
	return cmd
}
