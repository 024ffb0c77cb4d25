package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// packagePrograms are the package managers. What they fetch comes from where
// their own configuration says, so the target of the request is their name.
func packagePrograms(name string) program {
	switch name {
	case "npm", "yarn", "pnpm", "cnpm":
		return program{values: " --prefix --registry -C --cwd --dir -w --workspace --tag --otp --filter -F --loglevel ", run: nodePackages}
	case "bun-install", "lerna", "nx", "turbo", "rush":
		return program{run: func(c *call) { c.process() }}
	case "pip", "pip3", "pipx", "uv", "poetry", "pipenv", "pdm", "conda", "mamba", "micromamba", "easy_install", "hatch", "rye", "pixi":
		return program{values: pythonValues, run: pythonPackages}
	case "twine", "flit":
		return program{values: " -r --repository -u -p --repository-url --config-file ", run: publisher}
	case "cargo":
		return program{values: " --manifest-path --git --path --registry --index --version --features -p --package --target --token -j --bin --example --test --bench --profile --color ", run: cargo}
	case "go":
		return program{first: true, values: " -C ", run: goCommand}
	case "gem", "bundle", "bundler", "composer", "mix", "hex", "cpan", "cpanm", "luarocks", "dotnet", "nuget", "mvn", "gradle", "gradlew", "mvnw", "sbt", "stack", "cabal", "opam", "dart", "flutter", "pod", "swift":
		return program{values: " -v --version -s --source -P -D -f --file ", run: languagePackages}
	case "apt", "apt-get", "aptitude", "yum", "dnf", "zypper", "pacman", "yay", "apk", "dpkg", "rpm", "snap", "flatpak", "port", "emerge", "nix-env", "xbps-install", "pkg", "winget", "choco", "scoop":
		return program{values: " -o -c -t --target-release --root --installroot --releasever -x --exclude --enablerepo --disablerepo ", run: systemPackages}
	case "brew":
		return program{run: brew}
	}
	return program{}
}

const pythonValues = " -r -c -i -f -t -e -p -n --requirement --constraint --index-url --extra-index-url --find-links --target --editable --python --prefix --name --channel --index --group --extra --with --from --env-file --directory --project --publish-url --token --username --password -C --config --timeout "

// installs notes that packages are fetched and their install scripts run.
func (c *call) installs(from string, system bool, packages []arg) {
	c.downloads(from, packages)
	if system {
		c.system("install", word(from))
	} else {
		c.process()
	}
	c.out.taint = 0
}

// downloads notes that packages are fetched.
func (c *call) downloads(from string, packages []arg) {
	c.signal(engine.SignalPackageInstall)
	for _, p := range packages {
		if fromURL(p) {
			c.signal(engine.SignalPackageURL)
			c.fetches(p)
		}
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "fetch"}, word(from))
	c.out.taint = 0
}

// fromURL tells whether a package is named by where it lies.
func fromURL(p arg) bool {
	return isURL(p) || p.hasPrefix("git+") || p.hasPrefix("github:") || p.hasPrefix("git@") || strings.Contains(p.text, " @ http") || strings.Contains(p.text, "@http") || strings.Contains(p.text, "@git+") || strings.HasSuffix(p.text, ".git")
}

// runsPackage notes that a runner fetches what it runs from a place that it is
// told, and not by its name from the registry: npx URL, uvx --from git+URL.
func (c *call) runsPackage(o options, rest []arg) {
	var from []arg
	switch c.name {
	case "uvx", "pipx", "uv":
		from = o.all("--from", "--spec", "--with")
		if c.name != "uv" {
			from = append(from, rest[:min(1, len(rest))]...)
		}
	case "npx", "bunx", "pnpx", "npm", "pnpm", "yarn":
		from = append(o.all("-p", "--package"), rest[:min(1, len(rest))]...)
	default:
		return
	}
	for _, p := range from {
		if fromURL(p) || strings.Contains(p.text, "/") && fromGit(p) {
			c.signal(engine.SignalPackageInstall, engine.SignalPackageURL)
			c.fetches(p)
		}
	}
}

// fromGit tells whether a package is a repository: preparing it installs what
// it needs to build, with scripts, whatever the flags of the install around it.
func fromGit(p arg) bool {
	short := strings.Contains(p.text, "/") && !slices.ContainsFunc([]string{"@", ".", "/", "~", "file:", "link:", "workspace:", "npm:"}, p.hasPrefix) &&
		!strings.Contains(p.text, "@npm:")
	archive := isURL(p) && !strings.HasSuffix(p.text, ".git")
	return !archive && (fromURL(p) || short)
}

func (c *call) otherIndex(names ...string) {
	if c.opts.has(names...) {
		c.signal(engine.SignalPackageURL)
	}
}

func (c *call) publishes(verb string, to string) {
	if c.opts.has("--dry-run", "-n") {
		c.signal(engine.SignalDryRun)
		return
	}
	c.signal(engine.SignalPublish)
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: verb, egress: true, reversible: engine.R5}, word(to))
}

