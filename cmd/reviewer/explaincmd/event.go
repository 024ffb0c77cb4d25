package explaincmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/reread"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/reviewcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/rego"
	"github.com/spf13/cobra"
)

// event is the part of a command line that names an event and the policy that decides about it.
type event struct {
	policy     string
	bash, cwd  string
	tool, args string // of a call, instead of a command
	now        string
	at         int64 // of --now, Unix milliseconds; 0: the time of each event
}

// decided is an event and what a policy decides about it.
type decided struct {
	effective *bundles.Effective
	policy    *review.Policy
	compiled  time.Duration // how long compiling it took
	record    *engine.Record
	input     *engine.Input
	missing   string // what the policy examines and the record of another one lacks; empty: nothing
}

// compiled compiles a policy, and returns how long it took.
func compiled(ctx context.Context, e *bundles.Effective) (*review.Policy, time.Duration, error) {
	begun := time.Now()
	policy, err := wiring.Compile(ctx, e)
	return policy, time.Since(begun), err
}

// hosts returns what evaluates the policy.
func (d *decided) hosts() (*rego.Host, *cel.Host, error) {
	decider, isRego := d.policy.Decider.(*rego.Host)
	matcher, isCEL := d.policy.Matcher.(*cel.Host)
	if !isRego || !isCEL {
		return nil, nil, errors.New("the policy cannot be explained") // unreachable: wiring creates both
	}
	return decider, matcher, nil
}

func (t *event) flags(cmd *cobra.Command) {
	cli.PolicyVar(cmd.Flags(), &t.policy, "policy", "", cli.PolicyFlag+" (default: active; for a record, the one that decided it)")
	cmd.Flags().StringVar(&t.bash, "bash", "", "the event is this shell `COMMAND`")
	cmd.Flags().StringVar(&t.tool, "tool", "", "the event is a call of the tool `NAME`, such as Write or mcp__db__query")
	cmd.Flags().StringVar(&t.args, "args", "", "with --tool: the arguments of the call, a `JSON` object (default: none)")
	cmd.Flags().StringVar(&t.cwd, "cwd", "", "with --bash or --tool: folder in which the command runs, its workspace (default: this folder)")
	cmd.Flags().StringVar(&t.now, "now", "", "decide as of this `TIME`, such as 2026-01-31T23:30 or 2026-01-31T23:30:00Z")
}

// readNow reads --now: local time, unless it has a time zone.
func (t *event) readNow() error {
	if t.now == "" {
		return nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, t.now, time.Local); err == nil {
			t.at = at.UnixMilli()
			return nil
		}
	}
	return cli.Usage("--now %s: expected a time such as 2026-01-31T23:30 or 2026-01-31T23:30:00Z", t.now)
}

// decide finds the event that the command line names, and evaluates the policy for it.
func (t *event) decide(ctx context.Context, a *cli.App, args []string) (*decided, error) {
	if err := t.readNow(); err != nil {
		return nil, err
	}
	switch {
	case t.args != "" && t.tool == "":
		return nil, cli.Usage("--args needs the name of the tool: --tool NAME")
	case t.tool != "" && (t.bash != "" || len(args) > 0):
		return nil, cli.Usage("--tool is an event of its own; leave --bash and EVENT out")
	case t.tool != "":
		doc, err := t.toolEvent()
		if err != nil {
			return nil, err
		}
		return t.decideEvents(ctx, a, bytes.NewReader(doc))
	case t.bash != "" && len(args) > 0:
		return nil, cli.Usage("--bash and %s are two events; give one of them", args[0])
	case t.bash != "":
		doc, err := t.bashEvent()
		if err != nil {
			return nil, err
		}
		return t.decideEvents(ctx, a, bytes.NewReader(doc))
	case len(args) == 0:
		return nil, cli.Usage("no event: expected a file with an event, - for standard input, the id of a record, " +
			"--bash 'a command', or --tool NAME --args '{…}'")
	case args[0] == "-":
		return t.decideEvents(ctx, a, a.Stdin)
	}
	f, err := os.Open(args[0])
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(args[0], "./") {
		return t.decideRecord(ctx, a, args[0])
	}
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	defer f.Close()
	return t.decideEvents(ctx, a, f)
}

func (t *event) bashEvent() ([]byte, error) {
	return t.callEvent("Bash", map[string]any{"command": t.bash})
}

// toolEvent is the event of --tool and --args.
func (t *event) toolEvent() ([]byte, error) {
	args := map[string]any{}
	if t.args != "" {
		if err := json.Unmarshal([]byte(t.args), &args); err != nil || args == nil {
			return nil, cli.Usage("--args %s: expected a JSON object with the tool's arguments, such as {\"file_path\": \"main.go\"}", t.args)
		}
	}
	return t.callEvent(t.tool, args)
}

func (t *event) callEvent(tool string, args map[string]any) ([]byte, error) {
	cwd, err := filepath.Abs(t.cwd)
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	return json.Marshal(map[string]any{"tool": tool, "args": args, "cwd": cwd, "project": cwd})
}

// recorder is a Matcher that remembers its inputs.
type recorder struct {
	engine.Matcher
	seen []*engine.Input
}

// Match implements engine.Matcher.
func (m *recorder) Match(ctx context.Context, in *engine.Input) ([]engine.Finding, error) {
	m.seen = append(m.seen, in)
	return m.Matcher.Match(ctx, in)
}

