package render

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
)

// Claude writes the settings of the sandbox of Claude Code, which confines its tool Bash only: hooks and the tools for
// files run outside.
func Claude(b Box) string {
	type variable struct {
		Name string `json:"name"`
		Mode string `json:"mode"`
	}
	variables := []variable{}
	for _, name := range sorted(b.Variables) {
		variables = append(variables, variable{name, "deny"})
	}
	denied, allowed := b.visible(), []string{}
	if !b.all() {
		denied = append(denied, b.Home)
		for _, path := range sorted(slices.Concat(b.Plan.Read, b.Plan.Write)) {
			if sandbox.Within(path, b.Home) {
				allowed = append(allowed, path)
			}
		}
	}
	doc := map[string]any{"sandbox": map[string]any{
		"enabled": true, "failIfUnavailable": true, "autoAllowBashIfSandboxed": false, "allowUnsandboxedCommands": false, "excludedCommands": []string{},
		"network": map[string]any{"allowedDomains": sorted(b.names()), "deniedDomains": sorted(b.Refused), "strictAllowlist": true,
			"allowUnixSockets": []string{}, "allowLocalBinding": false},
		"filesystem":  map[string]any{"allowWrite": sorted(b.Plan.Write), "denyWrite": sorted(b.Plan.Protected), "denyRead": denied, "allowRead": allowed},
		"credentials": map[string]any{"envVars": variables},
	}}
	raw, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err.Error() // lists of strings can be encoded
	}
	return string(raw) + "\n"
}

// names are the hosts without those that are addresses of this machine with a port.
func (b Box) names() []string {
	list := []string{}
	for _, host := range b.Hosts {
		if !strings.Contains(host, ":") {
			list = append(list, host)
		}
	}
	return list
}
