package wiring

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/permissions"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
)

// ClientRules are the permission rules that a person added in the agent.
type ClientRules struct {
	Matcher engine.Matcher  // finds the first rule that applies to a call
	Ask     map[string]bool // by the id of a finding: whether the agent asks
	Remarks []string        // rules that could not be converted exactly, as file:line: text
}

// ReadClientRules reads the permission rules of a settings file of Claude Code.
func ReadClientRules(file string, raw []byte) (*ClientRules, error) {
	policy, err := permissions.Import(file, raw, Personal(file), cel.Validate)
	if err != nil {
		return nil, err
	}
	rules := &ClientRules{Ask: map[string]bool{}}
	for _, r := range policy.Remarks {
		if r.Rule != "" {
			rules.Remarks = append(rules.Remarks, fmt.Sprintf("%s:%d: rule %s: %s", file, r.Line, r.Rule, r.Text))
		}
	}
	for _, r := range policy.List.Rules {
		rules.Ask[policy.List.FindingID(r.ID)] = r.Effect == bundles.EffectApprove
	}
	rules.Matcher, err = cel.Compile(AccessConditions(policy.List))
	return rules, err
}

// Personal reports whether a settings file of Claude Code is a person's, not a project's.
func Personal(file string) bool {
	full, err := filepath.Abs(file)
	home, unknown := os.UserHomeDir()
	return err == nil && unknown == nil && filepath.Dir(full) == filepath.Join(home, ".claude")
}
