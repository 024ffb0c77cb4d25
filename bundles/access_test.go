package bundles

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

const team = `# Who may do what.
id: team
title: What agents of the shop team may do
default: require_approval
rules:
  - id: nights
    effect: deny
    description: Nobody watches then.
    message: "Not at night: {command}"
    actions: [filesystem.*, code.exec]
    tools: [Bash, "mcp__*"]
    when: |
      action.resource.startsWith("/etc") ||
        session.secrets_read
    schedule: {hours: [22, 6], weekdays: [saturday, sunday]}
    expires_at: 2027-01-01T00:00:00+01:00
  - {id: rest, effect: allow}
---
id: more
rules: []
---
# nothing
`

func TestParseAccess(t *testing.T) {
	lists, err := ParseAccess("access/team.yaml", []byte(team))
	if err != nil {
		t.Fatal(err)
	}
	want := []AccessList{
		{ID: "team", Title: "What agents of the shop team may do", Default: "require_approval", Rules: []AccessRule{
			{
				ID: "nights", Effect: "deny", Description: "Nobody watches then.", Message: "Not at night: {command}",
				Actions: []string{"filesystem.*", "code.exec"}, Tools: []string{"Bash", "mcp__*"},
				When:      "action.resource.startsWith(\"/etc\") ||\n  session.secrets_read\n",
				Schedule:  &AccessSchedule{Hours: []int64{22, 6}, Weekdays: []string{"saturday", "sunday"}},
				ExpiresAt: "2027-01-01T00:00:00+01:00",
			},
			{ID: "rest", Effect: "allow"},
		}},
		{ID: "more", Default: "deny", Rules: []AccessRule{}},
	}
	if d := cmp.Diff(want, lists, cmpopts.IgnoreUnexported(AccessList{}, AccessRule{})); d != "" {
		t.Fatal(d)
	}
	for key, want := range map[string]string{"when": "access/team.yaml:14", "tools": "access/team.yaml:11", "": "access/team.yaml:6"} {
		if got := lists[0].Rules[0].Place(key, 2); key == "when" && got != want {
			t.Errorf("Place(%q, 2) = %s, want %s", key, got, want)
		}
		if got := lists[0].Rules[0].Place(key, 0); key != "when" && got != want {
			t.Errorf("Place(%q, 0) = %s, want %s", key, got, want)
		}
	}
	if got := lists[0].FindingID("nights"); got != "access.team.nights" {
		t.Errorf("FindingID is %s", got)
	}
}

