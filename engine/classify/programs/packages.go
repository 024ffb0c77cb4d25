package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// installs notes that packages are fetched and their install scripts run.
func installs(c *shell.Call, from string, system bool, packages []abstract.Arg) {
	downloads(c, from, packages)
	if system {
		c.System("install", abstract.Word(from))
	} else {
		c.Process()
	}
	c.Out.Taint = 0
}

// downloads notes that packages are fetched.
func downloads(c *shell.Call, from string, packages []abstract.Arg) {
	c.Signal(engine.SignalPackageInstall)
	for _, p := range packages {
		if fromURL(p) {
			c.Signal(engine.SignalPackageURL)
			c.Fetches(p)
		}
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch"}, abstract.Word(from))
	c.Out.Taint = 0
}

// fromURL tells whether a package is named by where it lies.
func fromURL(p abstract.Arg) bool {
	return abstract.IsURL(p) || p.HasPrefix("git+") || p.HasPrefix("github:") || p.HasPrefix("git@") || strings.Contains(p.Text, " @ http") ||
		strings.Contains(p.Text, "@http") || strings.Contains(p.Text, "@git+") || strings.HasSuffix(p.Text, ".git")
}

// runsPackage notes that a runner fetches what it runs from a place that it is
// told, and not by its name from the registry: npx URL, uvx --from git+URL.
func runsPackage(c *shell.Call, w rows.Wrapper, o shell.Options, rest []abstract.Arg) {
	from := values(o, w.From)
	if w.Named {
		from = append(from, rest[:min(1, len(rest))]...)
	}
	for _, p := range from {
		if fromURL(p) || strings.Contains(p.Text, "/") && fromGit(p) {
			c.Signal(engine.SignalPackageInstall, engine.SignalPackageURL)
			c.Fetches(p)
		}
	}
}

// fromGit tells whether a package is a repository: preparing it installs what
// it needs to build, with scripts, whatever the flags of the install around it.
func fromGit(p abstract.Arg) bool {
	short := strings.Contains(p.Text, "/") && !slices.ContainsFunc([]string{"@", ".", "/", "~", "file:", "link:", "workspace:", "npm:"},
		p.HasPrefix) && !strings.Contains(p.Text, "@npm:")
	archive := abstract.IsURL(p) && !strings.HasSuffix(p.Text, ".git")
	return !archive && (fromURL(p) || short)
}

func otherIndex(c *shell.Call, names ...string) {
	if c.Opts.Has(names...) {
		c.Signal(engine.SignalPackageURL)
	}
}

func publishes(c *shell.Call, verb string, to string) {
	if c.Opts.Has("--dry-run", "-n") {
		c.Signal(engine.SignalDryRun)
		return
	}
	c.Signal(engine.SignalPublish)
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: verb, Object: "package", Egress: true, Reversible: engine.R5}, abstract.Word(to))
}

func nodePackages(c *shell.Call) {
	o := c.Opts
	sub := o.Operand(0)
	c.Subs = subName(sub)
	rest := o.Operands[min(1, len(o.Operands)):]
	if o.Has("-g", "--global", "--location") {
		replacesGuard(c, rest, sub.Is("uninstall", "un", "remove", "rm", "r", "unlink"))
	}
	c.InDirectory(o.All("--prefix", "-C", "--cwd", "--dir"), func() {
		seen := tasks.PackageScripts(c, sub, rest)
		switch {
		case sub.Is("install", "i", "add", "ci", "update", "up", "upgrade", "isntall", "install-test", "it", "link") || sub.Text == "" && c.Name != "npm":
			if c.Opts.Has("--help") {
				return
			}
			otherIndex(c, "--registry")
			if slices.ContainsFunc(rest, fromGit) {
				c.Signal(engine.SignalPackageURL)
			}
			if withoutScripts(c) && !slices.ContainsFunc(rest, fromGit) && !sub.Is("install-test", "it") {
				downloads(c, "npm", rest)
			} else {
				installs(c, "npm", false, rest)
			}
		case sub.Is("create", "init", "dlx") && len(rest) > 0:
			installs(c, "npm", false, rest)
		case sub.Is("publish"):
			publishes(c, "send", "npm")
		case sub.Is("unpublish", "deprecate", "dist-tag", "owner", "access") && !rest0(rest).Is("ls", "list", "get"):
			publishes(c, "delete", "npm")
		case sub.Is("config", "c", "set") && rest0(rest).Is("set", "delete", "edit"):
			c.Writes("write", abstract.Concat(c.Shell.Read("HOME"), abstract.Word("/.npmrc")))
		case sub.Is("pkg") && rest0(rest).Is("set", "delete", "fix"):
			c.Writes("write", abstract.Word("package.json"))
		case sub.Is("token", "login", "adduser"):
			c.Signal(engine.SignalCredential)
		case sub.Is("view", "info", "search", "audit", "outdated", "show"):
			c.Fetches(abstract.Word("npm"))
		case sub.Is("list", "ls", "why", "root", "bin", "prefix", "version", "help", "pkg", "config"):
		case !seen:
			c.Process()
		}
	})
}

