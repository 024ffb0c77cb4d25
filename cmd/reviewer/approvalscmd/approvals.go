// Package approvalscmd contains the commands of `reviewer approvals`, one file each: they list,
// show and answer questions that wait for a person outside the agent.
//
// Out of scope: what an answer does (engine/approval), and calls that were denied already
// (`reviewer denials`, `reviewer allow`).
package approvalscmd

import (
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/spf13/cobra"
)

// Command is `reviewer approvals`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "approvals",
		Example: "  reviewer approvals list\n  reviewer approvals approve f8dc9b3b-35",
		Short:   "Answer questions about calls that wait for a person",
		Long: "A question that the agent cannot put to a person waits here, if the policy says so\n" +
			"(approvals.queue). Without an answer the call is denied. ID is the id of a question as\n" +
			"`reviewer approvals list` shows it.",
	}
	return cli.Group(cmd, listCommand(a), showCommand(a), answerCommand(a, true), answerCommand(a, false), codeCommand(a))
}

func open(a *cli.App) (queue.Queue, error) {
	store, err := a.OpenStore()
	return queue.Queue{Log: store}, err
}

func questionID() cli.Argument {
	return cli.Argument{Name: "ID", What: "the id of a question as `reviewer approvals list` shows it, such as f8dc9b3b-35"}
}
