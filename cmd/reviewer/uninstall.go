package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/spf13/cobra"
)

func uninstallCommand(a *cli.App) *cobra.Command {
	var scope scopeFlags
	var which choice
	var dry bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "uninstall AGENT | --all | --detect",
		Short: "Remove reviewer from an agent's settings; needs a person at a terminal",
		Long: "Removes reviewer's hooks and nothing else: files are restored to their state before the installation, unless they have\n" +
			"been changed since. The log and the policy are kept.",
		Example:   "  reviewer uninstall claude-code\n  reviewer uninstall claude-code --dry-run\n  reviewer uninstall --all",
		Args:      which.known,
		ValidArgs: settings.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			agents, err := which.agents(a, args, scope.layer())
			if err != nil {
				return err
			}
			return uninstall(cmd, a, &out, scope.layer(), agents, which.several(), dry)
		},
	}
	out.Flags(cmd, term.Text, "json")
	scope.flags(cmd)
	which.flags(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the settings that would be written, without writing them")
	return cmd
}

func uninstall(cmd *cobra.Command, a *cli.App, out *term.Output, layer string, agents []settings.Agent, several, dry bool) error {
	var list []removal
	for _, agent := range agents {
		d, err := removalOf(a, agent, layer)
		if err != nil {
			return err
		}
		list = append(list, d)
	}
	if dry {
		return printRemovals(a.Stdout, list)
	}
	if err := remove(cmd, a, layer, list); err != nil {
		return err
	}
	if !several {
		return out.Result(a.Stdout, list[0], list[0].text)
	}
	return out.Result(a.Stdout, removals{list}, removals{list}.text)
}

// removal is the result of `reviewer uninstall` for one agent.
type removal struct {
	Agent    string   `json:"agent"`
	Settings string   `json:"settings"`        // the file
	Files    []string `json:"files,omitempty"` // all of them, if there are several
	Changed  bool     `json:"changed"`         // false: it was not installed there
	Backup   string   `json:"backup,omitempty"`

	edits []fileEdit
}

// removals is the result of `reviewer uninstall` for several agents.
type removals struct {
	Agents []removal `json:"agents"`
}

func (l removals) text(w io.Writer) {
	for _, d := range l.Agents {
		d.text(w)
	}
}

func (d removal) text(w io.Writer) {
	if !d.Changed {
		fmt.Fprintf(w, "reviewer is not installed in %s\n", d.Settings)
		return
	}
	files := d.Files
	if len(files) == 0 {
		files = []string{d.Settings}
	}
	fmt.Fprintf(w, "removed from %s; backup of the previous settings: %s\n", strings.Join(files, ", "), d.Backup)
}

// removalOf computes what is left in the files of an agent.
func removalOf(a *cli.App, agent settings.Agent, layer string) (removal, error) {
	d := removal{Agent: agent.Name}
	p, err := places(a)
	if err != nil {
		return d, err
	}
	targets := agent.Targets(p, layer)
	if len(targets) == 0 {
		return d, fmt.Errorf("%s has no %s settings that reviewer can write on %s", agent.Name, layer, p.OS)
	}
	for _, l := range targets {
		old, err := readOptional(l.Path)
		if err != nil {
			return d, err
		}
		rest := old
		if old != nil {
			if rest, err = l.Format.Uninstall(old); err == nil && !bytes.Equal(rest, old) {
				rest, err = settings.Restored(l.Path, rest)
			}
			if err != nil {
				return d, fmt.Errorf("%s: %w", l.Path, err)
			}
		}
		d.edits = append(d.edits, fileEdit{l, old, rest})
		d.Files = append(d.Files, l.Path)
	}
	if d.Settings = d.Files[0]; len(d.Files) == 1 {
		d.Files = nil
	}
	return d, nil
}

func printRemovals(w io.Writer, list []removal) error {
	var all []installation
	for _, d := range list {
		all = append(all, installation{edits: d.edits})
	}
	return printEdits(w, all)
}

// remove writes what is left, if anything changes, after a person has confirmed it.
func remove(cmd *cobra.Command, a *cli.App, layer string, list []removal) error {
	for i := range list {
		d := &list[i]
		for _, e := range d.edits {
			if !e.changes() {
				continue
			}
			if err := d.note(cmd, a, layer); err != nil {
				return err
			}
			backup, err := e.Write(e.old, e.new)
			if err != nil {
				return fmt.Errorf("write settings: %w", err)
			}
			d.Backup = cmp.Or(d.Backup, backup)
		}
	}
	return nil
}

// note records the removal, once for each agent; only a person may remove hooks.
func (d *removal) note(cmd *cobra.Command, a *cli.App, layer string) error {
	if d.Changed {
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
	d.Changed = true
	return store.Note(cmd.Context(), engine.Note{What: "uninstall", Detail: "by " + who + " from the " + layer + " settings of " + d.Agent})
}
