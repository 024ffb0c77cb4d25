package policycmd

import (
	"path/filepath"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// usualPolicy is the folder in which most repositories have their policy.
const usualPolicy = "policy"

// withoutPath describes the default of PATH in the help of commands.
const withoutPath = "PATH defaults to the current folder if it is a policy, otherwise to ./" + usualPolicy + "."

// policyHere is the policy that commands for authors take if none is named: this
// folder, or the usual one in it.
func policyHere() (string, error) {
	if holdsPolicy(".") {
		return ".", nil
	}
	if isPolicy(usualPolicy) {
		return usualPolicy, nil
	}
	cwd, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	return "", cli.Usage("%s is not a policy (no .manifest, rules/, data.yaml or *.rego), and neither is ./%s: name a policy folder",
		cwd, usualPolicy)
}
