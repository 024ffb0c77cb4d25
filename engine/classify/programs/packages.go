package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// installs handles the step install: packages are fetched, and their scripts run unless the
// step disables them.
func (r *rowReader) installs(packages []abstract.Arg, s rows.Step) {
	from := abstract.FirstOr(r.selected(orVerb(s.On, "program")))
	downloads(r.Call, from, packages)
	switch s.Verb {
	case "install":
		r.System("install", from)
	case "":
		r.Call.Process()
	}
	r.Out.Taint = 0
}

// downloads records that packages are fetched.
func downloads(c *shell.Call, from abstract.Arg, packages []abstract.Arg) {
	c.Signal(engine.SignalPackageInstall)
	for _, p := range packages {
		if fromURL(p) {
			c.Signal(engine.SignalPackageURL)
			c.Fetches(p)
		}
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch"}, from)
}

// fromURL reports whether a package is given by its location.
func fromURL(p abstract.Arg) bool {
	return abstract.IsURL(p) || p.HasPrefix("git+") || p.HasPrefix("github:") || p.HasPrefix("git@") || strings.Contains(p.Text, " @ http") ||
		strings.Contains(p.Text, "@http") || strings.Contains(p.Text, "@git+") || strings.HasSuffix(p.Text, ".git")
}

// runsPackage records that a runner fetches what it runs from a given location, rather than
// by name from the registry: npx URL, uvx --from git+URL.
func runsPackage(c *shell.Call, w rows.Wrapper, o options.Options, rest []abstract.Arg) {
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

// fromGit reports whether a package is a repository: preparing it installs its build
// dependencies, with scripts, regardless of the flags of the outer install.
func fromGit(p abstract.Arg) bool {
	short := strings.Contains(p.Text, "/") && !slices.ContainsFunc([]string{"@", ".", "/", "~", "file:", "link:", "workspace:", "npm:"},
		p.HasPrefix) && !strings.Contains(p.Text, "@npm:")
	archive := abstract.IsURL(p) && !strings.HasSuffix(p.Text, ".git")
	return !archive && (fromURL(p) || short)
}

// nodeInstall handles npm install and similar commands: scripts of packages run unless
// options disable them, and those of a package from a repository in any case.
func nodeInstall(c *shell.Call) {
	packages := c.Opts.Operands[min(1, len(c.Opts.Operands)):]
	prepares := slices.ContainsFunc(packages, fromGit)
	c.Shell.SignalIf(prepares, engine.SignalPackageURL)
	downloads(c, abstract.Word("npm"), packages)
	if !withoutScripts(c) || prepares || c.Opts.Operand(0).Is("install-test", "it") {
		c.Process()
	}
	c.Out.Taint = 0
}

// packageScripts runs the scripts of package.json that belong to a subcommand of npm.
func packageScripts(c *shell.Call) {
	tasks.PackageScripts(c, c.Opts.Operand(0), c.Opts.Operands[min(1, len(c.Opts.Operands)):])
}

// runScript handles npm run NAME and npm NAME.
func runScript(c *shell.Call) {
	if tasks.PackageScripts(c, c.Opts.Operand(0), c.Opts.Operands[min(1, len(c.Opts.Operands)):]) {
		return
	}
	if words := installed(c); len(words) > 0 {
		c.Shell.Invoke(words, c.Node)
		return
	}
	c.Process()
}

// installed returns the command of a program among the project's packages, as pnpm and yarn
// run one if no script has the name: pnpm prisma migrate reset.
func installed(c *shell.Call) []abstract.Arg {
	name := c.Opts.Operand(0).Text
	if name == "" || c.Name != "pnpm" && c.Name != "yarn" {
		return nil
	}
	known, ok, err := c.Shell.In.Rows.Program(name)
	if err != nil || !ok || known.Converted || known.Kind != rows.Database {
		return nil
	}
	i := slices.IndexFunc(c.Args, func(a abstract.Arg) bool { return a.Is(name) })
	return c.Args[max(i, 0):]
}

// npm reads all arguments as those of npm.
func npm(c *shell.Call) {
	manager, _, _ := c.Shell.In.Rows.Program("npm")
	c.Opts = options.Parse(c.Args, grammar(c, manager.Program))
	follow(c, manager.Program)
}

// withoutScripts reports whether the packages' own scripts are disabled. The last option
// counts, and npm parses "--ignore-scripts false" as such an option.
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
