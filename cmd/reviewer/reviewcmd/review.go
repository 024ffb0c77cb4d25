// Package reviewcmd implements `reviewer review`: it decides about events from a stream
// of documents without recording them.
//
// Out of scope: hooks, and the log.
package reviewcmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

// policyFrom loads the one policy that --policy names: a base bundle replaces the
// built-in one, another layer is added on top of it.
func policyFrom(ctx context.Context, a *cli.App, ref string) (*review.Policy, error) {
	e, err := a.PolicyRef(ctx, ref)
	if err != nil {
		return nil, err
	}
	return wiring.Compile(ctx, e)
}

// Command is `reviewer review`.
func Command(a *cli.App) *cobra.Command {
	var policy string
	cmd := &cobra.Command{
		Use:   "review",
		Short: "Review events from standard input without recording them",
		Long: "Reads JSON documents on standard input, each a hook input of Claude Code or an\n" +
			"event of reviewer ({id, session, tool, args, cwd, …}), and writes one decision\n" +
			"per line, in the same order. A document that names a session is reviewed in the\n" +
			"context of the documents before it in that session; any other in a new session.\n" +
			"As in a hook, the policy is the active one of the document's workspace, including the\n" +
			"project layer, unless --policy names another one; the time is the current time, unless\n" +
			"the document has one (t). Nothing is written to disk. A document that cannot be read is blocked.",
		Example: `  echo '{"tool":"Bash","args":{"command":"rm -rf ~"},"cwd":"/srv/shop"}' | reviewer review`,
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reviewAll(cmd.Context(), a, policy)
		},
	}
	cli.PolicyVar(cmd.Flags(), &policy, "policy", "", cli.PolicyFlag+" (default: the one that is active in the event's workspace)")
	return cmd
}

// reviewed is one line of the result.
type reviewed = api.Review

func reviewAll(ctx context.Context, a *cli.App, dir string) error {
	desk, err := newDesk(ctx, a, dir)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.Stdout)
	var bad int
	for doc, err := range documents(bufio.NewReaderSize(a.Stdin, 1<<16)) {
		line := desk.review(ctx, doc, err)
		if line.Error != "" {
			bad++
		}
		if err := errors.Join(term.WriteLine(out, line), out.Flush()); err != nil {
			return fmt.Errorf("write decision: %w", err)
		}
	}
	if bad > 0 {
		return errors.New(term.Counted(bad, "document could not be reviewed and is blocked; its line gives the reason",
			"documents could not be reviewed and are blocked; their lines give the reasons"))
	}
	return nil
}

// Desk reviews documents in memory.
type Desk struct {
	Harness    harness.Harness
	Classifier *classify.Classifier
	Policy     *review.Policy                                 // nil: use PolicyAt
	PolicyAt   func(workspace string) (*review.Policy, error) // the policy that is active in a workspace
	Now        func() int64                                   // Unix milliseconds, of events without a time; nil: they have none
	sessions   map[string]*simulate.Rehearsal
	N          int
}

func newDesk(ctx context.Context, a *cli.App, dir string) (*Desk, error) {
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	world, err := a.World(home)
	if err != nil {
		return nil, err
	}
	policies, err := choosePolicy(ctx, a, home, dir)
	if err != nil {
		return nil, err
	}
	mac, err := cli.PassingMAC()
	if err != nil {
		return nil, err
	}
	return &Desk{
		Harness: harness.Harnesses()[0],
		Classifier: &classify.Classifier{World: world, MAC: mac, Secrets: bundles.BuiltInTokens(), Program: cli.Program(),
			Shipped: bundles.BuiltInRows},
		PolicyAt: policies,
		Now:      func() int64 { return time.Now().UnixMilli() },
		sessions: map[string]*simulate.Rehearsal{},
	}, nil
}

// choosePolicy returns the policy of a folder for every workspace, or the one that
// is active in a workspace, without keeping anything on disk.
func choosePolicy(ctx context.Context, a *cli.App, home, dir string) (func(workspace string) (*review.Policy, error), error) {
	if dir != "" {
		p, err := policyFrom(ctx, a, dir)
		return func(string) (*review.Policy, error) { return p, nil }, err
	}
	known := map[string]*review.Policy{}
	at := func(workspace string) (*review.Policy, error) {
		if p := known[workspace]; p != nil {
			return p, nil
		}
		e, err := cli.MachineAt(home).Effective(workspace)
		if err != nil {
			return nil, err
		}
		if len(known) == 0 {
			a.NoteOwn(e.Notice)
		}
		p, err := wiring.Compile(ctx, e)
		known[workspace] = p
		return p, err
	}
	_, err := at("") // a problem of this machine is reported once, not for each document
	return at, err
}

func (d *Desk) review(ctx context.Context, doc []byte, err error) reviewed {
	d.N++
	id := d.Classifier.Mask(idOf(doc, d.N))
	var e engine.Event
	named := false
	if err == nil {
		e, named, err = d.Decode(doc)
	}
	if err != nil {
		text := d.Classifier.Mask(err.Error())
		return reviewed{ID: id, Decision: engine.Block, Enforced: engine.Block, Rules: []string{},
			Reason: "the document could not be read", Error: text}
	}
	if e.Time == 0 && d.Now != nil {
		e.Time = d.Now()
	}
	r, err := d.session(e, named)
	if err != nil {
		return reviewed{ID: id, Decision: engine.Block, Enforced: engine.Block, Rules: []string{},
			Reason: "the policy of the workspace could not be loaded", Error: d.Classifier.Mask(err.Error())}
	}
	action, happened := r.Next(ctx, e)
	return lineOf(id, &action, happened)
}

