//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A reviewer that fails on events other than a call must not get into the
// agent's way: the prompt arrives, and nothing forces the agent to continue. Before a
// call it denies.
func TestBrokenHookOnOtherEvents(t *testing.T) {
	for _, w := range []Way{
		{Name: "exit-1", Binary: "exit 1"},
		{Name: "binary-missing", Binary: "none"},
		{Name: "malformed", Binary: "echo '{'; exit 1"},
		{Name: "state-unusable", Files: map[string]string{"state": "a file\n"}},
	} {
		t.Run(w.Name, func(t *testing.T) {
			each(t, func(s *stage) {
				s.install("user")
				s.breakHook(w)
				run := s.prompt(Script{s.deletion(), {Say: "I could not."}})
				if !strings.Contains(run.Requests[0].Told(), "Please do what is needed.") {
					s.t.Errorf("the prompt did not reach the model:\n%s", run.Requests[0].Told())
				}
				if got := len(run.Requests); got != 2 {
					s.t.Errorf("the model was asked %d times, want 2: once for the prompt, once after the denied call", got)
				}
				s.wantPhotos()
			})
		})
	}
}

// Another hook rewrites the call after the reviewer has seen it. The reviewer
// cannot undo that; the log says so afterwards, and doctor warns before.
func TestRewrittenAfterReview(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		answer := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"echo mug > rewritten"}}}`
		s.must(writeFile(filepath.Join(s.Project, "answer.json"), answer))
		s.must(writeFile(filepath.Join(s.Project, ".claude", "settings.json"),
			`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"cat answer.json"}]}]}}`))
		s.prompt(Script{Shell("echo tea > mark")})
		s.want("project/rewritten", true)
		s.want("project/mark", false)
		if !s.fired("post", call(1, 1), "executed_differs") {
			s.t.Errorf("no record after the call says executed_differs: %v", s.records())
		}
		s.wantDoctor("cat answer.json")
	})
}

// fired reports whether a rule fired in the record of a kind on a call.
func (s *stage) fired(kind, call, rule string) bool {
	s.t.Helper()
	for _, r := range s.records() {
		if r.Kind != kind || r.Call != call {
			continue
		}
		for _, x := range r.Decision.Rules {
			if x.ID == rule {
				return true
			}
		}
	}
	return false
}

// installStock gives the project a tool server: this test binary.
func (s *stage) installStock() {
	s.t.Helper()
	self, err := os.Executable()
	s.must(err)
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"stock": map[string]any{"command": self, "args": []string{"stock-server"}},
	}})
	s.must(err)
	path := filepath.Join(s.Project, "stock.json")
	s.must(os.WriteFile(path, config, 0o600))
	s.args = append(append([]string(nil), s.args...), "--mcp-config", path)
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return reflect.DeepEqual(x, y)
}
