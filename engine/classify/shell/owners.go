package shell

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Belongs reports whether a host belongs to the issuer of a secret, according to the
// list of owners of tokens, variables and programs. A variable that is not in the list
// belongs to the host whose domain it names: SHOP_API_TOKEN to api.shop.example.
// listed reports whether it is in the list.
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

// namesLabel reports whether a variable for a login begins with the name of the host:
// REGISTRY_PASSWORD of registry.shop.example.
func namesLabel(set *rows.Set, variable, host string) bool {
	first, _, _ := strings.Cut(strings.ToLower(variable), "_")
	label, _, dotted := strings.Cut(host, ".")
	return dotted && label == first && !slices.Contains(set.Words("flows.common"), label)
}

// domainName returns the part of a host that names its owner: shop of api.shop.example
// and of www.shop.co.uk.
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
