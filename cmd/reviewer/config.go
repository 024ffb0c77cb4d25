package main

import "github.com/spf13/cobra"

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show where each setting comes from, and check settings",
		Long: "Settings are the numbers, lists and words of the policy: the base layer's, and what the\n" +
			"settings.yaml of other layers makes of them. Exit codes: 0 fine, 1 could not run, 2 findings.",
	}
	return group(cmd, a.configShowCommand(), a.configCheckCommand())
}
