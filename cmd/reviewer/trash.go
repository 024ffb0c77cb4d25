package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trash"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/spf13/cobra"
)

// trashing is the command line of `reviewer trash`.
type trashing struct {
	list, restore, empty   bool
	ignoreMissing, verbose bool
	to, olderThan          string
	out                    term.Output
}

func trashCommand(a *cli.App) *cobra.Command {
	t := &trashing{}
	cmd := &cobra.Command{
		Use:   "trash PATH…",
		Short: "Move files and folders to a trash folder, from which they can be restored",
		Long: "Moves the named paths into the trash folder of the state directory; symbolic links\n" +
			"themselves are moved, not their targets. Each path is tried; paths that cannot be moved are reported, one per\n" +
			"line, and stay where they are. The current folder, the project, the home directory, their\n" +
			"parents, mount points and the state directory are never moved.\n\n" +
			"Exit codes: 0 success, 1 something could not be done, 3 usage error.",
		Example: "  reviewer trash draft.md build\n" +
			"  reviewer trash --list\n" +
			"  reviewer trash --restore draft.md                    # the newest one at that path\n" +
			"  reviewer trash --restore 20250308-142233 --to old.md",
		RunE: func(cmd *cobra.Command, args []string) error { return moveAside(cmd.Context(), a, t, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&t.list, "list", false, "list the trash, newest first")
	f.BoolVar(&t.restore, "restore", false, "restore the named entries, by id or by original path; overwrites nothing")
	f.BoolVar(&t.empty, "empty", false, "permanently delete the contents of the trash; needs a person at a terminal")
	f.StringVar(&t.to, "to", "", "with --restore: restore to this path")
	f.StringVar(&t.olderThan, "older-than", "", "with --list and --empty: only entries older than this, such as 12h, 30d or 8w")
	f.BoolVar(&t.ignoreMissing, "ignore-missing", false, "ignore paths that do not exist")
	f.BoolVarP(&t.verbose, "verbose", "v", false, "print the id of each moved entry")
	t.out.Flags(cmd, term.Text, "json")
	cmd.MarkFlagsMutuallyExclusive("list", "restore", "empty")
	return cmd
}

func moveAside(ctx context.Context, a *cli.App, t *trashing, args []string) error {
	if err := t.check(args); err != nil {
		return err
	}
	bin, err := bin(a)
	if err != nil {
		return err
	}
	switch {
	case t.list:
		return t.out.Write(a.Stdout, func(w io.Writer) error { return listTrash(a, w, t, bin) })
	case t.empty:
		return emptyTrash(ctx, a, t, bin)
	case t.restore:
		return forEach(a, args, "restore", func(arg string) error { return restoreTrash(a, t, bin, arg) })
	}
	return forEach(a, args, "move", func(arg string) error { return moveToTrash(a, t, bin, arg) })
}

func (t *trashing) check(args []string) error {
	switch {
	case (t.list || t.empty) && len(args) > 0:
		return cli.Usage("trash: --list and --empty take no paths")
	case !t.list && !t.empty && len(args) == 0:
		return cli.Usage("trash: no file or folder given; give at least one path")
	case t.to != "" && (!t.restore || len(args) != 1):
		return cli.Usage("trash: --to needs --restore and one id or path")
	case t.olderThan != "" && !t.list && !t.empty:
		return cli.Usage("trash: --older-than needs --list or --empty")
	case t.out.Format != term.Text && !t.list:
		return cli.Usage("trash: -f json needs --list; the other forms print paths, or nothing")
	case t.ignoreMissing && (t.list || t.restore || t.empty):
		return cli.Usage("trash: --ignore-missing needs paths to move")
	}
	return nil
}

// forEach tries every argument, and reports each failure.
func forEach(a *cli.App, args []string, verb string, do func(string) error) error {
	failed := false
	for _, arg := range args {
		if err := do(arg); err != nil {
			failed = true
			fmt.Fprintf(a.Stderr, "reviewer trash: cannot %s %s: %s\n", verb, cli.Masked(printable(arg)), term.OneLine(cli.Masked(err.Error()), 400))
		}
	}
	if failed {
		return &cli.ExitError{Code: cli.ExitFailed, Err: nil}
	}
	return nil
}

// printable quotes a path only where a line of text could not hold it. Backslashes that
// separate folders are shown as they are.
func printable(path string) string {
	plain := filepath.ToSlash(path)
	if quoted := strconv.Quote(plain); path == "" || quoted[1:len(quoted)-1] != plain {
		return strconv.Quote(path)
	}
	return path
}

// bin is the trash of this state directory, with what must never go there.
func bin(a *cli.App) (*trash.Bin, error) {
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	world, err := a.World(home)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w", err)
	}
	keep := []trash.Place{{Path: cwd, Name: "the current folder"}, {Path: world.Home, Name: "the home directory"}}
	for _, h := range harness.Harnesses() {
		if project := a.Env(h.Project); filepath.IsAbs(project) {
			keep = append(keep, trash.Place{Path: project, Name: "the project"})
		}
	}
	return &trash.Bin{Dir: filepath.Join(home, "trash"), Keep: keep, Own: world.Guard, Now: time.Now()}, nil
}

func moveToTrash(a *cli.App, t *trashing, bin *trash.Bin, path string) error {
	e, err := bin.Put(path)
	if t.ignoreMissing && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && t.verbose {
		fmt.Fprintf(a.Stdout, "%s is in the trash as %s\n", printable(path), e.ID)
	}
	return err
}

func restoreTrash(a *cli.App, t *trashing, bin *trash.Bin, selector string) error {
	e, older, err := bin.Find(selector)
	if err != nil {
		return err
	}
	path, err := bin.Restore(e, t.to)
	if err != nil {
		return err
	}
	more := ""
	if older > 0 {
		more = fmt.Sprintf("; %d older from there in the trash", older)
	}
	fmt.Fprintf(a.Stdout, "%s is restored, as it was on %s%s\n", printable(path), term.Clock(e.T), more)
	return nil
}

// entries returns the entries selected by --older-than, and incomplete entries.
func (t *trashing) entries(bin *trash.Bin) (list []trash.Entry, rest []string, err error) {
	whole, rest, err := bin.Entries()
	if err != nil || t.olderThan == "" {
		return whole, rest, err
	}
	age, err := parseAge(t.olderThan)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range whole {
		if e.T < bin.Now.Add(-age).UnixMilli() {
			list = append(list, e)
		}
	}
	return list, nil, nil
}

// parseAge reads a number of hours, days or weeks.
func parseAge(s string) (time.Duration, error) {
	units := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	digits := strings.TrimRight(s, "hdw")
	n, err := strconv.ParseUint(digits, 10, 16)
	unit, ok := units[s[len(digits):]]
	if err != nil || !ok {
		return 0, cli.Usage("trash: --older-than %q: expected a number of hours, days or weeks, such as 12h, 30d or 8w", s)
	}
	return time.Duration(n) * unit, nil
}

func listTrash(a *cli.App, w io.Writer, t *trashing, bin *trash.Bin) error {
	list, rest, err := t.entries(bin)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		fmt.Fprintf(a.Stderr,
			"reviewer trash: %s in %s: moves that were interrupted or are still running; `reviewer trash --empty` "+
				"clears up\n", engine.Counted(len(rest), "unfinished entry", "unfinished entries"), bin.Dir)
	}
	for i := range list {
		if path := cli.Masked(list[i].Path); path != list[i].Path {
			list[i].Path, list[i].Bytes = path, nil // its id restores it
		}
	}
	if t.out.Format == "json" {
		return term.WriteList(w, "entries", trashed(list))
	}
	if len(list) == 0 {
		fmt.Fprintf(w, "nothing in the trash %s\n", bin.Dir)
		return nil
	}
	fmt.Fprintf(w, "%s %s %10s  %s\n", term.Pad("ID", 18), term.Pad("MOVED", 19), "SIZE", "FROM")
	for _, e := range list {
		fmt.Fprintf(w, "%s %s %10s  %s\n", term.Pad(e.ID, 18), term.Clock(e.T), term.Size(e.Size), printable(e.Path)+mark(e))
	}
	return nil
}

