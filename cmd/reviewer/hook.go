package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/spf13/cobra"
)

// margin is what a hook keeps of the time that the agent gives it: enough to
// say no, since a call runs when the agent's own time-out passes.
const margin = 2 * time.Second

func hookCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "hook AGENT [EVENT]",
		Short: "Review one event of an agent: what the agent's hooks call",
		Long: "Reads one event on standard input and answers in the agent's dialect. EVENT is\n" +
			"in the command line, since input that cannot be read has no name of its own;\n" +
			"without it, unreadable input counts as a tool call and is denied.",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, ok := harness.Find(args[0])
			if !ok {
				return fmt.Errorf("unknown agent %q; expected one of %s", args[0], strings.Join(harness.Names(), ", "))
			}
			event := ""
			if len(args) == 2 {
				event = args[1]
			}
			return hook(cmd.Context(), a, h, event)
		},
	}
}

// reply is what goes back to the agent.
type reply struct {
	stdout []byte
	stderr string
	exit   int
}

func send(a *cli.App, r reply) error {
	if _, err := a.Stdout.Write(r.stdout); err != nil {
		return &cli.ExitError{Code: cli.ExitFindings, Err: nil} // 2: a denial that nobody can read is still one
	}
	if r.stderr != "" {
		fmt.Fprintln(a.Stderr, strings.TrimSpace(r.stderr))
	}
	if r.exit != cli.ExitOK {
		return &cli.ExitError{Code: r.exit, Err: nil}
	}
	return nil
}

// hookFailed answers when the command line itself is wrong, or reports the
// exit code of an answer that was already given.
func hookFailed(a *cli.App, args []string, err error) int {
	if e, ok := err.(*cli.ExitError); ok {
		return e.Code
	}
	// Only an event that is known by name may fail silently: whatever else
	// stands there, the agent may be about to run something.
	event := ""
	if i := slices.IndexFunc(args, isEvent); i >= 0 {
		event = args[i]
	}
	h := harness.Harnesses()[0]
	var r reply
	r.stdout, r.stderr, r.exit = h.Failure(event, "its hook's command line is wrong: "+cli.Masked(err.Error()))
	if e, ok := send(a, r).(*cli.ExitError); ok {
		return e.Code
	}
	return r.exit
}

func isEvent(arg string) bool { return slices.Contains(harness.ClaudeCodeEvents(), arg) }

// hook answers within the agent's time-out, whatever happens: a review that
// hangs or panics is a failure like any other.
func hook(ctx context.Context, a *cli.App, h harness.Harness, event string) error {
	start := time.Now()
	limit := h.Timeout(event) - margin
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan reply, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- failure(h, event, a.Crashed(p))
			}
		}()
		done <- answer(ctx, a, h, event, start)
	}()
	select {
	case r := <-done:
		return send(a, r)
	case <-ctx.Done():
		return send(a, failure(h, event, fmt.Sprintf("it took longer than %s", limit)))
	}
}

func failure(h harness.Harness, event, text string) reply {
	var r reply
	r.stdout, r.stderr, r.exit = h.Failure(event, text)
	return r
}

func answer(ctx context.Context, a *cli.App, h harness.Harness, event string, start time.Time) reply {
	raw, err := io.ReadAll(io.LimitReader(a.Stdin, harness.MaxInput+1))
	if err != nil {
		return failure(h, event, "its input could not be read: "+err.Error())
	}
	store, err := a.OpenStore()
	if err != nil {
		return failure(h, event, err.Error())
	}
	return respond(ctx, a, h, event, raw, store, func() (*review.Reviewer, error) {
		r, err := reviewer(ctx, a, store)
		if err == nil {
			r.Lap = func() float64 { return float64(time.Since(start).Microseconds()) / 1000 }
		}
		return r, err
	})
}

// respond answers an event's input. The reviewer is asked for once the input
// can be read.
func respond(ctx context.Context, a *cli.App, h harness.Harness, event string, raw []byte, store *audit.Store,
	reviewer func() (*review.Reviewer, error)) reply {
	e, err := h.Decode(event, raw, a.Env(h.Project))
	if err != nil {
		text := masked(store, err)
		noteUndecodable(ctx, a, store, raw, text)
		return failure(h, e.Name, text) // the stricter of the two names, where they differ
	}
	if e.Phase == engine.PhasePrompt && !a.CalledBy(h) {
		e = unverified(e)
	}
	r, err := reviewer()
	if err != nil {
		return failure(h, e.Name, err.Error())
	}
	answer, _ := r.Handle(ctx, e) // the answer says what failed
	var out reply
	out.stdout, out.stderr, out.exit = h.Encode(e.Name, answer)
	return out
}

// unverified takes a prompt for what it may be: a text that some program has handed
// over. It is noted, and orders, allows and forbids nothing.
func unverified(e engine.Event) engine.Event {
	e.Phase, e.Prompt = engine.PhaseOther, ""
	e.Unverified = "a prompt that the client did not hand over itself: it is nobody's word"
	return e
}

// masked words an error about input that nobody could read: it may quote keys
// and values.
func masked(store *audit.Store, err error) string {
	text, macErr := cli.WithoutSecrets(store, err.Error())
	if macErr != nil {
		return "its input could not be read, and neither could the state: " + macErr.Error()
	}
	return text
}

// noteUndecodable leaves a trace of input that nobody could read, without its
// contents.
func noteUndecodable(ctx context.Context, a *cli.App, store *audit.Store, raw []byte, cause string) {
	mac, err := store.MAC()
	if err != nil {
		return // the denial says so
	}
	// The denial is given whether or not this can be written.
	_ = store.Note(ctx, engine.Note{What: "undecodable", Detail: fmt.Sprintf("%d bytes, mac %.16s: %.200s", len(raw), mac(raw), cause)})
}

// reviewer wires a live review: this machine's files, the log, the policy.
func reviewer(ctx context.Context, a *cli.App, store *audit.Store) (*review.Reviewer, error) {
	mac, err := store.MAC()
	if err != nil {
		return nil, err
	}
	world, err := a.World(store.Dir)
	if err != nil {
		return nil, err
	}
	c := &classify.Classifier{World: world, MAC: mac, Secrets: bundles.ShippedTokens(), Program: cli.Program(),
		Shipped: bundles.ShippedRows}
	return &review.Reviewer{
		Policy:     func(workspace string) (*review.Policy, error) { return livePolicy(ctx, store, workspace) },
		Classifier: c,
		Log:        store,
		Env:        cli.Environment(),
		Now:        func() int64 { return time.Now().UnixMilli() },
		Mask:       c.Mask,
	}, nil
}
