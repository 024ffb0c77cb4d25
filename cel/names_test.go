package cel

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func names() *Names {
	return &Names{
		Definitions: []Definition{
			{"pushes", "bool", `action.commands.exists(c, c.name == "git" && c.sub("push"))`},
			{"forced_push", "bool", `pushes && action.commands.exists(c, c.has("-f", "--force"))`},
			{"branches", "list", `["main", "release"]`},
			{"failing", "bool", `event.result.outcome == "failed"`},
		},
		Data: map[string]any{"services": map[string]any{"money": []any{"refund", "git"}, "limit": 2.0}, "scopes": []any{map[string]any{}}},
	}
}

func TestNames(t *testing.T) {
	in := sample()
	for text, want := range map[string]bool{
		`forced_push`:  true,
		`!forced_push`: false,
		`"main" in branches && !("dev" in branches)`:                 true,
		`action.commands.exists(c, c.name in data.services.money)`:   true,
		`data.services.limit == 2 && size(data.services.money) == 2`: true,
		`cel.bind(n, forced_push, n && pushes)`:                      true,
	} {
		h := host(t, Condition{ID: "a", When: text, Names: names()})
		for _, problem := range h.Check() {
			t.Errorf("%s: %v", text, problem)
		}
		if found := match(t, h, in); len(found) == 1 != want || want && found[0].Error != "" {
			t.Errorf("%s: found %+v, want %v", text, found, want)
		}
	}
}

// An error in a definition is one of each condition that uses it.
func TestNamesFail(t *testing.T) {
	found := match(t, host(t, Condition{ID: "a", When: "failing", Names: names()}, Condition{ID: "b", When: "pushes", Names: names()}), sample())
	if len(found) != 2 || !strings.Contains(found[0].Error, "failing: ") || found[1].Error != "" {
		t.Errorf("found %+v, want an error of failing in a only", found)
	}
}

func TestNamesRefused(t *testing.T) {
	for want, d := range map[string][]Definition{
		"part of the input":    {{"action", "bool", "true"}},
		"lower-case letters":   {{"Push", "bool", "true"}},
		"already defined":      {{"a", "bool", "true"}, {"a", "bool", "true"}},
		"expected one of bool": {{"a", "boolean", "true"}},
		"uses b, which is not": {{"a", "bool", "b"}, {"b", "bool", "true"}},
		"uses a, which is not": {{"a", "bool", "!a"}},
	} {
		if _, err := Compile([]Condition{{ID: "c", When: "true", Names: &Names{Definitions: d}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", d, err, want)
		}
	}
	h := host(t, Condition{ID: "c", When: "a", Names: &Names{Definitions: []Definition{{"a", "bool", "size(action.paths)"}}}})
	if problems := h.Check(); len(problems) != 1 || problems[0].Error() != "definition a: is: expected bool, got int" {
		t.Errorf("a definition of another type: %v, want a problem of a", problems)
	}
	h = host(t, Condition{ID: "c", When: `"x" in data.services.monay`, Names: names()})
	if len(h.Check()) == 0 {
		t.Error("a setting that does not exist compiles")
	}
}

// A condition that was compiled before with another type of a name is compiled again.
func TestNamesPrecompiled(t *testing.T) {
	with := func(definition Definition) []Condition {
		return []Condition{{ID: "c", When: "size(string(limit)) == 1", Names: &Names{Definitions: []Definition{definition}}}}
	}
	raw, err := Precompile(with(Definition{"limit", "int", "3"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []Definition{{"limit", "int", "7"}, {"limit", "string", `"7"`}} {
		h, err := CompileFrom(raw, with(d))
		if err != nil {
			t.Fatal(err)
		}
		found, err := h.Match(context.Background(), &engine.Input{})
		if err != nil || len(found) != 1 || found[0].Error != "" {
			t.Errorf("%v: found %+v, %v", d, found, err)
		}
	}
}

func TestFactFunctions(t *testing.T) {
	in := sample()
	in.Action.Commands = []engine.Command{
		{Name: "podman", Sub: []string{"compose", "rm"}, Flags: []string{"-fav"}, Options: []string{"-f", "-a", "-v"}},
		{Name: "git", Sub: []string{"push"}, Flags: []string{"--forc", "--all=false"}, Options: []string{"--forc*", "--all=false"}},
	}
	in.Action.Effects = []engine.Effect{{Kind: engine.EffectFileRead, Verb: "list"}}
	for text, want := range map[string]bool{
		`action.commands.exists(c, c.has("-a", "--all"))`:                    true,
		`action.commands.exists(c, c.name == "git" && c.has("--force"))`:     true,
		`action.commands.exists(c, c.name == "git" && c.has("--all", "-a"))`: false,
		`action.commands.exists(c, c.sub("compose", "rm|down"))`:             true,
		`action.commands.exists(c, c.sub("rm"))`:                             false,
		`action.commands.exists(c, c.sub("push", "x"))`:                      false,
		`action.effects.exists(e, reads(e))`:                                 false,
		`under("/etc/ssh/x", ["/srv", "/etc"])`:                              true,
		`under("/etc/ssh/x", ["/srv", "/home"])`:                             false,
	} {
		if found := match(t, host(t, Condition{ID: "a", When: text}), in); len(found) == 1 != want || want && found[0].Error != "" {
			t.Errorf("%s: found %+v, want %v", text, found, want)
		}
	}
}
