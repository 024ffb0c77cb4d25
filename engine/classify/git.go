package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// gitPrograms is git and what speaks its language.
func gitPrograms(name string) program {
	switch name {
	case "git", "hub":
		return program{first: true, values: " -C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source ", run: git}
	case "git-filter-repo", "bfg":
		return program{run: func(c *call) { c.signal(engine.SignalGitHistory) }}
	case "svn", "hg", "jj", "fossil":
		return program{run: otherVCS}
	}
	return program{}
}

// git finds the subcommand behind the global options.
func git(c *call) {
	global := c.opts
	if len(global.operands) == 0 {
		return
	}
	sub := global.operands[0]
	c.subs = []string{sub.show()}
	if !sub.known() {
		c.s.opaque("command", "git "+sub.show())
		c.signal(engine.SignalUnknownCommand)
		return
	}
	args := global.operands[1:]
	for _, set := range global.all("-c", "--config-env") {
		key, v, _ := strings.Cut(set.text, "=")
		if strings.EqualFold(key, "alias."+sub.text) {
			c.gitAlias(set.with(v), args)
		}
		c.gitSetting(key, set.with(v), false)
	}
	if body, ok := c.s.gitAliases[strings.ToLower(sub.text)]; ok {
		c.gitAlias(body, args)
	}
	for _, dir := range global.all("--exec-path") {
		if dir.text != "" { // the subcommands are the programs of that folder
			c.signal(engine.SignalEnvInjected)
		}
	}
	dirs := global.all("-C")
	if tree, ok := global.get("--work-tree"); ok {
		dirs = append(dirs, tree)
	}
	elsewhere := c.gitElsewhere(global)
	if elsewhere {
		c.s.scope.saved = putAside{}
	}
	c.inDirectory(dirs, func() {
		c.gitHooks(sub.text, args)
		c.gitSub(sub.text, args)
	})
	if elsewhere {
		c.s.scope.saved = putAside{}
	}
	c.opts.flags = slices.Concat(global.flags, c.opts.flags)
	c.opts.operands = append([]arg{sub}, c.opts.operands...)
}

// gitAlias runs an alias given on the command line.
func (c *call) gitAlias(body arg, args []arg) {
	code, own := strings.CutPrefix(body.text, "!")
	if !own {
		code = "git " + code
	}
	all := body.with(code)
	for _, a := range args {
		all = concat(all, a.with(" "+quote(a.text)))
	}
	c.child(func() outcome { return c.s.embed(all, "git-alias", false) })
}

// gitSetting looks at a setting that names a program, or where programs are.
func (c *call) gitSetting(key string, v arg, stored bool) bool {
	k := strings.ToLower(key)
	switch {
	case k == "core.hookspath":
		c.signal(engine.SignalGitNoVerify)
		if stored && v.is("/dev/null", "/nonexistent", "/var/empty") { // off for good, and for everybody here
			c.signal(engine.SignalGuardTamper)
		}
		return true
	case strings.HasPrefix(k, "alias."):
		if stored {
			c.s.gitAliases[k[len("alias."):]] = v
		}
		if code, ok := strings.CutPrefix(v.text, "!"); ok {
			if stored {
				c.signal(engine.SignalDeferred)
				c.child(func() outcome { return c.s.embed(v.with(code), "git-alias", false) })
			}
			return true
		}
	case k == "core.fsmonitor" && v.is("true", "false"), k == "credential.helper" && !strings.HasPrefix(v.text, "!"):
	case k == "core.pager", k == "core.editor", k == "core.sshcommand", k == "core.fsmonitor", k == "core.askpass", k == "core.gitproxy", k == "sequence.editor",
		k == "diff.external", k == "gpg.program", k == "credential.helper", strings.HasSuffix(k, ".textconv"), strings.HasSuffix(k, ".cmd"),
		strings.HasPrefix(k, "filter.") && (strings.HasSuffix(k, ".clean") || strings.HasSuffix(k, ".smudge") || strings.HasSuffix(k, ".process")),
		strings.HasPrefix(k, "pager."), strings.HasSuffix(k, ".command"), strings.HasPrefix(k, "merge.") && strings.HasSuffix(k, ".driver"):
		code := strings.TrimPrefix(v.text, "!")
		if !ordinaryTool(strings.Fields(code + " x")[0]) {
			c.signal(engine.SignalEnvInjected)
			c.child(func() outcome { return c.s.embed(v.with(code), "git-config", false) })
			return true
		}
	case k == "include.path", k == "init.templatedir", strings.HasSuffix(k, ".insteadof"), strings.HasSuffix(k, ".proxy"):
		return true
	}
	return false
}

