package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// git finds the subcommand behind the global options.
func git(c *shell.Call) {
	k, _, _ := c.Shell.In.Rows.Program("git")
	global := shell.ParseOptions(c.Args, grammar(k.Program))
	if len(global.Operands) == 0 {
		return
	}
	sub := global.Operands[0]
	c.Subs = []string{sub.Show()}
	if !sub.Known() {
		c.Shell.Opaque("command", "git "+sub.Show())
		c.Signal(engine.SignalUnknownCommand)
		return
	}
	args := global.Operands[1:]
	for _, set := range global.All("-c", "--config-env") {
		key, v, _ := strings.Cut(set.Text, "=")
		if strings.EqualFold(key, "alias."+sub.Text) {
			gitAlias(c, set.With(v), args)
		}
		gitSetting(c, key, set.With(v), false)
	}
	if body, ok := c.Shell.GitAliases[strings.ToLower(sub.Text)]; ok {
		gitAlias(c, body, args)
	}
	for _, dir := range global.All("--exec-path") {
		if dir.Text != "" { // the subcommands are the programs of that folder
			c.Signal(engine.SignalEnvInjected)
		}
	}
	dirs := global.All("-C")
	if tree, ok := global.Get("--work-tree"); ok {
		dirs = append(dirs, tree)
	}
	elsewhere := gitElsewhere(c, global)
	if elsewhere {
		c.Shell.Scope.Saved = shell.PutAside{}
	}
	c.InDirectory(dirs, func() {
		gitHooks(c, sub.Text, args)
		gitSub(c, sub.Text, args)
	})
	if elsewhere {
		c.Shell.Scope.Saved = shell.PutAside{}
	}
	c.Opts.Flags = slices.Concat(global.Flags, c.Opts.Flags)
	c.Opts.Operands = append([]abstract.Arg{sub}, c.Opts.Operands...)
}

// gitAlias runs an alias given on the command line.
func gitAlias(c *shell.Call, body abstract.Arg, args []abstract.Arg) {
	code, own := strings.CutPrefix(body.Text, "!")
	if !own {
		code = "git " + code
	}
	all := body.With(code)
	for _, a := range args {
		all = abstract.Concat(all, a.With(" "+shell.Quote(a.Text)))
	}
	c.Child(func() shell.Outcome { return c.Shell.Embed(all, "git-alias", false) })
}

// gitSetting looks at a setting that names a program, or where programs are.
func gitSetting(c *shell.Call, key string, v abstract.Arg, stored bool) bool {
	k := strings.ToLower(key)
	switch {
	case k == "core.hookspath":
		c.Signal(engine.SignalGitNoVerify)
		if stored && v.Is("/dev/null", "/nonexistent", "/var/empty") { // off for good, and for everybody here
			c.Signal(engine.SignalGuardTamper)
		}
		return true
	case strings.HasPrefix(k, "alias."):
		if stored {
			c.Shell.GitAliases[k[len("alias."):]] = v
		}
		if code, ok := strings.CutPrefix(v.Text, "!"); ok {
			if stored {
				c.Signal(engine.SignalDeferred)
				c.Child(func() shell.Outcome { return c.Shell.Embed(v.With(code), "git-alias", false) })
			}
			return true
		}
	case k == "core.fsmonitor" && v.Is("true", "false"), k == "credential.helper" && !strings.HasPrefix(v.Text, "!"):
	case k == "core.pager", k == "core.editor", k == "core.sshcommand", k == "core.fsmonitor", k == "core.askpass", k == "core.gitproxy", k == "sequence.editor",
		k == "diff.external", k == "gpg.program", k == "credential.helper", strings.HasSuffix(k, ".textconv"), strings.HasSuffix(k, ".cmd"),
		strings.HasPrefix(k, "filter.") && (strings.HasSuffix(k, ".clean") || strings.HasSuffix(k, ".smudge") || strings.HasSuffix(k, ".process")),
		strings.HasPrefix(k, "pager."), strings.HasSuffix(k, ".command"), strings.HasPrefix(k, "merge.") && strings.HasSuffix(k, ".driver"):
		code := strings.TrimPrefix(v.Text, "!")
		if !shell.OrdinaryTool(strings.Fields(code + " x")[0]) {
			c.Signal(engine.SignalEnvInjected)
			c.Child(func() shell.Outcome { return c.Shell.Embed(v.With(code), "git-config", false) })
			return true
		}
	case k == "include.path", k == "init.templatedir", strings.HasSuffix(k, ".insteadof"), strings.HasSuffix(k, ".proxy"):
		return true
	}
	return false
}

