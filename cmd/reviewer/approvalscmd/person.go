package approvalscmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// The channels of answers that are given at a terminal.
const (
	terminal     = "terminal"
	terminalCode = "terminal and code"
)

// person returns who answers, and how that is known. In a terminal that an agent can also type
// into, it asks for the approval code.
func person(ctx context.Context, a *cli.App, log *audit.Store) (by, channel string, err error) {
	by, err = a.Person(answeringAQuestion)
	var shared *cli.SharedTerminalError
	if !errors.As(err, &shared) || !a.StdinTerminal() {
		return by, terminal, err
	}
	codes := &code.Store{Log: log}
	if there, failed := codes.Exists(); failed != nil || !there {
		return "", "", errors.Join(withCode(err), failed)
	}
	secret, err := a.Secret("this terminal may be shared with an agent; approval code: ")
	if err != nil {
		return "", "", fmt.Errorf("read the approval code: %w", err)
	}
	return cli.UserName(), terminalCode, codes.Check(ctx, secret)
}

const answeringAQuestion = "answering a question"

// withCode mentions the other way to answer in a shared terminal.
func withCode(err error) error {
	return fmt.Errorf("%w; or create an approval code there once (`reviewer approvals code`): "+
		"`reviewer approvals approve` and `deny` accept it here", err)
}
