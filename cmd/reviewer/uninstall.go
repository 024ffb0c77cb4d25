package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/spf13/cobra"
)

func uninstallCommand(a *cli.App) *cobra.Command {
	var scope scopeFlags
	var dry bool
	var out term.Output
	cmd := &cobra.Command{
		Use:       "uninstall AGENT",
		Short:     "Remove reviewer from an agent's settings; needs a person at a terminal",
		Long:      "Removes reviewer's hooks and nothing else. The log and the policy are kept.",
		Example:   "  reviewer uninstall claude-code\n  reviewer uninstall claude-code --dry-run",
		Args:      knownAgent,
		ValidArgs: harness.Installable(),
		RunE: func(cmd *cobra.Command, args []string) error {
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
			d := removal{Agent: args[0], Settings: path}
			if old == nil || bytes.Equal(old, changed) {
				return out.Result(a.Stdout, d, func(w io.Writer) { fmt.Fprintf(w, "reviewer is not installed in %s\n", path) })
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
			if d.Backup, err = harness.WriteSettings(path, old, changed); err != nil {
				return fmt.Errorf("write settings: %w", err)
			}
			d.Changed = true
			return out.Result(a.Stdout, d, func(w io.Writer) {
				fmt.Fprintf(w, "removed from %s; backup of the previous settings: %s\n", path, d.Backup)
			})
		},
	}
	out.Flags(cmd, term.Text, "json")
	scope.flags(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the settings that would be written, without writing them")
	return cmd
}

// removal is the result of `reviewer uninstall`.
type removal struct {
	Agent    string `json:"agent"`
	Settings string `json:"settings"` // the file
	Changed  bool   `json:"changed"`  // false: it was not installed there
	Backup   string `json:"backup,omitempty"`
}
