package bundles

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// folder makes a file system of name, content, name, content, …
func folder(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

// layer loads a layer of files in memory.
func layer(t *testing.T, name string, files ...string) *Bundle {
	t.Helper()
	b, err := Load(folder(files...), name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var shippedOnce = sync.OnceValues(Default)

// shippedBundle is the built-in policy, loaded once: no test changes it.
func shippedBundle(t *testing.T) *Bundle {
	t.Helper()
	b, err := shippedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkErrors: an error for a nil list of wants is not one; else each must be in it.
func checkErrors(t *testing.T, name string, err error, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %q in it", name, err, want)
		}
	}
	if len(wants) == 0 && err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func TestLoad(t *testing.T) {
	b := layer(t, User,
		".manifest", `{"revision": "7", "roots": ["policies/user"], "rego_version": 1, "metadata": {"name": "mine", "requires": {"engine": 1}}}`,
		"a.rego", "package policies.user", "deep/b.rego", "package policies.user.b", "a_test.rego", "package policies.user",
		"data.yaml", "policies: {user: {hosts: [a]}}", "policies/user/more/data.json", `{"x": 1}`,
		"settings.yaml", "resources: {max_file_operations: 3}", "rules/a.yaml", "- {id: mine.a, severity: low}\n---\n{id: mine.b, severity: low}",
		"cases/a.yaml", "- {id: no, rule: [", "README.md", "# x", ".hidden/b.rego", "x", "rules/.x.yaml", "[",
	)
	if b.Manifest.Revision != "7" || b.Manifest.Metadata.Name != "mine" || b.Layer != User {
		t.Errorf("manifest is %+v", b.Manifest)
	}
	if d := cmp.Diff([]string{"a.rego", "deep/b.rego"}, slices.Sorted(maps.Keys(b.Modules))); d != "" {
		t.Error(d)
	}
	want := map[string]any{"policies": map[string]any{"user": map[string]any{"hosts": []any{"a"}, "more": map[string]any{"x": 1}}}}
	if d := cmp.Diff(want, b.Data); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]any{"resources": map[string]any{"max_file_operations": 3}}, b.Settings); d != "" {
		t.Error(d)
	}
	if len(b.Rules) != 2 || b.Rules[1].ID != "mine.b" {
		t.Errorf("rules are %+v", b.Rules)
	}
	files := []string{".manifest", "a.rego", "data.yaml", "deep/b.rego", "policies/user/more/data.json", "rules/a.yaml", "settings.yaml"}
	if d := cmp.Diff(files, slices.Sorted(maps.Keys(b.Files))); d != "" {
		t.Error(d)
	}
}

func TestShippedIsTheDefault(t *testing.T) {
	b, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	m, digest, err := BuiltIn()
	if err != nil || digest != b.Digest || !cmp.Equal(m, b.Manifest) {
		t.Errorf("Shipped() = %v, %s, %v; want %v, %s", m, digest, err, b.Manifest, b.Digest)
	}
}

func TestLoadWithoutManifest(t *testing.T) {
	for _, name := range Layers() {
		b := layer(t, name, "x.rego", "package x")
		if len(b.Manifest.Roots) != 1 || b.Manifest.Metadata.Name != name {
			t.Errorf("%s: manifest is %+v", name, b.Manifest)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for name, test := range map[string]struct {
		layer string
		files []string
		want  []string
	}{
		"misplaced file":       {User, []string{"policy.yaml", "a: 1"}, []string{"policy.yaml: nothing reads this file"}},
		"misspelt settings":    {User, []string{"setings.yaml", "a: 1"}, []string{"setings.yaml: nothing reads this file", "settings.yaml"}},
		"settings in a folder": {User, []string{"x/settings.yaml", "a: 1"}, []string{"x/settings.yaml: nothing reads this file"}},
		"settings of base":     {Base, []string{"settings.yaml", "a: 1"}, []string{"settings.yaml: the base layer's settings are its data.yaml"}},
		"several at once": {
			User, []string{"x.yaml", "a", "y.json", "{}", "rules/r.yaml", "- {id: a}"},
			[]string{"x.yaml: nothing", "y.json: nothing", "rules/r.yaml:1: the rule: severity is missing"},
		},
		"data outside":          {User, []string{"data.yaml", "other: 1"}, []string{`"other" is outside the root "policies/user" of the user layer`}},
		"data of base":          {User, []string{"data.yaml", "reviewer: {enforcement: observe}"}, []string{`"reviewer" is outside`}},
		"data of another":       {User, []string{"data.yaml", "policies: {project: {}}"}, []string{"contains more than the root"}},
		"data of two":           {User, []string{"data.yaml", "policies: {user: {}, organisation: {}}"}, []string{"contains more than the root"}},
		"data is not an object": {User, []string{"data.yaml", "policies: 7"}, []string{"contains more than the root"}},
		"data twice":            {Base, []string{"data.yaml", "reviewer: {a: 1}", "reviewer/data.yaml", "a: 2"}, []string{`reviewer/data.yaml: "a" is also set by another data file`}},
		"data over data":        {Base, []string{"data.yaml", "reviewer: 7", "reviewer/data.yaml", "a: 2"}, []string{`reviewer/data.yaml: "reviewer" is also set by another data file`}},
		"data above data":       {Base, []string{"a/data.yaml", "x: 1", "data.yaml", "a: 2"}, []string{`data.yaml: "a" is also set by another data file`}},
		"a catalogue":           {User, []string{"data.yaml", "policies: {user: {catalog: {}}}"}, []string{"rules/**.yaml"}},
		"a key twice":           {User, []string{"settings.yaml", "grant: false\nrisk: {low_threshold: 0.2}\ngrant: true"}, []string{"settings.yaml:3: the key grant is already set on line 1; keep one of the two"}},
		"keys twice, below":     {Base, []string{"data.yaml", "reviewer:\n  risk: {privileged: 1, privileged: 0}\n  zones: []\n  zones: []"}, []string{"data.yaml:2: the key privileged is already set on line 2", "data.yaml:4: the key zones is already set on line 3"}},
		"two documents":         {User, []string{"settings.yaml", "limits: {}\n---\nrules: {}"}, []string{"settings.yaml: only one YAML document is allowed"}},
		"a list":                {User, []string{"settings.yaml", "- a"}, []string{"settings.yaml:1: expected keys with values, got a list"}},
		"no YAML":               {User, []string{"settings.yaml", "a: [\n"}, []string{"settings.yaml:"}},
		"double key":            {User, []string{"settings.yaml", "risk: {}\nrisk: {}"}, []string{"settings.yaml:", "risk"}},
		"key that is not text":  {User, []string{"settings.yaml", "hosts:\n  known: {1: a}"}, []string{"settings.yaml:2: the key 1 is not a string; quote it"}},
		"no number":             {User, []string{"settings.yaml", "risk:\n  low_threshold: .nan"}, []string{"settings.yaml:2: expected a finite number, got .nan"}},
		"alias":                 {User, []string{"settings.yaml", "hosts: &h {known: []}\nrules: *h"}, []string{"settings.yaml:2: aliases are not allowed here"}},
		"infinity":              {User, []string{"settings.yaml", "risk: {low_threshold: -.Inf}"}, []string{"settings.yaml:1: expected a finite number"}},
		"rule twice":            {User, []string{"rules/a.yaml", "{id: a, severity: low}", "rules/b.yaml", "{id: a, severity: low}"}, []string{`rules/b.yaml:1: rule "a" is already in rules/a.yaml:1; give this one another id`}},
		"other root":            {User, []string{".manifest", `{"roots": ["policies/project"]}`}, []string{`.manifest:1: roots are ["policies/project"]; a bundle of the user layer has the single root "policies/user"`}},
		"too many roots":        {User, []string{".manifest", `{"roots": ["policies/user", "reviewer"]}`}, []string{".manifest:1: roots are"}},
		"all roots":             {Base, []string{".manifest", `{"roots": [""]}`}, []string{".manifest:1: roots are"}},
		"newer Rego":            {User, []string{".manifest", `{"rego_version": 2}`}, []string{".manifest:1: rego_version is 2"}},
		"newer engine":          {User, []string{".manifest", `{"metadata": {"requires": {"engine": 99}}}`}, []string{"requires engine 99", "update reviewer"}},
		"unknown need":          {User, []string{".manifest", `{"metadata": {"requires": {"magic": 1}}}`}, []string{"requires magic 1"}},
		"manifest misspelt":     {User, []string{".manifest", `{"root": []}`}, []string{".manifest:", `"root"`}},
		"manifest twice":        {User, []string{".manifest", `{"roots": ["policies/project"], "roots": ["policies/user"]}`}, []string{`.manifest:1: duplicate key "roots"`}},
		"manifest and more":     {User, []string{".manifest", `{} {"roots": ["policies/project"]}`}, []string{".manifest:"}},
		"manifest no JSON":      {User, []string{".manifest", `{`}, []string{".manifest:"}},
		"too large":             {User, []string{"a.rego", strings.Repeat("#", maxFile+1)}, []string{"a.rego is larger than 1048576 bytes; split it"}},
		"half written": {
			User, []string{"data.yaml", "", "access/team.yaml", " \n", "rules/a.yaml", "# none any more"},
			[]string{"data.yaml: the file is empty; add content or delete it", "access/team.yaml: the file is empty"},
		},
	} {
		_, err := Load(folder(test.files...), test.layer)
		checkErrors(t, name, err, test.want...)
	}
}

// needLinks skips a test if there are no symbolic links: wine makes none, and says
// that it did.
func needLinks(t *testing.T) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	err := os.Symlink("nowhere", link)
	if info, there := os.Lstat(link); err != nil || there != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Skipf("no symbolic links here: %v, %v", err, there)
	}
}

// The contents of a linked folder would be ignored silently.
func TestLoadRefusesLinkedFolders(t *testing.T) {
	dir, away := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(away, "a.yaml"), []byte("{id: a, severity: low}"), 0o600); err != nil {
		t.Fatal(err)
	}
	needLinks(t)
	if err := os.Symlink(away, filepath.Join(dir, "rules")); err != nil {
		t.Fatal(err)
	}
	_, err := Load(os.DirFS(dir), User)
	checkErrors(t, "link", err, "rules is a link to a folder")
	if err := os.Remove(filepath.Join(dir, "rules")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(away, "a.yaml"), filepath.Join(dir, "settings.yaml")); err != nil {
		t.Fatal(err)
	}
	if b, err := Load(os.DirFS(dir), User); err != nil || b.Settings["id"] != "a" {
		t.Errorf("a link to a file: %v, %v", b, err)
	}
}

