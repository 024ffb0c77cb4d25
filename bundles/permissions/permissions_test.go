package permissions

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
)

func anything(string) error { return nil }

func imported(t *testing.T, raw string, read foreign.Reader) *foreign.Policy {
	t.Helper()
	p, err := Import("s.json", []byte(raw), false, read)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return p
}

// Rules that cannot be converted exactly are left out, named and kept as comments.
func TestLeftOut(t *testing.T) {
	for rule, want := range map[string]string{
		`Bash(git`: "it is not a rule", `a b`: "it is not a rule", ``: "it is not a rule", `(x)`: "it is not a rule",
		`WebFetch(https://x)`: "expected WebFetch(domain:example.com)", `WebFetch(domain:)`: "expected WebFetch(domain:example.com)",
		`Read(!x)`: "a pattern that begins with !", `Edit(../x)`: "a path with ..", `Cd(/tmp)`: "the meaning of the parentheses", `Web*(x)`: "cannot be combined",
		`Bash(* *)`: "it matches every command", `Bash(:*)`: "it matches every command", `Bash(**)`: "it matches every command", `Bash()`: "it is not a rule",
		`Read()`: "it is not a rule", ` Bash(ls)`: "it is not a rule", `Bash(ls )`: "it begins or ends with a space", `Bash(git * x:*)`: "another * besides :*",
		`Bash(echo \\*)`: `the meaning of \`, `Bash(ls && rm *)`: "each command of a compound one", `Bash(ls > *)`: "each command of a compound one",
		`Bash(echo $(x))`: "each command of a compound one", `Write(*)`: "write Write", `Skill(a:*)`: "the name of a skill",
	} {
		for _, key := range []string{"deny", "ask", "allow"} {
			p := imported(t, fmt.Sprintf(`{%q: [%q]}`, key, rule), anything)
			if text := fmt.Sprint(p.Remarks); len(p.List.Rules) != 0 || (p.Counts != foreign.Counts{Left: 1}) || !strings.Contains(text, want) {
				t.Errorf("%s %s: %d rules, %+v, %s; want %q", key, rule, len(p.List.Rules), p.Counts, text, want)
			}
			if content, err := p.YAML(); err != nil || rule != "" && !strings.Contains(string(content), "# "+key+" "+rule) {
				t.Errorf("%s %s is not kept as a comment: %v\n%s", key, rule, err, content)
			}
		}
	}
}

// What Claude Code never allows is not allowed here.
func TestNeverAllowed(t *testing.T) {
	for _, rule := range []string{"*", "mcp__*", "mcp__*__get", "Web*", "Write(x)", "MultiEdit(x)", "Glob(x)", "TaskStop(a:b)"} {
		p := imported(t, fmt.Sprintf(`{"allow": [%q]}`, rule), anything)
		if len(p.List.Rules) != 0 || (p.Counts != foreign.Counts{Idle: 1}) || len(p.Remarks) != 2 {
			t.Errorf("%s: %+v, %v", rule, p.List.Rules, p.Remarks)
		}
	}
}

func TestOrder(t *testing.T) {
	p := imported(t, `{"permissions": {"allow": ["Skill", "Skill"], "ask": ["WebFetch"], "deny": ["Edit", "Read"], "defaultMode": "dontAsk", "additionalDirectories": ["/x"], "other": 1}}`, anything)
	var got []string
	for _, r := range p.List.Rules {
		got = append(got, r.ID+" "+r.Effect)
	}
	if want := "deny_edit deny, deny_read deny, ask_webfetch require_approval, allow_skill allow"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	text := fmt.Sprint(p.Remarks)
	for _, want := range []string{"calls that no rule matches are left to Claude Code's own prompts", `defaultMode "dontAsk"`, "default: deny would do", "additionalDirectories stays", "other is not converted"} {
		if !strings.Contains(text, want) {
			t.Errorf("no remark says %q: %s", want, text)
		}
	}
}

// A list with rules behind one for every call would not load.
func TestEveryCall(t *testing.T) {
	p := imported(t, `{"deny": ["*", "Read"], "allow": ["Edit"]}`, anything)
	content, err := p.YAML("head")
	if err != nil || len(p.List.Rules) != 1 || (p.Counts != foreign.Counts{Carried: 1, Idle: 2}) {
		t.Fatalf("%v, %+v", err, p)
	}
	if _, err := bundles.ParseAccess("x.yaml", content); err != nil {
		t.Error(err)
	}
}

func TestUnreadable(t *testing.T) {
	p := imported(t, `{"deny": ["Read(ls)"]}`, func(string) error { return errors.New("too long") })
	if len(p.List.Rules) != 0 || p.Counts.Left != 1 || !strings.Contains(fmt.Sprint(p.Remarks), "too long") {
		t.Errorf("%+v", p)
	}
}

func TestNoSettings(t *testing.T) {
	for raw, want := range map[string]string{
		`[]`:                            "s.json:1: expected settings of Claude Code, an object, got a list",
		`{"hooks": {}}`:                 "s.json:1: there are no permissions: expected the key permissions, or allow, ask or deny",
		`{"permision": {}}`:             `s.json:1: there are no permissions: expected the key permissions, or allow, ask or deny; is "permision" meant to be "permissions"?`,
		"{\n\"permissions\": []}":       "s.json:2: permissions: expected an object with allow, ask and deny, got a list",
		"{\"deny\":\n\"Bash\"}":         `s.json:2: deny: expected a list of rules such as "Bash(git push *)", got a string`,
		"{\"ask\": [\"Bash\",\n5]}":     `s.json:2: ask[1]: expected a rule such as "Bash(git push *)", got a number`,
		"{\"permissions\": {\n\"deny\"": "s.json:2: the document ends in the middle",
	} {
		if _, err := Import("s.json", []byte(raw), false, anything); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", raw, err, want)
		}
	}
}
