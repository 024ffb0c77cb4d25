package programs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// gitUnseen records a subcommand that is unknown before it runs.
func gitUnseen(c *shell.Call) {
	if sub := c.Opts.Operand(0); !sub.Known() {
		c.Shell.Opaque("command", "git "+sub.Show())
		c.Signal(engine.SignalUnknownCommand)
	}
}

// gitAliases runs a subcommand that is an alias.
func gitAliases(c *shell.Call) {
	if len(c.Opts.Operands) == 0 {
		return
	}
	sub := c.Opts.Operand(0)
	for _, set := range append(gitVariables(c), c.Opts.All("-c", "--config-env")...) {
		if key, v, _ := strings.Cut(set.Text, "="); strings.EqualFold(key, "alias."+sub.Text) {
			gitAlias(c, set.With(v), c.Opts.Operands[1:])
		}
	}
	if body, ok := c.Shell.GitAliases[strings.ToLower(sub.Text)]; ok {
		gitAlias(c, body, c.Opts.Operands[1:])
	}
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

// gitSettings examines the settings that options give: -c KEY=VALUE. After the name of a
// subcommand only existing options count.
func gitSettings(c *shell.Call) {
	settings := c.Opts.All(c.Words...)
	if len(c.Subs) > 0 {
		git, _, _ := c.Shell.In.Rows.Program("git")
		settings = settings[len(options.Parse(c.Args, grammar(c, git.Program)).All(c.Words...)):]
	}
	if len(c.Subs) == 0 {
		settings = append(gitVariables(c), settings...)
	}
	for _, set := range settings {
		key, v, _ := strings.Cut(set.Text, "=")
		gitSetting(c, key, set.With(v), false)
	}
}

// maxGitVariables limits how many settings are taken from variables.
const maxGitVariables = 32

// gitVariables returns the settings that variables give to git, as KEY=VALUE:
// GIT_CONFIG_KEY_0 and GIT_CONFIG_VALUE_0, and GIT_CONFIG_PARAMETERS.
func gitVariables(c *shell.Call) (list []abstract.Arg) {
	scope := c.Shell.Scope
	if _, set := scope.Lookup("GIT_CONFIG_COUNT"); set {
		for i := range maxGitVariables {
			n := strconv.Itoa(i)
			if _, set := scope.Lookup("GIT_CONFIG_KEY_" + n); !set {
				break
			}
			key, value := c.Shell.Read("GIT_CONFIG_KEY_"+n), c.Shell.Read("GIT_CONFIG_VALUE_"+n)
			list = append(list, abstract.Concat(abstract.Concat(key, abstract.Word("=")), value))
		}
	}
	if _, set := scope.Lookup("GIT_CONFIG_PARAMETERS"); set {
		all := c.Shell.Read("GIT_CONFIG_PARAMETERS")
		for _, text := range quotedSettings(all.Text) {
			list = append(list, all.With(text))
		}
	}
	return list
}

// quotedSettings returns the settings in 'KEY=VALUE' 'KEY'='VALUE'.
func quotedSettings(text string) (list []string) {
	parts := strings.Split(text, "'")
	for i := 1; i < len(parts) && len(list) < maxGitVariables; i += 2 {
		if len(list) > 0 && parts[i-1] == "=" {
			list[len(list)-1] += "=" + parts[i]
			continue
		}
		list = append(list, parts[i])
	}
	return list
}

// gitSetting examines a setting that names a program, or the location of programs.
func gitSetting(c *shell.Call, key string, v abstract.Arg, stored bool) bool {
	k := strings.ToLower(key)
	switch {
	case k == "core.hookspath":
		c.Signal(engine.SignalGitNoVerify)
		if stored && v.Is("/dev/null", "/nonexistent", "/var/empty") { // off permanently, for everyone here
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
	case strings.HasPrefix(v.Text, "ext::"):
		c.Signal(engine.SignalEnvInjected)
		argv := extTransport(v, v.Text[len("ext::"):])
		c.Child(func() shell.Outcome { return c.Shell.Invoke(argv, c.Node) })
		return true
	case strings.HasPrefix(k, "submodule.") && strings.HasSuffix(k, ".update") && !strings.HasPrefix(v.Text, "!"):
	case k == "uploadpack.packobjectshook", strings.HasSuffix(k, ".uploadpack"), strings.HasSuffix(k, ".receivepack"),
		strings.HasPrefix(k, "submodule.") && strings.HasSuffix(k, ".update"), k == "interactive.difffilter", strings.HasPrefix(k, "gpg.") && strings.HasSuffix(k, ".program"),
		k == "core.pager", k == "core.editor", k == "core.sshcommand", k == "core.fsmonitor", k == "core.askpass", k == "core.gitproxy", k == "sequence.editor",
		k == "diff.external", k == "gpg.program", k == "credential.helper", strings.HasSuffix(k, ".textconv"), strings.HasSuffix(k, ".cmd"),
		strings.HasPrefix(k, "filter.") && (strings.HasSuffix(k, ".clean") || strings.HasSuffix(k, ".smudge") || strings.HasSuffix(k, ".process")),
		strings.HasPrefix(k, "pager."), strings.HasSuffix(k, ".command"), strings.HasPrefix(k, "merge.") && strings.HasSuffix(k, ".driver"):
		code := strings.TrimPrefix(v.Text, "!")
		if !shell.OrdinaryTool(strings.Fields(code + " x")[0]) {
			c.Signal(engine.SignalEnvInjected)
			c.Child(func() shell.Outcome { return c.Shell.Embed(v.With(code), "git-config", false) })
			return true
		}
		if k == "core.sshcommand" {
			c.Shell.CommandVariable(code, v)
		}
	case strings.HasPrefix(k, "url.") && strings.HasSuffix(k, "insteadof"):
		redirects(c, v.With(key[len("url."):max(len("url."), strings.LastIndexByte(key, '.'))]), true)
		return strings.HasSuffix(k, ".insteadof")
	case strings.HasPrefix(k, "remote.") && (strings.HasSuffix(k, ".url") || strings.HasSuffix(k, ".pushurl")):
		c.Shell.GitRemotes[k[len("remote."):strings.LastIndexByte(k, '.')]] = v
		redirects(c, v, false)
	case k == "remote.pushdefault" || strings.HasPrefix(k, "branch.") && strings.HasSuffix(k, ".pushremote"):
		if abstract.IsRemote(v) || !remotes(c).Seen(v.Text) {
			c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "redirect", Object: "remote"}, v)
		}
	case !stored && (k == "include.path" || k == "init.templatedir" || k == "sendemail.smtpserver" && strings.Contains(v.Text, "/")):
		c.Signal(engine.SignalEnvInjected) // hooks, settings or a program from a file
		return true
	case k == "include.path", k == "init.templatedir", strings.HasSuffix(k, ".proxy"):
		return true
	}
	return false
}

