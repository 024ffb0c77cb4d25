package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// vocabulary returns the words by which the policy interprets the names of operations.
func vocabulary(c *shell.Call) *operation.Words { return operation.WordsOf(c.Shell.In.Rows) }

// listed reports whether a word is in a list of the policy, programs.NAME.
func listed(c *shell.Call, name, word string) bool {
	return slices.Contains(c.Shell.In.Rows.Words("programs."+name), word)
}

// listedAs returns what a word stands for in a list of the policy whose entries have the form
// po=pod. Empty: nothing.
func listedAs(c *shell.Call, name, word string) string {
	for _, pair := range c.Shell.In.Rows.Words("programs." + name) {
		if left, right, _ := strings.Cut(pair, "="); left == word {
			return right
		}
	}
	return ""
}

// everything reports whether all objects of a kind, or all in one object, are affected.
func everything(c *shell.Call) bool {
	return c.Opts.Has(c.Shell.In.Rows.Words("programs.everything")...)
}

// unasked reports whether confirmation is skipped.
func unasked(c *shell.Call) bool { return c.Opts.Has(c.Shell.In.Rows.Words("programs.unasked")...) }
