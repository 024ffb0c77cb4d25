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

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// writable returns the outermost folder, among those that the run may change, that a path is in; empty: it is in none.
func (c *confinement) writable(path string) string {
	found := ""
	for _, dir := range c.plan.Write {
		if inside(path, dir) && (found == "" || inside(found, dir)) {
			found = dir
		}
	}
	return found
}

// protect keeps a file or folder from being changed, and the folders that lead to it from being renamed, so that
// nothing else takes its place. A link cannot be protected: it could be replaced.
func (c *confinement) protect(path string) error {
	root := c.writable(path)
	if root == "" {
		return nil // it cannot be changed anyway
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	at := root
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return nil // nothing is there
		case info.Mode()&os.ModeSymlink != 0:
			return fmt.Errorf("%s is a link, which cannot be protected from the run; replace it with what it leads to", at)
		case at == path || !info.IsDir(): // a file leads nowhere: what it says counts, as in a worktree of git
			c.plan.Protected = appendNew(c.plan.Protected, at)
			return nil
		}
		c.plan.Pinned = appendNew(c.plan.Pinned, at)
	}
	return nil
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// workspaceSettings protects what programs outside, and the agent, read in the workspace.
func (c *confinement) workspaceSettings() error {
	s := c.p.settings.Isolation
	names := slices.Clone(s.Protected)
	for _, m := range s.Made {
		if !filepath.IsLocal(m.Path) {
			return fmt.Errorf("isolation.made: %s is not a path in the workspace", m.Path)
		}
		if realPath(filepath.Dir(filepath.Join(c.p.dir, m.Path))) != filepath.Dir(filepath.Join(c.p.dir, m.Path)) {
			continue // a link leads there; if it can be changed, protect refuses it
		}
		c.makeAs(filepath.Join(c.p.dir, m.Path), strings.HasSuffix(m.Path, "/"), m.Contents)
		names = append(names, m.Path)
	}
	for _, list := range s.AgentProtected { // whichever agent the user starts next reads them
		for _, name := range list {
			if strings.HasPrefix(name, "~") {
				continue // see ownSettings
			}
			// An empty folder changes nothing for other agents, nor for git. Whether there is a file, the user decides.
			if strings.HasSuffix(name, "/") {
				c.makeBelow(c.p.dir, filepath.Join(c.p.dir, name))
			}
			names = append(names, name)
		}
	}
	for _, name := range names {
		if err := c.protect(filepath.Join(c.p.dir, name)); err != nil {
			return err
		}
	}
	if c.linked != "" {
		if err := c.protectLinked(c.linked); err != nil {
			return err
		}
	}
	repositories, err := c.repositories()
	for _, dir := range repositories {
		if err == nil {
			err = c.protectGit(dir)
		}
	}
	return err
}

// ownSettings protects the agent's settings in the home directory, where it writes in the same folder. Without mounts
// of its own, the run may not write there at all.
func (c *confinement) ownSettings() error {
	type setting struct {
		path   string
		folder bool
	}
	var own []setting
	for _, name := range c.p.settings.Isolation.AgentProtected[c.p.agent] {
		if strings.HasPrefix(name, "~") {
			path := c.full(name)
			own = append(own, setting{filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path)), strings.HasSuffix(name, "/")})
		}
	}
	if !c.plan.Namespaces {
		c.plan.Write = slices.DeleteFunc(c.plan.Write, func(dir string) bool {
			return slices.ContainsFunc(own, func(one setting) bool { return inside(one.path, dir) })
		})
		return nil
	}
	for _, one := range own {
		c.makeAs(one.path, one.folder, map[string]string{".json": "{}\n"}[filepath.Ext(one.path)])
		if err := c.protect(one.path); err != nil {
			return err
		}
	}
	return nil
}

// program protects the programs that answer hooks, if they are where the run may write.
func (c *confinement) program() error {
	program := realPath(cli.Program())
	c.plan.Clients = []string{program, filepath.Join(filepath.Dir(program), "reviewer-hook")}
	for _, path := range c.plan.Clients {
		if at := c.writable(path); at != "" && !c.plan.Namespaces {
			return fmt.Errorf("%s is in %s, where the run may write; install it elsewhere", path, at)
		}
		if err := c.protect(path); err != nil {
			return err
		}
	}
	return nil
}

// makeBelow creates a folder with those that lead to it from another one.
func (c *confinement) makeBelow(root, path string) {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return
	}
	at := root
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		c.makeAs(at, true, "")
	}
}

// makeAs creates a folder or file where there is nothing, in a folder that exists. It is removed after the run.
func (c *confinement) makeAs(path string, folder bool, text string) {
	if _, err := os.Lstat(path); err == nil || c.dry {
		return
	}
	if folder {
		if os.Mkdir(path, 0o755) == nil {
			c.made = append(c.made, path)
		}
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	c.made = append(c.made, path)
	_, _ = f.WriteString(text) // without room for it, the file is empty
	_ = f.Close()
}

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

// git asks git, as it works outside, about a folder. It runs nothing that a repository names: neither command has hooks. Where git
// is missing, or refuses the folder, it runs nothing from there either, and what the settings name is protected in any case; one
// that does not answer could still know of more.
func (c *confinement) git(dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	out, _ := cmd.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("git %s in %s did not answer within %s, so the places from which it runs code are unknown", args[0], dir, gitWait)
	}
	return out, nil
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
	told, err := c.git(dir, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return err
	}
	if hooks := strings.TrimSuffix(string(told), "\n"); hooks != "" {
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
	listed, err := c.git(dir, "config", "--list", "--show-origin", "-z", "--includes")
	if err != nil {
		return err
	}
	fields := bytes.Split(listed, []byte{0})
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
	ownDir, err := c.git(c.p.dir, "rev-parse", "--absolute-git-dir")
	commonDir, err2 := c.git(c.p.dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil || err2 != nil {
		return // then the repository stays out of reach
	}
	own, common := strings.TrimSuffix(string(ownDir), "\n"), strings.TrimSuffix(string(commonDir), "\n")
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
