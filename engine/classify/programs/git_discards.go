package programs

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// gitElsewhere says that options or variables name another repository, index or
// working tree than those of the directory: what is put aside in one is not what
// the other loses.
func gitElsewhere(c *shell.Call, global shell.Options) bool {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"} {
		if _, set := c.Shell.Scope.Lookup(name); set {
			return true
		}
	}
	return global.Has("--git-dir", "--work-tree", "--namespace")
}

// gitSaves notes what a command puts aside or commits. It holds for what runs
// only after the command has worked: git stash -u && git reset --hard.
func gitSaves(c *shell.Call, sub string, o shell.Options) {
	what := c.Shell.Scope.Saved.What
	first := o.Operand(0)
	switch {
	case sub == "commit":
		if !o.Has("-a", "--all") || len(o.Operands) > 0 || o.Has("--dry-run", "--short", "--porcelain", "--long", "-z", "--null", "-p",
			"--patch", "--interactive", "-h", "--help") {
			return
		}
		what.Changes, what.Staged = true, true
	case sub != "stash" || o.Has("-p", "--patch", "-S", "--staged", "--pathspec-from-file"):
		return
	case len(o.Operands) == 0, first.Is("push") && len(o.Operands) == 1, first.Is("save"):
		all := o.Has("-a", "--all")
		what = abstract.Discard{Changes: true, Staged: true, Untracked: all || o.Has("-u", "--include-untracked"), Ignored: all}
	case first.Is("push"):
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "stash", Reversible: engine.R1}, o.Operands[1:]...)
		return
	case first.Is("pop", "apply", "branch"):
		what, c.Shell.Popped = abstract.Discard{}, true
	default:
		return
	}
	c.Shell.Scope.Saved = shell.PutAside{What: what, Place: c.Shell.Place()}
}

// gitClean is what removes files that are not tracked.
func gitClean(c *shell.Call, o shell.Options) {
	if !o.Has("-f", "--force") || o.Has("-i", "--interactive") {
		c.Process()
		return
	}
	e := abstract.RawEffect{Kind: engine.EffectFileDelete, Recursive: o.Has("-d"), Contents: true}
	e.Discards = abstract.Discard{Untracked: !o.Has("-X"), Ignored: o.Has("-x", "-X")}
	discards(c, e, o.Operands...)
}

// discards notes what throws away work that is in no commit: below the present
// directory where no path is given. What was put aside just before is not lost.
func discards(c *shell.Call, e abstract.RawEffect, paths ...abstract.Arg) {
	if len(paths) == 0 {
		paths = []abstract.Arg{abstract.Word(".")}
	}
	e.Verb, e.Forced = "discard", true
	e.Discards.Stash = e.Discards.Stash || c.Shell.Popped
	switch {
	case ownTree(c, abstract.Word(".")) && e.Kind != engine.EffectProcess: // all working trees share the stash
		e.Reversible, e.Discards = engine.R3, abstract.Discard{}
	case c.Shell.Scope.Saved.Covers(c.Shell.Place(), e.Discards):
		e.Reversible, e.Discards = engine.R3, abstract.Discard{}
	default:
		c.Signal(engine.SignalGitDiscard)
	}
	c.Emit(e, paths...)
}

// gitDiscard is what throws away changes that were not committed.
func gitDiscard(c *shell.Call, sub string, o shell.Options, args []abstract.Arg) {
	paths, lost := gitOverwrites(sub, o, args)
	if sub == "stash" {
		c.Subs = append(c.Subs, subName(o.Operand(0))...)
	}
	switch {
	case lost == abstract.Discard{}:
		gitSaves(c, sub, o)
		c.Process()
		return
	case lost.Stash:
		discards(c, abstract.RawEffect{Kind: engine.EffectProcess, Discards: lost}, abstract.Word("stash"))
	case len(paths) == 0:
		discards(c, abstract.RawEffect{Kind: engine.EffectFileWrite, Recursive: true, Discards: lost})
	}
	for _, p := range paths {
		e := abstract.RawEffect{Kind: engine.EffectFileWrite, Recursive: p.Is(".", ":/", "./") || p.Glob, Discards: lost}
		if p.Is(":/") {
			p = abstract.Word(".")
		}
		discards(c, e, p)
	}
}

// gitOverwrites tells what of the working tree is overwritten: which paths,
// where they are named, and what of them is lost.
func gitOverwrites(sub string, o shell.Options, args []abstract.Arg) (paths []abstract.Arg, lost abstract.Discard) {
	changes := abstract.Discard{Changes: true}
	all := abstract.Discard{Changes: true, Staged: true}
	if sub != "reset" || len(o.Operands) > 0 && !o.Operand(0).Is("HEAD") {
		all.Untracked = true // another commit may hold files of the same names
	}
	switch sub {
	case "reset":
		return nil, onlyIf(o.Has("--hard", "--merge", "--keep"), all)
	case "stash":
		return nil, onlyIf(o.Operand(0).Is("drop", "clear"), abstract.Discard{Stash: true})
	case "read-tree":
		return nil, onlyIf(o.Has("--reset", "-u") && o.Has("-u"), all)
	case "checkout-index":
		return nil, onlyIf(o.Has("-f", "--force"), changes)
	case "switch":
		return nil, onlyIf(o.Has("-f", "--force", "--discard-changes"), all)
	case "restore":
		if o.Has("-S", "--staged") {
			return o.Operands, onlyIf(o.Has("-W", "--worktree"), abstract.Discard{Changes: true, Staged: true})
		}
		return o.Operands, changes
	}
	return gitCheckout(o, args, all)
}

// gitCheckout is git checkout, of a branch or of files.
func gitCheckout(o shell.Options, args []abstract.Arg, all abstract.Discard) (paths []abstract.Arg, lost abstract.Discard) {
	forced := o.Has("-f", "--force")
	if o.Has("-b", "-B", "--orphan") {
		return nil, onlyIf(forced, all)
	}
	for _, a := range o.Operands {
		if looksLikeFile(a.Text) {
			paths = append(paths, a)
		}
	}
	for i, a := range args {
		if a.Is("--") && len(args) > i+1 {
			paths = args[i+1:]
		}
	}
	if len(paths) == 0 {
		return nil, onlyIf(forced, all)
	}
	// With the name of a commit the files are taken from there, into the index too.
	return paths, abstract.Discard{Changes: true, Staged: len(o.Operands) > len(paths)}
}

func onlyIf(is bool, lost abstract.Discard) abstract.Discard {
	if is {
		return lost
	}
	return abstract.Discard{}
}
