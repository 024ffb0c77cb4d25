package transcript

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// The older fixture: t5 was rejected by the client, t6 by a person, t4 failed, t7 has
// no result.
func TestReconcile(t *testing.T) {
	tr := readTranscript(t, "testdata/older.jsonl")
	for _, c := range []struct {
		name                  string
		log                   map[string]engine.Verdict
		unreviewed, ranDenied string
		reviewed, unasked     int
	}{
		{"no log", nil, "t1/ran t2/pending t3/ran t4/failed t6/denied t7/pending", "", 0, 1},
		{"all reviewed", map[string]engine.Verdict{"t1": "allow", "t2": "warn", "t3": "allow", "t4": "ask", "t6": "allow", "t7": "allow"}, "", "", 6, 1},
		{"also the unasked one", map[string]engine.Verdict{"t1": "allow", "t2": "warn", "t3": "allow", "t4": "ask", "t5": "allow", "t6": "allow", "t7": "allow"}, "", "", 7, 0},
		{"ran although denied", map[string]engine.Verdict{"t1": "block", "t2": "block", "t3": "allow", "t4": "block", "t6": "block", "t7": "block"}, "", "t1/ran t4/failed", 6, 1},
		{"one is missing", map[string]engine.Verdict{"t1": "allow", "t2": "allow", "t4": "allow", "t6": "allow", "t7": "allow"}, "t3/ran", "", 5, 1},
	} {
		r := Reconcile(tr, func(e engine.Event) (LoggedCall, bool) {
			v, ok := c.log[e.Call]
			return LoggedCall{ID: e.Session + "-1", Answer: v}, ok && e.Session == "s-old"
		})
		if got := doubts(r.Unreviewed); got != c.unreviewed {
			t.Errorf("%s: unreviewed %s, want %s", c.name, got, c.unreviewed)
		}
		if got := doubts(r.RanDenied); got != c.ranDenied {
			t.Errorf("%s: ran although denied %s, want %s", c.name, got, c.ranDenied)
		}
		if r.Calls != 7 || r.Reviewed != c.reviewed || r.Unasked != c.unasked || r.Session != "s-old" {
			t.Errorf("%s: %+v", c.name, r)
		}
		if got, want := r.Clean(), c.unreviewed == "" && c.ranDenied == ""; got != want {
			t.Errorf("%s: Clean() = %t, want %t", c.name, got, want)
		}
	}
}

func doubts(list []Mismatch) string {
	var s []string
	for _, d := range list {
		s = append(s, d.Call+"/"+string(d.Outcome))
	}
	return strings.Join(s, " ")
}

// A denied call did not run if the transcript contains only the denial's reason.
func TestReconcileUnmarkedDenial(t *testing.T) {
	raw := `{"type":"assistant","sessionId":"s","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}
{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"Not here."}]}}
{"torn`
	tr, err := ReadClaudeCode(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r := Reconcile(tr, func(engine.Event) (LoggedCall, bool) { return LoggedCall{Answer: engine.Block}, true })
	if !r.Clean() || r.Unread != 1 {
		t.Errorf("%+v, want a clean one with one line unread", r)
	}
}

// The log has each call that a hook was asked about once: also one that is several calls in
// the transcript, and one in a script that Codex names in an item only.
func TestReconcileParts(t *testing.T) {
	scripts := readTranscript(t, "testdata/codex-items.jsonl")
	r := Reconcile(scripts, func(e engine.Event) (LoggedCall, bool) {
		return LoggedCall{Answer: engine.Allow}, slices.Contains(strings.Fields(
			"exec-0001 exec-0002 exec-0003 exec-0004 exec-0005 exec-0006 exec-0007 exec-0008"), e.Call)
	})
	if !r.Clean() || r.Reviewed != 11 || r.Unasked != 2 {
		t.Errorf("code mode: %+v", r)
	}
	parts := Transcript{Events: []engine.Event{
		{Phase: engine.PhasePre, Call: "a", Time: 1}, {Phase: engine.PhasePre, Call: "a#2", Time: 1},
		{Phase: engine.PhasePre, Call: "a#3", Time: 2}, {Phase: engine.PhasePre, Call: "b#2", Time: 1}, {Phase: engine.PhasePre, Call: "a#", Time: 1},
	}}
	r = Reconcile(parts, func(e engine.Event) (LoggedCall, bool) { return LoggedCall{}, e.Call == "a" || e.Call == "b" })
	if got, want := doubts(r.Unreviewed), "a#3/pending b#2/pending a#/pending"; got != want || r.Reviewed != 2 {
		t.Errorf("unreviewed %s, want %s; %+v", got, want, r)
	}
}
