package sessioncmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/spf13/cobra"
)

func sessionScopeCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var add, remove []string
	cmd := &cobra.Command{
		Use:   "scope ID [--add PATH | --remove PATH]",
		Short: "Show what a session is about, or add a path to it; adding needs a person at a terminal",
		Long: "What a session is about is its workspace, what people named in their prompts, and\n" +
			"the paths that are added here: files there may be changed as those of the workspace\n" +
			"may. What is protected stays so, and nothing that an agent reads adds to it.",
		Example: "  reviewer session scope last --add ../shop-docs",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.Session(args[0])
			if err != nil {
				return err
			}
			if len(add)+len(remove) == 0 {
				return out.Write(a.Stdout, func(w io.Writer) error { return showScope(w, &out, store, s) })
			}
			who, err := a.Person("changing what a session is about")
			if err != nil {
				return err
			}
			return changeScope(cmd.Context(), a, store, s, who, add, remove)
		},
	}
	cmd.Flags().StringArrayVar(&add, "add", nil, "a file or folder that belongs to the session, too; may be repeated")
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "take a path back that was added")
	out.Flags(cmd, "text", "json")
	return cmd
}

// scopeDocument is a session's scope as JSON.
type scopeDocument struct {
	Session     string              `json:"session"`
	Workspace   string              `json:"workspace"`
	Added       []string            `json:"added"`       // by a person, by hand
	Named       []string            `json:"named"`       // in prompts
	Constraints []engine.Constraint `json:"constraints"` // what a prompt said must not be done
}

func showScope(w io.Writer, out *term.Output, store *audit.Store, s audit.Session) error {
	state, err := store.State(s)
	if err != nil {
		return err
	}
	doc := scopeDocument{s.Key.Session, s.Workspace, []string{}, []string{}, []engine.Constraint{}}
	doc.Added, doc.Named = append(doc.Added, state.Goals.Scope...), append(doc.Named, state.Goals.Names...)
	for _, c := range state.Goals.Constraints {
		doc.Constraints = append(doc.Constraints, c.Constraint)
	}
	if out.Format == "json" {
		return term.WriteJSON(w, doc)
	}
	fmt.Fprintf(w, "workspace  %s\n", term.OneLine(doc.Workspace, 400))
	for _, path := range doc.Added {
		fmt.Fprintf(w, "added      %s\n", term.OneLine(path, 400))
	}
	for _, name := range doc.Named {
		fmt.Fprintf(w, "named      %s\n", term.OneLine(name, 400))
	}
	for _, c := range doc.Constraints {
		fmt.Fprintf(w, "except     %s\n", term.OneLine(string(c.Kind)+term.After(" ", c.What), 400))
	}
	return nil
}

// changeScope records each change by itself, once all of them were found right.
func changeScope(ctx context.Context, a *cli.App, store *audit.Store, s audit.Session, who string, add, remove []string) error {
	world, err := a.World(store.Dir)
	if err != nil {
		return err
	}
	state, err := store.State(s)
	if err != nil {
		return err
	}
	var choices []engine.Control
	for _, path := range add {
		short, err := addable(world, s.Workspace, path)
		if err != nil {
			return err
		}
		if short, err = cli.WithoutSecrets(store, short); err != nil {
			return err
		}
		choices = append(choices, engine.Control{Do: engine.ControlScope, By: who, Path: short})
	}
	for _, path := range remove {
		short, err := removable(world, s.Workspace, path, state.Goals.Scope)
		if err != nil {
			return err
		}
		choices = append(choices, engine.Control{Do: engine.ControlUnscope, By: who, Path: short})
	}
	for _, choice := range choices {
		if err := store.ControlIf(ctx, s.Key, choice, func(h *history.State) error { return scopeChanges(h, choice) }); err != nil {
			return err
		}
		tellScope(a, s, choice)
	}
	return nil
}

func tellScope(a *cli.App, s audit.Session, choice engine.Control) {
	path, id := term.OneLine(choice.Path, 400), s.Key.Session
	if choice.Do == engine.ControlScope {
		fmt.Fprintf(a.Stdout, "%s belongs to session %s; `reviewer session scope %s --remove PATH` takes it back\n", path, id, id)
		return
	}
	fmt.Fprintf(a.Stdout, "%s belongs to session %s no longer\n", path, id)
}

// addable returns a path as effects spell it, unless it would make too much a
// part of the session.
func addable(world classify.World, workspace, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	if _, err := os.Stat(abs); err != nil {
		return "", fmt.Errorf("--add %s: there is no such file or folder (%s); make it first, or add the folder in which it will be", path, abs)
	}
	real, short := world.Place(workspace, abs)
	home, _ := world.Place("", world.Home)
	place, _ := world.Place("", workspace)
	switch {
	case real == "/":
		return "", fmt.Errorf("--add %s: that is everything on this machine; add the folder that is meant", path)
	case home != "" && below(real, home):
		return "", fmt.Errorf("--add %s: %s is or holds your home directory; add the folder in it that is meant", path, real)
	case place != "" && real == place:
		return "", fmt.Errorf("--add %s: that is the workspace, which belongs to the session anyway", path)
	case place != "" && below(real, filepath.Dir(filepath.Dir(place))):
		return "", fmt.Errorf("--add %s: %s is wider than the folder around the workspace (%s); add the folder that is meant",
			path, real, filepath.Dir(place))
	}
	return short, nil
}

// removable finds the path that was added: as it is shown, or as it is on disk.
func removable(world classify.World, workspace, path string, added []string) (string, error) {
	if slices.Contains(added, path) {
		return path, nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	_, short := world.Place(workspace, abs)
	return short, nil
}

// scopeChanges refuses a word that would change nothing, or take an earlier one
// back unasked: there is room for so many paths.
func scopeChanges(h *history.State, choice engine.Control) error {
	after, err := h.After(&engine.Record{Kind: engine.KindControl, N: h.N + 1, T: h.T, Control: &choice})
	if err != nil {
		return err
	}
	before, left := len(h.Goals.Scope), len(after.Goals.Scope)
	switch {
	case choice.Do == engine.ControlUnscope && left == before:
		return fmt.Errorf("--remove: %s was not added; added are: %s", choice.Path, cmp.Or(strings.Join(h.Goals.Scope, ", "), "none"))
	case choice.Do == engine.ControlScope && left == before && slices.Equal(sorted(h.Goals.Scope), sorted(after.Goals.Scope)):
		return fmt.Errorf("--add: %s belongs to the session already", choice.Path)
	case choice.Do == engine.ControlScope && left == before:
		return errors.New("--add: the session has as many paths as it can have; take one back with --remove, or add a folder that holds several")
	}
	return nil
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
