package checkpoint

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/gitignore"
)

// ignore determines what git ignores in a folder: it has the rules of its
// .gitignore file, and those of the folders above.
type ignore struct {
	above      *ignore
	dir        string // relative to the workspace
	prefix     string // of the workspace, from the folder of the rules, if that is above it
	rules      []gitignore.Rule
	all        bool // the folder itself is ignored
	repository bool // the folder is in a repository
}

// enter returns the rules that apply in a folder with these names.
func (g *ignore) enter(dir *os.Root, rel string, names []string) *ignore {
	git := slices.Contains(names, ".git")
	if !slices.Contains(names, ".gitignore") && !git {
		return g
	}
	in := &ignore{above: g, dir: rel, all: g.all, repository: g.repository || git}
	if git {
		in.above, in.all = nil, false // a repository within another has rules of its own
		in.rules = readRules(dir, filepath.Join(".git", "info", "exclude"))
	}
	in.rules = append(in.rules, readRules(dir, ".gitignore")...)
	return in
}

func readRules(dir *os.Root, name string) []gitignore.Rule {
	f, err := dir.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, gitignore.MaxFile))
	if err != nil {
		return nil
	}
	return gitignore.Parse(string(b))
}

// below returns the rules for a folder, before its own file is read.
func (g *ignore) below(rel string) *ignore {
	if g.all || !g.ignores(rel, true) {
		return g
	}
	return &ignore{above: g, dir: rel, all: true, repository: g.repository}
}

// ignores reports whether git ignores a path: the nearest file with a rule for it decides.
func (g *ignore) ignores(rel string, dir bool) bool {
	if !g.repository || g.all {
		return g.all
	}
	for at := g; at != nil; at = at.above {
		from := path.Join(at.prefix, strings.TrimPrefix(strings.TrimPrefix(rel, at.dir), "/"))
		if ignored, found := gitignore.Decide(at.rules, from, dir); found {
			return ignored
		}
	}
	return false
}

// generated reports whether a folder with the name of generated output is generated: in a
// repository, it must be ignored.
func (g *ignore) generated(rel string) bool {
	return !g.repository || g.ignores(rel, true)
}

// ignoredAbove returns the rules of the repository that a workspace is a part of.
func ignoredAbove(root string) *ignore {
	for dir := filepath.Dir(root); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
			continue
		}
		above := &ignore{repository: true}
		if r, err := os.OpenRoot(dir); err == nil {
			above.rules = readRules(r, ".gitignore")
			_ = r.Close() // it was only read
		}
		if rel, err := filepath.Rel(dir, root); err == nil {
			above.prefix = filepath.ToSlash(rel)
		}
		return above
	}
	return &ignore{}
}
