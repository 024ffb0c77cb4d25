package shipped

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

var updateOneCall = flag.Bool("update-one-call", false, "write docs/one-call.md again")

const oneCallPage = root + "/docs/one-call.md"

// The page shows the objects of one call, step by step, as they are now.
func TestOneCall(t *testing.T) {
	policy, err := wiring.Compile(t.Context(), wiringtest.Effective(t))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(oneCallBegin)
	step := func(title, text string, v any) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n```json\n", title, text)
		raw, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n```\n", raw)
	}
	const input = `{"session_id":"s1","cwd":"/srv/shop","hook_event_name":"PreToolUse","permission_mode":"default",` +
		`"tool_name":"Bash","tool_input":{"command":"rm -rf ~/photos"},"tool_use_id":"t1"}`
	step("1. The hook's input", "What the agent sends on standard input.", json.RawMessage(input))

	claude, _ := harness.Find("claude-code")
	event, err := claude.Decode("PreToolUse", []byte(input), "")
	if err != nil {
		t.Fatal(err)
	}
	event.Time, event.Rows = 1_700_000_000_000, policy.Rows
	step("2. The event", "`engine/harness` decodes it. Nothing is interpreted yet, and secrets are in clear, so an event is never written.",
		map[string]any{"harness": event.Harness, "session": event.Session, "phase": event.Phase, "call": event.Call, "tool": event.Tool,
			"args": event.Args, "cwd": event.CWD, "mode": event.Mode})

	step("3. The policy", "`bundles/active` finds the layers of the workspace, `bundles` merges them, and `cmd/reviewer/wiring` compiles "+
		"the result. Here it is the built-in policy alone.",
		map[string]any{"layers": []string{"base"}})

	mac, err := cli.PassingMAC()
	if err != nil {
		t.Fatal(err)
	}
	c := &classify.Classifier{World: classify.System{Home: "/home/kim"}, MAC: mac, Shipped: bundles.BuiltInRows}
	facts, err := c.Classify(t.Context(), event, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	// Keyed digests differ on each machine.
	shown := *facts.Action
	shown.Fingerprint, shown.Tokens, shown.Words, shown.Marks = "…", nil, nil, nil
	step("4. The facts", "`engine/classify` interprets the call: what would happen, to what, and how certain that is. Secrets are masked "+
		"from here on. Keyed digests of the call and its words are left out.", shown)

	h := history.New()
	h.Append(&engine.Record{N: 1, Kind: engine.KindOpen, Chain: "a", Open: &engine.Open{Workspace: "/srv/shop"}})
	rec := engine.NewRecord(event, facts, event.Time)
	v, err := policy.Review(t.Context(), rec, h)
	if err != nil {
		t.Fatal(err)
	}
	step("5. The input", "`engine/history` joins the facts with what the session has done so far. This is all that policy may see; these "+
		"are its named facts, and a part of its history.", map[string]any{"facts": v.Input.Facts, "phase": v.Input.Phase,
		"history": map[string]any{"since": v.Input.History.Since, "denials": v.Input.History.Denials}})
	step("6. The findings", "CEL evaluates the conditions of rules, patterns and signals. Each that is true is a finding. "+
		"This call has none: what it breaks are rules in Rego.", append([]engine.Finding{}, v.Findings...))
	step("7. The decision", "Rego weighs the scores, fires rules and chooses the texts.", v.Decision)

	rec.N, rec.Decision = 2, &v.Decision
	rec.Answer = &engine.AnswerFacts{Effect: v.Decision.Enforced, Mode: engine.ModeEnforced}
	h.Append(rec)
	step("8. The record", "`engine/audit` appends one line to the session's chain: event, facts, findings, decision and answer, with the hash of "+
		"the line before. These are its keys.", linesKeys(t, rec))
	step("9. The duties", "`review.Duties` lists what follows from the record, and `engine/act` carries it out. A call that does not run "+
		"needs nothing; a call that changes files would have `checkpoint` here.", append([]review.Duty{}, review.Duties(rec, h)...))
	out, _, _ := claude.Encode("PreToolUse", engine.AnswerOf(rec))
	step("10. The answer", "`engine/harness` encodes it in the agent's format.", json.RawMessage(out))

	if *updateOneCall {
		if err := os.WriteFile(oneCallPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := os.ReadFile(oneCallPage); err != nil || string(was) != b.String() {
		t.Errorf("docs/one-call.md is not what happens (%v): run go test ./cmd/reviewer/shipped -run TestOneCall -update-one-call", err)
	}
}

const oneCallBegin = `# The life of a call

An agent is about to run ` + "`rm -rf ~/photos`" + `. These are the objects that the call becomes, in the order of the table in
[architecture.md](architecture.md), as the built-in policy decides it today.

This page is written by ` + "`go test ./cmd/reviewer/shipped -run TestOneCall -update-one-call`" + `.
`

// linesKeys lists the keys of a record as its line has them.
func linesKeys(t *testing.T, rec *engine.Record) []string {
	t.Helper()
	raw, err := engine.Marshal(rec)
	var line map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(raw, &line)
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(line))
}