// decideEvents rehearses a session and returns what is decided about its last event.
func (t *event) decideEvents(ctx context.Context, a *cli.App, r io.Reader) (*decided, error) {
	e, err := a.ShownPolicy(ctx, t.policy)
	if err != nil {
		return nil, err
	}
	policy, took, err := compiled(ctx, e)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	d, err := rehearsalDesk(a, policy)
	if err != nil {
		return nil, err
	}
	w := &recorder{Matcher: policy.Matcher}
	watched := *policy
	watched.Matcher = w
	d.Policy = &watched
	var last simulate.Action
	var session *simulate.Rehearsal
	for doc, err := range documentsOf(raw) {
		d.N++
		if err != nil {
			return nil, fmt.Errorf("event %d: %s", d.N, d.Classifier.Mask(err.Error()))
		}
		event, _, err := d.Decode(doc)
		if err != nil {
			return nil, fmt.Errorf("event %d: %s", d.N, d.Classifier.Mask(err.Error()))
		}
		if session == nil {
			session = simulate.Start("explained", d.Classifier, &watched, cli.Environment())
		}
		switch {
		case t.at != 0:
			event.Time = t.at
		case event.Time == 0:
			event.Time = time.Now().UnixMilli()
		}
		w.seen = nil
		last, _ = session.Next(ctx, event)
	}
	switch {
	case session == nil:
		return nil, errors.New("there is no event: the input is empty")
	case last.Record == nil || len(w.seen) == 0:
		return nil, fmt.Errorf("the policy makes no decision about this event%s", term.After(": ", last.Error))
	case last.Record.Decision == nil:
		return nil, fmt.Errorf("no decision could be made: %s", last.Error)
	}
	return &decided{e, policy, took, last.Record, w.seen[0], ""}, nil
}

// documentsOf splits a string into JSON documents.
func documentsOf(raw []byte) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) { reviewcmd.YieldAll(raw, yield) }
}

// rehearsalDesk is a desk for a compiled policy.
func rehearsalDesk(a *cli.App, p *review.Policy) (*reviewcmd.Desk, error) {
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	world, err := a.World(home)
	if err != nil {
		return nil, err
	}
	mac, err := cli.PassingMAC()
	if err != nil {
		return nil, err
	}
	return &reviewcmd.Desk{
		Harness: harness.Harnesses()[0],
		Classifier: &classify.Classifier{World: world, MAC: mac, Secrets: bundles.BuiltInTokens(), Program: cli.Program(),
			Shipped: bundles.BuiltInRows}, Policy: p,
	}, nil
}

// decideRecord decides about a record of the log again, in the context of the records before it.
func (t *event) decideRecord(ctx context.Context, a *cli.App, id string) (*decided, error) {
	store, s, err := a.Session(id)
	if err != nil {
		return nil, fmt.Errorf("%s is neither a file nor a record: %w", id, err)
	}
	rec, err := a.Find(store, id)
	if err != nil {
		return nil, err
	}
	if rec.Decision == nil {
		return nil, fmt.Errorf("record %s has no decision; `reviewer audit show %s` lists records that do", rec.ID(), s.Key.Session)
	}
	e, err := PolicyOf(ctx, a, store, rec, t.policy)
	if err != nil {
		return nil, err
	}
	policy, took, err := compiled(ctx, e)
	if err != nil {
		return nil, err
	}
	kept, err := a.FormerPolicies([]string{store.Dir})
	if err != nil {
		return nil, err
	}
	reader := reread.New(e, policy, kept)
	before, err := historyBefore(store, s.Key, rec.N, reader)
	if err != nil {
		return nil, err
	}
	missing := reader.Missing(rec, before.Workspace)
	rec = missing.Applied(rec, nil)
	if t.at != 0 {
		moved := *rec
		moved.T, rec = t.at, &moved
	}
	v, err := policy.Review(ctx, rec, before)
	if err != nil {
		return nil, err
	}
	again := *rec
	again.Decision, again.Findings = &v.Decision, v.Findings
	if rec.By == nil || rec.By.Policy != e.Digest { // what was answered belongs to another decision
		again.Answer, again.Rewritten = &engine.AnswerFacts{Effect: v.Decision.Enforced, Mode: engine.ModeEnforced}, nil
	}
	return &decided{e, policy, took, &again, &v.Input, missing.Fact}, nil
}

// PolicyOf returns the named policy, or else the one that decided.
func PolicyOf(ctx context.Context, a *cli.App, store *audit.Store, rec *engine.Record, dir string) (*bundles.Effective, error) {
	if dir != "" {
		return a.ShownPolicy(ctx, dir)
	}
	if rec.By == nil {
		return nil, fmt.Errorf("record %s does not say which policy decided; name one with --policy", rec.ID())
	}
	e, err := active.KeptIn(store.Dir).Get(rec.By.Policy)
	if err != nil {
		return nil, fmt.Errorf("the policy that decided is not available; name one with --policy: %w", err)
	}
	return e, nil
}

// historyBefore folds a session up to a record, as a policy reads it.
func historyBefore(store *audit.Store, key engine.SessionKey, n int64, reader *reread.Policy) (*history.State, error) {
	h := history.New()
	for r, err := range store.Records(key, 0) {
		if err != nil {
			return nil, err
		}
		if r.N >= n {
			break
		}
		if r.Kind == engine.KindKeyframe && r.State != nil && h.Empty() {
			if h, err = history.Decode(r.State); err != nil { // the records before it are gone
				return nil, err
			}
		}
		missing := reader.Missing(r, h.Workspace)
		h.Append(missing.Applied(r, nil))
	}
	return h, nil
}
