package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
)

// A Run is the result of one run of an agent.
type Run struct {
	Requests []scripted.Request // those that offered tools
	Output   string             // of the agent, both streams
	Took     time.Duration
	Hung     bool // it was ended at the limit
}

// A Start describes how a run begins.
type Start struct {
	Command []string // the agent's program, and arguments that come before all others
	Model   *scripted.Model
	Limit   time.Duration
}

// Prepare makes the agent use the model. Hooks are installed after it, since they are in files that it
// writes.
func (d Driver) Prepare(ctx context.Context, p Place, s Start) error {
	if d.Configure != nil {
		if err := d.Configure(p); err != nil {
			return err
		}
	}
	if d.Setup == nil {
		return nil
	}
	var out bytes.Buffer
	if hung, err := d.run(ctx, p, s, d.Setup(p), &out); hung || err != nil {
		return fmt.Errorf("make %s use the model (%v): %s", d.Agent, err, tail(out.String()))
	}
	return nil
}

// Run starts the agent, waits for its end, and ends what it left running.
func (d Driver) Run(ctx context.Context, p Place, s Start) (Run, error) {
	var out bytes.Buffer
	begin := time.Now()
	hung, err := d.run(ctx, p, s, d.Args, &out)
	return Run{Requests: s.Model.Requests(), Output: out.String(), Took: time.Since(begin), Hung: hung}, err
}

// run starts the agent in a process group of its own. Its status says nothing about a call, so it is not
// an error.
func (d Driver) run(ctx context.Context, p Place, s Start, args []string, out io.Writer) (hung bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	line := append(slices.Clone(s.Command), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.Env = p.Project, d.Environment(p)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 5 * time.Second // a daemon may hold the pipes
	grouped(cmd)
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("start %s: %w", d.Agent, err)
	}
	_ = cmd.Wait() // see above
	hung = ctx.Err() != nil
	endGroup(cmd)
	Reap(p.Home)
	return hung, nil
}

// tail is the end of a string.
func tail(text string) string { return text[max(0, len(text)-300):] }
