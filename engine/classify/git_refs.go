package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// gitRefs is what deletes names of commits, or the commits without a name.
func (c *call) gitRefs(sub string, o options) {
	lost := false
	switch sub {
	case "branch":
		lost = o.has("-D") || o.has("-d", "--delete") && o.has("-f", "--force")
	case "tag":
		lost = o.has("-d", "--delete")
	case "update-ref":
		lost = o.has("-d", "--stdin")
	case "reflog", "notes", "replace":
		c.subs = append(c.subs, subName(o.operand(0))...)
		lost = sub == "reflog" && o.operand(0).is("expire", "delete")
	case "gc":
		for _, opt := range o.list {
			lost = lost || opt.matches("--prune") && !opt.value.is("") && opt.value.text != "2.weeks.ago"
		}
	case "symbolic-ref":
		lost = o.has("-d", "--delete")
	case "prune", "filter-branch", "filter-repo":
		lost = !o.has("--analyze", "--dry-run")
	}
	if lost {
		c.signal(engine.SignalGitHistory)
	}
	for _, code := range o.all("--env-filter", "--tree-filter", "--index-filter", "--parent-filter", "--msg-filter", "--commit-filter", "--setup") {
		c.child(func() outcome { return c.s.embed(code, "git", false) })
	}
	c.process()
}

func (c *call) gitConfig(o options) {
	operands := o.operands
	if len(operands) > 0 && operands[0].is("set", "unset", "get", "list", "remove-section", "rename-section", "edit") {
		if operands[0].is("get", "list") {
			return
		}
		operands = operands[1:]
	}
	if len(operands) < 2 || o.has("--get", "--get-all", "--list", "-l") {
		return
	}
	if !c.gitSetting(operands[0].text, operands[1], true) {
		c.process()
		return
	}
	file := word(".git/config")
	switch f, ok := o.get("-f", "--file"); {
	case ok:
		file = f
	case o.has("--global"):
		file = concat(c.s.read("HOME"), word("/.gitconfig"))
	case o.has("--system"):
		file = word("/etc/gitconfig")
	}
	c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "write", persistence: true}, file)
}

// gitRuns is what runs other programs for git.
func (c *call) gitRuns(sub string, o options, args []arg) {
	for _, code := range o.all("-x", "--exec", "--extcmd") {
		c.child(func() outcome { return c.s.embed(code, "git", false) })
	}
	if sub == "grep" {
		c.grepPager(args)
	}
	if sub == "bisect" {
		c.subs = append(c.subs, subName(o.operand(0))...)
		if len(args) > 1 && args[0].is("run") {
			c.opts.flags, c.opts.operands = nil, args
			c.child(func() outcome { return c.s.invoke(args[1:], c.node) })
			return
		}
	}
	if sub != "grep" {
		c.process()
	}
}

// grepPager is the program of git grep -OPROGRAM and --open-files-in-pager=PROGRAM.
func (c *call) grepPager(args []arg) {
	for _, a := range args {
		for _, option := range []string{"-O", "--open-files-in-pager="} {
			if code, ok := strings.CutPrefix(a.text, option); ok && code != "" && !ordinaryTool(strings.Fields(code + " x")[0]) {
				c.child(func() outcome { return c.s.embed(a.with(code), "git", false) })
			}
		}
	}
}

// otherVCS is the other version control systems, as far as they lose work.
func otherVCS(c *call) {
	first := c.opts.operand(0)
	c.subs = subName(first)
	switch {
	case c.vcsDiscards(first):
		c.signal(engine.SignalGitDiscard)
		c.emit(rawEffect{kind: engine.EffectProcess, verb: "discard"}, word("."))
		return
	case c.name == "hg" && first.is("strip", "rollback", "histedit"), c.name == "jj" && first.is("abandon"), c.name == "jj" && first.is("op", "operation") && c.opts.operand(1).is("restore", "abandon"),
		c.name == "fossil" && first.is("purge"):
		c.signal(engine.SignalGitHistory)
	case c.name == "jj" && first.is("git") && c.opts.operand(1).is("push"):
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true, reversible: engine.R5}, word("origin"))
		return
	case first.is("push", "commit", "delete", "rm") && c.name == "svn" && (first.is("push", "commit") || isURL(c.opts.operand(1))), first.is("push"):
		if c.name == "hg" && c.opts.has("-f", "--force") {
			c.signal(engine.SignalGitForcePush)
		}
		c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true, reversible: engine.R5, forced: c.opts.has("-f", "--force")}, word("origin"))
		return
	}
	c.process()
}

// vcsDiscards tells whether a command of Subversion, Mercurial, Jujutsu or
// Fossil throws away changes that are in no commit.
func (c *call) vcsDiscards(first arg) bool {
	o := c.opts
	switch c.name {
	case "svn":
		return first.is("revert") || first.is("cleanup") && o.has("--remove-unversioned", "--remove-ignored")
	case "hg":
		return first.is("revert", "purge", "clean") || first.is("update", "up", "checkout", "co", "merge") && o.has("-C", "--clean")
	case "jj":
		return first.is("restore")
	case "fossil":
		return first.is("revert", "clean") || first.is("checkout", "co", "update") && o.has("-f", "--force")
	}
	return false
}