// gitShows handles git show HEAD:FILE. The file usually still has the same contents.
func gitShows(c *shell.Call) {
	for _, a := range c.Opts.Operands[1:] {
		if _, file, ok := strings.Cut(a.Text, ":"); ok && file != "" && !a.HasPrefix(":/") {
			c.Reads(a.With(file))
		}
	}
}

// gitLists handles git ls-files: names of files under the directory; with the word untracked,
// all that are in no commit. The repository itself is not listed.
func gitLists(c *shell.Call) {
	c.Out = abstract.Word("./" + abstract.HoleText + "\n")
	if slices.Contains(c.Words, "untracked") {
		c.Out.Found = abstract.FoundFiles([]abstract.Arg{{Text: "./**/[!.]*", Glob: true}})
	}
}

// gitTransports runs the commands in addresses of the form ext::COMMAND, in values of the
// options that the row names or in operands.
func gitTransports(c *shell.Call) {
	addresses := c.Opts.All(c.Words...)
	if len(c.Words) == 0 {
		addresses = c.Opts.Operands[1:]
	}
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

// gitClone records the source of a repository, and the tree that is created from it.
func gitClone(c *shell.Call) {
	from, to := c.Opts.Operand(1), c.Opts.Operand(2)
	if to.Text == "" {
		base, _ := abstract.Arg{Text: strings.TrimSuffix(strings.TrimSuffix(from.Text, "/"), ".git")}.Base()
		to = abstract.Word(base)
		if base == "" {
			to = abstract.UnknownArg()
		}
	}
	switch {
	case from.HasPrefix("ext::"):
	case abstract.IsRemote(from):
		c.Fetches(abstract.RemoteHost(from))
		c.Shell.Arrives(to)
	default:
		c.Reads(from)
	}
	c.Writes("create", to)
	makesTree(c, to)
}

// makesTree records that git creates a new working tree: nobody's work can be lost in it.
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

// ownTree reports whether dir, relative to any directory that the shell may be in, is in a
// working tree that the script itself created.
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

// looksLikeFile reports whether an operand of git checkout is a path rather
// than a branch, which can only be determined from the repository.
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

// gitMove handles git mv.
func gitMove(c *shell.Call) {
	c.Opts.Operands = c.Opts.Operands[1:]
	if sources, dest, inDir := destination(c); dest.Text != "" {
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "move"}, sources...)
		c.Writes("write", landing(sources, dest, inDir)...)
	}
	c.Opts.Operands = slices.Insert(slices.Clone(c.Opts.Operands), 0, abstract.Word("mv"))
}

