package programs

import (
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
)

// makeTargets runs what a makefile says of the targets. One that was fetched is
// code that nobody has seen: make -f <(curl …).
func makeTargets(c *shell.Call) {
	for _, f := range c.Opts.All("-f", "--file", "--makefile") {
		if f.From != nil && f.From.Taint&abstract.Fetched != 0 {
			c.Shell.Unseen(*f.From, c.Name)
		}
	}
	recipes(c, tasks.MakeTargets)
}

func justRecipes(c *shell.Call) { recipes(c, tasks.JustRecipes) }

func taskCommands(c *shell.Call) { recipes(c, tasks.TaskCommands) }

// recipes runs those of a project that a runner is told to run, or else the runner
// does what nobody has seen.
func recipes(c *shell.Call, run func(*shell.Call) (seen bool)) {
	if !run(c) {
		c.Process()
	}
}
