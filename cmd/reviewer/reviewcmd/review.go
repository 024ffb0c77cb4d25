// Package reviewcmd is `reviewer review`: it decides about events from a stream of
// documents, and records nothing.
//
// Not its business: hooks, and the log.
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

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

// policyFrom loads the one policy that --policy names: a whole bundle replaces
// the one that ships, a layer is laid over it.
func policyFrom(ctx context.Context, dir string) (*review.Policy, error) {
	layers, err := here.LayersFrom(dir)
	if err != nil {
		return nil, err
	}
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", dir, err)
	}
	return wiring.Compile(ctx, e)
}

// Command is `reviewer review`.
func Command(a *cli.App) *cobra.Command {
	var policy string
	cmd := &cobra.Command{
		Use:   "review",
		Short: "Decide about events from standard input, without recording anything",
		Long: "Reads JSON documents on standard input, each a hook input of Claude Code or an\n" +
			"event of reviewer ({id, session, tool, args, cwd, …}), and writes one decision\n" +
			"per line in the same order. A document that names a session is reviewed in the\n" +
			"light of the documents before it in that session; any other in a fresh one.\n" +
			"Nothing is written to disk. A document that cannot be read is blocked.",
		Example: `  echo '{"tool":"Bash","args":{"command":"rm -rf ~"},"cwd":"/srv/shop"}' | reviewer review`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reviewAll(cmd.Context(), a, policy)
		},
	}
	cmd.Flags().StringVar(&policy, "policy", "", "folder of the policy (default: the one that is active here)")
	return cmd
}

// reviewed is one line of the result.
type reviewed struct {
	ID        string            `json:"id"`
	Decision  engine.Verdict    `json:"decision"`
	Enforced  engine.Verdict    `json:"enforced"`
	Rules     []string          `json:"rules"`
	Reason    string            `json:"reason,omitempty"`
	Error     string            `json:"error,omitempty"`
	Detail    *engine.Decision  `json:"detail,omitempty"`
	Action    *engine.Action    `json:"action,omitempty"`
	Rewritten *engine.Rewritten `json:"rewritten,omitempty"` // the decision is to modify: the other form, or why there is none
}

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
		return errors.New(term.Counted(bad, "document could not be reviewed and is blocked; its line says why",
			"documents could not be reviewed and are blocked; their lines say why"))
	}
	return nil
}

// Desk reviews documents in memory.
type Desk struct {
	Harness    harness.Harness
	Classifier *classify.Classifier
	Policy     *review.Policy
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
	policy, err := choosePolicy(ctx, a, dir)
	if err != nil {
		return nil, err
	}
	mac, err := cli.PassingMAC()
	if err != nil {
		return nil, err
	}
	return &Desk{
		Harness: harness.Harnesses()[0],
		Classifier: &classify.Classifier{World: world, MAC: mac, Secrets: bundles.ShippedTokens(), Program: cli.Program(),
			Shipped: bundles.ShippedRows},
		Policy:   policy,
		sessions: map[string]*simulate.Rehearsal{},
	}, nil
}

// choosePolicy returns the policy of a folder, or the active one without
// keeping anything on disk.
func choosePolicy(ctx context.Context, a *cli.App, dir string) (*review.Policy, error) {
	if dir != "" {
		return policyFrom(ctx, dir)
	}
	home, err := a.StateHome()
	if err != nil {
		return nil, err
	}
	e, err := cli.MachineAt(home).Effective("")
	if err != nil {
		return nil, err
	}
	return wiring.Compile(ctx, e)
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
	r := d.session(e, named)
	action, happened := r.Next(ctx, e)
	line := reviewed{ID: id, Decision: action.Decision, Enforced: action.Enforced, Rules: action.Rules,
		Reason: action.Reason, Error: action.Error}
	if !happened {
		line.Decision, line.Enforced, line.Rules = engine.Allow, engine.Allow, []string{}
		line.Reason = "nothing to decide: the call before it was denied"
	}
	if rec := action.Record; rec != nil {
		line.Detail, line.Action, line.Rewritten = rec.Decision, rec.Action, rec.Rewritten
		if line.Detail != nil { // as it would be told, under the document's id
			line.Detail.Text = strings.ReplaceAll(engine.AnswerOf(rec).Text, rec.ID(), id)
		}
	}
	return line
}

func (d *Desk) session(e engine.Event, named bool) *simulate.Rehearsal {
	if !named {
		return simulate.Start("review-"+strconv.Itoa(d.N), d.Classifier, d.Policy, cli.Environment())
	}
	r := d.sessions[e.Session]
	if r == nil {
		r = simulate.Start(e.Session, d.Classifier, d.Policy, cli.Environment())
		d.sessions[e.Session] = r
	}
	return r
}

// Decode reads a hook input or an event of ours. named says whether the
// document names its session.
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

// complete gives a hook input the ids that a live one has, where it has none:
// a document written by hand need not invent them.
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
	_ = json.Unmarshal(doc, &head) // what has no id that can be read gets its number
	return cmp.Or(head.ToolUse, idText(head.ID), strconv.Itoa(n))
}

// documents splits a stream into JSON documents: one per line, or one over
// several lines. One that is no JSON, or that was cut off, costs itself only:
// the next line that is a document begins anew.
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

// isDocument says whether a line is a whole document by itself.
func isDocument(line []byte) bool {
	var head struct {
		Hook string `json:"hook_event_name"`
		Tool string `json:"tool"`
	}
	return json.Unmarshal(line, &head) == nil && head.Hook+head.Tool != ""
}

// nesting returns how many brackets are open behind a line. A string that its
// line does not close is no JSON, and nothing of it stays open.
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

// YieldAll yields each document of a text that may hold several.
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