func nodePackages(c *call) {
	o := c.opts
	sub := o.operand(0)
	c.subs = subName(sub)
	rest := o.operands[min(1, len(o.operands)):]
	if o.has("-g", "--global", "--location") {
		c.replacesGuard(rest, sub.is("uninstall", "un", "remove", "rm", "r", "unlink"))
	}
	c.inDirectory(o.all("--prefix", "-C", "--cwd", "--dir"), func() {
		seen := c.packageScripts(sub, rest)
		switch {
		case sub.is("install", "i", "add", "ci", "update", "up", "upgrade", "isntall", "install-test", "it", "link") || sub.text == "" && c.name != "npm":
			if c.opts.has("--help") {
				return
			}
			c.otherIndex("--registry")
			if slices.ContainsFunc(rest, fromGit) {
				c.signal(engine.SignalPackageURL)
			}
			if c.withoutScripts() && !slices.ContainsFunc(rest, fromGit) && !sub.is("install-test", "it") {
				c.downloads("npm", rest)
			} else {
				c.installs("npm", false, rest)
			}
		case sub.is("create", "init", "dlx") && len(rest) > 0:
			c.installs("npm", false, rest)
		case sub.is("publish"):
			c.publishes("send", "npm")
		case sub.is("unpublish", "deprecate", "dist-tag", "owner", "access") && !rest0(rest).is("ls", "list", "get"):
			c.publishes("delete", "npm")
		case sub.is("config", "c", "set") && rest0(rest).is("set", "delete", "edit"):
			c.writes("write", concat(c.s.read("HOME"), word("/.npmrc")))
		case sub.is("pkg") && rest0(rest).is("set", "delete", "fix"):
			c.writes("write", word("package.json"))
		case sub.is("token", "login", "adduser"):
			c.signal(engine.SignalCredential)
		case sub.is("view", "info", "search", "audit", "outdated", "show"):
			c.fetches(word("npm"))
		case sub.is("list", "ls", "why", "root", "bin", "prefix", "version", "help", "pkg", "config"):
		case !seen:
			c.process()
		}
	})
}

// withoutScripts tells whether the packages' own scripts are kept from
// running. The last word counts, and npm reads "--ignore-scripts false" as such.
func (c *call) withoutScripts() bool {
	off := false
	for _, opt := range c.opts.list {
		switch {
		case opt.name == "--no-ignore-scripts":
			off = false
		case opt.name == "--ignore-scripts":
			off = !opt.has && !slices.ContainsFunc(c.opts.operands, func(a arg) bool { return a.is("false") }) || opt.value.is("true")
		}
	}
	return off
}

func rest0(list []arg) arg { return firstOr(list) }

func pythonPackages(c *call) {
	o := c.opts
	sub := o.operand(0)
	c.subs = subName(sub)
	rest := o.operands[min(1, len(o.operands)):]
	if sub.is("pip") && len(rest) > 0 {
		c.subs = append(c.subs, rest[0].show())
		sub, rest = rest[0], rest[1:]
	}
	switch {
	case sub.is("install", "add", "sync", "lock", "update", "inject", "create", "develop", "download", "wheel", "tool", "upgrade"):
		c.otherIndex("-i", "--index-url", "--extra-index-url", "--index", "--find-links")
		rest = append(rest[:len(rest):len(rest)], o.all("-e", "--editable")...)
		c.reads(o.all("-r", "--requirement")...)
		c.installs("pip", false, rest)
	case sub.is("publish", "upload"):
		c.publishes("send", "pip")
	case sub.is("uninstall", "remove") && o.has("-y", "--yes"):
		c.process()
	case sub.is("env") && rest0(rest).is("remove"):
		c.process()
	case sub.is("list", "show", "freeze", "check", "info", "index", "search", "tree", "help", "debug", "version"):
	default:
		c.process()
	}
}

func publisher(c *call) {
	c.subs = subName(c.opts.operand(0))
	if c.opts.operand(0).is("upload", "publish") {
		if len(c.opts.operands) > 1 {
			c.reads(c.opts.operands[1:]...)
		}
		c.publishes("send", "pip")
		return
	}
	c.process()
}

func cargo(c *call) {
	o := c.opts
	sub := o.operand(0)
	c.subs = subName(sub)
	if sub.hasPrefix("+") {
		sub = o.operand(1)
		c.subs = append(c.subs, sub.show())
	}
	switch {
	case sub.is("install", "add", "update", "fetch", "binstall"):
		if o.has("--git", "--index", "--registry") {
			c.signal(engine.SignalPackageURL)
		}
		c.installs("cargo", false, o.all("--git"))
	case sub.is("publish"):
		c.publishes("send", "cargo")
	case sub.is("yank", "owner"):
		c.publishes("delete", "cargo")
	case sub.is("login"):
		c.signal(engine.SignalCredential)
	default:
		c.process()
	}
}

