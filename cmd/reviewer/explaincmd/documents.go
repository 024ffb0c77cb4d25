package explaincmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// Documents are what these commands write with -f json, where no file of schemas
// describes it.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "policy explain", Title: "explanation of a decision", Of: explanation{}},
	}
}
