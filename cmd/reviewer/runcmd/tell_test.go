package runcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/proxy"
)

// talking is an observer of a client that can be talked to, and what the client got.
func talking(t *testing.T) (*observer, *[]string) {
	t.Helper()
	o, lines := watching(t), &[]string{}
	o.tell.say = func(line []byte) error {
		*lines = append(*lines, string(line))
		return nil
	}
	s := &o.p.settings.Run
	s.Tell, s.Rewind, s.CompareMS = []string{"limit", "refused"}, true, 0
	s.Texts.NearLimit, s.Texts.Refused, s.Texts.Rewound = "{name}: {used} of {limit}", "not permitted: {detail}", "rewound: {outcome}"
	return o, lines
}

// told returns the texts of messages to the client.
func told(t *testing.T, lines []string) (texts []string) {
	t.Helper()
	for _, line := range lines {
		var m struct {
			Synthetic bool `json:"isSynthetic"`
			Message   struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || !m.Synthetic || len(line) >= run.MaxSaid {
			t.Errorf("%v: %.200s", err, line)
		}
		texts = append(texts, m.Message.Content[0].Text)
	}
	return texts
}

// The agent is told that a limit is near, and what was refused below its hooks; each once, as the settings say.
func TestTells(t *testing.T) {
	for _, c := range []struct {
		tell []string
		want []string
	}{
		{[]string{"limit", "refused"}, []string{"[reviewer run] max_token_usage: 80 of 100",
			"[reviewer run] not permitted: a.example:443: no; b.example:443: no; c.example:443: no; and 1 more"}},
		{[]string{"limit"}, []string{"[reviewer run] max_token_usage: 80 of 100"}},
		{nil, nil},
	} {
		o, lines := talking(t)
		o.p.settings.Run.Tell = c.tell
		o.near(run.LimitTokens, "80", "100")
		for _, host := range []string{"a.example", "b.example", "c.example", "d.example"} {
			o.p.confined.connected(proxy.Connection{Host: host, Port: 443, Why: "no"}, false)
		}
		o.below()
		o.talk()
		o.talk()
		if got := told(t, *lines); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q", c.tell, got)
		}
		var notes []string
		for _, e := range o.told {
			if e.Kind == noteTold {
				notes = append(notes, engine.RunMessage+e.Text)
			}
		}
		if !slices.Equal(notes, c.want) {
			t.Errorf("%q: recorded %q", c.tell, notes)
		}
	}
}

// What a client that is busy does not get waits; what one that gets no more input cannot get is not recorded as told. A
// text that is too long is shortened.
func TestTellsLater(t *testing.T) {
	o, lines := talking(t)
	get := o.tell.say
	o.tell.say = func([]byte) error { return run.ErrBusy }
	o.inform(strings.Repeat("\"<é\n", 2000))
	o.talk()
	o.tell.say = get
	o.talk()
	if got := told(t, *lines); len(got) != 1 || len(o.told) != 1 {
		t.Errorf("%d lines, %d notes", len(got), len(o.told))
	}
	o.tell.say = func([]byte) error { return run.ErrClosed }
	o.inform("late")
	o.talk()
	if len(o.told) != 1 {
		t.Errorf("recorded %+v", o.told)
	}
}

// The two turns of a transcript: a prompt with two answers, then another prompt.
const transcriptLines = `{"type":"user","uuid":"u1","message":{"role":"user","content":"fix it"}}
{"type":"attachment","uuid":"x1","parentUuid":"u1"}
{"type":"assistant","uuid":"a1","parentUuid":"x1","message":{"id":"m1","content":[{"type":"text","text":"One."}]}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","message":{"id":"m1","content":[{"type":"tool_use","id":"t1"}]}}
{"type":"user","uuid":"u2","parentUuid":"a2","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]}}
not a document
{"type":"assistant","uuid":"side","parentUuid":"u2","isSidechain":true,"message":{"id":"m9","content":[{"type":"tool_use","id":"t9"}]}}
{"type":"assistant","uuid":"a3","parentUuid":"u2","message":{"id":"m2","content":[{"type":"text","text":"Two."}]}}
{"type":"assistant","uuid":"a4","parentUuid":"a3","message":{"id":"m2","content":[{"type":"tool_use","id":"t2"}]}}
`

