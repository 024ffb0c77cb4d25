package shell

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Belongs reports whether a host belongs to who issued a secret: the list of
// owners says so of kinds of tokens, variables and programs. A variable that is
// in no such list is of the host whose domain it names: SHOP_API_TOKEN of
// api.shop.example. listed says that it is in the list.
func Belongs(set *rows.Set, s abstract.RawFlow, host string) (own, listed bool) {
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

// namesLabel reports whether a variable with which a client signs in begins
// with the name of the very machine: REGISTRY_PASSWORD of
// registry.shop.example.
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