// gitValues are the options of subcommands that take a value. A letter means
// different things to different subcommands.
func gitValues(sub string) string {
	common := " -m --message -F --file --author --date --format --pretty --since --until --after --before --grep -S -G -n --max-count "
	switch sub {
	case "commit":
		return " -m --message -F --file --author --date -C -c --reuse-message --reedit-message --fixup --squash -t --template --trailer --cleanup --pathspec-from-file "
	case "tag":
		return " -m --message -F --file -u --local-user --sort --format --contains --points-at --merged --no-merged "
	case "push", "send-pack":
		return " -o --push-option --repo --receive-pack --exec "
	case "clone":
		return " -b --branch -o --origin -c --config --depth -u --upload-pack --template --reference --separate-git-dir -j --jobs --filter --shallow-since --shallow-exclude --server-option "
	case "fetch", "pull", "ls-remote":
		return " --depth --upload-pack -j --jobs --deepen --shallow-since --refmap -s --strategy -X --strategy-option -o --server-option "
	case "checkout", "switch":
		return " -b -B -c -C --orphan --conflict --pathspec-from-file "
	case "restore":
		return " -s --source --conflict --pathspec-from-file "
	case "clean":
		return " -e --exclude "
	case "difftool", "mergetool":
		return " -x --extcmd -t --tool -O "
	case "archive":
		return " --format --prefix -o --output --add-file --remote --exec "
	case "rebase":
		return " -x --exec --onto -s --strategy -X --strategy-option "
	case "config":
		return " -f --file --blob --type --default --get --get-all --get-regexp --comment --value "
	case "filter-branch":
		return " --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter --setup -d --original --state-branch --subdirectory-filter "
	case "blame", "annotate":
		return " -L -S --contents --ignore-rev --ignore-revs-file --date --abbrev "
	case "grep":
		return " -e -f -A -B -C -m --max-depth --threads --and "
	case "worktree":
		return " -b -B --reason --expire "
	case "update-ref", "branch", "reset", "rm", "add", "mv", "gc", "reflog", "stash", "submodule", "diff", "show", "status", "am", "apply", "read-tree":
		return " -m --message --pathspec-from-file --author --date -u --set-upstream-to --sort --format --contains -e --exclude --directory -b --branch --reference --depth "
	}
	return common
}

// gitSub runs one subcommand.
func (c *call) gitSub(sub string, args []arg) {
	o := parseOptions(args, program{values: gitValues(sub)})
	c.opts = o
	if o.has("--no-verify") || sub == "commit" && o.has("-n") {
		c.signal(engine.SignalGitNoVerify)
	}
	if o.exact("--help") || o.has("--dry-run") || o.has("-n") && strings.Contains(" clean push rm add mv prune fetch ", " "+sub+" ") {
		c.signal(engine.SignalDryRun)
		return
	}
	switch sub {
	case "push", "send-pack":
		c.gitPush(o)
	case "clone", "fetch", "pull", "ls-remote", "remote", "send-email", "svn", "p4", "lfs":
		c.gitRemote(sub, o)
	case "clean":
		c.gitClean(o)
	case "reset", "checkout", "switch", "restore", "stash", "read-tree", "checkout-index":
		c.gitDiscard(sub, o, args)
	case "rm", "mv", "worktree", "submodule", "init", "apply", "am", "archive", "bundle", "format-patch", "diff":
		c.gitFiles(sub, o)
	case "branch", "tag", "update-ref", "reflog", "gc", "prune", "filter-branch", "filter-repo", "replace", "symbolic-ref", "notes":
		c.gitRefs(sub, o)
	case "config":
		c.gitConfig(o)
	case "rebase", "bisect", "difftool", "mergetool", "grep":
		c.gitRuns(sub, o, args)
	case "credential":
		c.signal(engine.SignalCredential)
	case "daemon", "instaweb":
		c.listens(word("0.0.0.0"), args)
	case "maintenance":
		if o.operand(0).is("start", "register") {
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "enable", persistence: true}, word("git maintenance"))
		}
	default:
		c.gitPlain(sub, o)
	}
}

// readsCommitted is git show HEAD:FILE. What a file held holds mostly still.
func (c *call) readsCommitted(objects []arg) {
	for _, a := range objects {
		if _, file, ok := strings.Cut(a.text, ":"); ok && file != "" && !a.hasPrefix(":/") {
			c.reads(a.with(file))
		}
	}
}