// withoutScripts tells whether the packages' own scripts are kept from
// running. The last word counts, and npm reads "--ignore-scripts false" as such.
func withoutScripts(c *shell.Call) bool {
	off := false
	for _, opt := range c.Opts.List {
		switch {
		case opt.Name == "--no-ignore-scripts":
			off = false
		case opt.Name == "--ignore-scripts":
			off = !opt.Has && !slices.ContainsFunc(c.Opts.Operands, func(a abstract.Arg) bool { return a.Is("false") }) || opt.Value.Is("true")
		}
	}
	return off
}

func rest0(list []abstract.Arg) abstract.Arg { return abstract.FirstOr(list) }

func pythonPackages(c *shell.Call) {
	o := c.Opts
	sub := o.Operand(0)
	c.Subs = subName(sub)
	rest := o.Operands[min(1, len(o.Operands)):]
	if sub.Is("pip") && len(rest) > 0 {
		c.Subs = append(c.Subs, rest[0].Show())
		sub, rest = rest[0], rest[1:]
	}
	switch {
	case sub.Is("install", "add", "sync", "lock", "update", "inject", "create", "develop", "download", "wheel", "tool", "upgrade"):
		otherIndex(c, "-i", "--index-url", "--extra-index-url", "--index", "--find-links")
		rest = append(rest[:len(rest):len(rest)], o.All("-e", "--editable")...)
		c.Reads(o.All("-r", "--requirement")...)
		installs(c, "pip", false, rest)
	case sub.Is("publish", "upload"):
		publishes(c, "send", "pip")
	case sub.Is("uninstall", "remove") && o.Has("-y", "--yes"):
		c.Process()
	case sub.Is("env") && rest0(rest).Is("remove"):
		c.Process()
	case sub.Is("list", "show", "freeze", "check", "info", "index", "search", "tree", "help", "debug", "version"):
	default:
		c.Process()
	}
}

func publisher(c *shell.Call) {
	c.Subs = subName(c.Opts.Operand(0))
	if c.Opts.Operand(0).Is("upload", "publish") {
		if len(c.Opts.Operands) > 1 {
			c.Reads(c.Opts.Operands[1:]...)
		}
		publishes(c, "send", "pip")
		return
	}
	c.Process()
}

func cargo(c *shell.Call) {
	o := c.Opts
	sub := o.Operand(0)
	c.Subs = subName(sub)
	if sub.HasPrefix("+") {
		sub = o.Operand(1)
		c.Subs = append(c.Subs, sub.Show())
	}
	switch {
	case sub.Is("install", "add", "update", "fetch", "binstall"):
		if o.Has("--git", "--index", "--registry") {
			c.Signal(engine.SignalPackageURL)
		}
		installs(c, "cargo", false, o.All("--git"))
	case sub.Is("publish"):
		publishes(c, "send", "cargo")
	case sub.Is("yank", "owner"):
		publishes(c, "delete", "cargo")
	case sub.Is("login"):
		c.Signal(engine.SignalCredential)
	default:
		c.Process()
	}
}

func goCommand(c *shell.Call) {
	sub := c.Opts.Operand(0)
	c.Subs = subName(sub)
	rest := c.Opts.Operands[min(1, len(c.Opts.Operands)):]
	o := shell.ParseOptions(rest, shell.Program{Long: true, Values: " -o -run -C -mod -tags -ldflags -gcflags -timeout -count -bench " +
		"-coverprofile -exec -p -toolexec "})
	for _, code := range o.All("-exec", "-toolexec") {
		c.Child(func() shell.Outcome { return c.Shell.Embed(code, "go", false) })
	}
	if sub.Is("install") {
		replacesGuard(c, o.Operands, false)
	}
	switch {
	case sub.Is("get", "install", "mod") && !(sub.Is("mod") && !o.Operand(0).Is("download", "tidy")):
		if sub.Is("install") && !strings.Contains(o.Operand(0).Text, "@") {
			c.Process()
			return
		}
		installs(c, "go", false, nil)
	case sub.Is("run") && strings.Contains(o.Operand(0).Text, "@"):
		installs(c, "go", false, nil)
		c.Signal(engine.SignalPackageURL) // a module is named by where it lies
	case sub.Is("env") && o.Has("-w"):
		c.Writes("write", abstract.Word("~/.config/go/env"))
	case sub.Is("run"):
		goFile(c, o)
	default:
		for _, out := range o.All("-o", "-coverprofile") {
			c.Writes("write", out)
		}
		c.Process()
	}
}