// What is written by hand and what a program writes are read alike.
func TestAccessRoundTrip(t *testing.T) {
	lists, err := ParseAccess("a.yaml", []byte(team))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	for _, l := range lists {
		if err := e.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	again, err := ParseAccess("b.yaml", b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	if d := cmp.Diff(lists, again, cmpopts.IgnoreUnexported(AccessList{}, AccessRule{})); d != "" {
		t.Errorf("%s\n%s", d, b.Bytes())
	}
}

func TestExpires(t *testing.T) {
	for text, want := range map[string]string{
		"2027-01-01":                  "2027-01-01T00:00:00Z",
		"'2027-01-01'":                "2027-01-01T00:00:00Z",
		"2027-01-01T00:00:00Z":        "2027-01-01T00:00:00Z",
		"2027-01-01T00:00:00+05:30":   "2026-12-31T18:30:00Z",
		"'2027-01-01T00:00:00.25Z'":   "2027-01-01T00:00:00.25Z",
		"1970-01-01T00:00:00.001Z":    "1970-01-01T00:00:00.001Z",
		"9999-12-31T23:59:59.999999Z": "9999-12-31T23:59:59.999Z",
	} {
		lists, err := ParseAccess("a.yaml", []byte("id: l\nrules: [{id: a, effect: deny, expires_at: "+text+"}]"))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := time.UnixMilli(lists[0].Rules[0].Expires()).UTC().Format(time.RFC3339Nano); got != want {
			t.Errorf("%s: expires %s, want %s", text, got, want)
		}
	}
	lists, err := ParseAccess("a.yaml", []byte("id: l\nrules: [{id: a, effect: deny}]"))
	if err != nil || lists[0].Rules[0].Expires() != 0 {
		t.Errorf("a rule that never expires: %+v, %v", lists, err)
	}
}

func TestParseAccessErrors(t *testing.T) {
	rule := func(more string) string { return "id: l\nrules:\n- id: a\n  effect: deny\n  " + more }
	for _, test := range []struct{ yaml, want string }{
		{"rules: []", `f.yaml:1: the list: id is missing`},
		{"id: l", `f.yaml:1: the list: rules is missing`},
		{"id: l\nrules:", `f.yaml:2: rules is empty; give it a value or remove it`},
		{"id: A list\nrules: []", `f.yaml:1: id "A list": expected lower-case words joined by`},
		{"id: l\ndefault: block\nrules: []", `f.yaml:2: default: unknown word "block"; expected one of allow, require_approval, deny`},
		{"id: l\ndefualt: deny\nrules: []", `f.yaml:2: unknown key "defualt"; did you mean "default"?`},
		{"- id: l\n  rules: []", `f.yaml:1: the list: expected keys with values, got a list`},
		{"id: l\nrules: {id: a, effect: deny}", `f.yaml:2: rules: expected a list such as [a, b], got keys with values`},
		{"id: l\nrules: []\nrules: []", `f.yaml:3: duplicate key rules, first in line 2`},
		{"id: l\nrules: []\n---\nid: l\nrules: []", `f.yaml:4: duplicate id l, first in line 1`},
		{"id: l\nrules: [{id: a}]", `f.yaml:2: rules: effect is missing`},
		{"id: l\nrules: [{effect: deny}]", `f.yaml:2: rules: id is missing`},
		{"id: l\nrules: [{id: a, effect: dney}]", `f.yaml:2: effect: unknown word "dney"; did you mean "deny"?`},
		{"id: l\nrules: [{id: a b, effect: deny}]", `f.yaml:2: id "a b": expected lower-case words`},
		{"id: l\nrules: [{id: default, effect: deny}]", `f.yaml:2: id default is reserved for the list's own default; give the rule another id`},
		{"id: l\nrules:\n- {id: a, effect: deny, tools: [x]}\n- {id: a, effect: deny}", `f.yaml:4: duplicate rule a, first in line 3`},
		{"id: l\nrules:\n- &r {id: a, effect: deny, tools: [x]}\n- *r", `f.yaml:4: rules: aliases are not allowed here; write the value in full`},
		{rule(`resources: ["/etc/*"]`), `f.yaml:5: unknown key "resources"; expected one of id, effect,`},
		{rule(`efect: deny`), `f.yaml:5: unknown key "efect"; did you mean "effect"?`},
		{rule(`message: "not {that}"`), `f.yaml:5: message: unknown field "that"; expected one of target,`},
		{rule(`actions: [code.*.kill]`), `f.yaml:5: actions: "code.*.kill": a * can only be at the end`},
		{rule(`tools: ["*Write"]`), `f.yaml:5: tools: "*Write": a * can only be at the end`},
		{rule(`tools: Write`), `f.yaml:5: tools: expected a list such as [a, b], got "Write"`},
		{rule(`commands: []`), `f.yaml:5: commands is empty; give it a value or remove it`},
		{rule(`commands: ["rm ", "*"]`), "f.yaml:5: commands: \"rm \": expected a command or its beginning with a *, such as \"git push *\"; " +
			"to match every command, use tools or actions instead\nf.yaml:5: commands: \"*\": expected a command or its beginning with a *, such as \"git push *\"; " +
			"to match every command, use tools or actions instead"},
		{rule(`tools: []`), `f.yaml:5: tools is empty; give it a value or remove it`},
		{rule(`actions: []`), `f.yaml:5: actions is empty; give it a value or remove it`},
		{rule(`when: ' '`), `f.yaml:5: when is empty; give it a value or remove it`},
		{rule(`schedule: {}`), `f.yaml:5: schedule: expected hours or weekdays, or both`},
		{rule(`schedule: weekends`), `f.yaml:5: schedule: expected keys with values, got "weekends"`},
		{rule(`schedule: {hour: [1, 2]}`), `f.yaml:5: unknown key "hour"; did you mean "hours"?`},
		{rule(`schedule: {hours: []}`), `f.yaml:5: hours is empty; give it a value or remove it`},
		{rule(`schedule: {hours: [9]}`), `f.yaml:5: hours: expected [start, end) in UTC`},
		{rule(`schedule: {hours: [9, 12, 15]}`), `f.yaml:5: hours: expected [start, end) in UTC`},
		{rule(`schedule: {hours: [24, 6]}`), `f.yaml:5: hours: expected [start, end) in UTC`},
		{rule(`schedule: {hours: [-1, 6]}`), `f.yaml:5: hours: expected [start, end) in UTC`},
		{rule(`schedule: {hours: [9, 25]}`), `f.yaml:5: hours: expected [start, end) in UTC`},
		{rule(`schedule: {hours: [9, 9]}`), `f.yaml:5: hours: [9, 9] contains no hour; omit hours to mean the whole day`},
		{rule(`schedule: {hours: [9, "17"]}`), `f.yaml:5: hours: expected a whole number, got "17"`},
		{rule(`schedule: {hours: [9, 17.5]}`), `f.yaml:5: hours: expected a whole number, got "17.5"`},
		{rule(`schedule: {weekdays: [mon]}`), `f.yaml:5: weekdays: unknown word "mon"; `},
		{rule(`schedule: {weekdays: []}`), `f.yaml:5: weekdays is empty; give it a value or remove it`},
		{rule(`expires_at: soon`), `f.yaml:5: expires_at: "soon" is not a date; expected one such as 2027-01-31, or 2027-01-31T18:00:00Z`},
		{rule(`expires_at: 2027-02-30`), `f.yaml:5: expires_at: "2027-02-30" is not a date`},
		{rule(`expires_at: 2027-01-31 18:00:00`), `f.yaml:5: expires_at: "2027-01-31 18:00:00" is not a date`},
		{rule(`expires_at: 31.01.2027`), `f.yaml:5: expires_at: "31.01.2027" is not a date`},
		{rule(`expires_at: 1970-01-01`), `f.yaml:5: expires_at: the rule expired at 1970-01-01; remove it`},
		{rule(`expires_at: 2027-01-31T18:00:00`), `f.yaml:5: expires_at: "2027-01-31T18:00:00" is not a date`},
	} {
		lists, err := ParseAccess("f.yaml", []byte(test.yaml))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || lists != nil {
			t.Errorf("%s\n got %v\nwant %s", test.yaml, err, test.want)
		}
	}
}

// A rule that always applies must be the last.
// An error of YAML names its line, whichever part of the library reports it.
func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: 2\nc: {a: x[5] y}\nd: 1\n": "f.yaml:3: something follows the end of a value; write a comma before it",
		"a: 1\nb: 2\nc: [1, 2":               "f.yaml:3: this [ is not closed; write ] at its end",
		"{a: 1\n":                            "f.yaml:1: this { is not closed; write } at its end",
		"a: 1\nb: 2\n- c\n":                  "f.yaml:3: a list item is among keys",
		"- a\n- b\nc: 1\n":                   "f.yaml:3: a key is among the items of a list",
		"a: 1\nb: {x: 1}}\n":                 "f.yaml:2: something follows the closing bracket",
		"a: 1\nb: !x!y z\n":                  "f.yaml:2: a ! at the start begins a tag of YAML",
		"a: 1\nb: 2\n c: 3\n":                "f.yaml:3: the indentation matches no line above",
		"a: 1\nb: |x\n  a\n":                 "f.yaml:2: did not find expected comment",
	} {
		_, rows := ParseAccess("f.yaml", []byte(text))
		_, object := decodeYAML("f.yaml", []byte(text))
		checkErrors(t, text, rows, want)
		checkErrors(t, text, object, want)
	}
}

