//go:build e2e

package e2e

import (
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Hooks of the person and of the project: the call is recorded once, also when
// the two name different programs and the client runs both.
func TestInstalledTwice(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		first := s.reviewer
		s.reviewer = filepath.Join(filepath.Dir(first), "other", "reviewer")
		s.copyProgram(s.reviewer)
		s.install("project")
		run := s.prompt(Script{Shell("echo tea > mark"), s.deletion()})
		s.want("project/mark", true)
		s.wantPhotos()
		s.wantVerdicts(call(1, 1))
		s.wantDenial(run, call(2, 1))
		if got := s.verdicts()[call(2, 1)]; len(got) != 1 {
			s.t.Errorf("verdicts on the denied call: %q, want one", got)
		}
		s.wantChain()
	})
}

// The form on which the other tests stand: a static program at an absolute
// path, no shell, onFailure block before a call, for every tool.
func TestInstalledForm(t *testing.T) {
	s := newStage(t)
	s.install("user")
	path := filepath.Join(s.Home, ".claude", "settings.json")
	var doc struct {
		Hooks map[string][]struct {
			Matcher string           `json:"matcher"`
			Hooks   []map[string]any `json:"hooks"`
		} `json:"hooks"`
	}
	data, err := os.ReadFile(path)
	s.must(err)
	s.must(json.Unmarshal(data, &doc))
	pre := doc.Hooks["PreToolUse"]
	if len(pre) != 1 || len(pre[0].Hooks) != 1 {
		t.Fatalf("PreToolUse has %d groups, want one with one hook:\n%s", len(pre), data)
	}
	if m := pre[0].Matcher; m != "" && m != "*" {
		t.Errorf("PreToolUse matches %q, want every tool", m)
	}
	if got := pre[0].Hooks[0]["onFailure"]; got != "block" {
		t.Errorf("PreToolUse has onFailure %v, want block", got)
	}
	s.changeHooks(path, func(h map[string]any) {
		command, _ := h["command"].(string)
		if h["type"] != "command" || h["args"] == nil || !filepath.IsAbs(command) {
			t.Errorf("hook %v: want type command, an absolute path and args", h)
		}
	})
}

// A program that loads no library cannot be made to load a repository's own.
func TestProgramIsStatic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the preload variable of other systems is not inherited by hardened programs; the check reads ELF")
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s has an interpreter: it is linked dynamically", filepath.Base(program))
		}
	}
}

// Installing again changes nothing, and uninstalling restores what was there.
func TestUninstallRestores(t *testing.T) {
	s := newStage(t)
	path := filepath.Join(s.Home, ".claude", "settings.json")
	before := `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"true"}]}]}}`
	s.must(writeFile(path, before))
	s.install("user")
	once, err := os.ReadFile(path)
	s.must(err)
	s.install("user")
	twice, err := os.ReadFile(path)
	s.must(err)
	if string(once) != string(twice) {
		t.Errorf("installing twice differs from once:\n%s\n%s", once, twice)
	}
	if !strings.Contains(string(once), `"opus"`) || !strings.Contains(string(once), `"true"`) {
		t.Errorf("installing lost a setting:\n%s", once)
	}
	s.decide("uninstall", "claude-code", "--user", "--home", s.state)
	after, err := os.ReadFile(path)
	s.must(err)
	if !sameJSON(t, before, string(after)) {
		t.Errorf("after uninstall: %s\nwant %s", after, before)
	}
	s.prompt(Script{Shell("echo tea > mark")})
}

// A client that knows nothing of onFailure gets another form of the hook: a
// missing program denies there as well, and doctor says that the client is old.
func TestOlderClient(t *testing.T) {
	older := olderClient(t)
	each(t, func(s *stage) {
		s.client = older
		s.install("user")
		run := s.prompt(Script{Shell("echo tea > mark"), s.deletion()})
		s.want("project/mark", true)
		s.wantPhotos()
		s.wantDenial(run, call(2, 1))
		s.must(os.Remove(s.hookProgram()))
		s.resume(Script{s.deletion()})
		s.wantPhotos()
		s.copyProgram(s.reviewer)
		s.wantDoctor("2.1.295")
	})
}

// olderClient is the last version with which the fail-open table was measured
// that has no onFailure.
func olderClient(t *testing.T) string {
	t.Helper()
	older, _, err := InstallClient(t.Context(), "2.1.197")
	if err != nil {
		t.Fatal(err)
	}
	return older
}
