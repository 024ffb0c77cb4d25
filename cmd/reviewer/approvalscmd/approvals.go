// Package approvalscmd contains the commands of `reviewer approvals`, one file each: they list,
// show and answer questions that wait for a person outside the agent. `watch` also shows denied calls and
// stopped sessions.
//
// Out of scope: what an answer does (engine/approval), and what allowing a call or resuming a session does
// (`reviewer allow`, `reviewer session resume`).
package approvalscmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/spf13/cobra"
)

// Propose proposes an exception for the call of a record, in a new folder, and prints what it would change.
type Propose func(ctx context.Context, a *cli.App, id, dir string) error

// Command is `reviewer approvals`; over are what `watch` offers besides answers.
func Command(a *cli.App, propose Propose, over Overrides) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "approvals",
		Example: "  reviewer approvals list\n  reviewer approvals approve f8dc9b3b-35",
		Short:   "Answer questions about calls that wait for a person",
		Long: "Questions selected by the setting approvals.queue wait here. Without an\n" +
			"answer, the call is denied. ID is the id of a question as `reviewer approvals list`\n" +
			"shows it.",
	}
	return cli.Group(cmd, listCommand(a), showCommand(a), approveCommand(a, propose), denyCommand(a), watchCommand(a, propose, over),
		codeCommand(a))
}

// Documents lists the output of these commands with -f json that no file in schemas describes.
func Documents() []cli.Document {
	return []cli.Document{
		{Command: "approvals list", Title: "the questions that wait for an answer", Of: approval.Request{}, List: "questions"},
		{Command: "approvals show", Title: "a question that waits for an answer", Of: shownDocument{}},
		{Command: "approvals approve", Title: "the answers that were given", Of: answerDocument{}, List: "answers"},
		{Command: "approvals deny", Title: "the answers that were given", Of: answerDocument{}, List: "answers"},
	}
}

func open(a *cli.App) (queue.Queue, error) {
	store, err := a.OpenStore()
	return queue.Queue{Log: store}, err
}

func questionID() cli.Argument {
	return cli.Argument{Name: "ID", What: "the id of a question as `reviewer approvals list` shows it, such as f8dc9b3b-35"}
}

// waiting returns the request of a question that waits. The file that holds it only serves
// people: the call that it describes must be the one in the log.
func waiting(q queue.Queue, id string) (approval.Request, error) {
	r, err := q.Get(id)
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%w; `reviewer approvals list` lists those that wait", queue.ErrGone)
	}
	if err != nil {
		return r, err
	}
	return r, genuine(q, &r)
}

// genuine returns an error if a request describes a call other than that of the record with its id.
func genuine(q queue.Queue, r *approval.Request) error {
	rec, err := q.Log.Find(r.ID)
	if err != nil {
		return fmt.Errorf("question %s is not in the log: %w", r.ID, err)
	}
	same := rec.Event != nil && rec.Action != nil && rec.Event.Tool == r.Tool && rec.Action.Resource == r.Action &&
		len(rec.Action.Effects) == len(r.Effects) && slices.Equal(rec.Action.Signals, r.Signals) && rec.Session == r.Session
	if !same || approval.DigestOf(rec) != r.Digest {
		return fmt.Errorf("the file of question %s was changed: it does not describe the call in the log; deny it, or let it expire", r.ID)
	}
	return nil
}
