package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
	"github.com/agent-reviewer/reviewer/engine/classify/windows"
)

// buildPrograms are interpreters, and programs that run a project's own code.
// That code is the project's: running it is a process and no more, unless the
// script itself has just written it.
func buildPrograms(name string) shell.Program {
	if shell.Language(name) != "" {
		return shell.Program{Own: true, Run: interpreter}
	}
	switch name {
	case "make", "gmake", "ninja", "just", "task", "rake", "bazel", "cmake", "meson", "ant":
		return shell.Program{Values: " -C -f -j -I -o -W --directory --file --makefile --jobs -B -S -G -D --build --target ", Run: build}
	case "pytest", "jest", "vitest", "mocha", "tsc", "eslint", "prettier", "ruff", "black", "mypy", "flake8", "golangci-lint", "gofmt", "goimports", "staticcheck", "shellcheck", "rubocop", "rspec", "phpunit", "tox", "nox", "cypress", "playwright", "webpack", "vite", "rollup", "esbuild", "next", "nuxt", "astro", "parcel", "swc", "biome", "gcc", "g++", "clang", "clang++", "cc", "c++", "ld", "rustc", "javac", "java", "kotlinc", "ghc", "zig", "rustup", "nvm", "pyenv", "rbenv", "volta", "xcodebuild", "pre-commit", "coverage", "opa", "regal":
		return shell.Program{Long: true, Values: " -o -m -c -k -e ", Run: compile}
	case "entr":
		return shell.Program{First: true,
			Run: func(c *shell.Call) { c.Child(func() shell.Outcome { return c.Shell.Invoke(c.Opts.Operands, c.Node) }) }}
	case "pwsh", "powershell", "cmd":
		return shell.Program{Own: true, Run: windows.WindowsShell}
	}
	return shell.Program{}
}

func build(c *shell.Call) {
	c.InDirectory(c.Opts.All("-C", "--directory", "-S", "-d", "--dir", "--working-directory"), func() {
		seen := false
		for _, f := range c.Opts.All("-f", "--file", "--makefile") {
			if f.From != nil && f.From.Taint&abstract.Fetched != 0 {
				c.Shell.Unseen(*f.From, c.Name) // make -f <(curl …)
			}
		}
		switch c.Name {
		case "make", "gmake":
			seen = tasks.MakeTargets(c)
		case "just":
			seen = tasks.JustRecipes(c)
		case "task":
			seen = tasks.TaskCommands(c)
		}
		if !seen {
			c.Process()
		}
	})
	if tasks.DryRuns(c) && !strings.Contains("cmake meson bazel", c.Name) {
		c.Signal(engine.SignalDryRun)
	}
}

func compile(c *shell.Call) {
	if out, ok := c.Opts.Get("-o"); ok && !strings.Contains(" eslint pytest jest ", " "+c.Name+" ") {
		c.Writes("write", out)
	}
	c.Process()
}
