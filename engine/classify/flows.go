package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// maxFlows bounds the flows of one action.
const maxFlows = 16

// flowsOf are the flows of an action, each once.
func flowsOf(r *reading, res *place.Resolver) []engine.Flow {
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
		if f.Own, owned = belongs(r.in.Rows, raw, f.Host); raw.What == engine.FlowToken && !owned {
			continue // nobody knows to whom it belongs: the tokens that services make for themselves
		}
		if len(list) < maxFlows && !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// belongs says that a host belongs to who issued a secret: the list of owners says so
// of kinds of tokens, variables and programs. A variable that is in no such list
// is of the host whose domain it names: SHOP_API_TOKEN of api.shop.example. listed
// says that it is in the list.
func belongs(set *rows.Set, s abstract.RawFlow, host string) (own, listed bool) {
	for _, pair := range set.Words("flows.owners") {
		pattern, domain, _ := strings.Cut(pair, "=")
		if wildcard.Text(pattern, s.Name) {
			listed = true
			if host == domain || strings.HasSuffix(host, "."+domain) {
				return true, true
			}
		}
	}
	if listed || s.What != engine.FlowVariable {
		return false, listed
	}
	if s.Login && namesLabel(set, s.Name, host) {
		return true, false
	}
	name := domainName(set, host)
	return name != "" && strings.Contains("_"+strings.ToLower(s.Name)+"_", "_"+name+"_"), false
}

// namesLabel says that a variable with which a client signs in begins with the name
// of the very machine: REGISTRY_PASSWORD of registry.shop.example.
func namesLabel(set *rows.Set, variable, host string) bool {
	first, _, _ := strings.Cut(strings.ToLower(variable), "_")
	label, _, dotted := strings.Cut(host, ".")
	return dotted && label == first && !slices.Contains(set.Words("flows.common"), label)
}

// domainName is the part of a host by which its owner is called: shop of
// api.shop.example and of www.shop.co.uk.
func domainName(set *rows.Set, host string) string {
	labels := strings.Split(host, ".")
	n := len(labels) - 2
	if n > 0 && slices.Contains(set.Words("flows.second_level"), labels[n]) {
		n--
	}
	if n < 0 || slices.Contains(set.Words("flows.common"), labels[n]) {
		return ""
	}
	return strings.ReplaceAll(labels[n], "-", "_")
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
func (r *reading) listeners() []string {
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
