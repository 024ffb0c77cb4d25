package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/spf13/cobra"
)

// margin is what a hook keeps of the time that the agent gives it: enough to
// say no, since a call runs when the agent's own time-out passes.
const margin = 2 * time.Second

func (a *app) hookCommand() *cobra.Command {
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
			return a.hook(cmd.Context(), h, event)
		},
	}
}

// reply is what goes back to the agent.
type reply struct {
	stdout []byte
	stderr string
	exit   int
}

func (a *app) send(r reply) error {
	if _, err := a.stdout.Write(r.stdout); err != nil {
		return &exitError{exitFindings, nil} // 2: a denial that nobody can read is still one
	}
	if r.stderr != "" {
		fmt.Fprintln(a.stderr, strings.TrimSpace(r.stderr))
	}
	if r.exit != exitOK {
		return &exitError{r.exit, nil}
	}
	return nil
}

// hookFailed answers when the command line itself is wrong, or reports the
// exit code of an answer that was already given.
func (a *app) hookFailed(args []string, err error) int {
	if e, ok := err.(*exitError); ok {
		return e.code
	}
	// Only an event that is known by name may fail silently: whatever else
	// stands there, the agent may be about to run something.
	event := ""
	if i := slices.IndexFunc(args, isEvent); i >= 0 {
		event = args[i]
	}
	h := harness.Harnesses()[0]
	var r reply
	r.stdout, r.stderr, r.exit = h.Failure(event, "its hook's command line is wrong: "+told(err.Error()))
	if e, ok := a.send(r).(*exitError); ok {
		return e.code
	}
	return r.exit
}

func isEvent(arg string) bool { return slices.Contains(harness.ClaudeCodeEvents(), arg) }

// hook answers within the agent's time-out, whatever happens: a review that
// hangs or panics is a failure like any other.
func (a *app) hook(ctx context.Context, h harness.Harness, event string) error {
	start := time.Now()
	limit := h.Timeout(event) - margin
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan reply, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- failure(h, event, a.crashed(p))
			}
		}()
		done <- a.answer(ctx, h, event, start)
	}()
	select {
	case r := <-done:
		return a.send(r)
	case <-ctx.Done():
		return a.send(failure(h, event, fmt.Sprintf("it took longer than %s", limit)))
	}
}

func failure(h harness.Harness, event, text string) reply {
	var r reply
	r.stdout, r.stderr, r.exit = h.Failure(event, text)
	return r
}

func (a *app) answer(ctx context.Context, h harness.Harness, event string, start time.Time) reply {
	raw, err := io.ReadAll(io.LimitReader(a.stdin, harness.MaxInput+1))
	if err != nil {
		return failure(h, event, "its input could not be read: "+err.Error())
	}
	store, err := a.openStore()
	if err != nil {
		return failure(h, event, err.Error())
	}
	return a.respond(ctx, h, event, raw, store, func() (*engine.Reviewer, error) {
		r, err := a.reviewer(ctx, store)
		if err == nil {
			r.Lap = func() float64 { return float64(time.Since(start).Microseconds()) / 1000 }
		}
		return r, err
	})
}

// respond answers an event's input. The reviewer is asked for once the input
// can be read.
func (a *app) respond(ctx context.Context, h harness.Harness, event string, raw []byte, store *audit.Store, reviewer func() (*engine.Reviewer, error)) reply {
	e, err := h.Decode(event, raw, a.env(h.Project))
	if err != nil {
		text := masked(store, err)
		a.noteUndecodable(ctx, store, raw, text)
		return failure(h, e.Name, text) // the stricter of the two names, where they differ
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

// masked words an error about input that nobody could read: it may quote keys
// and values.
func masked(store *audit.Store, err error) string {
	text, macErr := withoutSecrets(store, err.Error())
	if macErr != nil {
		return "its input could not be read, and neither could the state: " + macErr.Error()
	}
	return text
}

// noteUndecodable leaves a trace of input that nobody could read, without its
// contents.
func (a *app) noteUndecodable(ctx context.Context, store *audit.Store, raw []byte, cause string) {
	mac, err := store.MAC()
	if err != nil {
		return // the denial says so
	}
	// The denial is given whether or not this can be written.
	_ = store.Note(ctx, engine.Note{What: "undecodable", Detail: fmt.Sprintf("%d bytes, mac %.16s: %.200s", len(raw), mac(raw), cause)})
}

// reviewer wires a live review: this machine's files, the log, the policy.
func (a *app) reviewer(ctx context.Context, store *audit.Store) (*engine.Reviewer, error) {
	mac, err := store.MAC()
	if err != nil {
		return nil, err
	}
	world, err := a.world(store.Dir)
	if err != nil {
		return nil, err
	}
	c := &classify.Classifier{World: world, MAC: mac, Program: program()}
	return &engine.Reviewer{
		Policy:     func(workspace string) (*engine.Policy, error) { return livePolicy(ctx, store, workspace) },
		Classifier: c,
		Log:        store,
		Env:        environment(),
		Now:        func() int64 { return time.Now().UnixMilli() },
		Mask:       c.Mask,
	}, nil
}

// world is this machine, with what belongs to reviewer itself marked.
func (a *app) world(home string) (classify.World, error) {
	user, err := a.userHome()
	if err != nil {
		return classify.World{}, err
	}
	guard := []string{home, filepath.Dir(organisationDir())}
	if p := program(); p != "" {
		guard = append(guard, p)
	}
	return classify.LocalWorld(user, a.env("TMPDIR"), guard), nil
}

// program is the absolute path of this program; empty where the system does not say.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