// Anyone who can write to the folder could block every hook with an endless file.
func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	fsys := folder("settings.yaml", "{}")
	fsys["access/team.yaml"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	_, err := Load(fsys, Project)
	checkErrors(t, "pipe", err, "access/team.yaml is not a regular file; replace it with a text file")
}

// A list under a name that nothing reads holds nobody up. A person should know.
func TestRemarksOnFilesThatAreNotRead(t *testing.T) {
	e, err := Assemble(shippedBundle(t), layer(t, User,
		"access/team.yam", "x", "access/.late.yaml", "x", "rules/old.yaml.off", "x", "detectors/README.md", "x", "rules/mine_test.rego", "x", "notes.txt", "x"))
	if err != nil {
		t.Fatal(err)
	}
	const why = " is not read: it is hidden, or its name does not end in .yaml, .yml, .json or .rego"
	want := []string{"user/access/.late.yaml" + why, "user/access/team.yam" + why, "user/rules/old.yaml.off" + why}
	if d := cmp.Diff(want, e.Remarks()); d != "" {
		t.Error(d)
	}
}

// The digest is that of the folder's effective files, and of nothing else.
func TestDigestIsDirhash(t *testing.T) {
	want, err := dirhash.HashDir("default", "", func(files []string, open func(string) (io.ReadCloser, error)) (string, error) {
		return dirhash.Hash1(slices.DeleteFunc(files, func(name string) bool {
			return strings.HasSuffix(name, "_test.rego") || strings.HasPrefix(name, "cases/") || path.Base(name) == "LICENSE"
		}), open)
	})
	if err != nil {
		t.Fatal(err)
	}
	fromFolder, err := Load(os.DirFS("default"), Base)
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{"folder": fromFolder.Digest, "embedded": shippedBundle(t).Digest} {
		if got != want {
			t.Errorf("digest of the %s is %s, want %s", what, got, want)
		}
	}
}