// gitValues are the options of a subcommand that take a value: single letters
// mean different things to different subcommands.
func gitValues(c *shell.Call, sub string) string {
	k, _, _ := c.Shell.In.Rows.Program("git")
	row, _ := k.Subcommand(sub)
	return padded(row.Values)
}

// gitSub runs one subcommand.
func gitSub(c *shell.Call, sub string, args []abstract.Arg) {
	o := shell.ParseOptions(args, shell.Program{Values: gitValues(c, sub)})
	c.Opts = o
	if o.Has("--no-verify") || sub == "commit" && o.Has("-n") {
		c.Signal(engine.SignalGitNoVerify)
	}
	if o.Exact("--help") || o.Has("--dry-run") || o.Has("-n") && strings.Contains(" clean push rm add mv prune fetch ", " "+sub+" ") {
		c.Signal(engine.SignalDryRun)
		return
	}
	switch sub {
	case "push", "send-pack":
		gitPush(c, o)
	case "clone", "fetch", "pull", "ls-remote", "remote", "send-email", "svn", "p4", "lfs":
		gitRemote(c, sub, o)
	case "clean":
		gitClean(c, o)
	case "reset", "checkout", "switch", "restore", "stash", "read-tree", "checkout-index":
		gitDiscard(c, sub, o, args)
	case "rm", "mv", "worktree", "submodule", "init", "apply", "am", "archive", "bundle", "format-patch", "diff":
		gitFiles(c, sub, o)
	case "branch", "tag", "update-ref", "reflog", "gc", "prune", "filter-branch", "filter-repo", "replace", "symbolic-ref", "notes":
		gitRefs(c, sub, o)
	case "config":
		gitConfig(c, o)
	case "rebase", "bisect", "difftool", "mergetool", "grep":
		gitRuns(c, sub, o, args)
	case "credential":
		c.Signal(engine.SignalCredential)
	case "daemon", "instaweb":
		c.Listens(abstract.Word("0.0.0.0"), args)
	case "maintenance":
		if o.Operand(0).Is("start", "register") {
			c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "enable", Persistence: true}, abstract.Word("git maintenance"))
		}
	default:
		gitPlain(c, sub, o)
	}
}

// readsCommitted is git show HEAD:FILE. What a file held holds mostly still.
func readsCommitted(c *shell.Call, objects []abstract.Arg) {
	for _, a := range objects {
		if _, file, ok := strings.Cut(a.Text, ":"); ok && file != "" && !a.HasPrefix(":/") {
			c.Reads(a.With(file))
		}
	}
}

// gitPlain is a subcommand that keeps to the repository's own books.
func gitPlain(c *shell.Call, sub string, o shell.Options) {
	switch sub {
	case "blame", "annotate":
		c.Reads(o.All("--contents", "--ignore-revs-file")...)
	case "log", "show", "shortlog", "whatchanged", "cat-file":
		c.Writes("write", o.All("--output")...)
		readsCommitted(c, o.Operands)
	case "hash-object":
		c.Reads(o.Operands...)
	case "hook":
		if o.Operand(0).Is("run") {
			c.Process()
		}
	case "ls-files", "ls-tree":
		c.Out = abstract.Word("./" + abstract.HoleText + "\n")
	case "add", "commit", "merge", "cherry-pick", "revert":
		gitSaves(c, sub, o)
		c.Process()
	}
}

func gitPush(c *shell.Call, o shell.Options) {
	object := ""
	forced := o.Has("-f", "--force", "--mirror") && !onlyLease(o)
	deletes := o.Has("-d", "--delete") || o.Has("--prune", "--mirror")
	refs := o.Operands
	remote := abstract.Word("origin")
	if r, ok := o.Get("--repo"); ok {
		remote = r
	} else if len(refs) > 0 {
		remote, refs = refs[0], refs[1:]
	}
	for _, r := range refs {
		forced = forced || r.HasPrefix("+")
		deletes = deletes || r.HasPrefix(":") && len(r.Text) > 1
	}
	if forced {
		object = "branch"
		c.Signal(engine.SignalGitForcePush)
	}
	if deletes {
		object = "history"
		c.Signal(engine.SignalGitHistory)
	}
	for _, code := range o.All("--receive-pack", "--exec") {
		c.Child(func() shell.Outcome { return c.Shell.Embed(code, "git", false) })
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Object: object, Egress: true, Forced: forced,
		Reversible: engine.R5}, remote)
}

