package main

import (
	"bytes"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/spf13/cobra"
)

func uninstallCommand(a *cli.App) *cobra.Command {
	var scope scopeFlags
	var dry bool
	cmd := &cobra.Command{
		Use:       "uninstall claude-code",
		Short:     "Take reviewer out of an agent's settings; needs a person at a terminal",
		Long:      "Removes reviewer's hooks and nothing else. The log and the policy stay where they are.",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: harness.Names(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := settingsPath(a, scope.layer())
			if err != nil {
				return err
			}
			old, err := readOptional(path)
			if err != nil {
				return err
			}
			changed, err := harness.Uninstall(old)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if dry {
				_, err := a.Stdout.Write(changed)
				return err
			}
			if old == nil || bytes.Equal(old, changed) {
				fmt.Fprintf(a.Stdout, "reviewer is not installed in %s\n", path)
				return nil
			}
			who, err := a.Person("uninstalling reviewer")
			if err != nil {
				return err
			}
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			if err := store.Note(cmd.Context(), engine.Note{What: "uninstall",
				Detail: "by " + who + " from the " + scope.layer() + " settings"}); err != nil {
				return err
			}
			backup, err := harness.WriteSettings(path, old, changed)
			if err != nil {
				return fmt.Errorf("write settings: %w", err)
			}
			fmt.Fprintf(a.Stdout, "removed from %s; the settings before are in %s\n", path, backup)
			return nil
		},
	}
	scope.flags(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the settings that would be written, and write nothing")
	return cmd
}