func TestDigestCoversWhatCounts(t *testing.T) {
	files := []string{"a.rego", "package policies.user", "rules/r.yaml", "{id: a, severity: low}"}
	digest := layer(t, User, files...).Digest
	for _, same := range [][]string{{"a_test.rego", "x"}, {"cases/a.yaml", "x"}, {"README.md", "x"}, {".signatures.json", "{}"}, {".git/config", "x"}} {
		if got := layer(t, User, append(same, files...)...).Digest; got != digest {
			t.Errorf("%s changes the digest", same[0])
		}
	}
	for _, other := range [][]string{{"b.rego", "#"}, {".manifest", "{}"}, {"settings.yaml", "#"}, {"a.rego", "package policies.user "}} {
		if got := layer(t, User, append(slices.Clone(files), other...)...).Digest; got == digest {
			t.Errorf("%s does not change the digest", other[0])
		}
	}
}

func TestLayerOf(t *testing.T) {
	for manifest, want := range map[string]string{
		`{"roots": ["reviewer"]}`: Base, `{"roots": ["policies/organisation"]}`: Organisation,
		`{"roots": ["policies/user"]}`: User, `{"roots": ["policies/project"]}`: Project,
	} {
		if got, err := LayerOf(folder(".manifest", manifest)); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", manifest, got, err, want)
		}
	}
	if got, err := LayerOf(folder("a.rego", "")); got != User || err != nil {
		t.Errorf("without a manifest: %q, %v", got, err)
	}
	for _, manifest := range []string{`{"roots": ["x"]}`, `{`, `{}`} {
		if got, err := LayerOf(folder(".manifest", manifest)); err == nil {
			t.Errorf("%s: %q", manifest, got)
		}
	}
}

