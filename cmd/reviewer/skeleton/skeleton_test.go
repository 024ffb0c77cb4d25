package skeleton

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"
)

func TestAppend(t *testing.T) {
	const rows = "- id: b\n  when: |\n    x\n\n    y\n"
	for name, test := range map[string]struct{ file, want string }{
		"nothing":           {"", rows},
		"a list":            {"# head\n- id: a # why\n", "# head\n- id: a # why\n\n" + rows},
		"an indented list":  {"  - id: a\n", "  - id: a\n\n  - id: b\n    when: |\n      x\n\n      y\n"},
		"a list on a line":  {"[{id: a}]\n", "[{id: a}]\n\n---\n" + rows},
		"one rule":          {"id: a", "id: a\n\n---\n" + rows},
		"several documents": {"id: a\n---\n- id: c\n", "id: a\n---\n- id: c\n\n" + rows},
		"an end":            {"- id: a\n...\n", "- id: a\n...\n\n---\n" + rows},
	} {
		if got := string(Append([]byte(test.file), []byte(rows))); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// Whatever a file of rules looks like, what is added comes behind what was
// there, and nothing of that is another then.
func FuzzAppend(f *testing.F) {
	for _, file := range []string{"- id: a\n", "# x\nid: a\n", "[{id: a}]", "--- \n- id: a\n...\n", "  - id: a\n  # x", "- id: a\n  message: |\n    x\n"} {
		f.Add(file)
	}
	rows := []byte("- id: added\n  severity: low\n")
	f.Fuzz(func(t *testing.T, file string) {
		before, err := bundles.ParseConditions("a.yaml", []byte(file))
		if err != nil || len(before) == 0 || strings.TrimSpace(file) == "" {
			return
		}
		text := Append([]byte(file), rows)
		if !bytes.HasPrefix(text, []byte(strings.TrimRight(file, "\n"))) {
			t.Fatalf("%q begins otherwise: %q", file, text)
		}
		after, err := bundles.ParseConditions("a.yaml", text)
		if err != nil {
			return // the command checks the result, and writes nothing then
		}
		if len(after) != len(before)+1 || after[len(before)].ID != "added" {
			t.Fatalf("%q becomes %q: %d rules, then %d", file, text, len(before), len(after))
		}
	})
}

// Every template is filled in whole, and the result is as it should be.
func TestFiles(t *testing.T) {
	for _, layer := range bundles.Layers() {
		for _, rego := range []bool{false, true} {
			list, err := Rule{ID: "shop.a-b", Layer: layer, Rego: rego}.Files()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range list {
				if strings.Contains(f.Text, "{{") || strings.Contains(f.Text, "<no value>") || f.Text == "" {
					t.Errorf("%s %s: %s", layer, f.Name, f.Text)
				}
				var doc any
				if strings.HasSuffix(f.Name, ".yaml") && yaml.Unmarshal([]byte(f.Text), &doc) != nil {
					t.Errorf("%s %s is not YAML:\n%s", layer, f.Name, f.Text)
				}
			}
		}
	}
}

// Each template has its files under the bundle's name, and nothing is left to
// fill in. That they are policies is shown by testdata/script/policy-new-template.txtar.
func TestStart(t *testing.T) {
	for _, template := range Templates() {
		list, err := Bundle{Name: "shop", Layer: bundles.Organisation, Dir: "policy"}.Start(template.Name)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) < 5 || template.About == "" {
			t.Errorf("%s: %d files", template.Name, len(list))
		}
		for _, f := range list {
			if strings.Contains(f.Name, "NAME") || strings.Contains(f.Text, "{{.") || f.Text == "" {
				t.Errorf("%s %s: %s", template.Name, f.Name, f.Text)
			}
		}
	}
	if _, err := (Bundle{}).Start("none"); err == nil {
		t.Error("a template that there is not")
	}
}

// The schema that a new file names accepts what is in it, for each template, and refuses a misspelt key.
func TestSchemas(t *testing.T) {
	list, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for _, f := range list {
		if err := compiler.AddResource("policy/"+f.Name, strings.NewReader(f.Text)); err != nil {
			t.Fatal(err)
		}
	}
	b := Bundle{Name: "shop", Layer: bundles.Organisation, Dir: "policy"}
	files, err := b.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range Templates() {
		more, err := b.Start(template.Name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	checked := 0
	for _, f := range files {
		line := SchemaLine(f.Name)
		if path.Ext(f.Name) != ".yaml" {
			if line != "" {
				t.Errorf("%s: %s", f.Name, line)
			}
			continue
		}
		at, found := strings.CutPrefix(strings.TrimSpace(line), "# yaml-language-server: $schema=")
		if !found {
			t.Errorf("%s begins with %q", f.Name, line)
			continue
		}
		schema, err := compiler.Compile(path.Join("policy", path.Dir(f.Name), at))
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		var doc any
		if err := yaml.Unmarshal([]byte(f.Text), &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		wrong := map[string]any{"titel": "a"}
		if err := schema.Validate(wrong); err == nil {
			t.Errorf("%s: %v is valid", at, wrong)
		}
		if err := schema.Validate([]any{wrong}); err == nil {
			t.Errorf("%s: a list of %v is valid", at, wrong)
		}
		checked++
	}
	if checked < 8 {
		t.Errorf("checked %d files", checked)
	}
}
