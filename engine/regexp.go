package engine

import (
	"regexp"
	"sync"
)

// Regexp returns a regular expression that is compiled when it is first asked
// for: a process that answers one hook needs few of those that there are. One
// that is wrong panics then; expressions are literals, which a test compiles.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