// gitMakesTree creates a working tree at the operand whose number the row gives.
func gitMakesTree(c *shell.Call) {
	n, err := strconv.Atoi(strings.Join(c.Words, ""))
	if err != nil {
		return
	}
	c.WritesAs(abstract.RawEffect{Verb: "create", Object: treeObject(c)}, c.Opts.Operand(n))
	makesTree(c, c.Opts.Operand(n))
}

// treeObject names the object of git worktree, unless options select a repository other
// than that of the working directory.
func treeObject(c *shell.Call) string {
	if !c.Opts.Operand(0).Is("worktree") || c.Opts.Has("--git-dir", "--work-tree") {
		return ""
	}
	return engine.ObjectWorktree
}

// gitApply handles the patch that git apply and git am read: it lists the files that they
// write.
func gitApply(c *shell.Call) {
	switch {
	case languages.Patches(c, c.Opts.Operands[1:]):
	case c.Opts.Exact("--unsafe-paths"): // a patch may name any path
		c.Writes("write", abstract.UnknownArg())
	case c.Shell.Scope.Dirs[0].Sure == abstract.Prefix:
		c.Writes("write", abstract.Word("."))
	default:
		c.Writes("write", abstract.Word("./"+abstract.HoleText))
	}
}

// gitRemovesTree handles git worktree remove: git itself refuses if work would be lost,
// unless it is forced.
func gitRemovesTree(c *shell.Call) {
	dir, forced := c.Opts.Operand(2), c.Opts.Has("-f", "--force")
	if ownTree(c, dir) {
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: true, Forced: forced, Reversible: engine.R3}, dir)
		return
	}
	e := abstract.RawEffect{Kind: engine.EffectFileDelete, Recursive: true, Object: treeObject(c)}
	if !forced {
		if e.Verb = "delete"; e.Object != "" {
			e.Reversible = engine.R3 // the branch stays, and git adds the tree again
		}
		c.Removes(e, dir)
		return
	}
	e = abstract.RawEffect{Kind: engine.EffectFileDelete, Recursive: true, Object: e.Object,
		Discards: abstract.Discard{Changes: true, Staged: true, Untracked: true, Ignored: true}}
	discards(c, e, dir)
}

// gitDiff reads the operands of git diff that are files rather than objects of git: all of
// them with --no-index, which a path outside the repository implies.
func gitDiff(c *shell.Call) {
	operands := c.Opts.Operands[1:]
	away := func(a abstract.Arg) bool {
		return a.HasPrefix("/") || a.HasPrefix("~") || a.Is("..") || a.HasPrefix("../")
	}
	if c.Opts.Has("--no-index") || slices.ContainsFunc(operands, away) {
		c.Reads(operands...)
	}
}

// gitForeach runs code in each submodule.
func gitForeach(c *shell.Call) {
	c.Child(func() shell.Outcome { return c.Shell.Embed(shell.JoinWords(c.Opts.Operands[2:]), "git", false) })
}

