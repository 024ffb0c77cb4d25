package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// buildPrograms are interpreters, and programs that run a project's own code.
// That code is the project's: running it is a process and no more, unless the
// script itself has just written it.
func buildPrograms(name string) program {
	if language(name) != "" {
		return program{own: true, run: interpreter}
	}
	switch name {
	case "make", "gmake", "ninja", "just", "task", "rake", "bazel", "cmake", "meson", "ant":
		return program{values: " -C -f -j -I -o -W --directory --file --makefile --jobs -B -S -G -D --build --target ", run: build}
	case "pytest", "jest", "vitest", "mocha", "tsc", "eslint", "prettier", "ruff", "black", "mypy", "flake8", "golangci-lint", "gofmt", "goimports", "staticcheck", "shellcheck", "rubocop", "rspec", "phpunit", "tox", "nox", "cypress", "playwright", "webpack", "vite", "rollup", "esbuild", "next", "nuxt", "astro", "parcel", "swc", "biome", "gcc", "g++", "clang", "clang++", "cc", "c++", "ld", "rustc", "javac", "java", "kotlinc", "ghc", "zig", "rustup", "nvm", "pyenv", "rbenv", "volta", "xcodebuild", "pre-commit", "coverage", "opa", "regal":
		return program{long: true, values: " -o -m -c -k -e ", run: compile}
	case "entr":
		return program{first: true, run: func(c *call) { c.child(func() outcome { return c.s.invoke(c.opts.operands, c.node) }) }}
	case "pwsh", "powershell", "cmd":
		return program{own: true, run: windowsShell}
	}
	return program{}
}

func build(c *call) {
	c.inDirectory(c.opts.all("-C", "--directory", "-S", "-d", "--dir", "--working-directory"), func() {
		seen := false
		for _, f := range c.opts.all("-f", "--file", "--makefile") {
			if f.from != nil && f.from.taint&fetched != 0 {
				c.s.unseen(*f.from, c.name) // make -f <(curl …)
			}
		}
		switch c.name {
		case "make", "gmake":
			seen = c.makeTargets()
		case "just":
			seen = c.justRecipes()
		case "task":
			seen = c.taskCommands()
		}
		if !seen {
			c.process()
		}
	})
	if c.dryRuns() && !strings.Contains("cmake meson bazel", c.name) {
		c.signal(engine.SignalDryRun)
	}
}

func compile(c *call) {
	if out, ok := c.opts.get("-o"); ok && !strings.Contains(" eslint pytest jest ", " "+c.name+" ") {
		c.writes("write", out)
	}
	c.process()
}
