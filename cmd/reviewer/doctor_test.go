package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/installed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// Where managed settings allow managed hooks only, entries anywhere else are
// not started, and doctor must not count on them.
func TestRunning(t *testing.T) {
	gate := settings.Findings{Own: []settings.OwnHook{{Event: "PreToolUse"}}}
	only := settings.Findings{AllowManagedHooksOnly: true}
	both := settings.Findings{AllowManagedHooksOnly: true, Own: gate.Own}
	for _, c := range []struct {
		name     string
		layers   []installed.File
		own      int
		managed  bool
		silenced []string
	}{
		{"user alone", []installed.File{{Layer: settings.LayerUser, Path: "u", Findings: gate}}, 1, false, nil},
		{"only managed, reviewer elsewhere", []installed.File{{Layer: settings.LayerManaged, Path: "m", Findings: only}, {Layer: settings.LayerUser, Path: "u", Findings: gate}}, 0, false, []string{"u"}},
		{"only managed, reviewer there", []installed.File{{Layer: settings.LayerManaged, Path: "m", Findings: both}, {Layer: settings.LayerUser, Path: "u", Findings: gate}}, 1, true, []string{"u"}},
		{"the switch of another layer says nothing", []installed.File{{Layer: settings.LayerProject, Path: "p", Findings: only}, {Layer: settings.LayerUser, Path: "u", Findings: gate}}, 1, false, nil},
	} {
		s := installed.Standing{Files: c.layers}
		s.Sort()
		if len(s.Own) != c.own || s.Managed != c.managed || !slices.Equal(s.Silenced, c.silenced) {
			t.Errorf("%s: %d entries, managed %v, silenced %q", c.name, len(s.Own), s.Managed, s.Silenced)
		}
	}
}

func TestMissing(t *testing.T) {
	agent, _ := settings.Find(harness.ClaudeCode)
	s := standingOf{Standing: installed.Standing{Agent: agent}}
	for _, event := range agent.Events {
		s.Own = append(s.Own, settings.OwnHook{Event: event, Matcher: "*"})
	}
	if got := s.missing(); len(got) > 0 {
		t.Errorf("missing %q of a whole installation", got)
	}
	s.Own = slices.DeleteFunc(s.Own, func(h settings.OwnHook) bool { return h.Event == "PostToolBatch" })
	if got := s.missing(); !slices.Equal(got, []string{"PostToolBatch"}) {
		t.Errorf("missing %q, want PostToolBatch", got)
	}
}

// The registry of Windows has settings like those of a file.
func TestSettingsOfTheRegistry(t *testing.T) {
	agent, _ := settings.Find(harness.ClaudeCode)
	format := agent.Layers(settings.Places{OS: "windows", Home: "/home/kim"})[0].Format
	for _, c := range []struct {
		raw  string
		want string // in what is reported; empty: nothing is
	}{
		{`{"allowManagedHooksOnly": true}`, ""},
		{`{"disableAllHooks": true}`, `HKLM\SOFTWARE\Policies\ClaudeCode\Settings: disableAllHooks turns reviewer off`},
		{`{`, `HKLM\SOFTWARE\Policies\ClaudeCode\Settings: the client ignores these settings: settings are not valid JSON`},
	} {
		e := &examination{a: &cli.App{}, out: &term.Output{Format: "json"}}
		e.file(standingOf{Standing: installed.Standing{Agent: agent}}, installed.File{Layer: settings.LayerManaged, Path: cli.RegistryPlace, Findings: format.Inspect([]byte(c.raw), "")})
		if c.want == "" && len(e.list) > 0 || c.want != "" && (len(e.list) != 1 || !strings.HasPrefix(e.list[0].Text, c.want)) {
			t.Errorf("%q: reported %v, want %q", c.raw, e.list, c.want)
		}
	}
}
