package runcmd

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// repositories returns the folders of the workspace that have an entry .git, and that may be changed. A folder that cannot be
// read cannot be protected either, so the run does not start.
func (c *confinement) repositories() ([]string, error) {
	var list []string
	for _, root := range c.p.changeable() {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil && os.IsNotExist(err):
				return nil
			case err != nil:
				return fmt.Errorf("look for repositories in the workspace: %w", err)
			case d.Name() != ".git" || path == root:
				return nil
			}
			list = append(list, filepath.Dir(path))
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// gitWait is how long git may take to tell what it reads.
const gitWait = 10 * time.Second

// git asks git, as it works outside, about a folder. It runs nothing that a repository names: neither command has hooks.
func (c *confinement) git(dir string, args ...string) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), gitWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	out, _ := cmd.Output() // without git, nothing is run either; what the settings name is protected in any case
	return out
}

// protectGit protects every place of a repository from which git runs code outside: what the settings name (isolation.protected
// and isolation.made, below .git), the settings that git says it reads, the folder that it says has the hooks, and the files of the
// workspace that a setting names.
func (c *confinement) protectGit(dir string) error {
	s := c.p.settings.Isolation
	for _, m := range s.Made {
		if at := filepath.Join(dir, m.Path); strings.HasPrefix(m.Path, ".git/") && realPath(filepath.Dir(at)) == filepath.Dir(at) {
			c.makeAs(at, strings.HasSuffix(m.Path, "/"), m.Contents)
			if err := c.protect(at); err != nil {
				return err
			}
		}
	}
	for _, name := range s.Protected {
		if strings.HasPrefix(name, ".git/") { // a file .git is protected itself
			if err := c.protect(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	linked, _ := filepath.Glob(filepath.Join(dir, ".git/worktrees/*")) // the pattern is right
	for _, at := range linked {
		if err := c.protectLinked(at); err != nil {
			return err
		}
	}
	if hooks := strings.TrimSuffix(string(c.git(dir, "rev-parse", "--git-path", "hooks")), "\n"); hooks != "" {
		if !filepath.IsAbs(hooks) {
			hooks = filepath.Join(dir, hooks)
		}
		if err := c.protectNamed(hooks, true); err != nil {
			return err
		}
	}
	return c.protectSettings(dir)
}

// protectLinked protects what leads from the folder of a linked worktree to settings and hooks.
func (c *confinement) protectLinked(dir string) error {
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		if name == "config.worktree" {
			c.makeAs(filepath.Join(dir, name), false, "")
		}
		if err := c.protect(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// protectSettings protects the files that git reads settings from, with those that they include, and the files that a setting names.
func (c *confinement) protectSettings(dir string) error {
	fields := bytes.Split(c.git(dir, "config", "--list", "--show-origin", "-z", "--includes"), []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		origin, isFile := strings.CutPrefix(string(fields[i]), "file:")
		if !isFile {
			continue
		}
		if !filepath.IsAbs(origin) {
			origin = filepath.Join(dir, origin)
		}
		if err := c.protectNamed(origin, false); err != nil {
			return err
		}
		key, value, _ := strings.Cut(string(fields[i+1]), "\n")
		if strings.HasPrefix(key, "include") && strings.HasSuffix(key, ".path") {
			if at := c.full(value); filepath.IsAbs(at) {
				value = at
			} else {
				value = filepath.Join(filepath.Dir(origin), at)
			}
			if c.writable(value) != "" {
				c.makeAs(value, false, "")
			}
		}
		for _, word := range append(strings.Fields(value), value) {
			at := strings.Trim(word, `!'"`)
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			if info, err := os.Stat(at); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if err := c.protectNamed(at, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// protectNamed protects a path that git named. A folder that does not exist is made, with those that lead to it.
func (c *confinement) protectNamed(path string, folder bool) error {
	path = filepath.Clean(path)
	root := c.writable(path)
	if root == "" {
		return nil
	}
	if inside(c.p.dir, path) || path == root {
		return fmt.Errorf("git runs programs in %s, which the run has to change; set core.hooksPath to a folder of its own", path)
	}
	if folder {
		c.makeBelow(root, path)
	}
	return c.protect(path)
}

// worktree lets a run in a linked worktree reach its repository, which is elsewhere: it can be read, and commits can be made; its settings
// and hooks stay as they are.
func (c *confinement) worktree() {
	if isFolder(filepath.Join(c.p.dir, ".git")) {
		return
	}
	own := strings.TrimSuffix(string(c.git(c.p.dir, "rev-parse", "--absolute-git-dir")), "\n")
	common := strings.TrimSuffix(string(c.git(c.p.dir, "rev-parse", "--path-format=absolute", "--git-common-dir")), "\n")
	if common == "" || own == "" || inside(own, c.p.dir) || !inside(own, filepath.Join(common, "worktrees")) ||
		strings.TrimSpace(readText(filepath.Join(own, "gitdir"))) != filepath.Join(c.p.dir, ".git") {
		return // the repository does not say that this is one of its worktrees
	}
	c.plan.Read = append(c.plan.Read, realPath(common))
	for _, dir := range []string{own, filepath.Join(common, "objects"), filepath.Join(common, "refs"), filepath.Join(common, "logs")} {
		if isFolder(dir) {
			c.plan.Write = append(c.plan.Write, realPath(dir))
		}
	}
	c.linked = realPath(own)
}

func readText(path string) string {
	raw, _ := os.ReadFile(path) // without it, there is none
	return string(raw)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