func TestAssemble(t *testing.T) {
	org := layer(t, Organisation, "a.rego", "package policies.organisation", "data.yaml", "policies: {organisation: {exceptions: [{rule: x}]}}",
		"rules/a.yaml", "{id: org.a, severity: low, decision: ask, message: m, tags: [t], always: true, when: 'true', examples: {match: [{tool: a}]}}")
	project := layer(t, Project, "rules/a.yaml", "{id: project.a, severity: low}")
	e, err := Assemble(shippedBundle(t), org, project)
	if err != nil {
		t.Fatal(err)
	}
	if _, there := e.Modules()["organisation/a.rego"]; !there || len(e.Modules()) != len(shippedBundle(t).Modules)+1 {
		t.Errorf("modules are %v", slices.Sorted(maps.Keys(e.Modules())))
	}
	rules := e.Rules()
	if n := len(rules); rules[n-2].ID != "org.a" || rules[n-1].ID != "project.a" {
		t.Errorf("the last rules are %v", rules[n-2:])
	}
	want := map[string]any{
		"organisation": map[string]any{
			"exceptions": []any{map[string]any{"rule": "x"}},
			"catalog": map[string]any{"org.a": map[string]any{
				"id": "org.a", "severity": "low", "decision": "ask", "message": "m", "tags": []any{"t"}, "overridable": []any{}, "always": true,
			}},
		},
		"project": map[string]any{"catalog": map[string]any{"project.a": map[string]any{
			"id": "project.a", "severity": "low", "tags": []any{}, "overridable": []any{}, "always": false,
		}}},
	}
	if d := cmp.Diff(want, e.Data["policies"]); d != "" {
		t.Error(d)
	}
	if _, there := e.Document["catalog"]; there {
		t.Error("the catalogue is among the settings")
	}
}

