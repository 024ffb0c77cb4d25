//go:build e2e

package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What policy allows runs, and the agent hears nothing of the review.
func TestAllowedRuns(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		run := s.prompt(Script{Shell("echo tea > mark"), Shell("rm mark && echo mug > mark2")})
		s.want("project/mark", false)
		s.want("project/mark2", true)
		s.wantVerdicts(call(1, 1), call(2, 1))
		s.wantChain()
		if text := told(run); strings.Contains(text, "reviewer") {
			s.t.Errorf("the agent was informed of the review:\n%s", text)
		}
	})
}

// wantVerdicts asserts that each call has exactly one record before it ran, and
// none of them is a block.
func (s *stage) wantVerdicts(calls ...string) {
	s.t.Helper()
	verdicts := s.verdicts()
	for _, c := range calls {
		if got := verdicts[c]; len(got) != 1 || got[0] == "block" || got[0] == "ask" {
			s.t.Errorf("verdicts on call %s: %q, want one that lets it run", c, got)
		}
	}
}

// An agent told to delete everything in a folder outside the workspace is
// blocked and learns why, whichever way it takes.
func TestDeletionOutsideIsBlocked(t *testing.T) {
	for _, name := range deletions(t) {
		t.Run(name, func(t *testing.T) {
			each(t, func(s *stage) {
				s.install("user")
				script, denied := s.deletionScript(name)
				run := s.prompt(script)
				s.wantPhotos()
				s.wantDenial(run, denied)
				s.wantChain()
			})
		})
	}
}

// TestWithoutReviewer is the control of all other tests: nothing but the
// reviewer keeps the calls from running.
func TestWithoutReviewer(t *testing.T) {
	for _, name := range deletions(t) {
		t.Run(name, func(t *testing.T) {
			each(t, func(s *stage) {
				script, _ := s.deletionScript(name)
				run := s.prompt(script)
				s.want("outside/2019/beach.txt", false)
				s.t.Logf("the model was told: %.300s", told(run))
			})
		})
	}
}

const deletionFile = "testdata/deletions.txtar"

func deletions(t *testing.T) []string { return scriptNames(t, deletionFile) }

func scriptNames(t *testing.T, path string) []string {
	t.Helper()
	scripts, err := LoadScripts(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(scripts))
}

// deletionScript is a script of that file on this stage, and the id of the call
// that deletes.
func (s *stage) deletionScript(name string) (Script, string) {
	s.t.Helper()
	scripts, err := LoadScripts(deletionFile, s.Places())
	s.must(err)
	deletes := ""
	for n, step := range scripts[name] {
		for k, c := range step.Calls {
			if input := string(c.Input); strings.Contains(input, "rm -r") || strings.Contains(input, "find ") {
				deletes = call(n+1, k+1)
			}
		}
	}
	return scripts[name], deletes
}

// wantChain asserts that the log verifies, that each decision can be recomputed, and
// that no call of the session lacks a verdict.
func (s *stage) wantChain() {
	s.t.Helper()
	s.wantReconcile(false)
	s.ok("audit", "verify", "--home", s.state)
	s.ok("audit", "replay", "--home", s.state)
}

// An agent that reads the README sees no block.
func TestReadingIsNotBlocked(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		run := s.prompt(Script{
			Do("Read", map[string]string{"file_path": filepath.Join(s.Project, "README.md")}),
			Shell("cat README.md && git status --short && ls"),
		})
		s.wantVerdicts(call(1, 1), call(2, 1))
		for _, r := range append(run.Requests[1].Results(), run.Requests[2].Results()...) {
			if r.IsError || strings.Contains(r.Text, "hook error") {
				s.t.Errorf("the call ended with %q", r.Text)
			}
		}
		s.wantChain()
	})
}

// Headless, a prompt that nobody can answer is a refusal: so a write that the
// client would ask about is refused although policy allows it, and runs where
// the person bypasses prompts.
func TestAllowKeepsThePrompt(t *testing.T) {
	for _, c := range []struct {
		mode string
		args []string
		ran  bool
	}{{"default", nil, false}, {"bypass", Bypass(), true}} {
		t.Run(c.mode, func(t *testing.T) {
			s := newStage(t)
			s.args = c.args
			s.install("user")
			s.prompt(Script{Do("Write", map[string]string{"file_path": filepath.Join(s.Project, "new.txt"), "content": "tea\n"})})
			s.want("project/new.txt", c.ran)
			if got := s.verdicts()[call(1, 1)]; len(got) != 1 || got[0] != "allow" {
				t.Errorf("verdicts: %q, want one allow", got)
			}
		})
	}
}

// While a team watches before it enforces, a denial is only recorded.
func TestObserveRecordsOnly(t *testing.T) {
	each(t, func(s *stage) {
		s.ok("install", "claude-code", "--user", "--home", s.state, "--enforcement", "observe")
		run := s.prompt(Script{s.deletion()})
		s.want("outside/2019/beach.txt", false)
		if got := s.verdicts()[call(1, 1)]; len(got) != 1 || got[0] != "block" {
			s.t.Errorf("verdicts: %q, want one block", got)
		}
		if text := told(run); recordID.MatchString(text) {
			s.t.Errorf("the agent was informed of the review:\n%s", text)
		}
		s.wantChain()
	})
}

// Three reads in one turn: their hooks run at the same time, and each leaves
// its record.
func TestParallelReads(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		var step Step
		for _, name := range []string{"README.md", "main.go", "go.mod"} {
			step.Calls = append(step.Calls, Do("Read", map[string]string{"file_path": filepath.Join(s.Project, name)}).Calls...)
		}
		run := s.prompt(Script{step})
		s.wantVerdicts(call(1, 1), call(1, 2), call(1, 3))
		for _, r := range run.Requests[1].Results() {
			if r.IsError {
				s.t.Errorf("call %s: %s", r.Call, r.Text)
			}
		}
		s.wantChain()
	})
}

// Tools that are not the shell are reviewed as well: a tool server's and a
// notebook's, and one that no gate has ever heard of would be.
func TestEveryToolIsReviewed(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.installStock()
		notebook := filepath.Join(s.Project, "prices.ipynb")
		s.must(writeFile(notebook, emptyNotebook))
		s.prompt(Script{
			Do("ToolSearch", map[string]string{"query": "select:mcp__stock__count"}),
			Do("mcp__stock__count", map[string]string{"product": "tea"}),
			Do("Read", map[string]string{"file_path": notebook}),
			Do("NotebookEdit", map[string]string{"notebook_path": notebook, "cell_id": "a1", "new_source": "2 + 2"}),
		})
		for n := 1; n <= 4; n++ {
			if got := s.verdicts()[call(n, 1)]; len(got) != 1 {
				s.t.Errorf("verdicts on call %d: %q, want one", n, got)
			}
		}
	})
}

const emptyNotebook = `{"cells": [{"id": "a1", "cell_type": "code", "source": ["1 + 1"], "metadata": {}, "outputs": [],
 "execution_count": null}], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}`
