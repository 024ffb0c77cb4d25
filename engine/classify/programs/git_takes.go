package programs

import (
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// gitAdds records which files git add puts into the index.
func gitAdds(c *shell.Call) {
	o := c.Opts
	if o.Has("-n", "--dry-run", "-h", "--help", "-N", "--intent-to-add") {
		return
	}
	t := abstract.Taken{New: !o.Has("-u", "--update"), Ignored: o.Has("-f", "--force")}
	paths := o.Operands[1:]
	if len(paths) == 0 && (o.Has("-A", "--all", "--no-ignore-removal") || !t.New || o.Has("-p", "--patch", "-i", "--interactive")) {
		paths = []abstract.Arg{abstract.Word(".")}
	}
	takes(c, t, paths)
}

// gitCommits records which files git commit puts into the history: those in the index, those that have changed, or those that it names.
func gitCommits(c *shell.Call) {
	o := c.Opts
	if o.Has("--dry-run", "--short", "--porcelain", "--long", "-z", "--null", "-h", "--help") {
		return
	}
	paths := o.Operands[1:]
	if len(paths) == 0 {
		paths = []abstract.Arg{abstract.Word(".")}
		takes(c, abstract.Taken{Staged: true}, paths)
		if !o.Has("-a", "--all") {
			return
		}
	}
	takes(c, abstract.Taken{}, paths)
}

// takes records that version control takes the files at some paths on this machine.
func takes(c *shell.Call, t abstract.Taken, paths []abstract.Arg) {
	if c.Shell.Frame.Host != "" {
		return
	}
	for _, p := range pathspecs(c, paths) {
		for _, dir := range c.Shell.Scope.Dirs {
			if t.Path = abstract.JoinDir(dir, p); len(c.Shell.Out.Taken) < maxTaken {
				c.Shell.Out.Taken = append(c.Shell.Out.Taken, t)
			}
		}
	}
}

const maxTaken = 64 // paths of one call that version control takes