// Policies share layers, as the cases and mutants of a policy do: none changes what
// another one has.
func TestAssembleSharedLayers(t *testing.T) {
	row := "{id: org.a, severity: low, decision: %s, message: m, match: {commands: [make]}}"
	org := layer(t, Organisation, "policies/organisation/data.yaml", "limits: {hosts: 3}", "rules/a.yaml", fmt.Sprintf(row, "ask"),
		"access/a.yaml", "{id: tools, default: allow, rules: [{id: nc, effect: deny, message: m, tools: [Nc]}]}",
		"detectors/a.yaml", "{id: org.key, title: a key, pattern: 'KEY-[0-9]{4}', examples: {match: [KEY-1234], no_match: [KEY]}}")
	before, verdicts := Normal(org.Data), []string{"warn", "ask", "block"}
	var made [30]*Effective
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			changed, err := org.WithFile("rules/a.yaml", []byte(fmt.Sprintf(row, verdicts[i%3])))
			if err == nil {
				made[i], err = Assemble(shippedBundle(t), changed)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if d := cmp.Diff(before, Normal(org.Data)); d != "" {
		t.Errorf("the layer's own data has changed: %s", d)
	}
	for i, e := range made {
		if t.Failed() {
			return
		}
		own := e.Data["policies"].(map[string]any)["organisation"].(map[string]any)
		row := own[CatalogueKey].(map[string]any)["org.a"].(map[string]any)
		if row["decision"] != verdicts[i%3] || own[AccessKey] == nil || own[DetectorsKey] == nil || own["limits"] == nil {
			t.Errorf("policy %d has %v, want %s", i, own, verdicts[i%3])
		}
	}
}

func TestAssembleErrors(t *testing.T) {
	base, user := shippedBundle(t), layer(t, User, "a.rego", "package policies.user")
	_, err := Assemble()
	checkErrors(t, "nothing", err, "the first layer of a policy must be base")
	_, err = Assemble(user, base)
	checkErrors(t, "base not first", err, "the first layer of a policy must be base")
	_, err = Assemble(base, user, user)
	checkErrors(t, "twice", err, `layer "user" may not follow "user"`)
	_, err = Assemble(base, user, layer(t, Organisation))
	checkErrors(t, "out of order", err, `layer "organisation" may not follow "user"`)
	_, err = Assemble(base, &Bundle{Layer: "team"})
	checkErrors(t, "unknown", err, `layer "team" may not follow "base"`)
	_, err = Assemble(base, layer(t, User, "rules/a.yaml", "{id: delete_broad, severity: low}"))
	checkErrors(t, "a rule's id", err, `user/rules/a.yaml:1: rule "delete_broad" of the user layer has the same id as a rule of the base layer; give it another id`)
	_, err = Assemble(layer(t, Base, "data.yaml", "{}"))
	checkErrors(t, "no settings", err, "data.yaml: the base layer has no key reviewer")
}

func TestWindows(t *testing.T) {
	got, err := windowsOf(map[string]settings.Window{"recent": {Last: 10}, "older": {Last: 20}, "hour": {For: "1h30m"}})
	want := []engine.Window{{Name: "hour", For: 90 * 60e9}, {Name: "older", Last: 20}, {Name: "recent", Last: 10}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for name, spec := range map[string]settings.Window{
		"neither": {}, "both": {Last: 1, For: "5m"}, "no duration": {For: "soon"}, "backwards": {For: "-5m"}, "none": {Last: 0},
	} {
		_, err := windowsOf(map[string]settings.Window{"w": spec})
		checkErrors(t, name, err, "windows.w")
	}
}

// How much of the history conditions see is as settings say, up to what is kept.
func TestView(t *testing.T) {
	for settings, want := range map[string]int{"{}": 0, "history: {last: 3}": 3, "history: {last: 20}": 20} {
		e, err := Assemble(shippedBundle(t), layer(t, Organisation, "settings.yaml", settings))
		if err != nil {
			t.Fatal(err)
		}
		if e.View.Last != want {
			t.Errorf("%s: conditions see %d earlier actions, want %d", settings, e.View.Last, want)
		}
	}
	_, err := Assemble(shippedBundle(t), layer(t, Organisation, "settings.yaml", "history: {last: 21}"))
	checkErrors(t, "more than is kept", err, "organisation/settings.yaml:1: history.last: must be <= 20 but found 21")
}

// Digests of the two policies differ, and so do those of other settings.
func TestEffectiveDigest(t *testing.T) {
	seen := map[string]string{}
	for name, layers := range map[string][]*Bundle{
		"base": {shippedBundle(t)}, "a layer that is empty": {shippedBundle(t), layer(t, User)},
		"another": {shippedBundle(t), layer(t, Project)}, "a setting": {shippedBundle(t), layer(t, User, "settings.yaml", "grant: true")},
		"a comment": {shippedBundle(t), layer(t, User, "settings.yaml", "grant: true # yes")},
	} {
		e, err := Assemble(layers...)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[e.Digest]; twice {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[e.Digest] = name
	}
}

func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		if _, err := Default(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAssemble(b *testing.B) {
	d, err := Default()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Assemble(d); err != nil {
			b.Fatal(err)
		}
	}
}

// Only what is embedded counts as compiled before.
func TestShipped(t *testing.T) {
	base, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	copied, err := FromFiles(base.Files, Base)
	if err != nil {
		t.Fatal(err)
	}
	user := func(files map[string][]byte) *Bundle {
		b, err := FromFiles(files, User)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, test := range map[string]struct {
		layers []*Bundle
		want   bool
	}{
		"embedded":                      {[]*Bundle{base}, true},
		"with settings":                 {[]*Bundle{base, user(map[string][]byte{"settings.yaml": []byte("enforcement: warn\n")})}, true},
		"with Rego":                     {[]*Bundle{base, user(map[string][]byte{"a.rego": []byte("package policies.user\n")})}, false},
		"the same files from elsewhere": {[]*Bundle{copied}, false},
	} {
		e, err := Assemble(test.layers...)
		if err != nil {
			t.Fatal(err)
		}
		if e.AllBuiltIn() != test.want {
			t.Errorf("%s: %v, want %v", name, e.AllBuiltIn(), test.want)
		}
	}
}
