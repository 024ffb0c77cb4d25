package rego

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const stated = `# METADATA
# title: Levels
# scope: package
package reviewer.x

import data.reviewer.run

# METADATA
# title: How bad
level := "high" if {
	# a comment
	input.score > 0.8
	run.fast
} else := "low" if input.score > 0.1 else := "none"

deny contains msg if {
	some _, x in input.list
	x.name == "$1"; _ = x.other
	msg := sprintf("%s", [x])
}

deny contains "second" if input.second

f(a, b) := c if c := a + b
default ok := false
ok if input.a == (input.b == input.c)
`

func differences(t *testing.T, before, after string) map[string][2][]string {
	t.Helper()
	d, err := Differences(map[string]string{"a.rego": before}, map[string]string{"b.rego": after})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Comments, layout, the order of definitions and other names for what is in
// a _ are not differences.
func TestNoDifference(t *testing.T) {
	formatted, err := Format("a.rego", []byte(strings.Replace(stated, "ok if input.a == (input.b == input.c)\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	deny := `deny contains "second" if input.second`
	for name, text := range map[string]string{
		"itself":           stated,
		"a comment":        strings.Replace(stated, "# a comment", "# another", 1),
		"layout":           strings.ReplaceAll(stated, "\n\tx.name == \"$1\"; ", "\n\n\n\tx.name   ==\t\"$1\"\n\t"),
		"formatted":        string(formatted) + "\nok if input.a == (input.b == input.c)\n",
		"order":            strings.Replace(stated, deny, "", 1) + deny,
		"an unused import": strings.Replace(stated, "import data.reviewer.run", "import data.reviewer.run\nimport data.other", 1),
	} {
		if d := differences(t, stated, text); len(d) > 0 {
			t.Errorf("%s: %v", name, d)
		}
	}
}

func TestDifferences(t *testing.T) {
	for name, test := range map[string]struct {
		old, new string
		want     map[string][2][]string
	}{
		"a number": {"input.score > 0.8", "input.score > 0.7", map[string][2][]string{"data.reviewer.x.level": {
			{"import data.reviewer.run\n# METADATA {\"scope\":\"rule\",\"title\":\"How bad\"}\nlevel := \"high\" if {\n\tinput.score > 0.8\n\trun.fast\n} else := \"low\" if input.score > 0.1\n\nelse := \"none\""},
			{"import data.reviewer.run\n# METADATA {\"scope\":\"rule\",\"title\":\"How bad\"}\nlevel := \"high\" if {\n\tinput.score > 0.7\n\trun.fast\n} else := \"low\" if input.score > 0.1\n\nelse := \"none\""},
		}}},
		"one of two definitions": {"input.second", "input.third", map[string][2][]string{"data.reviewer.x.deny": {
			{`deny contains "second" if input.second`}, {`deny contains "second" if input.third`}}}},
		"one more definition": {"default ok", "deny contains \"third\"\ndefault ok", map[string][2][]string{"data.reviewer.x.deny": {{}, {`deny contains "third"`}}}},
		"a rule that came":    {"default ok", "more := 1\ndefault ok", map[string][2][]string{"data.reviewer.x.more": {nil, {"more := 1"}}}},
		"a rule that went":    {"f(a, b) := c if c := a + b", "", map[string][2][]string{"data.reviewer.x.f": {{"f(a, b) := c if c := a + b"}, nil}}},
		"another name":        {"f(a, b) :=", "g(a, b) :=", map[string][2][]string{"data.reviewer.x.f": {{"f(a, b) := c if c := a + b"}, nil}, "data.reviewer.x.g": {nil, {"g(a, b) := c if c := a + b"}}}},
		"metadata of a package": {"title: Levels", "title: Steps", map[string][2][]string{"data.reviewer.x": {
			{"# METADATA {\"scope\":\"package\",\"title\":\"Levels\"}\npackage reviewer.x"}, {"# METADATA {\"scope\":\"package\",\"title\":\"Steps\"}\npackage reviewer.x"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			after := strings.Replace(stated, test.old, test.new, 1)
			if d := cmp.Diff(test.want, differences(t, stated, after)); d != "" {
				t.Error(d)
			}
		})
	}
}

// What means something else differs, also where it looks alike when printed.
func TestDifferenceThatHides(t *testing.T) {
	for name, test := range map[string][2]string{
		"the import under a name": {"import data.reviewer.run", "import data.reviewer.other as run"},
		"brackets":                {"input.a == (input.b == input.c)", "(input.a == input.b) == input.c"},
		"a text like a wildcard":  {`"$1"`, `"$2"`},
		"metadata":                {"title: How bad", "title: How good"},
		"a set for an array":      {`sprintf("%s", [x])`, `sprintf("%s", {x})`},
		"an else":                 {`else := "none"`, `else := "low"`},
		"a text of code":          {`else := "none"`, `else := "no } else = ne if { true }"`},
	} {
		after := strings.Replace(stated, test[0], test[1], 1)
		if after == stated {
			t.Fatalf("%s: nothing was changed", name)
		}
		d := differences(t, stated, after)
		if len(d) != 1 {
			t.Errorf("%s: %v", name, d)
		}
		for rule, texts := range d {
			if cmp.Equal(texts[0], texts[1]) {
				t.Errorf("%s: %s is printed alike: %s", name, rule, texts[0])
			}
		}
	}
}

// Every rule that ships, and every test of one, is shown in a form that means
// the same.
func TestStatementsOfDefault(t *testing.T) {
	modules := map[string]string{}
	err := filepath.WalkDir("../bundles/default", func(name string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".rego" {
			return err
		}
		raw, err := os.ReadFile(name)
		modules[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := statements(modules, func(string) bool { return false })
	if err != nil || len(all) < 200 {
		t.Fatalf("%d rules: %v", len(all), err)
	}
	for name, list := range all {
		for _, s := range list {
			if s.rule != nil && !statesSame(printed(s.rule, s.tree), s.tree) {
				t.Errorf("%s is shown as something else: %s", name, s.text())
			}
		}
	}
}

func TestDefinitions(t *testing.T) {
	got, err := Definitions(map[string]string{"a.rego": stated}, "data.reviewer.x.deny")
	want := []string{`deny contains "second" if input.second`, "deny contains msg if {\n\tsome _, x in input.list\n\tx.name == \"$1\"\n\t_ = x.other\n\tmsg := sprintf(\"%s\", [x])\n}"}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := Definitions(map[string]string{"bad.rego": "package p\nx :="}, ""); err == nil || !strings.Contains(err.Error(), "bad.rego") {
		t.Errorf("a broken module: %v", err)
	}
}

// Whatever can be parsed can be compared with itself.
func FuzzDifferences(f *testing.F) {
	f.Add(stated)
	f.Add("package p\n\nx[y].z contains w if { some y, w in input }")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Differences(map[string]string{"a": text}, map[string]string{"b": text})
		if err == nil && len(d) > 0 {
			t.Errorf("it differs from itself: %v", d)
		}
		if _, err := Differences(nil, map[string]string{"b": text}); err != nil && !strings.Contains(err.Error(), "b:") {
			t.Errorf("an error without its module: %v", err)
		}
	})
}