func TestAlwaysComesLast(t *testing.T) {
	for more, wrong := range map[string]bool{
		"":                                   true,
		"description: d":                     true,
		"when: 'true'":                       true,
		"when: \" true\\n\"":                 true,
		"actions: ['*']":                     true,
		"tools: [Bash, '*']":                 true,
		"actions: [code.exec]":               false,
		"actions: ['*'], tools: [Bash]":      false,
		"when: session.stopped":              false,
		"schedule: {hours: [1, 2]}":          false,
		"expires_at: 2027-01-01":             false,
		"when: 'true', actions: [code.exec]": false,
	} {
		first := strings.TrimSuffix("{id: a, effect: allow, "+more, ", ") + "}"
		_, err := ParseAccess("f.yaml", fmt.Appendf(nil, "id: l\nrules:\n- %s\n- {id: b, effect: deny}", first))
		want := "f.yaml:3: rule a always applies, so the rules after it can never fire; put it last, or add a condition"
		if got := err != nil; got != wrong || wrong && err.Error() != want {
			t.Errorf("%s: %v", first, err)
		}
		if _, err := ParseAccess("f.yaml", fmt.Appendf(nil, "id: l\nrules:\n- {id: b, effect: deny, tools: [x]}\n- %s", first)); err != nil {
			t.Errorf("%s as the last: %v", first, err)
		}
	}
}

