package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/mutate"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// sameText compares modules as texts, where Rego does not matter.
func sameText(before, after map[string]string) (map[string][2][]string, error) {
	differ := map[string][2][]string{}
	for _, name := range bothKeys(before, after) {
		if before[name] != after[name] {
			differ["data."+name] = [2][]string{{before[name]}, {after[name]}}
		}
	}
	return differ, nil
}

func diffOf(t *testing.T, before, after *bundles.Effective) Changes {
	t.Helper()
	c, err := Policies(before, after, sameText)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var shippedOnce = sync.OnceValues(bundles.Default)

// layered is a policy of the built-in one and a user's layer.
func layered(t *testing.T, files ...string) *bundles.Effective {
	t.Helper()
	return onBase(t, filesOf(t, bundles.User, files...))
}

// onBase is a policy of the built-in one and layers above it.
func onBase(t *testing.T, layers ...*bundles.Bundle) *bundles.Effective {
	t.Helper()
	base, err := shippedOnce()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(append([]*bundles.Bundle{base}, layers...)...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// filesOf makes a bundle from files, given as name and text.
func filesOf(t *testing.T, layer string, files ...string) *bundles.Bundle {
	t.Helper()
	content := map[string][]byte{}
	for i := 0; i < len(files); i += 2 {
		content[files[i]] = []byte(files[i+1])
	}
	b, err := bundles.FromFiles(content, layer)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mirrored are the changes in the reverse direction.
func mirrored(c Changes) Changes {
	m := Changes{Before: c.After, After: c.Before, List: []Change{}}
	n := c.Counts
	m.Counts = DirectionCounts{n.Loosened, n.Tightened, n.Mixed, n.Undecided, n.Unaffected}
	back := map[string]string{Added: Removed, Removed: Added, Altered: Altered, Reordered: Reordered}
	for _, d := range c.List {
		d.Did, d.Direction, d.Before, d.After = back[d.Did], d.Direction.reversed(), d.After, d.Before
		d.Parts = slices.Clone(d.Parts)
		for i, p := range d.Parts {
			d.Parts[i] = Part{p.Name, p.After, p.Before, p.Direction.reversed()}
		}
		m.List = append(m.List, d)
	}
	return m
}

// unordered leaves aside in which order the items of a list came and went.
var unordered = []cmp.Option{cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b Part) bool {
	return fmt.Sprint(a.Name, a.Before, a.After) < fmt.Sprint(b.Name, b.Before, b.After)
})}

// Small changes of the built-in policy, one of each kind in each file and some
// more, are seen, named, and the same backwards. With REVIEWER_EVERY=1 (`make
// fidelity`) there are more of them.
func TestDiffOfMutants(t *testing.T) {
	count := sweep.Count(t, "changes compared both ways")
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	before, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	if c := diffOf(t, before, before); !c.Empty() {
		t.Errorf("it differs from itself: %+v", c.List)
	}
	tried, seen := 0, map[string]bool{}
	for i, m := range mutate.Changes(base, func(string) bool { return true }, nil) {
		kind := m.File + " " + m.Operator
		if seen[kind] && (i%25 != 0 || !sweep.Has(i/25, 4)) {
			continue
		}
		seen[kind] = true
		changed, err := m.Apply(base)
		if err != nil {
			continue // it is not one
		}
		after, err := bundles.Assemble(changed)
		if err != nil {
			continue
		}
		tried++
		count.Add(1)
		c := diffOf(t, before, after)
		if !slices.ContainsFunc(c.List, func(d Change) bool { return strings.HasPrefix(d.Name, m.Rule) }) {
			t.Errorf("%s:%d: %s of %s: %s -> %s: not named in %+v", m.File, m.Line, m.Operator, m.Rule, m.Before, m.After, c.List)
		}
		if d := cmp.Diff(mirrored(c), diffOf(t, after, before), unordered...); d != "" {
			t.Errorf("%s:%d: %s: not the same backwards: %s", m.File, m.Line, m.Rule, d)
		}
	}
	if tried < 50 {
		t.Errorf("only %d changes were tried", tried)
	}
}

const oneRule = "- id: shop.a\n  severity: high\n  decision: ask\n  message: m\n  match: {commands: [x, y]}\n  when: event.tool == \"Bash\"\n"

// The direction of a change is read off what is known, and off nothing else.
func TestDirections(t *testing.T) {
	const pattern = "- id: shop.p\n  severity: high\n  measure: session.file_ops\n  threshold: 10\n  levels: [{at: 10, level: medium}, {at: 20, level: high}]\n"
	const finding = "- id: shop.f\n  severity: high\n  match: {commands: [x]}\n"
	const list = "id: team\ndefault: deny\nrules:\n  - {id: a, effect: deny, actions: [x, y]}\n  - {id: b, effect: allow, actions: [z]}\n  - {id: c, effect: require_approval, actions: [v]}\n"
	const detector = "- id: shop.d\n  title: t\n  patterns: [a, b]\n  examples: {match: [a], no_match: [c]}\n"
	for name, test := range map[string]struct {
		file, text, old, new string
		change, part         string // name of the change; of its part; the change itself where that is empty
		want                 Direction
	}{
		"a milder decision":            {"rules/a.yaml", oneRule, "decision: ask", "decision: warn", "shop.a", "decision", Loosened},
		"a stricter decision":          {"rules/a.yaml", oneRule, "decision: ask", "decision: block", "shop.a", "decision", Tightened},
		"no decision any more":         {"rules/a.yaml", oneRule, "  decision: ask\n", "", "shop.a", "decision", Loosened},
		"a word more to look at":       {"rules/a.yaml", oneRule, "[x, y]", "[x, y, z]", "shop.a", "match.commands", Tightened},
		"a word less":                  {"rules/a.yaml", oneRule, "[x, y]", "[x]", "shop.a", "match.commands", Loosened},
		"another word":                 {"rules/a.yaml", oneRule, "[x, y]", "[x, z]", "shop.a", "match.commands", Undecided},
		"words in another order":       {"rules/a.yaml", oneRule, "[x, y]", "[y, x]", "shop.a", "match.commands", Unaffected},
		"another order and a decision": {"rules/a.yaml", oneRule, "  decision: ask\n  message: m\n  match: {commands: [x, y]}", "  decision: warn\n  message: m\n  match: {commands: [y, x]}\n  enforcement: warn", "shop.a", "enforcement", Loosened},
		"no words at all":              {"rules/a.yaml", oneRule, "  match: {commands: [x, y]}\n", "", "shop.a", "match.commands", Tightened},
		"one more thing to ask for":    {"rules/a.yaml", oneRule, "commands: [x, y]", "commands: [x, y], tools: [Bash]", "shop.a", "match.tools", Loosened},
		"another condition":            {"rules/a.yaml", oneRule, `"Bash"`, `"Read"`, "shop.a", "when", Undecided},
		"no condition":                 {"rules/a.yaml", oneRule, "  when: event.tool == \"Bash\"\n", "", "shop.a", "when", Tightened},
		"a message":                    {"rules/a.yaml", oneRule, "message: m", "message: n", "shop.a", "message", Unaffected},
		"severity":                     {"rules/a.yaml", oneRule, "severity: high", "severity: low", "shop.a", "severity", Undecided},
		"only watched":                 {"rules/a.yaml", oneRule, "message: m", "message: m\n  enforcement: observe", "shop.a", "enforcement", Loosened},
		"never off":                    {"rules/a.yaml", oneRule, "message: m", "message: m\n  always: true", "shop.a", "always", Tightened},
		"an exception more":            {"rules/a.yaml", oneRule, "message: m", "message: m\n  overridable: [project]", "shop.a", "overridable", Loosened},
		"a rule more":                  {"rules/a.yaml", oneRule, "- id: shop.a", "- {id: shop.b, severity: low, decision: block, message: m, match: {commands: [q]}}\n- id: shop.a", "shop.b", "", Tightened},
		"a rule that modifies more":    {"rules/a.yaml", oneRule, "- id: shop.a", "- {id: shop.b, severity: low, decision: modify, message: m, match: {commands: [q]}}\n- id: shop.a", "shop.b", "", Undecided},
		"what others judge":            {"rules/a.yaml", finding, "[x]", "[x, y]", "shop.f", "match.commands", Undecided},
		"a finding more":               {"rules/a.yaml", finding, "- id: shop.f", "- {id: shop.g, severity: low, match: {commands: [q]}}\n- id: shop.f", "shop.g", "", Undecided},
		"a threshold":                  {"patterns/a.yaml", pattern, "threshold: 10", "threshold: 9", "shop.p", "threshold", Tightened},
		"a level later":                {"patterns/a.yaml", pattern, "at: 20", "at: 30", "shop.p", "levels", Loosened},
		"a level more":                 {"patterns/a.yaml", pattern, "{at: 20, level: high}", "{at: 20, level: high}, {at: 30, level: critical}", "shop.p", "levels", Tightened},
		"levels both ways":             {"patterns/a.yaml", pattern, "[{at: 10, level: medium}, {at: 20, level: high}]", "[{at: 10, level: low}, {at: 15, level: high}]", "shop.p", "levels", Mixed},
		"another measure":              {"patterns/a.yaml", pattern, "session.file_ops", "session.denials", "shop.p", "measure", Undecided},
		"an effect":                    {"access/a.yaml", list, "effect: deny", "effect: allow", "access.team.a", "effect", Loosened},
		"a default":                    {"access/a.yaml", list, "default: deny", "default: require_approval", "access.team", "default", Loosened},
		"what is denied":               {"access/a.yaml", list, "[x, y]", "[x]", "access.team.a", "actions", Loosened},
		"what is allowed":              {"access/a.yaml", list, "[z]", "[z, w]", "access.team.b", "actions", Loosened},
		"what is approved":             {"access/a.yaml", list, "[v]", "[v, w]", "access.team.c", "actions", Undecided},
		"a denial less":                {"access/a.yaml", list, "  - {id: a, effect: deny, actions: [x, y]}\n", "", "access.team.a", "", Loosened},
		"an allowance for a while":     {"access/a.yaml", list, "actions: [z]", "actions: [z], expires_at: 2099-01-31", "access.team.b", "expires_at", Tightened},
		"an access rule in another place": {"access/a.yaml", list, "  - {id: a, effect: deny, actions: [x, y]}\n  - {id: b, effect: allow, actions: [z]}\n",
			"  - {id: b, effect: allow, actions: [z]}\n  - {id: a, effect: deny, actions: [x, y]}\n", "access.team", "", Undecided},
		"what a program does":          {"programs/a.yaml", "a: {cases: [{do: [{read: rest}]}]}", "read", "write", "programs/a", "cases", Undecided},
		"a row more":                   {"programs/a.yaml", "a: {values: -x}\n", "-x}\n", "-x}\nb: {cases: [{do: [{end: delete}]}]}\n", "programs/b", "", Tightened},
		"an example of a row":          {"programs/a.yaml", "a: {values: -x, about: a}", "about: a", "about: b", "programs/a", "about", Unaffected},
		"a detector":                   {"detectors/a.yaml", detector, "[a, b]", "[a]", "shop.d", "patterns", Undecided},
		"a threshold of the settings":  {"settings.yaml", "risk: {high_threshold: 0.8}", "0.8", "0.7", "risk.high_threshold", "", Tightened},
		"a matrix cell":                {"settings.yaml", "matrix: {high: {low: block}}", "block", "ask", "matrix.high.low", "", Loosened},
		"a weight":                     {"settings.yaml", "rationality: {weights: {efficiency: 0.1}}", "0.1", "0.4", "rationality.weights.efficiency", "", Undecided},
		"a text for people":            {"settings.yaml", "messages: {allowed: Fine.}", "Fine.", "Good.", "messages.allowed", "", Unaffected},
		"a zone":                       {"settings.yaml", "zones: [~/a/, ~/b/]", ", ~/b/", "", "zones", "", Loosened},
		"a known host":                 {"settings.yaml", "hosts: {known: [a.example]}", "[a.example]", "[a.example, b.example]", "hosts.known", "", Loosened},
		"a narrower part of the space": {"settings.yaml", "scope: {paths: [src]}", "[src]", "[src/a, src/b]", "scope.paths", "", Tightened},
		"a rule switched off":          {"settings.yaml", "rules: {disabled: [publish]}", "[publish]", "[publish, git_force_push]", "rules.disabled", "", Loosened},
		"a rule only watched":          {"settings.yaml", "zones: [~/a/]\nrules: {enforcement: {git_force_push: enforce}}", "{git_force_push: enforce}", "{git_force_push: observe}", "rules.enforcement.git_force_push", "", Loosened},
		"a word of the matrix's order": {"settings.yaml", "enforcement: warn", "warn", "observe", "enforcement", "", Loosened},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(test.text, test.old, test.new, 1)
			before, after := layered(t, test.file, test.text), layered(t, test.file, text)
			c := diffOf(t, before, after)
			if got := directionOf(c, test.change, test.part); got != test.want {
				t.Errorf("%s %s: %q, want %q\n%+v", test.change, test.part, got, test.want, c.List)
			}
			if d := cmp.Diff(mirrored(c), diffOf(t, after, before), unordered...); d != "" {
				t.Errorf("not the same backwards: %s", d)
			}
		})
	}
}

