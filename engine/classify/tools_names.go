package classify

import (
	"slices"
)

// Tools lists the tools of Claude Code that are known, each with the names of
// the arguments that mean something, sorted.
func Tools() map[string][]string {
	all := make(map[string][]string, len(builtins))
	for name, t := range builtins {
		args := append(slices.Clone(t.resource), t.contents...)
		for _, a := range t.args {
			args = append(args, a.name)
		}
		slices.Sort(args)
		all[name] = slices.Compact(args)
	}
	return all
}
