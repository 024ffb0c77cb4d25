package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// ownHosts returns a function that recognises the hosts of the repository's services, if an
// action contacts only such a service; else nil. Their names are data: programs, servers and
// hosts.
func ownHosts(set *rows.Set, a *engine.Action) func(host string) bool {
	if a == nil || set == nil {
		return nil
	}
	known := set.Words("services.repository")
	asked := false
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Kind != engine.EffectNetwork || e.Loopback || a.Synchronises(e) {
			continue
		}
		if !asksOne(known, a, e) {
			return nil
		}
		asked = true
	}
	if !asked && !serverOf(known, a) {
		return nil
	}
	return func(host string) bool { return slices.Contains(known, host) }
}

// asksOne reports whether a network effect goes to one of the services.
func asksOne(known []string, a *engine.Action, e *engine.Effect) bool {
	if e.Command >= 0 && e.Command < len(a.Commands) && slices.Contains(known, programName(a.Commands[e.Command])) {
		return true
	}
	_, rest, ok := strings.Cut(e.Target, "://")
	if !ok {
		rest = e.Target
	}
	host, _, _ := strings.Cut(rest, "/")
	return slices.Contains(known, mask.Lower(host))
}

// serverOf reports whether an action is a tool of the MCP server of one of the services.
func serverOf(known []string, a *engine.Action) bool {
	rest, ok := strings.CutPrefix(a.Name, "mcp.")
	server, _, _ := strings.Cut(rest, ".")
	return ok && slices.Contains(known, mask.Lower(server))
}