// lineOf describes what was decided about a document.
func lineOf(id string, action *simulate.Action, happened bool) reviewed {
	line := reviewed{ID: id, Decision: action.Decision, Enforced: action.Enforced, Rules: action.Rules,
		Reason: action.Reason, Error: action.Error}
	if !happened {
		line.Decision, line.Enforced, line.Rules = engine.Allow, engine.Allow, []string{}
		line.Reason = "nothing to decide: the call before it was denied"
	}
	if rec := action.Record; rec != nil {
		line.Detail, line.Action, line.Rewritten = rec.Decision, rec.Action, rec.Rewritten
		if line.Detail != nil { // as for display, with the document's id
			line.Detail.Text = strings.ReplaceAll(engine.AnswerOf(rec).Text, rec.ID(), id)
		}
	}
	return line
}

// session returns the session of an event. As in the log, its workspace is that
// of its first event.
func (d *Desk) session(e engine.Event, named bool) (*simulate.Rehearsal, error) {
	if r := d.sessions[e.Session]; named && r != nil {
		return r, nil
	}
	policy := d.Policy
	if policy == nil {
		var err error
		if policy, err = d.PolicyAt(cmp.Or(e.Project, e.CWD)); err != nil {
			return nil, err
		}
	}
	if !named {
		return simulate.Start("review-"+strconv.Itoa(d.N), d.Classifier, policy, cli.Environment()), nil
	}
	d.sessions[e.Session] = simulate.Start(e.Session, d.Classifier, policy, cli.Environment())
	return d.sessions[e.Session], nil
}

// Decode reads a hook input or an event in reviewer's own format. named
// reports whether the document names its session.
func (d *Desk) Decode(doc []byte) (e engine.Event, named bool, err error) {
	var head struct {
		Hook    string `json:"hook_event_name"`
		Session string `json:"session_id"`
	}
	if json.Unmarshal(doc, &head) == nil && head.Hook != "" {
		e, err = d.Harness.Decode(head.Hook, complete(doc, d.N), "")
		return e, head.Session != "", err
	}
	e, err = decodeEvent(doc, d.N)
	return e, e.Session != "", err
}

// complete adds missing ids to a hook input, so that handwritten documents need none.
func complete(doc []byte, n int) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(doc, &m) != nil {
		return doc
	}
	missing := map[string]string{"session_id": "review-" + strconv.Itoa(n), "tool_use_id": "call-" + strconv.Itoa(n)}
	var add []byte
	for _, key := range []string{"session_id", "tool_use_id"} {
		if _, there := m[key]; !there {
			add = fmt.Appendf(add, ",%q:%q", key, missing[key])
		}
	}
	end := bytes.LastIndexByte(doc, '}')
	if len(add) == 0 || end < 0 || len(m) == 0 {
		return doc
	}
	return append(append(bytes.Clone(doc[:end]), add...), '}')
}

// idOf returns the document's own id, or its number.
func idOf(doc []byte, n int) string {
	var head struct {
		ToolUse string          `json:"tool_use_id"`
		ID      json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(doc, &head) // a document without a readable id gets its number
	return cmp.Or(head.ToolUse, idText(head.ID), strconv.Itoa(n))
}

// documents splits a stream into JSON documents: one per line, or one over several
// lines. Invalid or truncated JSON affects only itself: reading continues at the next
// line that is a document.
func documents(r *bufio.Reader) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		var doc []byte
		depth := 0
		for {
			line, err := r.ReadBytes('\n')
			if depth > 0 && isDocument(line) {
				if !YieldAll(doc, yield) {
					return
				}
				doc, depth = nil, 0
			}
			doc, depth = append(doc, line...), nesting(depth, line)
			if depth == 0 || err != nil {
				if !YieldAll(doc, yield) {
					return
				}
				doc, depth = nil, 0
			}
			if err != nil && err != io.EOF {
				yield(nil, err)
			}
			if err != nil {
				return
			}
		}
	}
}

// isDocument reports whether a line is a complete document.
func isDocument(line []byte) bool {
	var head struct {
		Hook string `json:"hook_event_name"`
		Tool string `json:"tool"`
	}
	return json.Unmarshal(line, &head) == nil && head.Hook+head.Tool != ""
}

// nesting returns how many brackets are open at the end of a line. A string that its
// line does not close is not JSON, and counts as closed.
func nesting(depth int, line []byte) int {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	if quoted {
		return 0
	}
	return max(depth, 0)
}

// YieldAll yields each document of a string that may hold several.
func YieldAll(doc []byte, yield func([]byte, error) bool) bool {
	d := json.NewDecoder(bytes.NewReader(doc))
	for {
		var v json.RawMessage
		err := d.Decode(&v)
		if err == io.EOF {
			return true
		}
		if err != nil {
			return yield(doc, fmt.Errorf("not a JSON document: %w", err))
		}
		if !yield(bytes.Clone(v), nil) {
			return false
		}
	}
}
