package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// stdin is the argument that stands for standard input, and its path.
const stdin = "-"

// candidate is a file to inspect.
type candidate struct {
	path  string
	size  int64
	asked bool // it was named, so an unknown format must be reported

	object *objects.Object // nil: a file, or standard input
}

// walker collects files. The same file counts once, even under several names.
type walker struct {
	ctx   context.Context
	store *objects.Access
	files map[identity]candidate
	lost  []simulate.Trouble
}

// identity identifies a file; for standard input, or if the system has no ids, by its
// path.
type identity struct {
	file osfile.ID
	path string
}

// walk lists the files and objects that the arguments name, by path; or those that were
// listed before.
func walk(ctx context.Context, args []string, o Options) ([]candidate, []simulate.Trouble, error) {
	w := walker{ctx: ctx, store: o.Objects, files: map[identity]candidate{}}
	if o.Listed != nil {
		args = nil
	}
	for _, in := range o.Listed {
		w.object(in.Object, in.Named)
	}
	for _, arg := range args {
		if err := w.argument(arg); err != nil {
			return nil, nil, err
		}
	}
	list := make([]candidate, 0, len(w.files))
	for _, c := range w.files {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.path, b.path) })
	return list, w.lost, nil
}

func (w *walker) argument(arg string) error {
	if arg == stdin {
		w.files[identity{path: stdin}] = candidate{path: stdin, asked: true}
		return nil
	}
	if objects.Is(arg) {
		return w.objects(arg)
	}
	info, err := os.Stat(arg)
	if err != nil && strings.ContainsAny(arg, "*?[") { // Windows calls such a name invalid rather than missing
		return w.pattern(arg)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("find sessions: %s: no such file or folder", arg)
	case err != nil:
		return fmt.Errorf("find sessions: %w", err)
	case info.IsDir():
		w.folder(arg, func(string) bool { return true })
		return w.ctx.Err()
	}
	w.file(arg, info, true)
	return nil
}

// file adds a regular file, or returns why not. The smallest of several names is kept,
// so that the order of arguments does not matter.
func (w *walker) file(path string, info fs.FileInfo, asked bool) {
	path = filepath.Clean(path)
	if !info.Mode().IsRegular() && !asked {
		return
	}
	if !info.Mode().IsRegular() {
		w.lose(path, errors.New("is not a regular file; read a pipe as -"))
		return
	}
	id := identity{path: path}
	if file, err := osfile.IdentifyPath(path, info); err == nil {
		id = identity{file: file}
	}
	known, twice := w.files[id]
	if twice {
		path, asked = min(path, known.path), asked || known.asked
	}
	w.files[id] = candidate{path: path, size: info.Size(), asked: asked}
}

func (w *walker) lose(path string, err error) {
	w.lost = append(w.lost, simulate.Trouble{Path: path, Why: why(err), Count: 1, Failed: true})
}

// folder adds the relevant files under a folder. Folders that cannot be listed are
// reported; links are followed to files, not to folders.
func (w *walker) folder(root string, want func(path string) bool) {
	// With a separator at its end, a root that is a link is a folder, too.
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		switch {
		case w.ctx.Err() != nil:
			return w.ctx.Err()
		case err != nil:
			w.lose(path, err)
			return nil
		case d.IsDir():
			return besides(path, d.Name())
		case isBeside(path) || !want(path):
			return nil
		}
		info, err := os.Stat(path)
		if err != nil {
			w.lose(path, err)
			return nil
		}
		w.file(path, info, false)
		return nil
	})
	if err != nil && w.ctx.Err() == nil {
		w.lose(root, err)
	}
}

// besides skips folders of a state directory, or of an agent's session, that hold no
// session: policies that were kept or activated, the machine's own log, outputs of tools.
func besides(path, name string) error {
	switch name {
	case "tool-results":
		return fs.SkipDir
	case "ledger", "policies", "checkpoints", "bundles":
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "sessions")); err == nil {
			return fs.SkipDir
		}
	}
	return nil
}

// isBeside reports whether a file only describes the one next to it.
func isBeside(path string) bool {
	name := filepath.Base(path)
	if name == "snapshot.json" {
		_, err := os.Stat(filepath.Join(filepath.Dir(path), "lock"))
		return err == nil
	}
	return strings.HasSuffix(name, ".meta.json")
}

// pattern adds the files that match a pattern that the shell did not expand. **
// matches any number of folders, and a matching folder includes everything below it.
func (w *walker) pattern(pattern string) error {
	pattern = filepath.Clean(pattern)
	root, parts, err := splitPattern(pattern)
	if err != nil {
		return err
	}
	before := len(w.files)
	w.folder(root, func(path string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && wildcard.Path(parts, strings.Split(rel, string(filepath.Separator)))
	})
	if len(w.files) == before && w.ctx.Err() == nil && len(w.lost) == 0 {
		return fmt.Errorf("find sessions: no file matches %s", pattern)
	}
	return w.ctx.Err()
}

// splitPattern splits a pattern into the folder before its first special character,
// and the elements of the rest.
func splitPattern(pattern string) (root string, parts []string, err error) {
	if err := wildcard.Check(pattern); err != nil {
		return "", nil, fmt.Errorf("find sessions: %s: %w", pattern, err)
	}
	parts = strings.Split(pattern, string(filepath.Separator))
	at := slices.IndexFunc(parts, func(p string) bool { return strings.ContainsAny(p, "*?[") })
	root = strings.Join(parts[:at], string(filepath.Separator))
	switch {
	case root == "" && filepath.IsAbs(pattern):
		root = string(filepath.Separator)
	case root == "":
		root = "."
	}
	return root, append(parts[at:], "**"), nil // with everything below
}