// The message to forget is the first line of the one that made the call or, where nothing but a prompt comes before it, the
// prompt.
func TestTarget(t *testing.T) {
	for call, want := range map[string]target{"t1": {"u1", len(`"fix it"`)}, "t2": {"a3", 0}, "t9": {}, "other": {}} {
		if got, found := claudeTarget(strings.NewReader(transcriptLines), call); got != want || found != (want != target{}) {
			t.Errorf("%s: %+v, %t", call, got, found)
		}
	}
}

// A prompt that is too long to be sent again is not forgotten.
func TestLongPromptsStay(t *testing.T) {
	o, lines := talking(t)
	long := strings.Replace(transcriptLines, "fix it", strings.Repeat("fix it. ", 200), 1)
	o.agent.protocol = &protocol{target: func(_ io.Reader, call string) (target, bool) {
		return claudeTarget(strings.NewReader(long), call)
	}, transcript: func(string, string) string { return "tell_test.go" }}
	o.askToRewind(rollback{call: calling{id: "t1"}})
	o.talk()
	if len(*lines) != 0 || o.asked != nil || len(o.told) != 1 {
		t.Errorf("%d lines, asked %+v, notes %+v", len(*lines), o.asked, o.told)
	}
}

// The conversation of a sub-agent cannot be changed, whether its call was undone or the rollback followed one of its calls.
func TestSubagentsAreNotRewound(t *testing.T) {
	for _, agents := range [][2]string{{"a1", engine.MainAgent}, {engine.MainAgent, "a1"}, {"a1", "a1"}} {
		o, lines := talking(t)
		o.p.settings.Run.Rewind = true
		f := &followed{key: engine.SessionKey{Harness: "claude-code", Session: "s-1"}}
		f.add(&engine.Record{Kind: engine.KindAct, Agent: agents[0], Call: "t1", Act: &engine.Act{Kind: engine.ActCheckpoint, Checkpoint: &engine.CheckpointFacts{ID: "c-1"}}})
		f.add(&engine.Record{Kind: engine.KindAct, Agent: agents[1], Act: &engine.Act{Kind: engine.CheckpointRollback, Result: engine.RollbackRestored,
			Rollback: &engine.RollbackFacts{Checkpoint: "c-1", Text: "restored"}}})
		_, err := o.targetOf(f.rollbacks[0])
		if err == nil || !strings.Contains(err.Error(), "a sub-agent, whose conversation cannot be changed") || len(*lines) > 0 {
			t.Errorf("%v: %v, %q", agents, err, *lines)
		}
	}
}

