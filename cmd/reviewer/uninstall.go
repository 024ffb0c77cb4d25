package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
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
		Short: "Remove reviewer from an agent's settings; needs a person at a terminal, and their approval code",
		Long: "Removes reviewer's hooks and nothing else: files are restored to their state before the installation, unless they have\n" +
			"been changed since. The log and the policy are kept. Where an approval code is set, it is asked for, except for\n" +
			"managed settings, which only an administrator can change.",
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
	p, err := signed.Places(a)
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
	store, err := a.OpenStore()
	if err != nil {
		return err
	}
	known, err := store.Installation()
	if err != nil {
		return err
	}
	var changed []*removal
	for i := range list {
		// Hooks that somebody removed by hand are missed until a person says that they are to be gone.
		missed := func(h engine.Hooks) bool { return h.Agent == list[i].Agent && h.Layer == layer }
		if slices.ContainsFunc(list[i].edits, fileEdit.changes) || slices.ContainsFunc(known.Hooks, missed) {
			changed = append(changed, &list[i])
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := agreed(cmd.Context(), a, layer, changed); err != nil {
		return err
	}
	for _, d := range changed {
		for _, e := range d.edits {
			if !e.changes() {
				continue
			}
			d.Changed = true
			backup, err := e.Write(e.old, e.new)
			if err != nil {
				return fmt.Errorf("write settings: %w", err)
			}
			d.Backup = cmp.Or(d.Backup, backup)
		}
	}
	return nil
}

// agreed makes sure that a person removes the hooks, and records it in the ledger of each state directory that they
// name: a ledger without a code of its own, which --home can name, does not replace the code of another.
func agreed(ctx context.Context, a *cli.App, layer string, list []*removal) error {
	store, err := a.OpenStore()
	if err != nil {
		return err
	}
	all, err := signed.Pins(a, "")
	if err != nil {
		return err
	}
	var agents []string
	pins := map[string][]signed.Pin{} // by state directory
	for _, d := range list {
		agents = append(agents, d.Agent)
		for _, pin := range all {
			if pin.Agent == d.Agent && pin.Layer == layer && filepath.IsAbs(pin.Home) {
				pins[pin.Home] = append(pins[pin.Home], pin)
			}
		}
	}
	if len(pins) == 0 {
		pins[store.Dir] = nil
	}
	what := audit.Uninstalling(agents, layer)
	for _, home := range slices.Sorted(maps.Keys(pins)) {
		log, err := signed.Pinned(&audit.Store{Dir: home, Env: store.Env, Fingerprint: store.Fingerprint}, pins[home])
		if err == nil {
			err = agreedIn(ctx, a, log, layer, what)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// agreedIn asks for the approval code of a ledger, if it has one. Root-owned settings need none.
func agreedIn(ctx context.Context, a *cli.App, log *audit.Store, layer, what string) error {
	if layer == settings.LayerManaged {
		by, err := a.Person(uninstalling)
		if err != nil {
			return err
		}
		return log.Note(ctx, engine.Note{What: audit.NoteUninstalled, Detail: "by " + by + ": " + what})
	}
	known, _, err := log.PersonKey()
	if err == nil {
		err = log.CheckFingerprint()
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: nothing is removed; `reviewer doctor code` says more", err)
	case known == nil && log.Fingerprint != "":
		return fmt.Errorf("the hooks know the key of an approval code, and the ledger in %s has none, so nothing is removed: restore it, "+
			"or start over with `reviewer approvals code --lost` and `reviewer install`", log.Dir)
	}
	act := engine.Control{Do: engine.ControlUninstall, Reason: what, Digest: engine.HexSum([]byte(what))}
	by, err := signed.Record(ctx, a, log, uninstalling, act)
	if err != nil || known != nil {
		return err
	}
	return log.Note(ctx, engine.Note{What: audit.NoteUninstalled, Detail: "by " + by + ": " + what})
}

const uninstalling = "uninstalling reviewer"
