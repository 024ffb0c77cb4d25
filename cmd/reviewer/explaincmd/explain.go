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
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
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
	"github.com/spf13/cobra"
)

// toExplain is what the command line of `policy explain` says.
type toExplain struct {
	out       term.Output
	policy    string
	bash, cwd string
	all       bool
}

// PolicyCommand is `reviewer policy explain`.
func PolicyCommand(a *cli.App) *cobra.Command {
	var t toExplain
	cmd := &cobra.Command{
		Use:   "explain [EVENT]",
		Short: "Say in full how policy comes to a decision, and what was near to another one",
		Long: "EVENT is a file with a hook input of Claude Code or an event of reviewer, - for\n" +
			"standard input, or the id of a record of the log. Of several events the last one\n" +
			"is explained; those before it are its history. --bash is short for a command.\n\n" +
			"It says what the call means, which conditions hold, which rules spoke, and which\n" +
			"did not by a hair: for a condition in CEL which part was false, for a rule in Rego\n" +
			"the line at which it ended, each with its values. Then the scores: what they are\n" +
			"made of, which setting of which layer each number is, and how far the next level is.",
		Example: "  reviewer policy explain --bash 'rm -rf data' --policy ./policy\n" +
			"  reviewer policy explain f8dc9b3b-37",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := explained(cmd.Context(), a, args, &t)
			if err != nil {
				return err
			}
			return t.out.Write(a.Stdout, func(w io.Writer) error {
				if t.out.Format == "json" {
					return term.WriteJSON(w, x)
				}
				page{w, a.Paint(&t.out), t.all}.print(x)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&t.policy, "policy", "", "folder of the policy (default: the active one; of a record, the one that decided it)")
	cmd.Flags().StringVar(&t.bash, "bash", "", "the command to explain")
	cmd.Flags().StringVar(&t.cwd, "cwd", "", "of --bash: where it runs, the workspace (default: this folder)")
	cmd.Flags().BoolVarP(&t.all, "all", "a", false, "every rule that was looked at, not only those that nearly spoke")
	t.out.Flags(cmd, "pretty", "json")
	return cmd
}

// explained finds out what is to be explained, and takes it through the policy.
func explained(ctx context.Context, a *cli.App, args []string, t *toExplain) (*explanation, error) {
	switch {
	case t.bash != "" && len(args) > 0:
		return nil, fmt.Errorf("--bash and %s are two events; give one of them", args[0])
	case t.bash != "":
		doc, err := t.bashEvent()
		if err != nil {
			return nil, err
		}
		return explainEvents(ctx, a, bytes.NewReader(doc), t)
	case len(args) == 0:
		return nil, errors.New("nothing to explain: expected a file with an event, - for standard input, the id of a record, " +
			"or --bash 'a command'")
	case args[0] == "-":
		return explainEvents(ctx, a, a.Stdin, t)
	}
	f, err := os.Open(args[0])
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(args[0], "./") {
		return explainRecord(ctx, a, args[0], t)
	}
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	defer f.Close()
	return explainEvents(ctx, a, f, t)
}

func (t *toExplain) bashEvent() ([]byte, error) {
	cwd, err := filepath.Abs(t.cwd)
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	return json.Marshal(map[string]any{"tool": "Bash", "args": map[string]any{"command": t.bash}, "cwd": cwd, "project": cwd})
}

// witness is a Matcher that remembers what it was asked about.
type witness struct {
	engine.Matcher
	seen []*engine.Input
}

// Match implements engine.Matcher.
func (m *witness) Match(ctx context.Context, in *engine.Input) ([]engine.Finding, error) {
	m.seen = append(m.seen, in)
	return m.Matcher.Match(ctx, in)
}

// explainEvents rehearses a session and explains its last event.
func explainEvents(ctx context.Context, a *cli.App, r io.Reader, t *toExplain) (*explanation, error) {
	e, err := a.ShownPolicy(t.policy)
	if err != nil {
		return nil, err
	}
	policy, err := wiring.Compile(ctx, e)
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
	w := &witness{Matcher: policy.Matcher}
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
		if event.Time == 0 {
			event.Time = time.Now().UnixMilli()
		}
		w.seen = nil
		last, _ = session.Next(ctx, event)
	}
	switch {
	case session == nil:
		return nil, errors.New("there is no event to explain: the input is empty")
	case last.Record == nil || len(w.seen) == 0:
		return nil, fmt.Errorf("policy is not asked about this event%s", term.After(": ", last.Error))
	case last.Record.Decision == nil:
		return nil, fmt.Errorf("nothing could be decided: %s", last.Error)
	}
	return insight(ctx, a, e, policy, last.Record, w.seen[0], t)
}

// documentsOf splits a text into JSON documents.
func documentsOf(raw []byte) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) { reviewcmd.YieldAll(raw, yield) }
}

