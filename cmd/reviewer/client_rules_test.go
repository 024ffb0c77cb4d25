package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// The rules that Gemini CLI applies itself are those of the policy: the built-in ones, and those of a layer.
func TestClientRules(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(t.TempDir(), "reviewer.toml")
	gemini, _ := settings.Find(harness.Gemini)
	var l settings.Layer
	for _, l = range gemini.Targets(settings.Places{OS: "linux"}, settings.LayerManaged) {
		if l.Format.Rules {
			break
		}
	}
	l.Path = path
	command := settings.HookCommand{Program: "/opt/reviewer", Home: "/srv/state"}
	compared := func() string {
		var err error
		if command.Rules, err = clientRules(home); err != nil {
			t.Fatal(err)
		}
		e := &examination{a: &cli.App{}, out: &term.Output{Format: "json"}}
		e.compareRules(gemini, l, command)
		return e.list[0].Result + " " + e.list[0].Text
	}
	install := func() string {
		text, err := l.Format.Install(nil, command)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}

	want(compared(), "fail "+path+" is missing: if a repository names the hook of gemini, nothing is denied")
	want(install(), "wipefs")
	want(compared(), "ok "+path+" has the 4 rules of the policy that gemini applies itself")

	layer := filepath.Join(home, "policy", "settings.yaml")
	if err := os.MkdirAll(filepath.Dir(layer), 0o700); err != nil {
		t.Fatal(err)
	}
	rule := "guard:\n  client_rules:\n    - {agent: gemini, tools: [web_fetch], pattern: 'intranet', message: 'The intranet is not read.'}\n"
	if err := os.WriteFile(layer, []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	want(compared(), "fail "+path+": these are not the rules of the policy (guard.client_rules)")
	text := install()
	want(text, "wipefs")
	want(text, "[[rule]]\ntoolName = [\"web_fetch\"]\nargsPattern = \"intranet\"\ndecision = \"deny\"\npriority = 900\ndenyMessage = \"The intranet is not read.\"\n")
	want(compared(), "has the 5 rules")
}