// Of a row whose words alone are in another order that is said; of one in which
// more has changed it is not.
func TestReordered(t *testing.T) {
	tools := strings.Replace(oneRule, "commands: [x, y]", "commands: [x, y], facts: [stopped, changes]", 1)
	turned := strings.NewReplacer("[x, y]", "[y, x]").Replace(tools)
	for want, after := range map[string]string{Reordered: turned, Altered: strings.Replace(turned, "decision: ask", "decision: warn", 1)} {
		c := diffOf(t, layered(t, "rules/a.yaml", tools), layered(t, "rules/a.yaml", after))
		if len(c.List) != 1 || c.List[0].Did != want {
			t.Errorf("want %s, got %+v", want, c.List)
		}
	}
	after := strings.NewReplacer("[x, y]", "[y, x]", "message: m", "message: m\n  always: true\n  enforcement: observe\n  overridable: [project]").Replace(tools)
	c := diffOf(t, layered(t, "rules/a.yaml", tools), layered(t, "rules/a.yaml", after))
	if got := directionOf(c, "shop.a", "overridable"); got != Loosened {
		t.Errorf("a part behind one in another order: %q, want loosened", got)
	}
}

// directionOf finds the direction of a change or of a part of it; empty: there
// is not one.
func directionOf(c Changes, name, part string) Direction {
	for _, d := range c.List {
		if d.Name != name {
			continue
		}
		if part == "" {
			return d.Direction
		}
		for _, p := range d.Parts {
			if p.Name == part {
				return p.Direction
			}
		}
	}
	return ""
}