// onlyLease tells whether what looks like --force is --force-with-lease.
func onlyLease(o shell.Options) bool {
	return !slices.ContainsFunc(o.List, func(opt shell.Option) bool {
		return opt.Name == "-f" || opt.Name == "--mirror" || opt.Matches("--force")
	})
}

func gitRemote(c *shell.Call, sub string, o shell.Options) {
	for _, code := range o.All("-u", "--upload-pack") {
		c.Child(func() shell.Outcome { return c.Shell.Embed(code, "git", false) })
	}
	transports(c, o.Operands...)
	for _, set := range o.All("-c", "--config") {
		key, v, _ := strings.Cut(set.Text, "=")
		gitSetting(c, key, set.With(v), false)
	}
	c.Reads(o.All("--template")...)
	first := o.Operand(0)
	switch sub {
	case "clone":
		gitClone(c, o)
		return
	case "remote":
		c.Subs = append(c.Subs, subName(first)...)
		if first.Is("update", "show", "prune") {
			c.Fetches(abstract.Word("origin"))
		}
		return
	case "send-email":
		c.Sends("send", abstract.Word("smtp"))
		return
	case "lfs":
		c.Subs = append(c.Subs, subName(first)...)
		if first.Is("push") {
			c.Sends("send", abstract.Word("origin"))
		}
		return
	}
	if first.Text == "" {
		first = abstract.Word("origin")
	}
	c.Fetches(first)
	if sub == "fetch" {
		c.Out = abstract.Arg{}
	}
}

// transports runs the commands that addresses of the form ext::COMMAND hold.
func transports(c *shell.Call, addresses ...abstract.Arg) {
	for _, a := range addresses {
		if code, ok := strings.CutPrefix(a.Text, "ext::"); ok {
			argv := extTransport(a, code)
			c.Child(func() shell.Outcome { return c.Shell.Invoke(argv, c.Node) })
		}
	}
}

// extTransport splits the command of an ext:: address, in which "% " is a blank
// inside an argument.
func extTransport(a abstract.Arg, code string) []abstract.Arg {
	var out []abstract.Arg
	for _, f := range strings.Split(strings.ReplaceAll(code, "% ", abstract.HoleText), " ") {
		out = append(out, a.With(strings.ReplaceAll(f, abstract.HoleText, " ")))
	}
	return out
}

func subName(a abstract.Arg) []string {
	if a.Text == "" {
		return nil
	}
	return []string{a.Show()}
}

func gitClone(c *shell.Call, o shell.Options) {
	from, to := o.Operand(0), o.Operand(1)
	if to.Text == "" {
		base, _ := abstract.Arg{Text: strings.TrimSuffix(strings.TrimSuffix(from.Text, "/"), ".git")}.Base()
		to = abstract.Word(base)
		if base == "" {
			to = abstract.UnknownArg()
		}
	}
	switch {
	case from.HasPrefix("ext::"):
	case isRemote(from):
		c.Fetches(remoteHost(from))
	default:
		c.Reads(from)
	}
	c.Writes("create", to)
	makesTree(c, to)
}

// makesTree notes that git makes a working tree that was not there before:
// nothing of anybody's can be lost in it.
func makesTree(c *shell.Call, dir abstract.Arg) {
	for _, from := range c.Shell.Scope.Dirs {
		v := abstract.JoinDir(from, dir)
		if v.Sure == abstract.Prefix && strings.HasPrefix(v.Text, "/tmp/") {
			c.Shell.MadeTrees = append(c.Shell.MadeTrees, v)
		}
		if v.Sure != abstract.Literal || c.Shell.In.ListDir == nil {
			continue
		}
		if _, err := c.Shell.In.ListDir(v.Text); err != nil {
			c.Shell.MadeTrees = append(c.Shell.MadeTrees, v)
		}
	}
}

// ownTree tells whether dir, seen from wherever the shell may be, lies in a
// working tree that the script itself has made.
func ownTree(c *shell.Call, dir abstract.Arg) bool {
	for _, from := range c.Shell.Scope.Dirs {
		v := abstract.JoinDir(from, dir)
		if !slices.ContainsFunc(c.Shell.MadeTrees, func(made abstract.Value) bool {
			return v == made || v.Sure == abstract.Literal && made.Sure == abstract.Literal && strings.HasPrefix(v.Text, made.Text+"/")
		}) {
			return false
		}
	}
	return true
}

