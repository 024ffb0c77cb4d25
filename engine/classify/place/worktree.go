package place

import (
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Limits of what is read to find the working trees of a repository.
const (
	maxTrees   = 64
	maxGitFile = 4096 // bytes of a file that contains one path
)

// worktrees returns the folders of the other working trees of the workspace's repository. A
// tree counts only if both sides agree: its .git file names a folder of the repository, and
// that folder names the tree. An agent could write one side alone.
func (r *Resolver) worktrees() []string {
	if r.treesRead {
		return r.trees
	}
	r.treesRead = true
	if r.workspace == "" || Drive(r.workspace) {
		return nil
	}
	var trees []string
	for _, tree := range r.treesFound() {
		if tree = r.known(tree); tree != "" && r.apart(tree) {
			trees = appendNew(trees, tree)
		}
	}
	r.trees = trees
	return trees
}

// treesFound returns the working trees of the repository: from its files or, if these are
// not read, World.Trees.
func (r *Resolver) treesFound() []string {
	if r.World.Lstat == nil {
		return r.World.Trees
	}
	if !r.Looking() || r.World.ReadFile == nil || r.World.ReadDir == nil {
		return nil
	}
	common := r.commonDir(r.workspace)
	if common == "" {
		return nil
	}
	return append(r.linkedTrees(common), r.mainTree(common))
}

// apart reports whether a working tree is a folder of its own: not one that contains the
// workspace or a home directory.
func (r *Resolver) apart(tree string) bool {
	switch r.Location(tree) {
	case engine.LocationHome, engine.LocationTemp, engine.LocationBeside, engine.LocationOutside:
		return true
	case engine.LocationAncestor: // the main tree, of a workspace that is in it
		return r.commonDir(tree) != "" && tree != r.home && !Within(tree, r.home)
	}
	return false
}

// commonDir returns the folder of the repository of a directory; empty: none, or unknown.
func (r *Resolver) commonDir(dir string) string {
	for ; dir != "/" && dir != "."; dir = path.Dir(dir) {
		switch info := r.Lstat(Join(dir, ".git")); {
		case info == nil:
		case info.IsDir():
			return Join(dir, ".git")
		default:
			return r.linkedTo(dir)
		}
	}
	return ""
}

// linkedTo returns the repository of a linked working tree, if both sides agree.
func (r *Resolver) linkedTo(tree string) string {
	text, ok := strings.CutPrefix(r.line(Join(tree, ".git")), "gitdir:")
	if !ok {
		return ""
	}
	own := path.Clean(absoluteIn(tree, strings.TrimSpace(text)))
	if path.Base(path.Dir(own)) != "worktrees" || r.treeOf(own) != r.known(tree) {
		return ""
	}
	return r.known(path.Dir(path.Dir(own)))
}

// treeOf returns the working tree that a folder below worktrees in a repository names.
func (r *Resolver) treeOf(own string) string {
	file := r.line(Join(own, "gitdir"))
	if path.Base(file) != ".git" {
		return ""
	}
	return r.known(path.Dir(path.Clean(absoluteIn(own, file))))
}

func (r *Resolver) linkedTrees(common string) []string {
	list, err := r.World.ReadDir(Join(common, "worktrees"), maxTrees)
	if err != nil {
		return nil
	}
	var trees []string
	for _, d := range list {
		if tree := r.treeOf(Join(Join(common, "worktrees"), d.Name())); tree != "" && r.linkedTo(tree) == r.known(common) {
			trees = append(trees, tree)
		}
	}
	return trees
}

// mainTree returns the working tree that contains the repository's folder.
func (r *Resolver) mainTree(common string) string {
	if info := r.Lstat(common); path.Base(common) != ".git" || info == nil || !info.IsDir() {
		return ""
	}
	return path.Dir(common)
}

// line returns the first line of a small file; empty if it cannot be read.
func (r *Resolver) line(name string) string {
	b, err := r.World.ReadFile(name, maxGitFile)
	if err != nil {
		return ""
	}
	text, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(text)
}

// inWorktree reports whether a path is under another working tree; the folder of a tree
// itself does not count: deleting it deletes everything in it.
func (r *Resolver) inWorktree(p string) bool {
	for _, tree := range r.worktrees() {
		if p != tree && Within(tree, p) {
			return true
		}
	}
	return false
}

// ofWorktree returns the location of trees that git worktree adds or removes. Git refuses
// to remove what is not a tree of the repository, and to create one in a non-empty folder.
func (r *Resolver) ofWorktree(e *engine.Effect, raw abstract.RawEffect) {
	if raw.Object != engine.ObjectWorktree || e.Certainty != engine.CertaintyExact || e.Class != "" ||
		e.Location != engine.LocationOutside && e.Location != engine.LocationBeside && e.Location != engine.LocationHome ||
		!Within(r.workspace, r.Native(Slashes(raw.Dir.Text))) && !r.inWorktree(Join(raw.Dir.Text, "x")) {
		return
	}
	if e.Kind == engine.EffectFileDelete || r.besideRepository(e.Target) {
		e.Location = engine.LocationWorktree
	}
}

// besideRepository reports whether a path is under the folder that contains the
// workspace, or the main working tree, and not among hidden files.
func (r *Resolver) besideRepository(p string) bool {
	for _, tree := range append([]string{r.workspace}, r.worktrees()...) {
		if holds := path.Dir(tree); holds != "/" && Within(holds, p) && !strings.Contains(p[len(holds):], "/.") {
			return true
		}
	}
	return false
}
