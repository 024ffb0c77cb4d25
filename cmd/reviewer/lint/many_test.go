package lint

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// large is a layer of many rules, each with an example.
func large(rows, modules int) map[string]string {
	files := map[string]string{}
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, "- id: mine.r%d\n  title: Rule %d\n  severity: high\n  decision: ask\n  harm: outward\n  message: m\n  match: {phases: [pre], commands: [tool%d]}\n"+
			"  when: action.commands.exists(c, c.name == \"tool%d\" && c.has(\"--force\"))\n"+
			"  examples: {match: [{tool: Bash, args: {command: tool%d --force}}]}\n", i, i, i, i, i)
		if i%500 == 499 || i == rows-1 {
			files[fmt.Sprintf("rules/r%d.yaml", i)] = b.String()
			b.Reset()
		}
	}
	for i := range modules {
		files[fmt.Sprintf("r%d.rego", i)] = fmt.Sprintf("package policies.user\n\n# METADATA\n# title: Rule %d\n"+
			"findings contains {\"id\": \"rego.r%d\", \"decision\": \"ask\"} if {\n\tinput.phase == \"pre\"\n\tsome c in input.action.commands\n"+
			"\t_named%d(c)\n}\n\n_named%d(c) if c.name == \"tool%d\"\n", i, i, i, i, i)
	}
	return files
}

// A policy of thousands of rules is checked while one waits, and a mistake in
// one of them is found. There are 1,500 rows, and 5,000 with REVIEWER_EVERY=1
// (`make fidelity`).
func TestManyRules(t *testing.T) {
	rows := sweep.Some(1500, 5000)
	sweep.Count(t, "rules of one policy").Add(int64(rows))
	files := large(rows, 500)
	files["r7.rego"] = strings.Replace(files["r7.rego"], "c.name", "c.nme", 1)
	files["rules/r499.yaml"] = strings.Replace(files["rules/r499.yaml"], "c.name", "c.nme", 1)
	start := osfile.ProcessTime()
	list := checked(bundles.User, files)
	took := osfile.ProcessTime() - start
	t.Logf("%d rows and 500 modules in %s", rows, took.Round(time.Millisecond))
	if took > time.Minute {
		t.Errorf("took %s of processor time", took)
	}
	if len(list) != 2 {
		t.Errorf("%d problems, want the two mistakes", len(list))
	}
	for _, p := range list[:min(5, len(list))] {
		if !strings.Contains(p.Message, "nme") {
			t.Errorf("%s", line(p))
		}
	}
}

// small is a layer with a file of each kind.
func small() map[string]string {
	return map[string]string{
		"a.rego":                  module("some e in input.action.effects\n\t_bad(e)") + "\n_bad(e) if e.kind in {\"file_delete\", \"network\"}\n",
		"a_test.rego":             "package policies.user.mine_test\n\nimport data.policies.user\n\ntest_x if count(user.findings) == 0 with input as {\"action\": {\"effects\": []}}\n",
		"rules/a.yaml":            rule("match: {phases: [pre], commands: [git]}\n  when: action.effects.exists(e, e.kind == \"network\")"),
		"access/a.yaml":           "id: a\nrules:\n  - {id: one, effect: deny, actions: [code.*], schedule: {hours: [22, 6]}}\n",
		"detectors/a.yaml":        "- id: x.y\n  title: X\n  pattern: 'a+'\n  examples: {match: [a], no_match: [b]}\n",
		"settings.yaml":           "risk: {high_threshold: 0.85}\nrules: {disabled: [delete_untracked]}\n",
		"policies/user/data.yaml": "hosts: [example.com]\n",
		"cases/a.yaml":            "name: a\ncases:\n  - {Bash: ls, decision: allow, not_rules: [mine]}\n",
		".manifest":               `{"roots": ["policies/user"]}`,
	}
}

