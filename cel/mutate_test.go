package cel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rewordings(t testing.TB) *Rewordings {
	t.Helper()
	r, err := NewRewordings(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRewordings(t *testing.T) {
	r := rewordings(t)
	for text, want := range map[string][]string{
		`session.file_ops > 3`: {
			`1:1 comparison session.file_ops > 3 -> session.file_ops >= 3`,
			`1:1 not session.file_ops > 3 -> !(session.file_ops > 3)`,
			`1:20 literal 3 -> 4`,
		},
		`event.tool == "Bash" && !session.stopped`: {
			`1:1 comparison event.tool == "Bash" -> event.tool != "Bash"`,
			`1:1 join event.tool == "Bash" && !session.stopped -> event.tool == "Bash" || !session.stopped`,
			`1:1 operand.drop event.tool == "Bash" && !session.stopped -> !session.stopped`,
			`1:1 operand.drop event.tool == "Bash" && !session.stopped -> event.tool == "Bash"`,
			`1:15 literal "Bash" -> "Bash~"`,
			`1:25 not !session.stopped -> session.stopped`,
		},
		"action.commands.exists(c,\n  c.name in [\"a\", \"b\"])": {
			`1:1 not action.commands.exists(c, c.name in ["a", "b"]) -> !action.commands.exists(c, c.name in ["a", "b"])`,
			`1:1 quantifier action.commands.exists(c, c.name in ["a", "b"]) -> action.commands.all(c, c.name in ["a", "b"])`,
			`2:13 element.drop ["a", "b"] -> ["a"]`,
			`2:13 element.drop ["a", "b"] -> ["b"]`,
			`2:3 not c.name in ["a", "b"] -> !(c.name in ["a", "b"])`,
		},
		`has(history.call)`: {
			`1:1 has has(history.call) -> true`,
			`1:1 not has(history.call) -> !has(history.call)`,
		},
		`event.tool ==`: nil,
	} {
		var got []string
		for _, m := range r.Of(text) {
			got = append(got, fmt.Sprintf("%d:%d %s %s -> %s", m.Line, m.Col, m.Operator, m.Before, m.After))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
	}
}

// A changed expression is valid, and differs from the original.
func FuzzRewordings(f *testing.F) {
	for _, text := range []string{
		`action.commands.exists(c, c.name == "x" && (size(c.flags) > 2 || !c.sub.all(s, s == "a")))`,
		`!(event.tool == "a" || event.tool.startsWith("b"))`,
		`cel.bind(n, session.file_ops, n > 1 && n < 5)`,
		`has(history.call) ? session.stopped : true`,
		`{"a": [1, 2]}["a"].size() == 2`,
	} {
		f.Add(text)
	}
	r := rewordings(f)
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, m := range r.Of(text) {
			if _, issues := r.language.env.Compile(m.Text); issues.Err() != nil {
				t.Errorf("%q: %s makes %q of it, which does not compile: %v", text, m.Operator, m.Text, issues.Err())
			}
			key := m.Operator + m.Text
			if seen[key] || m.Before == m.After {
				t.Errorf("%q: %s: %q -> %q is not a change of its own", text, m.Operator, m.Before, m.After)
			}
			seen[key] = true
		}
	})
}
