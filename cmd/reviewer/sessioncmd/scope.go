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
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
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
		Use:   "scope [ID] [--add PATH | --remove PATH]",
		Short: "Show or extend a session's scope; extending needs a person at a terminal",
		Long: "The scope of a session is its workspace, what people named in their prompts, and the\n" +
			"paths added here: files in it may be changed like those of the workspace. Protected\n" +
			"files stay protected, and nothing that an agent reads extends the scope.",
		Example: "  reviewer session scope last --add ../shop-docs",
		Args:    cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.Session(cli.OrLast(args))
			if err != nil {
				return err
			}
			if len(add)+len(remove) == 0 {
				return out.Write(a.Stdout, func(w io.Writer) error { return showScope(w, &out, store, s) })
			}
			act, err := signed.Ask(cmd.Context(), a, store, "changing a session's scope")
			if err != nil {
				return err
			}
			defer act.Signer.Wipe()
			return changeScope(cmd.Context(), a, store, s, act, add, remove)
		},
	}
	cmd.Flags().StringArrayVar(&add, "add", nil, "add a file or folder to the scope; may be repeated")
	cmd.Flags().StringArrayVar(&remove, "remove", nil, "remove a path that was added")
	out.Flags(cmd, "text", "json")
	return cmd
}

// scopeDocument is a session's scope as JSON.
type scopeDocument struct {
	Session    string         `json:"session"`
	Workspace  string         `json:"workspace"`
	Added      []string       `json:"added"`      // by a person, by command
	Named      []string       `json:"named"`      // in prompts
	Statements []history.Said `json:"statements"` // what prompts forbid, order and permit, as far as it holds
}

func showScope(w io.Writer, out *term.Output, store *audit.Store, s audit.Session) error {
	state, err := store.State(s)
	if err != nil {
		return err
	}
	doc := scopeDocument{s.Key.Session, s.Workspace, []string{}, []string{}, state.Goals.Statements()}
	doc.Added, doc.Named = append(doc.Added, state.Goals.Scope...), append(doc.Named, state.Goals.Names...)
	if out.Format == "json" {
		return term.WriteDocument(w, doc)
	}
	fmt.Fprintf(w, "workspace  %s\n", term.OneLine(doc.Workspace, 400))
	for _, path := range doc.Added {
		fmt.Fprintf(w, "added      %s\n", term.OneLine(path, 400))
	}
	for _, name := range doc.Named {
		fmt.Fprintf(w, "named      %s\n", term.OneLine(name, 400))
	}
	for _, s := range doc.Statements {
		fmt.Fprintf(w, "%-9s  %s\n", s.Kind, term.OneLine(SaidLine(s), 400))
	}
	return nil
}

// changeScope records each change separately, after all of them were checked.
func changeScope(ctx context.Context, a *cli.App, store *audit.Store, s audit.Session, act *signed.Act, add, remove []string) error {
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
		choices = append(choices, engine.Control{Do: engine.ControlScope, By: act.By, Path: short})
	}
	for _, path := range remove {
		short, err := removable(world, s.Workspace, path, state.Goals.Scope)
		if err != nil {
			return err
		}
		choices = append(choices, engine.Control{Do: engine.ControlUnscope, By: act.By, Path: short})
	}
	for _, choice := range choices {
		if err := store.ControlIf(ctx, s.Key, choice, act.Signer, func(h *history.State) error { return scopeChanges(h, choice) }); err != nil {
			return err
		}
		tellScope(a, s, choice)
	}
	return nil
}

func tellScope(a *cli.App, s audit.Session, choice engine.Control) {
	path, id := term.OneLine(choice.Path, 400), s.Key.Session
	if choice.Do == engine.ControlScope {
		fmt.Fprintf(a.Stdout, "%s is now in the scope of session %s; undo with `reviewer session scope %s --remove PATH`\n", path, id, id)
		return
	}
	fmt.Fprintf(a.Stdout, "%s is no longer in the scope of session %s\n", path, id)
}

// ScopePath returns a path as the log has it, for AddScope; an error if it would extend a scope too far.
func ScopePath(a *cli.App, store *audit.Store, workspace, path string) (string, error) {
	world, err := a.World(store.Dir)
	if err != nil {
		return "", err
	}
	short, err := addable(world, workspace, path)
	if err != nil {
		return "", err
	}
	return cli.WithoutSecrets(store, short)
}

// AddScope records that a person added a path to the scope of a session, unless it is in it.
func AddScope(ctx context.Context, store *audit.Store, key engine.SessionKey, act *signed.Act, short string) error {
	choice := engine.Control{Do: engine.ControlScope, By: act.By, Path: short}
	there := errors.New("it is in the scope")
	err := store.ControlIf(ctx, key, choice, act.Signer, func(h *history.State) error {
		if slices.Contains(h.Goals.Scope, short) {
			return there
		}
		return scopeChanges(h, choice)
	})
	if errors.Is(err, there) {
		return nil
	}
	return err
}

// addable returns a path in the form of effects, unless it would extend the scope too
// far.
func addable(world classify.System, workspace, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	if _, err := os.Stat(abs); err != nil {
		return "", fmt.Errorf("--add %s: no such file or folder (%s); create it first, or add the folder that will contain it", path, abs)
	}
	real, short := world.Place(workspace, abs)
	home, _ := world.Place("", world.Home)
	place, _ := world.Place("", workspace)
	switch {
	case real == "/" || strings.HasSuffix(real, ":/"):
		return "", fmt.Errorf("--add %s: this is the whole machine; add a narrower folder", path)
	case home != "" && below(real, home):
		return "", fmt.Errorf("--add %s: %s is or contains your home directory; add a folder inside it", path, real)
	case place != "" && real == place:
		return "", fmt.Errorf("--add %s: this is the workspace, which is always in scope", path)
	case place != "" && below(real, filepath.Dir(filepath.Dir(place))):
		return "", fmt.Errorf("--add %s: %s is wider than the parent folder of the workspace (%s); add a narrower folder",
			path, real, filepath.Dir(place))
	}
	return short, nil
}

// removable finds the path that was added, by its displayed form or by its path on disk.
func removable(world classify.System, workspace, path string, added []string) (string, error) {
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

// scopeChanges refuses a change without effect, or one that would displace an earlier
// path: the number of paths is limited.
func scopeChanges(h *history.State, choice engine.Control) error {
	after, err := h.Assuming(choice)
	if err != nil {
		return err
	}
	before, left := len(h.Goals.Scope), len(after.Goals.Scope)
	switch {
	case choice.Do == engine.ControlUnscope && left == before:
		return fmt.Errorf("--remove: %s was not added; added paths: %s", choice.Path, cmp.Or(strings.Join(h.Goals.Scope, ", "), "none"))
	case choice.Do == engine.ControlScope && left == before && slices.Equal(sorted(h.Goals.Scope), sorted(after.Goals.Scope)):
		return fmt.Errorf("--add: %s is already in scope", choice.Path)
	case choice.Do == engine.ControlScope && left == before:
		return errors.New("--add: the session has the maximum number of paths; remove one with --remove, or add a folder that contains several")
	}
	return nil
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
