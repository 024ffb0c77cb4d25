package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// putAside is what the command before has put aside in a repository.
type putAside struct {
	what  Discard
	place string
}

// place names where the shell is.
func (s *shell) place() string {
	list := []string{s.frame.host}
	for _, dir := range s.scope.dirs {
		list = append(list, dir.text)
	}
	return strings.Join(list, "\n")
}

// covers says that all that is thrown away is among what was put aside there.
func (s putAside) covers(place string, lost Discard) bool {
	return s.place == place && lost != (Discard{}) && !lost.Stash &&
		(s.what.Changes || !lost.Changes) && (s.what.Staged || !lost.Staged) && (s.what.Untracked || !lost.Untracked) && (s.what.Ignored || !lost.Ignored)
}

// gitElsewhere says that options or variables name another repository, index or
// working tree than those of the directory: what is put aside in one is not what
// the other loses.
func (c *call) gitElsewhere(global options) bool {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"} {
		if _, set := c.s.scope.lookup(name); set {
			return true
		}
	}
	return global.has("--git-dir", "--work-tree", "--namespace")
}

// gitSaves notes what a command puts aside or commits. It holds for what runs
// only after the command has worked: git stash -u && git reset --hard.
func (c *call) gitSaves(sub string, o options) {
	what := c.s.scope.saved.what
	first := o.operand(0)
	switch {
	case sub == "commit":
		if !o.has("-a", "--all") || len(o.operands) > 0 || o.has("--dry-run", "--short", "--porcelain", "--long", "-z", "--null", "-p", "--patch", "--interactive", "-h", "--help") {
			return
		}
		what.Changes, what.Staged = true, true
	case sub != "stash" || o.has("-p", "--patch", "-S", "--staged", "--pathspec-from-file"):
		return
	case len(o.operands) == 0, first.is("push") && len(o.operands) == 1, first.is("save"):
		all := o.has("-a", "--all")
		what = Discard{Changes: true, Staged: true, Untracked: all || o.has("-u", "--include-untracked"), Ignored: all}
	case first.is("push"):
		c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "stash", reversible: engine.R1}, o.operands[1:]...)
		return
	case first.is("pop", "apply", "branch"):
		what, c.s.popped = Discard{}, true
	default:
		return
	}
	c.s.scope.saved = putAside{what, c.s.place()}
}

// gitClean is what removes files that are not tracked.
func (c *call) gitClean(o options) {
	if !o.has("-f", "--force") || o.has("-i", "--interactive") {
		c.process()
		return
	}
	e := rawEffect{kind: engine.EffectFileDelete, recursive: o.has("-d"), contents: true}
	e.discards = Discard{Untracked: !o.has("-X"), Ignored: o.has("-x", "-X")}
	c.discards(e, o.operands...)
}

// discards notes what throws away work that is in no commit: below the present
// directory where no path is given. What was put aside just before is not lost.
func (c *call) discards(e rawEffect, paths ...arg) {
	if len(paths) == 0 {
		paths = []arg{word(".")}
	}
	e.verb, e.forced = "discard", true
	e.discards.Stash = e.discards.Stash || c.s.popped
	switch {
	case c.ownTree(word(".")) && e.kind != engine.EffectProcess: // all working trees share the stash
		e.reversible, e.discards = engine.R3, Discard{}
	case c.s.scope.saved.covers(c.s.place(), e.discards):
		e.reversible, e.discards = engine.R3, Discard{}
	default:
		c.signal(engine.SignalGitDiscard)
	}
	c.emit(e, paths...)
}

// gitDiscard is what throws away changes that were not committed.
func (c *call) gitDiscard(sub string, o options, args []arg) {
	paths, lost := gitOverwrites(sub, o, args)
	if sub == "stash" {
		c.subs = append(c.subs, subName(o.operand(0))...)
	}
	switch {
	case lost == Discard{}:
		c.gitSaves(sub, o)
		c.process()
		return
	case lost.Stash:
		c.discards(rawEffect{kind: engine.EffectProcess, discards: lost}, word("stash"))
	case len(paths) == 0:
		c.discards(rawEffect{kind: engine.EffectFileWrite, recursive: true, discards: lost})
	}
	for _, p := range paths {
		e := rawEffect{kind: engine.EffectFileWrite, recursive: p.is(".", ":/", "./") || p.glob, discards: lost}
		if p.is(":/") {
			p = word(".")
		}
		c.discards(e, p)
	}
}

// gitOverwrites tells what of the working tree is overwritten: which paths,
// where they are named, and what of them is lost.
func gitOverwrites(sub string, o options, args []arg) (paths []arg, lost Discard) {
	changes := Discard{Changes: true}
	all := Discard{Changes: true, Staged: true}
	if sub != "reset" || len(o.operands) > 0 && !o.operand(0).is("HEAD") {
		all.Untracked = true // another commit may hold files of the same names
	}
	switch sub {
	case "reset":
		return nil, onlyIf(o.has("--hard", "--merge", "--keep"), all)
	case "stash":
		return nil, onlyIf(o.operand(0).is("drop", "clear"), Discard{Stash: true})
	case "read-tree":
		return nil, onlyIf(o.has("--reset", "-u") && o.has("-u"), all)
	case "checkout-index":
		return nil, onlyIf(o.has("-f", "--force"), changes)
	case "switch":
		return nil, onlyIf(o.has("-f", "--force", "--discard-changes"), all)
	case "restore":
		if o.has("-S", "--staged") {
			return o.operands, onlyIf(o.has("-W", "--worktree"), Discard{Changes: true, Staged: true})
		}
		return o.operands, changes
	}
	return gitCheckout(o, args, all)
}

// gitCheckout is git checkout, of a branch or of files.
func gitCheckout(o options, args []arg, all Discard) (paths []arg, lost Discard) {
	forced := o.has("-f", "--force")
	if o.has("-b", "-B", "--orphan") {
		return nil, onlyIf(forced, all)
	}
	for _, a := range o.operands {
		if looksLikeFile(a.text) {
			paths = append(paths, a)
		}
	}
	for i, a := range args {
		if a.is("--") && len(args) > i+1 {
			paths = args[i+1:]
		}
	}
	if len(paths) == 0 {
		return nil, onlyIf(forced, all)
	}
	// With the name of a commit the files are taken from there, into the index too.
	return paths, Discard{Changes: true, Staged: len(o.operands) > len(paths)}
}

func onlyIf(is bool, lost Discard) Discard {
	if is {
		return lost
	}
	return Discard{}
}
