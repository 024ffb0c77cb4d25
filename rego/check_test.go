package rego

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
)

// shippedSources are those of the built-in policy, tests included.
func shippedSources(t *testing.T) Sources {
	t.Helper()
	b, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(b)
	if err != nil {
		t.Fatal(err)
	}
	s := Sources{Modules: e.Modules(), Data: e.Data, Words: e.Vocabulary(), MayContain: e.MayContain}
	dir := "../bundles/default"
	err = filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(name, "_test.rego") {
			raw, err := os.ReadFile(name)
			rel, _ := filepath.Rel(dir, name)
			s.Modules["base/"+filepath.ToSlash(rel)] = string(raw)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Nothing is wrong with the built-in policy.
func TestCheckShipped(t *testing.T) {
	found, rules := Check(shippedSources(t))
	for _, p := range found {
		t.Errorf("%v", p)
	}
	if len(rules.IDs) < 20 || rules.Open["base"] {
		t.Errorf("rules that Rego fires: %v, open %v", rules.IDs, rules.Open)
	}
}

// A module that does not parse hides nothing in others, and nothing is said about
// what only it may define.
func TestCheckPastSyntaxErrors(t *testing.T) {
	s := shippedSources(t)
	s.Modules["user/broken.rego"] = "package policies.user.own\n\nhelper(x) if {\n\tx.name == \"a\"\n\nfindings := 1"
	s.Modules["user/mine.rego"] = `package policies.user.own

import data.policies.user.own.more

# METADATA
# title: Mine
mine if {
	helper(input.action)
	also_there
	more.x > 1
	input.acton.name == "x"
}
`
	var got []string
	found, _ := Check(s)
	for _, p := range found {
		got = append(got, p.File+" "+p.Code)
	}
	want := "user/broken.rego rego.parse|user/mine.rego rego.field"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is wrong is found in all modules and all stages of compiling at once.
func TestCheckAllStages(t *testing.T) {
	s := shippedSources(t)
	s.Modules["user/a.rego"] = "package policies.user.a\n\nimport data.reviewer.scores\n\n# METADATA\n# title: X\nx if input.phse == \"pre\"\n"
	s.Modules["user/b.rego"] = "package policies.user.b\n\n# METADATA\n# title: X\nx if {\n\ty := 1\n\tinput.session.actions > upper(3)\n}\n"
	s.Modules["user/c.rego"] = "package policies.user.c\n\n# METADATA\n# title: X\nx if nowhere(1)\n\n# METADATA\n# title: Y\ny if z\n"
	// A list of names is knowledge; words of facts and ids of rules are not.
	s.Modules["user/d.rego"] = "package policies.user.d\n\n" +
		"# METADATA\n# title: X\nx if regex.match(`\\.(md|mdx|txt|rst|adoc|org)$`, input.action.name)\n"
	s.Modules["user/e.rego"] = "package policies.user.e\n\n# METADATA\n# title: X\nx if {\n\tsome e in input.action.effects\n" +
		"\te.location in {\"outside\", \"home\", \"temp_root\", \"home_root\", \"root\", \"system\"}\n}\n"
	codes := map[string]bool{}
	found, _ := Check(s)
	for _, p := range found {
		codes[p.File+" "+p.Code] = true
	}
	for _, want := range []string{
		"user/a.rego rego.compile", "user/a.rego rego.field", "user/b.rego rego.compile", "user/b.rego rego.type",
		"user/c.rego rego.function", "user/c.rego rego.unsafe", "user/d.rego rego.list",
	} {
		if !codes[want] {
			t.Errorf("%s was not found among %v", want, codes)
		}
	}
	if codes["user/e.rego rego.list"] {
		t.Error("a list of words of facts is reported")
	}
}

// Conditions that look like mistakes and are none: another command that is named, a size that is compared, a list that
// may be absent, a pattern that is a setting, and a field of the phase.
func TestCheckMeant(t *testing.T) {
	s := shippedSources(t)
	s.Modules["user/a.rego"] = `package policies.user

_names contains c.name if some c in input.action.commands

_first := input.action.commands[0].sub if input.phase == "pre"

# METADATA
# title: X
x if {
	some c in input.action.commands
	c.name == "git"
	input.action.commands[_].name == "tee"
	count([1 | input.action.commands[_].sub[0] == "push"]) > 1
	count(_names) > 1
	_first
	input.time.hour > 22
	input.history.windows.recent.failed >= 10
}

# METADATA
# title: Y
y if {
	input.phase in {"pre", "post"}
	input.event.result.outcome == "failed"
	some pattern in data.reviewer.scope.caches
	regex.match(pattern, "build")
}

# METADATA
# title: Z
z if {
	input.phase == "pre"
	not input.event.result
	input.event.args.count > "3"
}
`
	found, _ := Check(s)
	for _, p := range found {
		t.Errorf("%v", p)
	}
}
