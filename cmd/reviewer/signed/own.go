package signed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/rogpeppe/go-internal/diff"
)

// ShowFiles prints how the files of the user's own policy differ from the accepted ones, all of it: whatever is not shown
// would be accepted unseen.
func ShowFiles(w io.Writer, own *active.Acceptance) {
	for _, name := range own.Changed {
		before, was := own.Before[name]
		after, is := own.Files[name]
		from, to := "accepted/"+name, "policy/"+name
		if !was {
			from = "/dev/null"
		}
		if !is {
			to = "/dev/null"
		}
		for line := range strings.Lines(string(diff.Diff(from, before, to, after))) {
			fmt.Fprintln(w, term.Printable(cli.Masked(strings.TrimRight(line, "\n"))))
		}
	}
}

// OwnAtFirst shows a person who is about to make the first approval code their own policy, which counts from then on only as they
// accept it. nil: the policy cannot be used, so it is not accepted.
func OwnAtFirst(w io.Writer, log *audit.Store) *active.Acceptance {
	m := cli.MachineAt(log.Dir)
	m.Log = log
	own, err := m.Acceptance()
	switch {
	case errors.Is(err, active.ErrOwnBundle):
	case err != nil:
		fmt.Fprintf(w, "Your own policy is not accepted with the code, since it cannot be used: %s\n", cli.Masked(err.Error()))
	case len(own.Files) > 0:
		fmt.Fprintf(w, "With the code you accept your own policy in %s as it is:\n\n", own.Dir)
		ShowFiles(w, own)
		fmt.Fprintln(w)
	}
	return own
}

// AcceptFirst accepts with a new code what OwnAtFirst has shown.
func AcceptFirst(ctx context.Context, own *active.Acceptance, codes *code.Store, secret, by string) error {
	if own == nil {
		return nil
	}
	key, err := codes.Unlock(ctx, secret)
	if err != nil {
		return err
	}
	defer key.Wipe()
	return own.Accept(ctx, codes.Log, by, key)
}
