package runcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