func goCommand(c *call) {
	sub := c.opts.operand(0)
	c.subs = subName(sub)
	rest := c.opts.operands[min(1, len(c.opts.operands)):]
	o := parseOptions(rest, program{long: true, values: " -o -run -C -mod -tags -ldflags -gcflags -timeout -count -bench -coverprofile -exec -p -toolexec "})
	for _, code := range o.all("-exec", "-toolexec") {
		c.child(func() outcome { return c.s.embed(code, "go", false) })
	}
	if sub.is("install") {
		c.replacesGuard(o.operands, false)
	}
	switch {
	case sub.is("get", "install", "mod") && !(sub.is("mod") && !o.operand(0).is("download", "tidy")):
		if sub.is("install") && !strings.Contains(o.operand(0).text, "@") {
			c.process()
			return
		}
		c.installs("go", false, nil)
	case sub.is("run") && strings.Contains(o.operand(0).text, "@"):
		c.installs("go", false, nil)
		c.signal(engine.SignalPackageURL) // a module is named by where it lies
	case sub.is("env") && o.has("-w"):
		c.writes("write", word("~/.config/go/env"))
	case sub.is("run"):
		c.goFile(o)
	default:
		for _, out := range o.all("-o", "-coverprofile") {
			c.writes("write", out)
		}
		c.process()
	}
}

func (c *call) goFile(o options) {
	c.process()
	if strings.HasSuffix(o.operand(0).text, ".go") {
		c.reads(o.operand(0))
	}
}

func languagePackages(c *call) {
	o := c.opts
	sub := o.operand(0)
	c.subs = subName(sub)
	second := o.operand(1)
	switch {
	case sub.is("install", "require", "update", "add", "restore", "get", "deps.get") && !strings.HasSuffix(c.name, "gradle") && c.name != "mvn" && c.name != "mvnw" && c.name != "gradlew" || sub.is("pub") && second.is("add", "get"):
		c.otherIndex("--source", "-s")
		c.installs(c.name, false, o.operands[1:])
	case sub.is("push", "publish", "deploy", "upload") || sub.is("pub") && second.is("publish") || sub.is("nuget") && second.is("push"):
		c.publishes("send", c.name)
	case sub.is("yank", "unlist", "delete") && c.name == "gem" || sub.is("hex.publish", "hex.retire"):
		c.publishes("delete", c.name)
	case sub.is("ecto.drop", "ecto.reset"):
		c.signal(engine.SignalDatabaseDrop)
		c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "drop", reversible: engine.R5}, word("database"))
	default:
		c.process()
	}
}

func systemPackages(c *call) {
	o := c.opts
	sub := o.operand(0)
	flags := strings.Join(o.flagTexts(), " ")
	c.subs = subName(sub)
	if o.has("-s", "--simulate", "--dry-run", "--just-print", "--no-act") && strings.HasPrefix(c.name, "apt") {
		c.signal(engine.SignalDryRun)
		return
	}
	confirmed := o.has("-y", "--yes", "--assume-yes", "--noconfirm", "-f")
	switch {
	case sub.is("remove", "purge", "autoremove", "erase", "uninstall", "del", "rm", "unmerge", "delete") || c.name == "pacman" && strings.HasPrefix(flags, "-R") || (c.name == "dpkg" || c.name == "rpm") && o.has("-r", "-P", "-e", "--purge", "--remove", "--erase"):
		c.subs = nil
		if c.name != "pacman" && c.name != "dpkg" && c.name != "rpm" {
			c.subs = subName(sub)
		}
		if confirmed {
			c.signal(engine.SignalUnconfirmed)
		}
		c.system("uninstall", word(c.name))
	case sub.is("install", "upgrade", "dist-upgrade", "full-upgrade", "update", "add", "localinstall", "groupinstall", "in", "reinstall", "build-dep") || c.name == "pacman" && strings.HasPrefix(flags, "-S") && !strings.HasPrefix(flags, "-Ss") || (c.name == "dpkg" || c.name == "rpm") && o.has("-i", "-U", "--install") && !o.has("-q"):
		if sub.is("update") && strings.HasPrefix(c.name, "apt") {
			c.fetches(word(c.name))
			c.out.taint = 0
			return
		}
		c.installs(c.name, true, o.operands[min(1, len(o.operands)):])
	}
}

func brew(c *call) {
	sub := c.opts.operand(0)
	c.subs = subName(sub)
	switch {
	case sub.is("install", "reinstall", "upgrade", "tap", "update", "bundle"):
		c.installs("brew", true, c.opts.operands[1:])
	case sub.is("uninstall", "remove", "rm", "autoremove", "untap", "cleanup"):
		c.system("uninstall", word("brew"))
	case sub.is("services") && c.opts.operand(1).is("start", "restart"):
		c.signal(engine.SignalPersistence)
		c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "enable", persistence: true}, c.opts.operand(2))
	}
}