func goFile(c *shell.Call, o shell.Options) {
	c.Process()
	if strings.HasSuffix(o.Operand(0).Text, ".go") {
		c.Reads(o.Operand(0))
	}
}

func languagePackages(c *shell.Call) {
	o := c.Opts
	sub := o.Operand(0)
	c.Subs = subName(sub)
	second := o.Operand(1)
	switch {
	case sub.Is("install", "require", "update", "add", "restore", "get", "deps.get") && !strings.HasSuffix(c.Name, "gradle") && c.Name != "mvn" && c.Name != "mvnw" && c.Name != "gradlew" || sub.Is("pub") && second.Is("add", "get"):
		otherIndex(c, "--source", "-s")
		installs(c, c.Name, false, o.Operands[1:])
	case sub.Is("push", "publish", "deploy", "upload") || sub.Is("pub") && second.Is("publish") || sub.Is("nuget") && second.Is("push"):
		publishes(c, "send", c.Name)
	case sub.Is("yank", "unlist", "delete") && c.Name == "gem" || sub.Is("hex.publish", "hex.retire"):
		publishes(c, "delete", c.Name)
	case sub.Is("ecto.drop", "ecto.reset"):
		c.Signal(engine.SignalDatabaseDrop)
		c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "drop", Reversible: engine.R5}, abstract.Word("database"))
	default:
		c.Process()
	}
}

func systemPackages(c *shell.Call) {
	o := c.Opts
	sub := o.Operand(0)
	flags := strings.Join(o.FlagTexts(), " ")
	c.Subs = subName(sub)
	if o.Has("-s", "--simulate", "--dry-run", "--just-print", "--no-act") && strings.HasPrefix(c.Name, "apt") {
		c.Signal(engine.SignalDryRun)
		return
	}
	confirmed := o.Has("-y", "--yes", "--assume-yes", "--noconfirm", "-f")
	switch {
	case sub.Is("remove", "purge", "autoremove", "erase", "uninstall", "del", "rm", "unmerge", "delete") || c.Name == "pacman" && strings.HasPrefix(flags, "-R") || (c.Name == "dpkg" || c.Name == "rpm") && o.Has("-r", "-P", "-e", "--purge", "--remove", "--erase"):
		c.Subs = nil
		if c.Name != "pacman" && c.Name != "dpkg" && c.Name != "rpm" {
			c.Subs = subName(sub)
		}
		if confirmed {
			c.Signal(engine.SignalUnconfirmed)
		}
		c.System("uninstall", abstract.Word(c.Name))
	case sub.Is("install", "upgrade", "dist-upgrade", "full-upgrade", "update", "add", "localinstall", "groupinstall", "in", "reinstall", "build-dep") || c.Name == "pacman" && strings.HasPrefix(flags, "-S") && !strings.HasPrefix(flags, "-Ss") || (c.Name == "dpkg" || c.Name == "rpm") && o.Has("-i", "-U", "--install") && !o.Has("-q"):
		if sub.Is("update") && strings.HasPrefix(c.Name, "apt") {
			c.Fetches(abstract.Word(c.Name))
			c.Out.Taint = 0
			return
		}
		installs(c, c.Name, true, o.Operands[min(1, len(o.Operands)):])
	}
}

func brew(c *shell.Call) {
	sub := c.Opts.Operand(0)
	c.Subs = subName(sub)
	switch {
	case sub.Is("install", "reinstall", "upgrade", "tap", "update", "bundle"):
		installs(c, "brew", true, c.Opts.Operands[1:])
	case sub.Is("uninstall", "remove", "rm", "autoremove", "untap", "cleanup"):
		c.System("uninstall", abstract.Word("brew"))
	case sub.Is("services") && c.Opts.Operand(1).Is("start", "restart"):
		c.Signal(engine.SignalPersistence)
		c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "enable", Persistence: true}, c.Opts.Operand(2))
	}
}
