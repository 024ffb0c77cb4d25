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
		return program{own: true, run: func(c *call) { c.s.unseen(unknownArg(), c.name); c.process() }}
	}
	return program{}
}

func build(c *call) {
	o := c.opts
	c.inDirectory(o.all("-C", "--directory", "-S"), func() {
		c.process()
		files := o.all("-f", "--file", "--makefile")
		if len(files) == 0 {
			files = []arg{word("GNUmakefile"), word("makefile"), word("Makefile"), word("justfile")}
		}
		for _, f := range files {
			text, ok := c.s.written(f)
			if f.is("-", "/dev/stdin") && c.s.frame.stdin != nil {
				text, ok = *c.s.frame.stdin, true
			}
			if ok {
				c.recipes(text)
			}
		}
	})
	if o.has("-n", "--dry-run", "--just-print", "--recon") && !strings.Contains("cmake meson bazel", c.name) {
		c.signal(engine.SignalDryRun)
	}
}

// recipes runs the lines of a makefile that begin with a tab.
func (c *call) recipes(text arg) {
	for _, line := range strings.Split(text.text, "\n") {
		if code, ok := strings.CutPrefix(line, "\t"); ok {
			c.child(func() outcome { return c.s.embed(text.with(strings.TrimLeft(code, "@-+")), "make", false) })
		}
	}
}

func compile(c *call) {
	if out, ok := c.opts.get("-o"); ok && !strings.Contains(" eslint pytest jest ", " "+c.name+" ") {
		c.writes("write", out)
	}
	c.process()
}
