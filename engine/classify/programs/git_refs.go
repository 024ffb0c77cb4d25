package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// losesHistory notes that commits lose their names, or are made anew.
func losesHistory(c *shell.Call) {
	c.Signal(engine.SignalGitHistory)
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec", Object: "history"}, abstract.Word(c.Name))
}

// gitRefs is what deletes names of commits, or the commits without a name.
func gitRefs(c *shell.Call, sub string, o shell.Options) {
	lost := false
	switch sub {
	case "branch":
		lost = o.Has("-D") || o.Has("-d", "--delete") && o.Has("-f", "--force")
	case "tag":
		lost = o.Has("-d", "--delete")
	case "update-ref":
		lost = o.Has("-d", "--stdin")
	case "reflog", "notes", "replace":
		c.Subs = append(c.Subs, subName(o.Operand(0))...)
		lost = sub == "reflog" && o.Operand(0).Is("expire", "delete")
	case "gc":
		for _, opt := range o.List {
			lost = lost || opt.Matches("--prune") && !opt.Value.Is("") && opt.Value.Text != "2.weeks.ago"
		}
	case "symbolic-ref":
		lost = o.Has("-d", "--delete")
	case "prune", "filter-branch", "filter-repo":
		lost = !o.Has("--analyze", "--dry-run")
	}
	if lost {
		losesHistory(c)
	}
	for _, code := range o.All("--env-filter", "--tree-filter", "--index-filter", "--parent-filter", "--msg-filter",
		"--commit-filter", "--setup") {
		c.Child(func() shell.Outcome { return c.Shell.Embed(code, "git", false) })
	}
	c.Process()
}

func gitConfig(c *shell.Call, o shell.Options) {
	operands := o.Operands
	if len(operands) > 0 && operands[0].Is("set", "unset", "get", "list", "remove-section", "rename-section", "edit") {
		if operands[0].Is("get", "list") {
			return
		}
		operands = operands[1:]
	}
	if len(operands) < 2 || o.Has("--get", "--get-all", "--list", "-l") {
		return
	}
	if !gitSetting(c, operands[0].Text, operands[1], true) {
		c.Process()
		return
	}
	file := abstract.Word(".git/config")
	switch f, ok := o.Get("-f", "--file"); {
	case ok:
		file = f
	case o.Has("--global"):
		file = abstract.Concat(c.Shell.Read("HOME"), abstract.Word("/.gitconfig"))
	case o.Has("--system"):
		file = abstract.Word("/etc/gitconfig")
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Persistence: true}, file)
}

// gitRuns is what runs other programs for git.
func gitRuns(c *shell.Call, sub string, o shell.Options, args []abstract.Arg) {
	for _, code := range o.All("-x", "--exec", "--extcmd") {
		c.Child(func() shell.Outcome { return c.Shell.Embed(code, "git", false) })
	}
	if sub == "grep" {
		grepPager(c, args)
	}
	if sub == "bisect" {
		c.Subs = append(c.Subs, subName(o.Operand(0))...)
		if len(args) > 1 && args[0].Is("run") {
			c.Opts.Flags, c.Opts.Operands = nil, args
			c.Child(func() shell.Outcome { return c.Shell.Invoke(args[1:], c.Node) })
			return
		}
	}
	if sub != "grep" {
		c.Process()
	}
}

// grepPager is the program of git grep -OPROGRAM and --open-files-in-pager=PROGRAM.
func grepPager(c *shell.Call, args []abstract.Arg) {
	for _, a := range args {
		for _, option := range []string{"-O", "--open-files-in-pager="} {
			if code, ok := strings.CutPrefix(a.Text, option); ok && code != "" && !shell.OrdinaryTool(strings.Fields(code + " x")[0]) {
				c.Child(func() shell.Outcome { return c.Shell.Embed(a.With(code), "git", false) })
			}
		}
	}
}

// otherVCS is the other version control systems, as far as they lose work.
func otherVCS(c *shell.Call) {
	first := c.Opts.Operand(0)
	c.Subs = subName(first)
	switch {
	case vcsDiscards(c, first):
		c.Signal(engine.SignalGitDiscard)
		c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "discard"}, abstract.Word("."))
		return
	case c.Name == "hg" && first.Is("strip", "rollback", "histedit"), c.Name == "jj" && first.Is("abandon"), c.Name == "jj" && first.Is("op", "operation") && c.Opts.Operand(1).Is("restore", "abandon"),
		c.Name == "fossil" && first.Is("purge"):
		losesHistory(c)
	case c.Name == "jj" && first.Is("git") && c.Opts.Operand(1).Is("push"):
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true, Reversible: engine.R5}, abstract.Word("origin"))
		return
	case first.Is("push", "commit", "delete", "rm") && c.Name == "svn" && (first.Is("push", "commit") || abstract.IsURL(c.Opts.Operand(1))), first.Is("push"):
		object := ""
		if c.Name == "hg" && c.Opts.Has("-f", "--force") {
			object = "branch"
			c.Signal(engine.SignalGitForcePush)
		}
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Object: object, Egress: true, Reversible: engine.R5,
			Forced: c.Opts.Has("-f", "--force")}, abstract.Word("origin"))
		return
	}
	c.Process()
}

// vcsDiscards tells whether a command of Subversion, Mercurial, Jujutsu or
// Fossil throws away changes that are in no commit.
func vcsDiscards(c *shell.Call, first abstract.Arg) bool {
	o := c.Opts
	switch c.Name {
	case "svn":
		return first.Is("revert") || first.Is("cleanup") && o.Has("--remove-unversioned", "--remove-ignored")
	case "hg":
		return first.Is("revert", "purge", "clean") || first.Is("update", "up", "checkout", "co", "merge") && o.Has("-C", "--clean")
	case "jj":
		return first.Is("restore")
	case "fossil":
		return first.Is("revert", "clean") || first.Is("checkout", "co", "update") && o.Has("-f", "--force")
	}
	return false
}
