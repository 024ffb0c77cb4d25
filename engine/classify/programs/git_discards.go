package programs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// gitElsewhere forgets what was stashed if options or variables select another repository,
// index or working tree than those of the directory.
func gitElsewhere(c *shell.Call) {
	for _, name := range c.Words {
		_, set := c.Shell.Scope.Lookup(name)
		if set || strings.HasPrefix(name, "-") && c.Opts.Has(name) {
			c.Shell.Scope.Saved = shell.Stashed{}
		}
	}
}

// gitSaves records what a command stashes or commits. It applies only to commands that run
// after it has succeeded: git stash -u && git reset --hard.
func gitSaves(c *shell.Call) {
	o, what := c.Opts, c.Shell.Scope.Saved.What
	sub, first := o.Operand(0).Text, o.Operand(1)
	switch {
	case sub == "commit":
		if paths, ok := o.Commits(); ok {
			takes(c, abstract.Taken{}, paths)
			takes(c, abstract.Taken{Staged: true}, []abstract.Arg{abstract.Word(".")})
		}
		c.Shell.Staged = nil
		if !o.Has("-a", "--all") || len(o.Operands) > 1 || o.Has("--dry-run", "--short", "--porcelain", "--long", "-z", "--null", "-p",
			"--patch", "--interactive", "-h", "--help") {
			return
		}
		what.Changes, what.Staged = true, true
	case sub != "stash" || o.Has("-p", "--patch", "-S", "--staged", "--pathspec-from-file"):
		return
	case len(o.Operands) == 1, first.Is("push") && len(o.Operands) == 2, first.Is("save"):
		all := o.Has("-a", "--all")
		what = abstract.Discard{Changes: true, Staged: true, Untracked: all || o.Has("-u", "--include-untracked"), Ignored: all}
	case first.Is("push"):
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "stash", Reversible: engine.R1}, o.Operands[2:]...)
		return
	case first.Is("pop", "apply", "branch"):
		what, c.Shell.Popped = abstract.Discard{}, true
	default:
		return
	}
	c.Shell.Scope.Saved = shell.Stashed{What: what, Place: c.Shell.Place(), Stashed: sub == "stash" && what != abstract.Discard{}}
}

// gitStages records what git add stages: a reset then discards files that were untracked.
func gitStages(c *shell.Call) {
	t, added := c.Opts.Adds()
	takes(c, t, added)
	if c.Opts.Has("-u", "--update", "-h", "--help", "-N", "--intent-to-add") {
		return
	}
	paths := c.Opts.Operands[1:]
	if len(paths) == 0 && c.Opts.Has("-A", "--all", "--no-ignore-removal") {
		paths = []abstract.Arg{abstract.Word(".")}
	}
	c.Shell.Staged = append(c.Shell.Staged, pathspecs(c, paths)...)
}

// gitClean handles commands that remove untracked files.
func gitClean(c *shell.Call) {
	e := abstract.RawEffect{Kind: engine.EffectFileDelete, Recursive: c.Opts.Has("-d"), Contents: true}
	e.Discards = abstract.Discard{Untracked: !c.Opts.Has("-X"), Ignored: c.Opts.Has("-x", "-X")}
	discards(c, e, pathspecs(c, c.Opts.Operands[1:])...)
}

// discards records the loss of uncommitted work: under the current directory if no path is
// given. What was stashed just before is not lost.
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

// pathspecs returns, for each operand, the file or folder that contains everything it selects.
func pathspecs(c *shell.Call, operands []abstract.Arg) []abstract.Arg {
	list := slices.Clone(operands)
	for i, a := range list {
		name, root := place.Pathspec(a.Text)
		if a.Glob && !a.HasPrefix(":") || name == a.Text {
			continue // the shell expands it, or it is a path
		}
		if dir := c.Shell.Scope.Dirs[0]; root && dir.Sure == abstract.Literal && c.Shell.In.Disk != nil {
			if at, ok := c.Shell.In.Disk.Above(dir.Text, ".git/HEAD", ".git"); ok {
				tree := strings.TrimSuffix(strings.TrimSuffix(at, "/HEAD"), "/.git")
				name = place.Join(cmp.Or(tree, "/"), name)
			}
		}
		list[i] = a.With(name)
		list[i].Glob = false
	}
	return list
}

// lost returns the uncommitted work that is lost according to a row.
func lost(words []string) abstract.Discard {
	has := func(word string) bool { return slices.Contains(words, word) }
	return abstract.Discard{Changes: has("changes"), Staged: has("staged"), Untracked: has("untracked"), Stash: has("stash")}
}

// gitDiscard discards the stash, or changes in the whole working tree.
func gitDiscard(c *shell.Call) {
	l := lost(c.Words)
	if aside := c.Shell.Scope.Saved; l.Stash && aside.Stashed && aside.Place == c.Shell.Place() {
		c.Shell.Scope.Saved = shell.Stashed{}
		overwrites(c, aside.What, nil)
	}
	if l.Staged && !l.Untracked && len(c.Shell.Staged) > 0 {
		e := abstract.RawEffect{Kind: engine.EffectFileDelete, Recursive: true, Contents: true, Discards: abstract.Discard{Untracked: true}}
		discards(c, e, c.Shell.Staged...)
	}
	if l.Stash {
		discards(c, abstract.RawEffect{Kind: engine.EffectProcess, Discards: l}, abstract.Word("stash"))
	} else {
		overwrites(c, l, nil)
	}
}

