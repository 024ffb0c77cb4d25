package shell

import (
	"strconv"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"mvdan.cc/sh/v3/syntax"
)

// isSocket reports whether a word is a connection that bash opens itself.
func isSocket(a abstract.Arg) bool { return a.HasPrefix("/dev/tcp/") || a.HasPrefix("/dev/udp/") }

// apart reports whether a redirection opens a descriptor other than the standard streams.
func apart(x *syntax.Redirect) bool {
	if x.N == nil {
		return false
	}
	n, err := strconv.Atoi(x.N.Value)
	return err == nil && n > 2
}