// gitPlain is a subcommand that keeps to the repository's own books.
func (c *call) gitPlain(sub string, o options) {
	switch sub {
	case "blame", "annotate":
		c.reads(o.all("--contents", "--ignore-revs-file")...)
	case "log", "show", "shortlog", "whatchanged", "cat-file":
		c.writes("write", o.all("--output")...)
		c.readsCommitted(o.operands)
	case "hash-object":
		c.reads(o.operands...)
	case "hook":
		if o.operand(0).is("run") {
			c.process()
		}
	case "ls-files", "ls-tree":
		c.out = word("./" + holeText + "\n")
	case "add", "commit", "merge", "cherry-pick", "revert":
		c.gitSaves(sub, o)
		c.process()
	}
}

func (c *call) gitPush(o options) {
	forced := o.has("-f", "--force", "--mirror") && !onlyLease(o)
	deletes := o.has("-d", "--delete") || o.has("--prune", "--mirror")
	refs := o.operands
	remote := word("origin")
	if r, ok := o.get("--repo"); ok {
		remote = r
	} else if len(refs) > 0 {
		remote, refs = refs[0], refs[1:]
	}
	for _, r := range refs {
		forced = forced || r.hasPrefix("+")
		deletes = deletes || r.hasPrefix(":") && len(r.text) > 1
	}
	if forced {
		c.signal(engine.SignalGitForcePush)
	}
	if deletes {
		c.signal(engine.SignalGitHistory)
	}
	for _, code := range o.all("--receive-pack", "--exec") {
		c.child(func() outcome { return c.s.embed(code, "git", false) })
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true, forced: forced, reversible: engine.R5}, remote)
}

// onlyLease tells whether what looks like --force is --force-with-lease.
func onlyLease(o options) bool {
	for _, opt := range o.list {
		if opt.name == "-f" || opt.name == "--mirror" || opt.matches("--force") {
			return false
		}
	}
	return true
}

func (c *call) gitRemote(sub string, o options) {
	for _, code := range o.all("-u", "--upload-pack") {
		c.child(func() outcome { return c.s.embed(code, "git", false) })
	}
	c.transports(o.operands...)
	for _, set := range o.all("-c", "--config") {
		key, v, _ := strings.Cut(set.text, "=")
		c.gitSetting(key, set.with(v), false)
	}
	c.reads(o.all("--template")...)
	first := o.operand(0)
	switch sub {
	case "clone":
		c.gitClone(o)
		return
	case "remote":
		c.subs = append(c.subs, subName(first)...)
		if first.is("update", "show", "prune") {
			c.fetches(word("origin"))
		}
		return
	case "send-email":
		c.sends("send", word("smtp"))
		return
	case "lfs":
		c.subs = append(c.subs, subName(first)...)
		if first.is("push") {
			c.sends("send", word("origin"))
		}
		return
	}
	if first.text == "" {
		first = word("origin")
	}
	c.fetches(first)
	if sub == "fetch" {
		c.out = arg{}
	}
}

// transports runs the commands that addresses of the form ext::COMMAND hold.
func (c *call) transports(addresses ...arg) {
	for _, a := range addresses {
		if code, ok := strings.CutPrefix(a.text, "ext::"); ok {
			argv := extTransport(a, code)
			c.child(func() outcome { return c.s.invoke(argv, c.node) })
		}
	}
}

// extTransport splits the command of an ext:: address, in which "% " is a blank
// inside an argument.
func extTransport(a arg, code string) []arg {
	var out []arg
	for _, f := range strings.Split(strings.ReplaceAll(code, "% ", holeText), " ") {
		out = append(out, a.with(strings.ReplaceAll(f, holeText, " ")))
	}
	return out
}

func subName(a arg) []string {
	if a.text == "" {
		return nil
	}
	return []string{a.show()}
}

func (c *call) gitClone(o options) {
	from, to := o.operand(0), o.operand(1)
	if to.text == "" {
		base, _ := arg{text: strings.TrimSuffix(strings.TrimSuffix(from.text, "/"), ".git")}.base()
		to = word(base)
		if base == "" {
			to = unknownArg()
		}
	}
	switch {
	case from.hasPrefix("ext::"):
	case isRemote(from):
		c.fetches(remoteHost(from))
	default:
		c.reads(from)
	}
	c.writes("create", to)
	c.makesTree(to)
}

