package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

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
