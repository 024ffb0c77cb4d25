package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// maxFlows bounds the flows of one action.
const maxFlows = 16

// flowsOf are the flows of an action, each once.
func flowsOf(r *reading, res *place.Resolver) []engine.Flow {
	var list []engine.Flow
	for _, raw := range slices.Concat(r.script.Flows, r.ownFlows()) {
		f := engine.Flow{What: raw.What, Name: raw.Name, Class: raw.Class, Host: flowHost(raw.To), Part: raw.Part, Login: raw.Login,
			Command: raw.Command}
		if raw.What == engine.FlowFile {
			e := res.Effect(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Target: raw.Path, Dir: r.in.Cwd, Command: raw.Command})
			f.Name = e.Place()
		}
		f.Loopback = place.Loopback(f.Host)
		if len(list) < maxFlows && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// flowHost is the host, or the name of the service, that gets something.
func flowHost(to abstract.Value) string {
	if h := place.HostOf(to); h != "" {
		return h
	}
	if to.Sure == abstract.Literal {
		return strings.ToLower(to.Text)
	}
	return ""
}

// ownFlows are the tokens in the arguments of a tool that is no shell: of one
// that talks to hosts, of one of a server, and of one that writes to somebody.
func (r *reading) ownFlows() []abstract.RawFlow {
	to := r.listeners()
	if len(to) == 0 || r.in.Tokens == nil {
		return nil
	}
	var list []abstract.RawFlow
	for _, text := range appendTexts(nil, r.args) {
		for _, kind := range r.in.Tokens(text) {
			for _, host := range to {
				list = append(list, abstract.RawFlow{Secret: abstract.Secret{What: engine.FlowToken, Name: kind}, To: host, Command: -1})
			}
		}
	}
	return list
}

// listeners are who gets what stands in a tool's arguments, as far as the tool
// is not one that runs code.
func (r *reading) listeners() []abstract.Value {
	var to []abstract.Value
	for _, e := range r.script.Effects {
		if e.Kind == engine.EffectNetwork && e.Verb != "listen" && e.Command < 0 {
			to = append(to, e.Target)
		}
	}
	if len(to) > 0 || strings.HasPrefix(r.tool.action, "code.") {
		return to
	}
	if r.tool.typ == engine.TypeMCPCall || r.tool.action == "agent.message" {
		to = append(to, abstract.Value{Text: r.server()})
	}
	return to
}
