package explaincmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "policy explain", Title: "explanation of a decision", Of: explanation{}},
		{Command: "instructions", Title: "what instruction files forbid", Of: Instructions{}},
	}
}
