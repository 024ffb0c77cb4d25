package explaincmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "policy explain", Title: "explanation of a decision", Of: explanation{}},
		{Command: "policy eval", Title: "value of an expression", Of: evaluated{}},
		{Command: "policy bench", Title: "time of a decision", Of: benchmark{}},
		{Command: "instructions", Title: "what instruction files forbid", Of: Instructions{}},
	}
}
