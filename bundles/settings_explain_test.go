package bundles

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func explained(t *testing.T, layers ...[2]string) map[string]Setting {
	t.Helper()
	e, err := assembled(t, layers...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Explain()
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[string]Setting{}
	for _, s := range all {
		byKey[s.Key] = s
	}
	return byKey
}

func TestExplain(t *testing.T) {
	all := explained(t,
		[2]string{Organisation, "hosts: {known: [a, b, c]}\nrisk: {high_threshold: 0.9, privileged: 0.3}"},
		[2]string{User, "hosts: {known: [a, b]}\nzones: [~/a/]\nmessages: {allowed: Fine.}\nrules: {disabled: [publish], enforcement: {git_force_push: observe}}"},
		[2]string{Project, "hosts: {known: [b]}\nzones: [~/b/]\nrisk: {privileged: 0.1, out_of_scope: 0.4}\nrules: {disabled: [publish]}"})
	for key, want := range map[string]struct {
		value   any
		layers  string
		merge   string
		initial any
	}{
		"hosts.known":                      {[]any{"b"}, "organisation user project", "intersect", []any{}},
		"zones":                            {append(zones(t), "~/a/", "~/b/"), "base user project", "union", zones(t)},
		"rules.disabled":                   {[]any{"publish"}, "user", "intersect", []any{}},
		"risk.high_threshold":              {0.9, "organisation", "min", 0.8},
		"risk.privileged":                  {0.3, "organisation", "max", 0.2},
		"risk.out_of_scope":                {0.4, "project", "max", 0.3},
		"messages.allowed":                 {"Fine.", "user", "replace", "All rules passed."},
		"rules.enforcement.git_force_push": {"observe", "user", "strictest", nil},
		"risk.failed_similar":              {[]any{0.0, 0.1, 0.2, 0.4}, "base", "", []any{0.0, 0.1, 0.2, 0.4}},
		"audit.retain_days":                {30.0, "base", "replace", 30.0},
	} {
		got := all[key]
		if d := cmp.Diff(want.value, got.Value); d != "" {
			t.Errorf("%s: %s", key, d)
		}
		if d := cmp.Diff(want.initial, got.Default); d != "" {
			t.Errorf("%s, default: %s", key, d)
		}
		if strings.Join(got.Layers, " ") != want.layers || !strings.HasSuffix(want.layers, got.Layer) || got.Merge != want.merge {
			t.Errorf("%s: from %v (%s) by %q, want %s by %q", key, got.Layers, got.Layer, got.Merge, want.layers, want.merge)
		}
	}
}

// Each setting is listed once, says what it means, and is in its section.
func TestExplainListsEverySetting(t *testing.T) {
	e, err := assembled(t)
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Explain()
	if err != nil {
		t.Fatal(err)
	}
	var keys, sections []string
	for _, s := range list {
		if s.Description == "" {
			t.Errorf("%s: nothing says what it means", s.Key)
		}
		keys = append(keys, s.Key)
		section, _, nested := strings.Cut(s.Key, ".")
		if nested && (len(sections) == 0 || sections[len(sections)-1] != section) {
			if slices.Contains(sections, section) {
				t.Errorf("%s stands apart from its section", s.Key)
			}
			sections = append(sections, section)
		}
	}
	want := leaves("", tree(t))
	for path := range want {
		if !slices.ContainsFunc(keys, func(key string) bool { return key == path || strings.HasPrefix(key, path+".") }) {
			t.Errorf("%s is not listed", path)
		}
	}
	for _, key := range keys { // an entry of a map with names of its own is listed below the map's name
		above := key[:max(strings.LastIndex(key, "."), 0)]
		if want[key] == nil && want[above] == nil {
			t.Errorf("%s is listed, but not a setting", key)
		}
	}
	if i, j := slices.Index(keys, "risk.low_threshold"), slices.Index(keys, "risk.critical_threshold"); i > j {
		t.Error("thresholds are not in the order of the schema")
	}
}

func TestSaid(t *testing.T) {
	e, err := assembled(t,
		[2]string{User, "risk: {low_threshold: 0.3, high_threshold: 0.7}\nenforcement: observe"},
		[2]string{Project, "risk: {high_threshold: 0.9}\nrules: {enforcement: {publish: warn}}\nenforcement: warn"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.LayerSettings()
	if err != nil {
		t.Fatal(err)
	}
	want := []LayerSetting{
		{"enforcement", User, "observe", false, "warn", "strictest"},
		{"risk.low_threshold", User, 0.3, false, 0.3, "min"},
		{"risk.high_threshold", User, 0.7, true, 0.7, "min"},
		{"enforcement", Project, "warn", true, "warn", "strictest"},
		{"risk.high_threshold", Project, 0.9, false, 0.7, "min"},
		{"rules.enforcement.publish", Project, "warn", false, nil, "strictest"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What the schema refuses by name is refused wherever it stands, and its text
// says what to do.
func TestRefusedKeys(t *testing.T) {
	refused := 0
	var look func(at string, s *SchemaNode)
	look = func(at string, s *SchemaNode) {
		for key, node := range s.Properties {
			path := below(at, key)
			if node.Unavailable != "" && node.Means == nil {
				refused++
				_, err := assembled(t, [2]string{User, nested(path)})
				checkErrors(t, path, err, "user/settings.yaml:1: "+path+": "+node.Unavailable)
			}
			look(path, node)
		}
	}
	look("", tree(t))
	if refused < 7 {
		t.Errorf("only %d keys are refused by name", refused)
	}
}

// nested writes a setting of a path as YAML.
func nested(path string) string {
	keys := strings.Split(path, ".")
	return "{" + strings.Join(keys, ": {") + ": 1" + strings.Repeat("}", len(keys))
}

// A user may not soften a rule of the organisation that permits no exceptions of theirs, but make it stricter; its own rules, and
// built-in ones, as before.
func TestEnforcementOfOrganisation(t *testing.T) {
	rule := func(id, more string) string {
		return "- {id: " + id + ", title: Deploys, decision: block, severity: high, message: This deploys., match: {commands: [deploy]}" + more + "}\n"
	}
	for name, test := range map[string]struct {
		more, organisation, user string
		want                     any
		warned                   int
	}{
		"a firm rule":              {"", "", "observe", nil, 1},
		"an overridable one":       {", overridable: [user]", "", "observe", "observe", 0},
		"overridable by a project": {", overridable: [project]", "", "warn", nil, 1},
		"its row only observes":    {", enforcement: observe", "", "warn", "warn", 0},
		"stricter":                 {"", "observe", "enforce", "enforce", 0},
		"milder":                   {"", "warn", "observe", "warn", 1},
	} {
		organisation := map[string][]byte{"rules/acme.yaml": []byte(rule("acme.deploy", test.more))}
		if test.organisation != "" {
			organisation["settings.yaml"] = []byte("rules: {enforcement: {acme.deploy: " + test.organisation + "}}\n")
		}
		user := map[string][]byte{
			"rules/mine.yaml": []byte(rule("mine.deploy", "")),
			"settings.yaml":   []byte("rules: {enforcement: {acme.deploy: " + test.user + ", mine.deploy: observe, publish: warn}}\n"),
		}
		o, err := FromFiles(organisation, Organisation)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		u, err := FromFiles(user, User)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e, err := Assemble(shippedBundle(t), o, u)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := objectAt(e.Document, "rules", "enforcement")
		if got["acme.deploy"] != test.want || got["mine.deploy"] != "observe" || got["publish"] != "warn" {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if found := e.IneffectiveSettings(); len(found) != test.warned {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// The settings of a layer disable its own rules. A rule of another layer stays, which is said.
func TestDisabledByItsLayer(t *testing.T) {
	rule := []byte("id: acme.deploy\ntitle: Deploys\ndecision: ask\nseverity: high\nmessage: This deploys.\nmatch: {commands: [deploy]}\n")
	off := []byte("rules: {disabled: [acme.deploy]}\n")
	for name, test := range map[string]struct {
		organisation, user map[string][]byte
		disabled           any
		warned             int
	}{
		"its own layer": {map[string][]byte{"rules/acme.yaml": rule, "settings.yaml": off}, nil, true, 0},
		"another layer": {map[string][]byte{"rules/acme.yaml": rule}, map[string][]byte{"settings.yaml": off}, nil, 1},
		"nobody":        {map[string][]byte{"rules/acme.yaml": rule}, nil, nil, 0},
	} {
		layers := []*Bundle{shippedBundle(t)}
		for _, l := range []struct {
			name  string
			files map[string][]byte
		}{{Organisation, test.organisation}, {User, test.user}} {
			b, err := FromFiles(l.files, l.name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			layers = append(layers, b)
		}
		e, err := Assemble(layers...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		policies := e.Data["policies"].(map[string]any)
		row := policies[Organisation].(map[string]any)[CatalogueKey].(map[string]any)["acme.deploy"].(map[string]any)
		if row["disabled"] != test.disabled {
			t.Errorf("%s: disabled is %v", name, row["disabled"])
		}
		if found := e.IneffectiveSettings(); len(found) != test.warned {
			t.Errorf("%s: %v", name, found)
		}
		for value, want := range map[string]any{`["acme.deploy"]`: true, `["git_force_push"]`: nil} { // a sweep disables it in its own layer
			var ids []any
			if err := json.Unmarshal([]byte(value), &ids); err != nil {
				t.Fatal(err)
			}
			swept, err := e.WithSettings(Value{"rules.disabled", ids})
			if err != nil {
				t.Fatalf("%s: %s: %v", name, value, err)
			}
			if name == "another layer" && want == true {
				want = nil // the value that holds anyway makes the same policy
			}
			row := objectAt(swept.Data, "policies", Organisation, CatalogueKey, "acme.deploy")
			if row["disabled"] != want {
				t.Errorf("%s, sweep of %s: disabled is %v, expected %v", name, value, row["disabled"], want)
			}
		}
	}
}
