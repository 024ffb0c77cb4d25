package policycmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/codes"
)

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "policy show", Title: "a policy", Of: policyDocument{}},
		{Command: "policy rules", Title: "the rules", Of: ruleDocument{}, List: "rules"},
		{Command: "policy effective", Title: "the merged result of all layers", Of: effectiveDocument{}},
		{Command: "policy new rule", Title: "what was written", Of: scaffolded{}},
		{Command: "policy codes", Title: "the codes of findings", Of: codes.Code{}, List: "codes"},
		{Command: "policy fmt", Title: "which files are formatted", Of: formattedFiles{}},
		{Command: "policy test --mutate", Title: "which mutations the tests detect", Of: mutationReport{}},
	}
}