// makesTree notes that git makes a working tree that was not there before:
// nothing of anybody's can be lost in it.
func (c *call) makesTree(dir arg) {
	for _, from := range c.s.scope.dirs {
		v := joinDir(from, dir)
		if v.sure == prefix && strings.HasPrefix(v.text, "/tmp/") {
			c.s.madeTrees = append(c.s.madeTrees, v)
		}
		if v.sure != literal || c.s.in.listDir == nil {
			continue
		}
		if _, err := c.s.in.listDir(v.text); err != nil {
			c.s.madeTrees = append(c.s.madeTrees, v)
		}
	}
}

// ownTree tells whether dir, seen from wherever the shell may be, lies in a
// working tree that the script itself has made.
func (c *call) ownTree(dir arg) bool {
	for _, from := range c.s.scope.dirs {
		v := joinDir(from, dir)
		if !slices.ContainsFunc(c.s.madeTrees, func(made value) bool {
			return v == made || v.sure == literal && made.sure == literal && strings.HasPrefix(v.text, made.text+"/")
		}) {
			return false
		}
	}
	return true
}

// looksLikeFile tells whether an operand of git checkout is a path rather than
// a branch, which only the repository knows for sure.
func looksLikeFile(s string) bool {
	if s == "." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, ":/") || strings.HasPrefix(s, "/") || strings.ContainsAny(s, "*?") || strings.HasSuffix(s, "/") {
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
func (c *call) gitFiles(sub string, o options) {
	first := o.operand(0)
	c.transports(o.all("--remote")...)
	switch sub {
	case "rm":
		if !o.has("--cached") {
			c.deletes(o.has("-r"), o.has("-f", "--force"), o.operands...)
		}
	case "mv":
		if sources, dest, inDir := c.destination(); dest.text != "" {
			c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "move"}, sources...)
			c.writes("write", landing(sources, dest, inDir)...)
		}
	case "worktree":
		c.subs = append(c.subs, subName(first)...)
		if first.is("remove") {
			c.removesTree(o.operand(1), o.has("-f", "--force"))
		} else if first.is("add") {
			c.writes("create", o.operand(1))
			c.makesTree(o.operand(1))
		}
	case "submodule":
		c.subs = append(c.subs, subName(first)...)
		c.gitSubmodule(first, o)
	case "init":
		c.reads(o.all("--template")...)
		if first.text != "" {
			c.writes("create", first)
			c.makesTree(first)
		}
	case "apply", "am":
		c.reads(o.operands...)
		switch {
		case o.has("--check", "--stat", "--numstat", "--summary"):
		case c.patches(o.operands):
		case o.exact("--unsafe-paths"): // a patch may name any path
			c.writes("write", unknownArg())
		case c.s.scope.dirs[0].sure == prefix:
			c.writes("write", word("."))
		default:
			c.writes("write", word("./"+holeText))
		}
	default:
		for _, out := range o.all("-o", "--output", "--output-directory") {
			c.writes("write", out)
		}
		if sub == "diff" {
			c.reads(diffFiles(o)...)
		}
		if sub == "bundle" && first.is("create") {
			c.writes("write", o.operand(1))
		}
	}
}

// removesTree is git worktree remove: git itself refuses where work would be
// lost, unless it is forced.
func (c *call) removesTree(dir arg, forced bool) {
	if c.ownTree(dir) {
		c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: true, forced: forced, reversible: engine.R3}, dir)
		return
	}
	if !forced {
		c.deletes(true, false, dir)
		return
	}
	e := rawEffect{kind: engine.EffectFileDelete, recursive: true, discards: Discard{Changes: true, Staged: true, Untracked: true, Ignored: true}}
	c.discards(e, dir)
}

// diffFiles are the operands of git diff that are files and not what git holds:
// all with --no-index, which a path out of the repository means too.
func diffFiles(o options) []arg {
	away := func(a arg) bool { return a.hasPrefix("/") || a.hasPrefix("~") || a.is("..") || a.hasPrefix("../") }
	if o.has("--no-index") || slices.ContainsFunc(o.operands, away) {
		return o.operands
	}
	return nil
}

func (c *call) gitSubmodule(first arg, o options) {
	switch {
	case first.is("foreach"):
		c.child(func() outcome { return c.s.embed(joinWords(o.operands[1:]), "git", false) })
	case first.is("deinit") && o.has("-f", "--force"):
		e := rawEffect{kind: engine.EffectFileDelete, recursive: true, discards: Discard{Changes: true, Staged: true, Untracked: true}}
		c.discards(e, o.operands[1:]...)
	case first.is("add", "update"):
		if isRemote(o.operand(1)) {
			c.fetches(remoteHost(o.operand(1)))
		} else {
			c.fetches(word("origin"))
		}
	}
}
