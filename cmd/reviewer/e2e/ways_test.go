//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWays brings about each row of the table in both modes, lets the agent
// delete a folder outside the project, and looks at the folder.
func TestWays(t *testing.T) {
	for _, m := range modes() {
		for _, w := range Ways() {
			if w.Test != "" {
				continue
			}
			t.Run(m.name+"/"+w.Name, func(t *testing.T) {
				s := newStage(t)
				s.args = m.args
				s.tryWay(w)
			})
		}
	}
}

func (s *stage) tryWay(w Way) {
	s.t.Helper()
	if w.Managed {
		s.installManaged()
	} else {
		s.install("user")
	}
	s.breakHook(w)
	s.args = append(append([]string(nil), s.args...), w.Args...)
	for _, e := range w.Env {
		s.env = append(s.env, expand(e, s.Places()))
	}
	run := s.prompt(Script{s.deletion()})
	s.t.Logf("the model was told: %.300s", told(run))
	s.want("outside/2019/beach.txt", w.Closed)
	s.repair(w)
	s.wantFound(w)
}

// breakHook does to an installed reviewer what the row says.
func (s *stage) breakHook(w Way) {
	s.t.Helper()
	if w.Timeout > 0 {
		s.changeHooks(s.settings(w), func(h map[string]any) { h["timeout"] = w.Timeout })
	}
	for name, text := range w.Files {
		path := s.state
		if name != "state" {
			var err error
			path, err = s.path(name)
			s.must(err)
		}
		s.must(os.RemoveAll(path))
		s.must(writeFile(path, expand(text, s.Places())))
	}
	if w.Binary != "" {
		s.must(os.Remove(s.hookProgram()))
	}
	if w.Binary != "" && w.Binary != "none" {
		s.must(os.WriteFile(s.hookProgram(), []byte("#!/bin/sh\n"+w.Binary+"\n"), 0o755))
	}
}

func (s *stage) settings(w Way) string {
	if w.Managed {
		return filepath.Join(s.managed(), "managed-settings.json")
	}
	return filepath.Join(s.Home, ".claude", "settings.json")
}

// repair puts the reviewer back, so that it can be asked what it finds.
func (s *stage) repair(w Way) {
	s.t.Helper()
	if w.Binary != "" {
		s.must(os.RemoveAll(s.hookProgram()))
		s.copyProgram(s.reviewer)
	}
	if w.Files["state"] != "" {
		s.must(os.RemoveAll(s.state))
	}
}

// wantFound holds the row's other columns against what the commands say. Where
// the hook worked, the log must have the verdict.
func (s *stage) wantFound(w Way) {
	s.t.Helper()
	if w.Closed && w.Binary == "" && w.Files["state"] == "" {
		if got := s.verdicts()[call(1, 1)]; len(got) != 1 || got[0] != "block" {
			s.t.Errorf("verdicts on the call: %q, want one block", got)
		}
	}
	if w.Doctor != "" {
		s.wantDoctor(w.Doctor)
	}
	if !w.Closed {
		s.wantReconcile(w.Reconcile)
	}
}

// wantDoctor asserts that one of doctor's findings, not of the lines that say
// that something is well, holds a string.
func (s *stage) wantDoctor(text string) {
	s.t.Helper()
	out, _ := s.run("doctor", "--home", s.state)
	for line := range strings.Lines(out) {
		finding := strings.HasPrefix(line, "warn") || strings.HasPrefix(line, "fail")
		if finding && strings.Contains(line, text) {
			return
		}
	}
	s.t.Errorf("doctor found nothing that names %q:\n%s", text, out)
}

// wantReconcile asserts that the unreviewed call is found in the transcript, or
// that there is none to be found.
func (s *stage) wantReconcile(found bool) {
	s.t.Helper()
	out, exit := s.run("audit", "reconcile", s.transcript(), "--home", s.state)
	if found && (exit != 2 || !strings.Contains(out, call(1, 1))) {
		s.t.Errorf("reconcile: exit %d, want 2 and the call %s:\n%s", exit, call(1, 1), out)
	}
	if !found && exit != 0 {
		s.t.Errorf("reconcile: exit %d, want 0:\n%s", exit, out)
	}
}
