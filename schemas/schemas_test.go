package schemas_test

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/schemas"
)

func compile(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	raw, err := schemas.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(file, strings.NewReader(string(raw))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemasCompile(t *testing.T) {
	files, err := fs.Glob(schemas.FS, "*.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d schemas, %v", len(files), err)
	}
	for _, f := range files {
		compile(t, path.Base(f))
	}
}

// document returns v as JSON that was read again.
func document(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// record is what a review of `rm -rf build` would leave in the log.
func record() *engine.Record {
	return &engine.Record{
		V: 1, Prev: strings.Repeat("0", 64), N: 2, Kind: engine.KindPre, T: 1_700_000_000_000, Chain: strings.Repeat("a", 32),
		Session: "s", Agent: engine.MainAgent, Call: "c", Harness: "claude-code", Phase: engine.PhasePre,
		Event: &engine.EventFacts{Name: "PreToolUse", Tool: "Bash", CWD: "/w", Args: map[string]any{"command": "rm -rf build", "n": int64(1)}},
		Action: &engine.Action{
			Name: "code.exec", Resource: "rm -rf build", Types: []engine.Type{engine.TypeFileDeletion}, Intent: engine.TypeFileDeletion,
			Commands: []engine.Command{{Name: "rm", Flags: []string{"-rf"}, Operands: []string{"build"}}},
			Paths:    []string{"./build"}, Hosts: []string{}, Signals: []engine.Signal{engine.SignalMuted}, Opaque: []engine.Opaque{{Reason: "target"}},
			Effects: []engine.Effect{{
				Kind: engine.EffectFileDelete, Verb: "delete", Target: "/w/build", Short: "./build", Certainty: engine.CertaintyExact,
				Location: engine.LocationInside, Class: engine.ClassGenerated, Exists: "yes", Entry: "dir", Recursive: true, Reversibility: engine.R2,
			}},
			Fingerprint: "0123456789abcdef",
			Contents:    map[string]engine.ContentFacts{"content": {Bytes: 1, Lines: 1, Secrets: map[string]int{"token": 1}}},
		},
		Findings: []engine.Finding{{ID: "a.b", Measure: 0.5, Level: "low"}},
		Decision: &engine.Decision{
			Decision: engine.Block, Enforced: engine.Warn, Reason: "because", Rules: []engine.RuleResult{{ID: "r", Decision: engine.Block}},
			Risk: &engine.Risk{Score: 0.9, Level: "high"}, Intervention: &engine.Intervention{Kind: engine.EmergencyStop},
		},
		Answer: &engine.AnswerFacts{Effect: engine.Warn, Mode: engine.ModeEnforced, MS: 1.5},
		By:     &engine.By{Policy: "p", Env: "e"}, SHA: &engine.SHA{Input: "i"},
		Cut: []engine.Cut{{Field: "event.args.command", Bytes: 9}},
	}
}

// asked is the history after the call was answered.
func asked() *history.State {
	h := history.New()
	h.Append(&engine.Record{N: 1, Kind: engine.KindOpen, Chain: "a", Open: &engine.Open{Workspace: "/w"}})
	h.Append(record())
	return h
}

// folded is the history after the call failed.
func folded() *history.State {
	h, post := asked(), record()
	post.N, post.Kind, post.Phase = 3, engine.KindPost, engine.PhasePost
	post.Event.Result = &engine.ResultFacts{Outcome: engine.OutcomeFailed, Class: "no such file", Content: &engine.ContentFacts{}}
	h.Append(post)
	return h
}

func inputs() map[string]engine.Input {
	windows := []engine.Window{{Name: "recent", Last: 10}}
	r, h := record(), folded()
	post := record()
	post.Phase = engine.PhasePost
	post.Event.Result = &engine.ResultFacts{Outcome: engine.OutcomeRan}
	prompt := &engine.Record{Phase: engine.PhasePrompt, Event: &engine.EventFacts{Prompt: &engine.ContentFacts{Bytes: 3}}}
	return map[string]engine.Input{
		"first": history.NewInput(r, history.New(), engine.View{Windows: windows, Last: 5}), "later": history.NewInput(r, h, engine.View{Windows: windows, Last: 5}),
		"post": history.NewInput(post, asked(), engine.View{Windows: windows, Last: 5}), "prompt": history.NewInput(prompt, h, engine.View{}),
	}
}

func TestDocumentsConform(t *testing.T) {
	r := record()
	state, err := folded().Encode()
	if err != nil {
		t.Fatal(err)
	}
	keyframe := &engine.Record{V: 1, N: 4, Kind: engine.KindKeyframe, State: state}
	documents := map[string][]any{
		"record.json": {r, keyframe}, "event.json": {r.Event}, "action.json": {r.Action},
		"decision.json": {r.Decision}, "finding.json": {r.Findings[0]},
	}
	for _, in := range inputs() {
		documents["input.json"] = append(documents["input.json"], in)
	}
	for file, list := range documents {
		s := compile(t, file)
		for _, v := range list {
			if err := s.Validate(document(t, v)); err != nil {
				t.Errorf("%s: %#v", file, err)
			}
		}
	}
}

// What no reviewer writes does not conform.
func TestMistakesDoNotConform(t *testing.T) {
	for name, spoil := range map[string]func(doc map[string]any){
		"misspelt field":        func(d map[string]any) { d["acton"] = d["action"] },
		"misspelt inner field":  func(d map[string]any) { effect(d)["kidn"] = "file_delete" },
		"missing field":         func(d map[string]any) { delete(d, "phase") },
		"missing inner field":   func(d map[string]any) { delete(effect(d), "kind") },
		"unknown word":          func(d map[string]any) { effect(d)["kind"] = "file_remove" },
		"unknown signal":        func(d map[string]any) { d["action"].(map[string]any)["signals"] = []any{"rm"} },
		"unknown ledger state":  func(d map[string]any) { effect(d)["ledger"] = "lost" },
		"null":                  func(d map[string]any) { d["session"] = nil },
		"text instead of count": func(d map[string]any) { d["session"].(map[string]any)["actions"] = "7" },
		"fraction":              func(d map[string]any) { d["time"].(map[string]any)["hour"] = 1.5 },
	} {
		doc := document(t, inputs()["later"]).(map[string]any)
		s := compile(t, "input.json")
		if err := s.Validate(doc); err != nil {
			t.Fatalf("%#v", err)
		}
		spoil(doc)
		if s.Validate(doc) == nil {
			t.Errorf("%s: conforms", name)
		}
	}
}

func effect(doc map[string]any) map[string]any {
	return doc["action"].(map[string]any)["effects"].([]any)[0].(map[string]any)
}