// After a rollback the conversation continues from before the call that the files are restored to.
func TestRewinds(t *testing.T) {
	const done = `{"subtype":"success","request_id":"reviewer-rewind-1","response":{"rewound":true,"prefillText":%q}}`
	for _, c := range []struct {
		name, call, answer string
		off                bool
		want               []string // lines
		note               string
	}{
		{"before an answer", "t2", fmt.Sprintf(done, ""), false,
			[]string{`"target_message_uuid":"a3"`, "[reviewer run] rewound: restored"}, "rewound: the conversation continues from before t2"},
		{"before a prompt", "t1", fmt.Sprintf(done, "fix it"), false,
			[]string{`"target_message_uuid":"u1"`, `[reviewer run] fix it\n\nrewound: restored`}, "rewound: the conversation continues from before t1"},
		{"refused", "t2", `{"subtype":"success","request_id":"reviewer-rewind-1","response":{"rewound":false,"error":"target not found"}}`, false,
			[]string{`"allow_assistant_target":true`}, "not_rewound: the client refused: target not found"},
		{"an older client", "t2", `{"subtype":"error","request_id":"reviewer-rewind-1","error":"unknown subtype"}`, false,
			[]string{`"interrupt_if_running":true`}, "not_rewound: the client refused: unknown subtype"},
		{"not in the transcript", "t7", "", false, nil, "not_rewound: the call t7 is not in the transcript"},
		{"switched off", "t2", "", true, nil, ""},
	} {
		o, lines := talking(t)
		home := t.TempDir()
		t.Setenv("CLAUDE_CONFIG_DIR", "")
		o.p.home = home
		at := filepath.Join(home, ".claude/projects/shop")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "s-1.jsonl"), []byte(transcriptLines), 0o600); err != nil {
			t.Fatal(err)
		}
		o.p.settings.Run.Rewind = !c.off
		f := &followed{key: engine.SessionKey{Harness: "claude-code", Session: "s-1"}}
		f.add(&engine.Record{Kind: engine.KindAct, Agent: engine.MainAgent, Call: c.call, Act: &engine.Act{Kind: engine.ActCheckpoint, Checkpoint: &engine.CheckpointFacts{ID: "c-1"}}})
		f.add(&engine.Record{Kind: engine.KindAct, Agent: engine.MainAgent, Act: &engine.Act{Kind: engine.CheckpointRollback, Result: engine.RollbackRestored,
			Rollback: &engine.RollbackFacts{Checkpoint: "c-1", Text: "restored"}}})
		o.sessions = append(o.sessions, f)
		o.rewind()
		o.talk()
		if c.answer != "" {
			o.line([]byte(`{"type":"control_response","response":` + c.answer + `}`))
		}
		o.rewind()
		o.talk()
		if len(*lines) != len(c.want) {
			t.Errorf("%s: %q", c.name, *lines)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains((*lines)[i], want) {
				t.Errorf("%s: %s", c.name, (*lines)[i])
			}
		}
		note := ""
		for _, e := range o.told {
			note = e.Kind + ": " + e.Text
		}
		if note != c.note {
			t.Errorf("%s: recorded %q", c.name, note)
		}
	}
}

// A client that does not answer is not waited for.
func TestNoAnswer(t *testing.T) {
	o, _ := talking(t)
	o.asked = &asked{since: time.Now().Add(-time.Hour)}
	o.rewind()
	if len(o.told) != 1 || o.told[0].Kind != "not_rewound" || o.asked != nil {
		t.Errorf("%+v", o.told)
	}
}

// The times of a run are those of the settings.
func TestTimesOfSettings(t *testing.T) {
	o := watching(t)
	o.p.command, o.agent = []string{"true"}, agent{}
	s := &o.p.settings.Run
	s.CheckMS, s.GraceMS, s.KillWaitMS, s.TellShare, s.CompareMS, s.ResidentCheckMS, s.ResidentDoubts = 30, 40, 50, 0.5, 3_600_000, 3_600_000, 2
	if got := o.p.options(); got.Interval != 30*time.Millisecond || got.Grace != 40*time.Millisecond || got.KillWait != 50*time.Millisecond ||
		got.NearShare != 0.5 {
		t.Errorf("%+v", got)
	}
	o.compared, o.checked = time.Now().Add(-time.Minute), time.Now().Add(-time.Minute)
	before := o.compared
	if o.review(false); o.compared != before || o.doubts != 0 {
		t.Error("transcripts were compared, or the resident process was looked at, before the time of the settings")
	}
	s.CompareMS, s.ResidentCheckMS = 10, 10
	if stop := o.review(false).Stop; o.compared == before || o.doubts != 1 || stop != "" {
		t.Errorf("after the time of the settings: %d doubts, %q", o.doubts, stop)
	}
	o.checked = time.Now().Add(-time.Minute)
	if stop := o.review(false).Stop; !strings.HasPrefix(stop, "not answered") {
		t.Errorf("after two doubts: %q", stop)
	}
}