// rehearsalDesk is a desk for a policy that is compiled.
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
		Classifier: &classify.Classifier{World: world, MAC: mac, Secrets: bundles.ShippedTokens(), Program: cli.Program(),
			Shipped: bundles.ShippedRows}, Policy: p,
	}, nil
}

// explainRecord decides about a record of the log once more, in the light of
// what came before it there.
func explainRecord(ctx context.Context, a *cli.App, id string, t *toExplain) (*explanation, error) {
	store, s, err := a.Session(id)
	if err != nil {
		return nil, fmt.Errorf("%s is no file, and as a record: %w", id, err)
	}
	rec, err := a.Find(store, id)
	if err != nil {
		return nil, err
	}
	if rec.Decision == nil {
		return nil, fmt.Errorf("record %s holds no decision; `reviewer audit show %s` lists those that do", rec.ID(), s.Key.Session)
	}
	e, err := PolicyOf(a, store, rec, t.policy)
	if err != nil {
		return nil, err
	}
	policy, err := wiring.Compile(ctx, e)
	if err != nil {
		return nil, err
	}
	before, err := historyBefore(store, s.Key, rec.N)
	if err != nil {
		return nil, err
	}
	v, err := policy.Review(ctx, rec, before)
	if err != nil {
		return nil, err
	}
	again := *rec
	again.Decision, again.Findings = &v.Decision, v.Findings
	return insight(ctx, a, e, policy, &again, &v.Input, t)
}

// PolicyOf returns the policy that is named, or else the one that decided.
func PolicyOf(a *cli.App, store *audit.Store, rec *engine.Record, dir string) (*bundles.Effective, error) {
	if dir != "" {
		return a.ShownPolicy(dir)
	}
	if rec.By == nil {
		return nil, fmt.Errorf("record %s does not say which policy decided; name one with --policy", rec.ID())
	}
	e, err := bundles.Store{Dir: filepath.Join(store.Dir, "policies")}.Get(rec.By.Policy)
	if err != nil {
		return nil, fmt.Errorf("the policy that decided cannot be had; name one with --policy: %w", err)
	}
	return e, nil
}

// historyBefore folds a session up to a record.
func historyBefore(store *audit.Store, key engine.SessionKey, n int64) (*history.State, error) {
	h := history.New()
	for r, err := range store.Records(key, 0) {
		if err != nil {
			return nil, err
		}
		if r.N >= n {
			break
		}
		if r.Kind == engine.KindKeyframe && r.State != nil && h.Empty() {
			if h, err = history.Decode(r.State); err != nil { // what was before it is gone
				return nil, err
			}
		}
		h.Append(r)
	}
	return h, nil
}

// verdictOf returns the word of a matrix cell; empty: there is none.
func verdictOf(settings map[string]any, risk, rationality string) string {
	matrix, _ := settings["matrix"].(map[string]any)
	row, _ := matrix[risk].(map[string]any)
	word, _ := row[rationality].(string)
	return word
}

// sortedTexts makes texts of words, in order.
func sortedTexts[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	slices.Sort(out)
	return out
}