// looksLikeFile tells whether an operand of git checkout is a path rather than
// a branch, which only the repository knows for sure.
func looksLikeFile(s string) bool {
	if s == "." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, ":/") || strings.HasPrefix(s, "/") ||
		strings.ContainsAny(s, "*?") || strings.HasSuffix(s, "/") {
		return true
	}
	base := s[strings.LastIndexByte(s, '/')+1:]
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 || strings.ContainsAny(s, "~^@") {
		return false
	}
	ext := base[dot+1:]
	return ext != "" && strings.Trim(ext, "0123456789") != ""
}

// gitFiles is what changes files by name.
func gitFiles(c *shell.Call, sub string, o shell.Options) {
	first := o.Operand(0)
	transports(c, o.All("--remote")...)
	switch sub {
	case "rm":
		if !o.Has("--cached") {
			c.Deletes(o.Has("-r"), o.Has("-f", "--force"), o.Operands...)
		}
	case "mv":
		if sources, dest, inDir := destination(c); dest.Text != "" {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "move"}, sources...)
			c.Writes("write", landing(sources, dest, inDir)...)
		}
	case "worktree":
		c.Subs = append(c.Subs, subName(first)...)
		if first.Is("remove") {
			removesTree(c, o.Operand(1), o.Has("-f", "--force"))
		} else if first.Is("add") {
			c.Writes("create", o.Operand(1))
			makesTree(c, o.Operand(1))
		}
	case "submodule":
		c.Subs = append(c.Subs, subName(first)...)
		gitSubmodule(c, first, o)
	case "init":
		c.Reads(o.All("--template")...)
		if first.Text != "" {
			c.Writes("create", first)
			makesTree(c, first)
		}
	case "apply", "am":
		c.Reads(o.Operands...)
		switch {
		case o.Has("--check", "--stat", "--numstat", "--summary"):
		case languages.Patches(c, o.Operands):
		case o.Exact("--unsafe-paths"): // a patch may name any path
			c.Writes("write", abstract.UnknownArg())
		case c.Shell.Scope.Dirs[0].Sure == abstract.Prefix:
			c.Writes("write", abstract.Word("."))
		default:
			c.Writes("write", abstract.Word("./"+abstract.HoleText))
		}
	default:
		for _, out := range o.All("-o", "--output", "--output-directory") {
			c.Writes("write", out)
		}
		if sub == "diff" {
			c.Reads(diffFiles(o)...)
		}
		if sub == "bundle" && first.Is("create") {
			c.Writes("write", o.Operand(1))
		}
	}
}

// removesTree is git worktree remove: git itself refuses where work would be
// lost, unless it is forced.
func removesTree(c *shell.Call, dir abstract.Arg, forced bool) {
	if ownTree(c, dir) {
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: true, Forced: forced, Reversible: engine.R3}, dir)
		return
	}
	if !forced {
		c.Deletes(true, false, dir)
		return
	}
	e := abstract.RawEffect{Kind: engine.EffectFileDelete, Recursive: true,
		Discards: abstract.Discard{Changes: true, Staged: true, Untracked: true, Ignored: true}}
	discards(c, e, dir)
}

// diffFiles are the operands of git diff that are files and not what git holds:
// all with --no-index, which a path out of the repository means too.
func diffFiles(o shell.Options) []abstract.Arg {
	away := func(a abstract.Arg) bool {
		return a.HasPrefix("/") || a.HasPrefix("~") || a.Is("..") || a.HasPrefix("../")
	}
	if o.Has("--no-index") || slices.ContainsFunc(o.Operands, away) {
		return o.Operands
	}
	return nil
}

func gitSubmodule(c *shell.Call, first abstract.Arg, o shell.Options) {
	switch {
	case first.Is("foreach"):
		c.Child(func() shell.Outcome { return c.Shell.Embed(shell.JoinWords(o.Operands[1:]), "git", false) })
	case first.Is("deinit") && o.Has("-f", "--force"):
		e := abstract.RawEffect{Kind: engine.EffectFileDelete, Recursive: true,
			Discards: abstract.Discard{Changes: true, Staged: true, Untracked: true}}
		discards(c, e, o.Operands[1:]...)
	case first.Is("add", "update"):
		if isRemote(o.Operand(1)) {
			c.Fetches(remoteHost(o.Operand(1)))
		} else {
			c.Fetches(abstract.Word("origin"))
		}
	}
}