// gitRestore discards changes in the files that the operands name.
func gitRestore(c *shell.Call) { overwrites(c, lost(c.Words), c.Opts.Operands[1:]) }

// overwrites discards changes in some paths of the working tree; none: in all.
func overwrites(c *shell.Call, lost abstract.Discard, paths []abstract.Arg) {
	if len(paths) == 0 {
		discards(c, abstract.RawEffect{Kind: engine.EffectFileWrite, Recursive: true, Discards: lost})
	}
	for i, p := range pathspecs(c, paths) {
		many := p.Is(".", "./") || p.Glob || p.Text != paths[i].Text
		discards(c, abstract.RawEffect{Kind: engine.EffectFileWrite, Recursive: many, Discards: lost}, p)
	}
}

// gitSides takes our side, or theirs, of files in conflict. Other files are overwritten by
// their version in the index, as by git restore.
func gitSides(c *shell.Call) {
	e := abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "resolve", Discards: abstract.Discard{Changes: true, Sides: true}}
	for _, p := range pathspecs(c, c.Opts.Operands[1:]) {
		c.Emit(e, p)
	}
}

// gitCheckout is git checkout of a branch or of files, which can only be determined from the
// repository.
func gitCheckout(c *shell.Call) {
	operands := c.Opts.Operands[1:]
	var paths []abstract.Arg
	for _, a := range operands {
		if looksLikeFile(a.Text) {
			paths = append(paths, a)
		}
	}
	for i, a := range c.Args {
		if a.Is("--") && len(c.Args) > i+1 {
			paths = c.Args[i+1:]
		}
	}
	switch {
	case len(paths) > 0: // with the name of a commit the files are taken from there, into the index too
		overwrites(c, abstract.Discard{Changes: true, Staged: len(operands) > len(paths)}, paths)
	case c.Opts.Has("-f", "--force"): // another commit may contain files with the names of untracked ones
		overwrites(c, abstract.Discard{Changes: true, Staged: true, Untracked: true}, nil)
	default:
		c.Process()
	}
}

// gitHooks runs the hooks that the row names, at the root of the work tree. They are not
// in any commit, and tools install them: what is known about them is reported, as for
// files outside the workspace.
func gitHooks(c *shell.Call) {
	s := c.Shell
	if s.In.Disk == nil || s.Frame.Isolated || s.Scope.Dirs[0].Sure != abstract.Literal {
		return
	}
	defer func(out abstract.Arg) { c.Out = out }(c.Out)
	for _, hook := range c.Words {
		name, ok := s.In.Disk.Above(s.Scope.Dirs[0].Text, ".git/hooks/"+hook)
		if !ok {
			continue
		}
		code, ok := s.CodeIn(abstract.Word(name), "")
		if !ok {
			continue
		}
		code.File.Own = false
		s.Subshell(func() shell.Outcome {
			s.Scope.Enter([]abstract.Value{{Text: place.DirOf(place.DirOf(place.DirOf(name)))}})
			c.Record()
			c.RunsCode(code, []abstract.Arg{abstract.Word(name), abstract.UnknownArg()})
			return shell.Outcome{}
		})
	}
}

// gitConfig changes a setting, whose name is the operand with the number in the row.
func gitConfig(c *shell.Call) {
	n, err := strconv.Atoi(strings.Join(c.Words, ""))
	if err != nil || !gitSetting(c, c.Opts.Operand(n).Text, c.Opts.Operand(n+1), true) {
		c.Process()
		return
	}
	file := abstract.Word(".git/config")
	switch f, ok := c.Opts.Get("-f", "--file"); {
	case ok:
		file = f
	case c.Opts.Has("--global"):
		file = abstract.Concat(c.Shell.Read("HOME"), abstract.Word("/.gitconfig"))
	case c.Opts.Has("--system"):
		file = abstract.Word("/etc/gitconfig")
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Persistence: true}, file)
}

// gitPager is the program of git grep -OPROGRAM and --open-files-in-pager=PROGRAM.
func gitPager(c *shell.Call) {
	for _, a := range c.Args {
		for _, option := range []string{"-O", "--open-files-in-pager="} {
			if code, ok := strings.CutPrefix(a.Text, option); ok && code != "" && !shell.OrdinaryTool(strings.Fields(code + " x")[0]) {
				c.Child(func() shell.Outcome { return c.Shell.Embed(a.With(code), "git", false) })
			}
		}
	}
}

// takes records that version control takes the files at some paths on this machine.
func takes(c *shell.Call, t abstract.Taken, paths []abstract.Arg) {
	if c.Shell.Frame.Host != "" {
		return
	}
	for _, p := range pathspecs(c, paths) {
		for _, dir := range c.Shell.Scope.Dirs {
			if t.Path = abstract.JoinDir(dir, p); len(c.Shell.Out.Taken) < abstract.MaxTaken {
				c.Shell.Out.Taken = append(c.Shell.Out.Taken, t)
			}
		}
	}
}
