package options

import "github.com/agent-reviewer/reviewer/engine/classify/abstract"

// Adds returns what the options of git add select, and the paths; nil: nothing.
func (o Options) Adds() (t abstract.Taken, paths []abstract.Arg) {
	if o.Has("-n", "--dry-run", "-h", "--help", "-N", "--intent-to-add") {
		return t, nil
	}
	t = abstract.Taken{New: !o.Has("-u", "--update"), Ignored: o.Has("-f", "--force")}
	paths = o.Operands[1:]
	if len(paths) == 0 && (o.Has("-A", "--all", "--no-ignore-removal") || !t.New || o.Has("-p", "--patch", "-i", "--interactive")) {
		paths = []abstract.Arg{abstract.Word(".")}
	}
	return t, paths
}

// Commits reports whether git commit makes a commit, and returns the paths whose changes it takes besides what is in the index.
func (o Options) Commits() (paths []abstract.Arg, ok bool) {
	if o.Has("--dry-run", "--short", "--porcelain", "--long", "-z", "--null", "-h", "--help") {
		return nil, false
	}
	if paths = o.Operands[1:]; len(paths) == 0 && o.Has("-a", "--all") {
		paths = []abstract.Arg{abstract.Word(".")}
	}
	return paths, true
}
