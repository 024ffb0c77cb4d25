package checkpointcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/spf13/cobra"
)

// Restored is the result of a restore.
type Restored struct {
	Workspace    string   `json:"workspace"`
	To           string   `json:"to"`             // id of the checkpoint
	Undo         string   `json:"undo,omitempty"` // id of the checkpoint that undoes it; absent: nothing was restored
	Changes      []change `json:"changes"`        // what was restored
	Kept         []left   `json:"kept"`           // paths that differ and were not changed
	Repositories []moved  `json:"repositories"`   // repositories that differ from then, and were not changed
	Session      string   `json:"session,omitempty"`
	By           string   `json:"by"`
}

// moved is a repository that has changed.
type moved struct {
	Then   repository `json:"then"`
	Now    repository `json:"now"`    // empty: there is none in this folder any more
	Advice []string   `json:"advice"` // commands for a person
}

func restoreCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var force bool
	cmd := &cobra.Command{
		Use:   "restore ID [PATH…]",
		Short: "Restore files to a checkpoint; needs a person at a terminal",
		Long: "Shows what would be restored, and asks for confirmation. The current state is stored first, so a\n" +
			"restore can be undone. If anyone other than the session has changed one of the files since the\n" +
			"checkpoint, nothing is restored; --force restores these files, too. Repositories (HEAD, index, stash) are not changed.",
		Example: "  reviewer checkpoint restore 1f2e3d4c-17\n  reviewer checkpoint restore 17 src/cart.go\n" +
			"  reviewer checkpoint restore 17 --force",
		Args: cli.AtLeast(cli.Argument{Name: "ID", What: "a checkpoint's id, number, or latest (`reviewer checkpoint list` lists them)"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := signed.Person(cmd.Context(), a, "restoring files")
			if err != nil {
				return err
			}
			s, err := open(a)
			if err != nil {
				return err
			}
			r, err := s.plan(cmd.Context(), args[0], args[1:])
			if err != nil {
				return err
			}
			r.by, r.Force = by, force
			if _, err := r.store.Plan(cmd.Context(), r.RestoreRequest); err != nil {
				return r.explained(err)
			}
			d, err := r.ask(cmd.Context(), a)
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, d, d.Text)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also restore files that others have changed since the checkpoint")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// errDeclined means that the person did not agree.
var errDeclined = errors.New("nothing was restored")

// ask shows what would change, and restores if the person agrees.
func (r *restoring) ask(ctx context.Context, a *cli.App) (Restored, error) {
	if !r.agreed(a) {
		return Restored{}, errDeclined
	}
	return r.run(ctx)
}

// restoring is a restore that a person has asked for.
type restoring struct {
	checkpoint.RestoreRequest
	stores  *stores
	store   *checkpoint.Store
	changes []change // planned; Before is what the checkpoint has
	by      string
	mask    func(string) string
}

// plan lists the changes that a restore would make.
func (s *stores) plan(ctx context.Context, id string, args []string) (*restoring, error) {
	store, c, err := s.find(id)
	if err != nil {
		return nil, err
	}
	r := &restoring{stores: s, store: store, RestoreRequest: checkpoint.RestoreRequest{To: c.ID, Time: time.Now().UnixMilli()}}
	if r.mask, err = s.masking(); err != nil {
		return nil, err
	}
	if r.Paths, err = pathsIn(store, args); err != nil {
		return nil, err
	}
	if r.Session, err = undoneSession(store, c); err != nil {
		return nil, err
	}
	changes, err := store.DiffNow(ctx, c)
	r.changes = changesOf(slices.DeleteFunc(changes, func(c checkpoint.Change) bool { return !below(c.Path, r.Paths) }), r.mask)
	return r, err
}

// undoneSession returns the session whose changes a restore undoes: that of the
// checkpoint, and otherwise the one session that changed files since.
func undoneSession(store *checkpoint.Store, to checkpoint.Checkpoint) (string, error) {
	if to.Session != "" {
		return to.Session, nil
	}
	list, err := store.List()
	var found []string
	for i := range list {
		if c := &list[i]; c.N > to.N && c.By == checkpoint.BySession && !slices.Contains(found, c.Session) {
			found = append(found, c.Session)
		}
	}
	if err != nil || len(found) != 1 {
		return "", err
	}
	return found[0], nil
}

// agreed shows what would change, and asks.
func (r *restoring) agreed(a *cli.App) bool {
	if len(r.changes) == 0 {
		return true // nothing to ask about
	}
	fmt.Fprintf(a.Stderr, "restoring %s to checkpoint %s changes %s:\n", term.OneLine(r.mask(r.store.Root()), longest), r.To,
		term.Counted(len(r.changes), "path", "paths"))
	for _, count := range []struct{ does, text string }{
		{"created", "delete"}, {"deleted", "create"}, {"changed", "change"}, {"mode", "set the mode of"},
	} {
		if n := r.count(count.does); n > 0 {
			fmt.Fprintf(a.Stderr, "  %s %s\n", count.text, term.Counted(n, "path", "paths"))
		}
	}
	writeSome(a.Stderr, reversed(r.changes), false)
	fmt.Fprint(a.Stderr, "Restore them? [y/N] ")
	line, err := bufio.NewReader(a.Stdin).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return (err == nil || err == io.EOF) && (answer == "y" || answer == "yes")
}

func (r *restoring) count(does string) (n int) {
	for _, c := range r.changes {
		if c.Does == does {
			n++
		}
	}
	return n
}

// reversed computes the changes of a restore from the current differences of the workspace.
func reversed(list []change) []change {
	out := make([]change, 0, len(list))
	for _, c := range list {
		c.Before, c.After = c.After, c.Before
		if opposite, ok := map[string]string{"created": "deleted", "deleted": "created"}[c.Does]; ok {
			c.Does = opposite
		}
		out = append(out, c)
	}
	return out
}

// run restores files, and records that.
func (r *restoring) run(ctx context.Context) (Restored, error) {
	done, err := r.store.Restore(ctx, r.RestoreRequest)
	if err != nil {
		return Restored{}, r.explained(err)
	}
	d := Restored{Workspace: r.mask(r.store.Root()), To: done.To.ID, Changes: changesOf(done.Changes, r.mask), Kept: leftOf(done.Kept, r.mask),
		Repositories: movedOf(done.Then, done.Now, r.mask), Session: r.mask(r.Session), By: r.by}
	if len(done.Changes) == 0 {
		return d, nil
	}
	d.Undo = done.Undo
	return d, r.record(ctx, d)
}

// explained adds to the error of a conflict what a person can do.
func (r *restoring) explained(err error) error {
	if conflict := (*checkpoint.ConflictError)(nil); !errors.As(err, &conflict) {
		return err
	}
	return fmt.Errorf("%s; `reviewer checkpoint diff %s now` shows the differences, PATH restores only some files, and --force all of them",
		r.mask(err.Error()), r.To)
}

// record notes a restore in the log of the session whose changes it undid; if there is
// none, in the ledger.
func (r *restoring) record(ctx context.Context, d Restored) error {
	choice := engine.Control{Do: engine.ControlRestore, By: r.by, Checkpoint: d.To, Undo: d.Undo}
	one, known, err := r.stores.session(r.Session)
	if err == nil && known {
		return r.stores.log.Control(ctx, one.Key, choice, nil)
	}
	return errors.Join(err, r.stores.log.Note(ctx, engine.Note{What: "checkpoint_restored",
		Detail: fmt.Sprintf("%s, by %s, undone by %s", d.To, r.by, d.Undo)}))
}

// session returns the session with an id.
func (s *stores) session(id string) (audit.Session, bool, error) {
	if id == "" {
		return audit.Session{}, false, nil
	}
	all, err := s.log.Sessions()
	for _, one := range all {
		if one.Key.Session == id {
			return one, true, nil
		}
	}
	return audit.Session{}, false, err
}

// movedOf compares repositories by their folders.
func movedOf(then, now []checkpoint.Git, mask func(string) string) []moved {
	docs := []moved{}
	for _, was := range then {
		at := slices.IndexFunc(now, func(g checkpoint.Git) bool { return g.Dir == was.Dir })
		if at < 0 {
			docs = append(docs, moved{Then: repositoriesOf([]checkpoint.Git{was}, mask)[0], Advice: []string{}})
			continue
		}
		if now[at] == was {
			continue
		}
		pair := repositoriesOf([]checkpoint.Git{was, now[at]}, mask)
		docs = append(docs, moved{pair[0], pair[1], gitAdvice(pair[0], pair[1])})
	}
	return docs
}

// gitAdvice lists what differs, with the command that a person can use. None of
// these is run.
func gitAdvice(was, is repository) []string {
	in := "git"
	if was.Folder != "." {
		in += " -C " + quoted(was.Folder)
	}
	var list []string
	switch {
	case was.Head != is.Head && strings.HasPrefix(was.Head, "refs/heads/"):
		list = append(list, in+" symbolic-ref HEAD "+quoted(was.Head))
	case was.Head != is.Head && was.Commit != "":
		list = append(list, in+" update-ref --no-deref HEAD "+was.Commit)
	}
	if was.Commit != is.Commit && was.Commit != "" && (was.Head == is.Head && strings.HasPrefix(was.Head, "refs/")) {
		list = append(list, in+" reset --soft "+was.Commit)
	}
	if was.Index != is.Index {
		list = append(list, in+" status")
	}
	if was.Stash != is.Stash {
		list = append(list, in+" stash list")
	}
	return list
}

// quoted makes a word for a shell, if it needs quotes.
func quoted(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("/._-", r) && (r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a')
	}) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// Text writes the result of a restore for people.
func (d Restored) Text(w io.Writer) {
	if len(d.Changes) == 0 {
		fmt.Fprintf(w, "%s already matches checkpoint %s: nothing was restored\n", term.OneLine(d.Workspace, longest), d.To)
	} else {
		fmt.Fprintf(w, "restored to checkpoint %s: %s\n", d.To, term.Counted(len(d.Changes), "path", "paths"))
		writeSome(w, d.Changes, false)
	}
	if len(d.Kept) > 0 {
		fmt.Fprintf(w, "left unchanged: %s\n", term.Counted(len(d.Kept), "path", "paths"))
		writeLeft(w, d.Kept[:min(len(d.Kept), most)])
		writeMore(w, len(d.Kept)-min(len(d.Kept), most))
	}
	for _, m := range d.Repositories {
		m.text(w)
	}
	if d.Undo != "" {
		fmt.Fprintf(w, "undo with `reviewer checkpoint restore %s`\n", d.Undo)
	}
}

func (m moved) text(w io.Writer) {
	if m.Now.Folder == "" {
		fmt.Fprintf(w, "the repository in %s is gone, and was not restored: checkpoints have its files, not its .git folder;\n"+
			"  until it is there again, git in this folder works on the repository around it, if there is one\n",
			term.OneLine(m.Then.Folder, longest))
		return
	}
	fmt.Fprintf(w, "the repository in %s has changed since then, and was not restored:\n", term.OneLine(m.Then.Folder, longest))
	for _, part := range []struct{ name, then, now string }{
		{"HEAD", m.Then.Head, m.Now.Head}, {"commit", m.Then.Commit, m.Now.Commit}, {"index", m.Then.Index, m.Now.Index},
		{"stash", m.Then.Stash, m.Now.Stash},
	} {
		if part.then != part.now {
			fmt.Fprintf(w, "  %s was %s, is %s\n", part.name, orNone(part.then), orNone(part.now))
		}
	}
	for _, command := range m.Advice {
		fmt.Fprintf(w, "  a person can use `%s`\n", command)
	}
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return term.OneLine(text, longest)
}
