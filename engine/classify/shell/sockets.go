package shell

import (
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
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

// socket evaluates a redirection to /dev/tcp/HOST/PORT, which bash opens itself. A
// command's output is sent through it, like the body of a request.
func (s *Machine) socket(f redirected, out abstract.Arg, cmd syntax.Command) {
	host, _, _ := strings.Cut(f.target.Text[len("/dev/tcp/"):], "/")
	s.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true, Command: s.first}, abstract.Word(host))
	if f.verb != "read" && f.stdout {
		s.flow(s.first, host, out, false)
		s.SignalIf(!out.Known() && cmd != nil && !startsShell(cmd), engine.SignalPipeExternal)
	}
	attached := !f.apart || !place.Loopback(host) || !opensOnly(cmd)
	s.SignalIf(startsShell(cmd) && attached, engine.SignalReverseShell)
}

// opensOnly reports whether a command is exec without a program, which opens descriptors
// and attaches nothing to them.
func opensOnly(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec"
}

// startsShell reports whether a command is a shell, or is to become one.
func startsShell(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "exec" || IsShell(BaseName(name))
}