func TestSmall(t *testing.T) {
	for _, p := range checked(bundles.User, small()) {
		if p.Severity == report.SeverityError {
			t.Errorf("%s", line(p))
		}
	}
}

// bare is a base layer with all settings and next to no rules.
func bare(t *testing.T) fstest.MapFS {
	t.Helper()
	data, err := fs.ReadFile(bundles.DefaultFS(), "data.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		"data.yaml":     {Data: data},
		"decision.rego": {Data: []byte("package reviewer\n\ndecision := {\"decision\": \"allow\", \"enforced\": \"allow\"} if input.phase\n")},
		"rules/a.yaml":  {Data: []byte("- {id: delete_untracked, title: X, severity: low, decision: ask, harm: loss, message: m, match: {signals: [broad_destructive]}}\n")},
	}
}

// usable reports whether a layer over a base could decide anything in production.
func usable(base, own fstest.MapFS) error {
	b, err := bundles.Load(base, bundles.Base)
	if err != nil {
		return err
	}
	l, err := bundles.Load(own, bundles.User)
	if err != nil {
		return err
	}
	e, err := bundles.Assemble(b, l)
	if err != nil {
		return err
	}
	_, err = wiring.Compile(context.Background(), e)
	return err
}

// Whatever is changed in a file, checking ends, says where each thing is, and
// never passes a policy that cannot be used.
func FuzzCheck(f *testing.F) {
	f.Add(byte(0), uint16(30), byte(3), "x")
	f.Add(byte(1), uint16(3), byte(1), "{{")
	f.Add(byte(5), uint16(0), byte(200), "")
	f.Add(byte(7), uint16(12), byte(0), "\n- ")
	f.Fuzz(changed)
}

// TestChanged is FuzzCheck for some changes that are the same each time: eighty,
// and 400 with REVIEWER_EVERY=1 (`make fidelity`).
func TestChanged(t *testing.T) {
	if found, err := tried(t, small()); len(found) > 0 || err != nil {
		t.Fatalf("something is wrong without any change: %v, %v", found, err)
	}
	inserts := []string{"", "x", "\n", "{", "\"", ": ", "- a\n", "[", "}", " if {", "\x00", "é", "input.", "# METADATA\n# a: [\n"}
	changes := sweep.Some(80, 400)
	sweep.Count(t, "changed files").Add(int64(changes))
	const groups = 8
	for group := range uint32(groups) {
		t.Run(fmt.Sprint(group), func(t *testing.T) {
			t.Parallel()
			seed := group + 1
			next := func(n int) int {
				seed = seed*1664525 + 1013904223
				return int(seed>>8) % n
			}
			for range changes / groups {
				changed(t, byte(next(256)), uint16(next(1<<16)), byte(next(12)), inserts[next(len(inserts))])
			}
		})
	}
}

func changed(t *testing.T, file byte, at uint16, cut byte, insert string) {
	files := small()
	name := slices.Sorted(maps.Keys(files))[int(file)%len(files)]
	text := files[name]
	from := int(at) % (len(text) + 1)
	files[name] = text[:from] + insert + text[min(len(text), from+int(cut)):]
	found, err := tried(t, files)
	if err != nil && len(found) == 0 {
		t.Errorf("%s of %q passes, and cannot be used: %v", name, files[name], err)
	}
}

// tried checks a layer over the bare base. It returns what is wrong with it, and
// whether it could be used.
func tried(t *testing.T, files map[string]string) (wrong []string, err error) {
	t.Helper()
	base, own := bare(t), fstest.MapFS{}
	for name, text := range files {
		own[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, p := range Policy(now, Layer{Name: bundles.Base, Files: base}, Layer{Name: bundles.User, Files: own, Given: true}).Problems {
		if p.Message == "" || p.Code == "" || p.File == "" {
			t.Errorf("a problem says nothing: %+v", p)
		}
		if p.Severity == report.SeverityError {
			wrong = append(wrong, line(p))
		}
	}
	return wrong, usable(base, own)
}