// What is written in another way, or in another file, is not a difference.
func TestDiffOfForm(t *testing.T) {
	list := "id: team\ndefault: deny\nrules:\n  - {id: a, effect: allow, actions: [x]}\n"
	before := layered(t, "rules/a.yaml", oneRule, "settings.yaml", "risk: {high_threshold: 0.8}", "access/a.yaml", list)
	for name, after := range map[string]*bundles.Effective{
		"comments":       layered(t, "rules/a.yaml", "# new\n"+oneRule, "settings.yaml", "# new\nrisk:\n  high_threshold: 0.80\n", "access/a.yaml", list),
		"another file":   layered(t, "rules/b.yaml", oneRule, "settings.yaml", "risk: {high_threshold: 0.8}", "access/b.yaml", list),
		"order of keys":  layered(t, "rules/a.yaml", strings.Replace(oneRule, "  severity: high\n  decision: ask\n", "  decision: ask\n  severity: high\n", 1), "settings.yaml", "risk: {high_threshold: 0.8}", "access/a.yaml", list),
		"a default said": layered(t, "rules/a.yaml", oneRule, "settings.yaml", "risk: {high_threshold: 0.8}", "access/a.yaml", strings.Replace(list, "default: deny\n", "", 1)),
	} {
		c := diffOf(t, before, after)
		if !c.Empty() {
			t.Errorf("%s: %+v", name, c.List)
		}
		if before.Digest == after.Digest {
			t.Errorf("%s: nothing was changed", name)
		}
	}
}