func TestAccessRemarks(t *testing.T) {
	const head = "id: l\ndefault: %s\nrules:\n"
	night := "- {id: night, effect: deny, actions: [code.exec], schedule: {hours: [22, 6]}}\n"
	for name, test := range map[string]struct {
		def, rules string
		want       []string
	}{
		"nothing":                 {"deny", "- {id: a, effect: deny, tools: [Bash]}\n- {id: b, effect: allow}", nil},
		"an allow may lapse":      {"allow", "- {id: a, effect: allow, expires_at: 2027-01-01}", nil},
		"the default denies":      {"deny", night, nil},
		"the default asks":        {"require_approval", night, nil},
		"the default allows":      {"allow", night, []string{"user/access/l.yaml:4: access rule access.l.night stops applying outside its schedule; then the default allows what it holds up"}},
		"a later rule allows":     {"deny", night + "- {id: b, effect: allow}", []string{"user/access/l.yaml:4: access rule access.l.night stops applying outside its schedule; then rule b allows what it holds up"}},
		"of other actions":        {"deny", night + "- {id: b, effect: allow, actions: ['filesystem.*']}", nil},
		"of the family":           {"deny", night + "- {id: b, effect: allow, actions: ['code*']}", []string{"user/access/l.yaml:4: access rule access.l.night stops applying outside its schedule; then rule b allows what it holds up"}},
		"a later rule holds it":   {"allow", night + "- {id: b, effect: require_approval, actions: ['code.*']}\n- {id: c, effect: allow}", nil},
		"but only for some tools": {"allow", night + "- {id: b, effect: deny, actions: ['code.*'], tools: [Monitor]}", []string{"user/access/l.yaml:4: access rule access.l.night stops applying outside its schedule; then the default allows what it holds up"}},
		"expiry": {"allow", "- {id: a, effect: require_approval, tools: [Bash], expires_at: 2027-01-01}", []string{
			"user/access/l.yaml:4: access rule access.l.a stops applying at 2027-01-01; then the default allows what it holds up"}},
		"both": {"allow", "- {id: a, effect: deny, schedule: {weekdays: [monday]}, expires_at: 2027-01-01}", []string{
			"user/access/l.yaml:4: access rule access.l.a stops applying outside its schedule, and at 2027-01-01; then the default allows what it holds up"}},
		"never fires": {"deny", "- {id: a, effect: allow, actions: ['filesystem.*', code.exec]}\n- {id: b, effect: deny, actions: [filesystem.write], when: session.stopped}", []string{
			"user/access/l.yaml:5: access rule access.l.b can never fire: rule a before it applies wherever this one does"}},
		"fires outside hours":       {"deny", "- {id: a, effect: allow, actions: [code.exec], schedule: {hours: [1, 2]}}\n- {id: b, effect: deny, actions: [code.exec]}", nil},
		"fires on other tools":      {"deny", "- {id: a, effect: allow, tools: [Bash]}\n- {id: b, effect: deny, actions: [code.exec]}", nil},
		"fires when that fails":     {"deny", "- {id: a, effect: allow, tools: [Bash], when: session.stopped}\n- {id: b, effect: deny, tools: [Bash]}", nil},
		"fires on other commands":   {"deny", "- {id: a, effect: deny, commands: [ls, 'rm *']}\n- {id: b, effect: deny, commands: [ls, make]}", nil},
		"one command is not all":    {"deny", "- {id: a, effect: allow, commands: ['rm *']}\n- {id: b, effect: deny, commands: ['rm *']}", nil},
		"commands and other events": {"allow", "- {id: a, effect: allow, commands: [ls]}\n- {id: b, effect: allow}", nil},
		"the same commands": {"deny", "- {id: a, effect: deny, commands: [ls, 'rm *']}\n- {id: b, effect: allow, commands: ['rm *'], tools: [Bash]}", []string{
			"user/access/l.yaml:5: access rule access.l.b can never fire: rule a before it applies wherever this one does"}},
		"the same condition twice": {"deny", "- {id: a, effect: allow, when: session.stopped}\n- {id: b, effect: deny, tools: [Bash], when: session.stopped}", []string{
			"user/access/l.yaml:5: access rule access.l.b can never fire: rule a before it applies wherever this one does"}},
	} {
		e, err := Assemble(shippedBundle(t), layer(t, User, "access/l.yaml", fmt.Sprintf(head, test.def)+test.rules))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(test.want, e.Remarks()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Policy sees of a list what it says, and nothing of when; without lists it
// sees nothing at all.
func TestAccessData(t *testing.T) {
	e, err := Assemble(shippedBundle(t), layer(t, User, "access/deep/team.yaml", team))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"team": map[string]any{"default": "require_approval", "title": "What agents of the shop team may do", "rules": map[string]any{
			"access.team.nights": map[string]any{"effect": "deny", "message": "Not at night: {command}", "description": "Nobody watches then."},
			"access.team.rest":   map[string]any{"effect": "allow"},
		}},
		"more": map[string]any{"default": "deny", "rules": map[string]any{}},
	}
	user := e.Data["policies"].(map[string]any)["user"].(map[string]any)
	if d := cmp.Diff(want, user["access_lists"]); d != "" {
		t.Error(d)
	}
	if got := len(e.Access()); got != 2 {
		t.Errorf("%d lists, want 2", got)
	}
	e, err = Assemble(shippedBundle(t), layer(t, User, "access/empty.yaml", "# nothing\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, there := e.Data["policies"].(map[string]any)["user"].(map[string]any)["access_lists"]; there {
		t.Error("there are lists where none is written")
	}
}

func TestAccessIDsAreUnique(t *testing.T) {
	list := func(id, rule string) string {
		return "id: " + id + "\nrules: [{id: " + rule + ", effect: deny}]"
	}
	for name, test := range map[string]struct {
		organisation, user []string
		want               []string
	}{
		"other ids":       {[]string{"access/a.yaml", list("a", "x")}, []string{"access/a.yaml", list("b", "x")}, nil},
		"in two layers":   {[]string{"access/a.yaml", list("a", "x")}, []string{"access/b.yaml", list("a", "y")}, []string{`user/access/b.yaml:1: access list "a" of the user layer: "access.a.default" is already used in the organisation layer`}},
		"in two files":    {nil, []string{"access/a.yaml", list("a", "x"), "access/b.yaml", list("a", "y")}, []string{`user/access/b.yaml:1: access list "a" of the user layer: "access.a.default" is already used`}},
		"by their rules":  {nil, []string{"access/a.yaml", list("a", "b.x"), "access/b.yaml", list("a.b", "x")}, []string{`user/access/b.yaml:1: access list "a.b" of the user layer: "access.a.b.x" is already used`}},
		"by a default":    {nil, []string{"access/a.yaml", list("a", "b.default"), "access/b.yaml", list("a.b", "x")}, []string{`"access.a.b.default" is already used`}},
		"a rule's row":    {nil, []string{"access/a.yaml", list("a", "x"), "rules/a.yaml", "{id: access.a.x, severity: low}"}, []string{`"access.a.x" is already used`}},
		"data written in": {nil, []string{"data.yaml", "policies: {user: {access_lists: {}}}"}, []string{`data: "policies/user/access_lists" is made of access/**.yaml; write the lists there`}},
	} {
		_, err := func() (*Effective, error) {
			organisation, err := Load(folder(test.organisation...), Organisation)
			if err != nil {
				return nil, err
			}
			user, err := Load(folder(test.user...), User)
			if err != nil {
				return nil, err
			}
			return Assemble(shippedBundle(t), organisation, user)
		}()
		checkErrors(t, name, err, test.want...)
	}
}

// Whatever is accepted can be written out and means the same.
func FuzzParseAccess(f *testing.F) {
	f.Add(team)
	f.Add("id: l\nrules: [{id: a, effect: deny, expires_at: 2027-01-01, schedule: {hours: [22, 0x6]}}]")
	f.Add("id: l\nrules: [{id: a, effect: allow, actions: ['*']}]\n---\nid: m\nrules: []")
	f.Add("? {a: b}\n: &c [*c]")
	f.Fuzz(func(t *testing.T, text string) {
		lists, err := ParseAccess("f.yaml", []byte(text))
		if err != nil {
			if lists != nil || !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Fatalf("%q: %d lists and %v", text, len(lists), err)
			}
			return
		}
		for _, l := range lists {
			l.remarks()
			raw, err := yaml.Marshal(l)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			again, err := ParseAccess("f.yaml", raw)
			if err != nil {
				t.Fatalf("%q became %s: %v", text, raw, err)
			}
			if d := cmp.Diff(l, again[0], cmpopts.IgnoreUnexported(AccessList{}, AccessRule{})); d != "" {
				t.Fatalf("%q: %s", text, d)
			}
		}
	})
}
