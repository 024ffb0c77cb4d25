//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// These tests show what came with Claude Code 2.1.330 and later. Where one fails with a newer version, look at
// docs/fail-open.md again.

// Code Mode, in which the model writes code that makes the calls, works with the maker's own
// service only: with a model at another address the client refuses it and offers its ordinary tools.
func TestCodeModeIsRefused(t *testing.T) {
	s := newStage(t)
	s.args = append(Bypass(), "--settings", `{"env":{"CLAUDE_CODE_EXPERIMENTAL_CODE_MODE":"1"}}`)
	s.install("user")
	run := s.prompt(Script{s.deletion()})
	s.wantPhotos()
	s.wantDenial(run, call(1, 1))
	refused := slices.ContainsFunc(run.Lines, func(line StreamLine) bool {
		return line.Subtype == "notification" && strings.Contains(string(line.Raw), "Code Mode (experimental) isn't available")
	})
	if !refused || !slices.Contains(run.Init().Tools, "Bash") {
		t.Errorf("the client did not refuse Code Mode; tools: %q", run.Init().Tools)
	}
}

// restricted makes the session one in which the user's own hooks may block and ask, and not change a call.
func (s *stage) restricted() *stage {
	s.env = append(s.env, "CLAUDE_CODE_RESTRICT_PERSONAL_CONFIG=1")
	return s
}

// Hooks in the user's own settings deny, ask and stop in a session that restricts these settings.
// What they would change does not run at all, and one that fails keeps the prompt from the model.
func TestRestrictedPersonalConfig(t *testing.T) {
	for name, try := range map[string]func(*stage){
		"deny": func(s *stage) {
			run := s.prompt(Script{s.deletion()})
			s.wantPhotos()
			s.wantDenial(run, call(1, 1))
		},
		"rewrite": func(s *stage) {
			s.must(os.WriteFile(filepath.Join(s.Project, "draft.txt"), []byte("dear Kim\n"), 0o644))
			run := s.prompt(Script{Shell("rm draft.txt & wait; echo gone > mark")})
			s.want("project/draft.txt", true)
			s.want("project/mark", false)
			s.wantTold(run, "may block or ask about a call but not change it")
		},
		"ask": func(s *stage) {
			s.git(s.Project, "init", "-q", "-b", "main")
			s.commit("first")
			s.git(s.Project, "branch", "spare")
			run := s.prompt(Script{Shell("git branch -D spare && echo gone > mark")})
			s.want("project/mark", false)
			s.wantTold(run, "git_history_rewrite")
		},
		"failing": func(s *stage) {
			s.must(os.Remove(s.hookProgram()))
			s.must(os.WriteFile(s.hookProgram(), []byte("#!/bin/sh\nexit 1\n"), 0o755))
			if run := s.try(Script{Shell("echo tea > mark")}, "--session-id", s.session); len(run.Requests) > 0 {
				s.t.Errorf("the model was asked %d times, although a hook failed", len(run.Requests))
			}
			s.want("project/mark", false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(s *stage) {
				s.restricted().install("user")
				try(s)
			})
		})
	}
	t.Run("stop", func(t *testing.T) { each(t, func(s *stage) { s.restricted().tryStop() }) })
}

// With bashEditDiffEnabled the result of a command names the files that it changed, in a git
// repository. The log has them as the files that the call touched.
func TestBashEditDiff(t *testing.T) {
	each(t, func(s *stage) {
		s.git(s.Project, "init", "-q", "-b", "main")
		s.commit("first")
		log := s.record("PostToolUse", map[string]any{"bashEditDiffEnabled": true})
		s.prompt(Script{Shell("echo tea > mark"), Shell("cat mark"), Shell("echo mug >> mark; echo x > other"), Shell("rm other")})
		data, err := os.ReadFile(log)
		s.must(err)
		var got []string
		for line := range bytes.Lines(data) {
			var doc struct {
				Response struct {
					Diff *struct {
						Changed []string `json:"changedFiles"`
					} `json:"bashEditDiff"`
				} `json:"tool_response"`
			}
			s.must(json.Unmarshal(line, &doc))
			if d := doc.Response.Diff; d != nil {
				got = append(got, strings.ReplaceAll(fmt.Sprint(d.Changed), s.Project+"/", ""))
			} else {
				got = append(got, "nothing")
			}
		}
		if want := []string{"[mark]", "nothing", "[mark other]", "[other]"}; !slices.Equal(got, want) {
			s.t.Errorf("changed files %q, want %q", got, want)
		}
	})
}

// record makes the client start this test binary at an event, with more settings.
func (s *stage) record(event string, more map[string]any) (log string) {
	s.t.Helper()
	self, err := os.Executable()
	s.must(err)
	log = filepath.Join(filepath.Dir(s.Home), "hooks.jsonl")
	more["hooks"] = map[string]any{event: []any{map[string]any{"hooks": []any{
		map[string]any{"type": "command", "command": self, "args": []string{"record-hook", log, log + ".deny"}}}}}}
	raw, err := json.Marshal(more)
	s.must(err)
	s.must(writeFile(filepath.Join(s.Home, ".claude", "settings.json"), string(raw)))
	return log
}

// Hooks that are not programs, and that fail: onFailure closes two kinds. The others have no such field.
func TestOnFailureOfOtherKinds(t *testing.T) {
	for _, c := range []struct {
		name, handler string
		closed        bool
	}{
		{"http", `"type":"http","url":"http://127.0.0.1:9/"`, true},
		{"mcp_tool", `"type":"mcp_tool","server":"nowhere","tool":"review"`, true},
		{"prompt", `"type":"prompt","prompt":"x","timeout":1`, false},
		{"agent", `"type":"agent","prompt":"x","timeout":1`, false},
	} {
		for failure, blocks := range map[string]bool{"continue": false, "block": c.closed} {
			t.Run(c.name+"/"+failure, func(t *testing.T) {
				s := newStage(t)
				s.args = Bypass()
				s.must(writeFile(filepath.Join(s.Home, ".claude", "settings.json"),
					fmt.Sprintf(`{"hooks":{"PreToolUse":[{"hooks":[{%s,"onFailure":%q}]}]}}`, c.handler, failure)))
				s.prompt(Script{Shell("echo tea > mark")})
				s.want("project/mark", !blocks)
			})
		}
	}
}