// A layer's word that holds nowhere is told, as one that decides nothing.
func TestDiffOfWhatHasNoEffect(t *testing.T) {
	before := layered(t, "rules/a.yaml", oneRule)
	after := onBase(t, before.Layers[1], filesOf(t, bundles.Project, "settings.yaml", "risk: {high_threshold: 0.99}"))
	var got []string
	for _, d := range diffOf(t, before, after).List {
		got = append(got, d.Kind+" "+d.Name+" "+d.Did+" "+string(d.Direction))
	}
	want := []string{"layer project added none", "said risk.high_threshold added none"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Settings that one version of the schema does not know are compared too.
func TestDiffOfUnknownSetting(t *testing.T) {
	before, after := layered(t, "rules/a.yaml", oneRule), layered(t, "rules/a.yaml", oneRule)
	after.Document["of_another_version"] = map[string]any{"deep": 1.0}
	if got := directionOf(diffOf(t, before, after), "of_another_version.deep", ""); got != Undecided {
		t.Errorf("direction %q, want undecided", got)
	}
}

func TestTogether(t *testing.T) {
	for _, test := range []struct {
		parts []Direction
		want  Direction
	}{
		{nil, Unaffected}, {[]Direction{Unaffected, Loosened}, Loosened}, {[]Direction{Tightened, Unaffected}, Tightened},
		{[]Direction{Tightened, Loosened}, Mixed}, {[]Direction{Mixed, Tightened}, Mixed}, {[]Direction{Loosened, Undecided}, Undecided},
	} {
		if got := together(test.parts); got != test.want {
			t.Errorf("%v: %s, want %s", test.parts, got, test.want)
		}
	}
	hidden := Changes{List: []Change{{Direction: Undecided, Parts: []Part{{Direction: Loosened}}}}}
	if !hidden.Loosens() || (Changes{List: []Change{{Direction: Tightened}}}).Loosens() {
		t.Error("a loosened part next to an undecided one is not seen, or a tightened change is")
	}
}

// An archive is the folder that it was made of: building adds nothing to what a
// policy means.
func TestDiffOfArchive(t *testing.T) {
	folder := filesOf(t, bundles.Organisation,
		".manifest", `{"roots": ["policies/organisation"], "rego_version": 1, "metadata": {"name": "acme/org", "version": "1.0.0", "sequence": 3}}`,
		"settings.yaml", "enforcement: enforce\n", "own.rego", "package policies.organisation\n\nfindings := set()\n",
		"rules/a.yaml", oneRule, "access/a.yaml", "id: a\nrules: [{id: one, effect: deny, actions: [code.exec]}]\n",
		"detectors/d.yaml", "- {id: org.d, title: D, pattern: 'a+', examples: {match: [a], no_match: [b]}}\n",
		"policies/organisation/data.yaml", "hosts: [example.com]\n")
	p, err := bundles.Pack(folder, bundles.Release{Engine: 3, TestsSkipped: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := bundles.OpenArchive(bytes.NewReader(p.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	archived, err := bundles.Load(a, bundles.Organisation)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diffOf(t, onBase(t, folder), onBase(t, archived)).List {
		if d.Name != "organisation.requires.engine" {
			t.Errorf("%+v", d)
		}
	}
}

// A row of the organisation's layer makes known what was unknown, which loosens,
// and says what it does, which tightens; one that stands elsewhere is the same.
func TestDiffOfOrganisationRows(t *testing.T) {
	with := func(text string) *bundles.Effective {
		return onBase(t, filesOf(t, bundles.Organisation, "programs/a.yaml", text))
	}
	none, one, read := with("b: {values: -x}"), with("a: {cases: [{do: [{end: delete}]}]}\nb: {values: -x}"),
		with("b: {values: -x}\n\n# moved\na: {reads_only: true, cases: [{do: [{end: delete}]}]}")
	if got := directionOf(diffOf(t, none, one), "programs/a", ""); got != Mixed {
		t.Errorf("a row more: %q", got)
	}
	c := diffOf(t, one, read)
	if got := directionOf(c, "programs/a", "reads_only"); got != Loosened || len(c.List) != 1 {
		t.Errorf("only reads now: %q in %+v", got, c.List)
	}
}