// mark is how ls -F marks what is not a file.
func mark(e trash.Entry) string {
	return map[string]string{"folder": "/", "link": "@", "other": "="}[e.Kind]
}

// emptyTrash permanently deletes the trash: a person decides this, and the ledger
// records it.
func emptyTrash(ctx context.Context, a *cli.App, t *trashing, bin *trash.Bin) error {
	list, rest, err := t.entries(bin)
	if err != nil {
		return err
	}
	var bytes int64
	for _, e := range list {
		bytes += e.Size
	}
	store, err := a.OpenStore()
	if err != nil {
		return err
	}
	choice, err := signed.Choice(engine.ControlPurge, fmt.Sprintf("empty the trash %s: %s, %s bytes", bin.Dir,
		engine.Counted(len(list), "entry", "entries"), term.Size(bytes)), emptying{"empty the trash", bin.Dir, list, rest})
	if err != nil {
		return err
	}
	who, err := signed.Record(ctx, a, store, "emptying the trash", choice)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range list {
		errs = append(errs, bin.Remove(e))
	}
	for _, dir := range rest {
		errs = append(errs, trash.Discard(dir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("empty the trash: %w", err)
	}
	fmt.Fprintf(a.Stdout, "%s permanently deleted, %s bytes\n", term.Counted(len(list), "entry", "entries"), term.Size(bytes))
	return store.Note(ctx, engine.Note{What: "trash_emptied", Detail: fmt.Sprintf("%s, %d bytes, by %s",
		engine.Counted(len(list), "entry", "entries"), bytes, who)})
}

// emptying is what a person signs before the trash is emptied.
type emptying struct {
	Act     string        `json:"act"`
	Dir     string        `json:"dir"`
	Entries []trash.Entry `json:"entries"`
	Rest    []string      `json:"rest"` // folders of incomplete entries
}

// trashedEntry is an entry of the trash in a document.
type trashedEntry struct {
	trash.Entry
	Time string `json:"time"` // when it was moved, RFC 3339
}

func trashed(list []trash.Entry) []trashedEntry {
	docs := []trashedEntry{}
	for _, e := range list {
		docs = append(docs, trashedEntry{e, term.Time(e.T)})
	}
	return docs
}
