package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// maxFlows limits the flows of one action.
const maxFlows = 16

// flowsOf returns the flows of an action, each once.
func flowsOf(r *toolReader, res *place.Resolver) []engine.Flow {
	var list []engine.Flow
	for _, raw := range slices.Concat(r.script.Flows, r.ownFlows()) {
		f := engine.Flow{What: raw.What, Name: raw.Name, Class: raw.Class, Host: raw.To, Image: raw.Image, Part: raw.Part, Login: raw.Login,
			Command: raw.Command}
		if raw.What == engine.FlowFile {
			e := res.Effect(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Target: raw.Path, Dir: r.in.Cwd, Command: raw.Command})
			f.Name = e.Place()
		}
		f.Loopback = place.Loopback(f.Host)
		owned := false
		if f.Own, owned = shell.Belongs(r.in.Rows, raw, f.Host); raw.What == engine.FlowToken && !owned {
			continue // the owner of tokens that services generate for themselves is unknown
		}
		if len(list) < maxFlows && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// ownFlows returns the tokens in the arguments of a tool that is not a shell: of tools that
// contact hosts, of MCP tools, and of tools that write to someone.
func (r *toolReader) ownFlows() []abstract.RawFlow {
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

// listeners returns the recipients of a tool's arguments, if the tool does not run code.
func (r *toolReader) listeners() []string {
	var to []string
	for _, e := range r.script.Effects {
		if e.Kind == engine.EffectNetwork && e.Verb != "listen" && e.Command < 0 {
			to = append(to, place.HostOf(e.Target))
		}
	}
	if len(to) > 0 || strings.HasPrefix(r.tool.action, "code.") {
		return to
	}
	if r.tool.typ == engine.TypeMCPCall || r.tool.action == "agent.message" {
		to = append(to, r.server())
	}
	return to
}