// gitDeinit removes the work trees of submodules.
func gitDeinit(c *shell.Call) {
	e := abstract.RawEffect{Kind: engine.EffectFileDelete, Recursive: true,
		Discards: abstract.Discard{Changes: true, Staged: true, Untracked: true}}
	discards(c, e, c.Opts.Operands[2:]...)
}

// gitFetchesModule fetches a submodule from its configured address.
func gitFetchesModule(c *shell.Call) {
	from := abstract.Word("origin")
	if abstract.IsRemote(c.Opts.Operand(2)) {
		from = abstract.RemoteHost(c.Opts.Operand(2))
	}
	c.Fetches(from)
}

// remotes returns the remotes of the repository in which a command runs, before it does.
func remotes(c *shell.Call) place.Remotes {
	dir := c.Shell.Scope.Dirs[0]
	if at, ok := c.Opts.Get("-C"); ok {
		dir = abstract.JoinDir(dir, at)
	}
	if c.Shell.In.Remotes == nil || dir.Sure != abstract.Literal {
		return place.Remotes{}
	}
	return c.Shell.In.Remotes(dir.Text)
}

// repositoryHost reports whether a host belongs to a service for repositories.
func repositoryHost(c *shell.Call, host string) bool {
	return slices.Contains(c.Shell.In.Rows.Words("services.repository"), host)
}

// redirects records that a remote of a repository will be at a new address, which none of
// its remotes has. If only the beginning of an address is known, its host decides.
func redirects(c *shell.Call, to abstract.Arg, prefix bool) {
	known, host := remotes(c), place.RemoteHost(to.Text)
	switch {
	case !abstract.IsRemote(to) || known.Has(to.Text) || place.Loopback(host):
	case (prefix || !known.Known) && (known.HasHost(host) || repositoryHost(c, host)):
	default:
		c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "redirect", Object: "remote"}, to)
	}
}

// gitRemote handles git remote add and set-url.
func gitRemote(c *shell.Call) {
	first := len(c.Words) + 1 // after the words of the row: jj git remote add NAME URL
	sub, name, url := c.Opts.Operand(first), c.Opts.Operand(first+1), c.Opts.Operand(first+2)
	if url.Text == "" {
		return
	}
	c.Shell.GitRemotes[strings.ToLower(name.Text)] = url
	if sub.Is("set-url") {
		redirects(c, url, false)
	} else if abstract.IsRemote(url) && name.Known() && !remotes(c).Has(url.Text) && !place.Loopback(place.RemoteHost(url.Text)) {
		c.Shell.Out.Remotes = append(c.Shell.Out.Remotes, strings.ToLower(name.Text))
	}
}

// gitPushes records a push to an address that was not a remote of the repository, or to a remote that was never fetched from or
// pushed to, the branch that a push writes to without naming it, and the branches that are deployed when something is pushed.
func gitPushes(c *shell.Call) {
	to := c.Opts.Operand(len(c.Words) + 1)
	if repo, ok := c.Opts.Get("--repo", "--remote"); ok {
		to = repo
	}
	known := remotes(c)
	if to := c.Opts.Operand(len(c.Words) + 2); known.Branch != "" && (strings.Trim(to.Text, "+") == "" || to.Is("HEAD", "+HEAD", "@", "+@")) {
		c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "push", Object: "branch"}, abstract.Word(known.Branch))
	}
	for _, d := range known.Deployments() {
		c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "deploy", Object: d.File}, abstract.Word(d.Branch))
	}
	url, changed := c.Shell.GitRemotes[cmp.Or(strings.ToLower(to.Text), "origin")]
	switch {
	case changed && (known.Has(url.Text) || !known.Known && to.Is("", "origin") && repositoryHost(c, place.RemoteHost(url.Text))):
		return
	case changed:
		to = url
	case abstract.IsRemote(to) && !known.Has(to.Text):
	case abstract.IsRemote(to) || to.Is("", "origin") || !to.Known() || strings.Contains(to.Text, "/") || known.Seen(to.Text):
		return
	}
	if !place.Loopback(place.RemoteHost(to.Text)) {
		c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Object: "new remote", Egress: true, Reversible: engine.R5}, to)
	}
}
