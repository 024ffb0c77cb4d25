package skeleton

import (
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"text/template"

	"github.com/agent-reviewer/reviewer/bundles"
)

//go:embed files
var files embed.FS

// Rule describes the rule to write.
type Rule struct {
	ID    string
	Layer string // layer of the policy
	Rego  bool   // its condition is in Rego; otherwise in CEL
}

// Title is the id in words, such as Shop kubectl.
func (r Rule) Title() string {
	words := strings.Join(words(r.ID), " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// Name is the id as a name in Rego and as a file's name, such as shop_kubectl.
func (r Rule) Name() string { return strings.Join(words(r.ID), "_") }

// Tool is the program that the rule is about until somebody writes another: two rules have two conditions.
func (r Rule) Tool() string {
	all := words(r.ID)
	return all[len(all)-1] + "-tool"
}

// Base reports whether the rule is one of the base layer, which has a package of its own.
func (r Rule) Base() bool { return r.Layer == bundles.Base }

func words(id string) []string {
	return strings.FieldsFunc(id, func(c rune) bool { return strings.ContainsRune("._-", c) })
}

var familyForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*`) })

// Family returns the folder of a rule and its cases: what precedes the first dot of
// its id, else all of it. Each folder has one file of rules, since stock OPA takes the
// files of a folder for one document.
func Family(id string) string { return familyForm().FindString(id) }

// Files returns the row, the cases and, for a rule in Rego, the module and its test.
func (r Rule) Files() ([]File, error) {
	list := []File{
		{Name: RulesFile(r.ID), Adds: true}, {Name: CasesFile(r.ID), Adds: true},
	}
	names := []string{"rule.yaml", "rule_cases.yaml"}
	if r.Rego {
		dir := "rules/" + Family(r.ID) + "/"
		list = append(list, File{Name: dir + r.Name() + ".rego"}, File{Name: dir + r.Name() + "_test.rego"})
		names = append(names, "rule.rego", "rule_test.rego")
	}
	return fill(list, names, r)
}

// RulesFile is the default file for the row of a rule.
func RulesFile(id string) string { return "rules/" + Family(id) + "/" + Family(id) + ".yaml" }

// PatternsFile is the file of a pattern's row.
func PatternsFile(id string) string { return "patterns/" + Family(id) + "/" + Family(id) + ".yaml" }

// CasesFile is the default file for the cases of a rule.
func CasesFile(id string) string { return "cases/" + Family(id) + "/" + Family(id) + ".yaml" }

// Pattern describes the pattern to write: a rule that measures.
type Pattern struct{ Rule }

// Files returns the row and its cases.
func (p Pattern) Files() ([]File, error) {
	list := []File{{Name: PatternsFile(p.ID), Adds: true}, {Name: CasesFile(p.ID), Adds: true}}
	return fill(list, []string{"pattern.yaml", "pattern_cases.yaml"}, p.Rule)
}

// Bundle describes the bundle to write, for a layer above the base.
type Bundle struct {
	Name  string // the beginning of the ids of its rules
	Full  string // the name in its manifest, such as acme/shop; empty: Name
	Layer string
	Dir   string // relative to the top of the repository
}

// Release returns the name in the manifest.
func (b Bundle) Release() string { return cmp.Or(b.Full, b.Name) }

// Files returns all files of the bundle: its manifest, settings, two rules, one in CEL and one in
// Rego, their cases and tests, and a README.
func (b Bundle) Files() ([]File, error) {
	all, err := fill([]File{{Name: ".manifest"}, {Name: "settings.yaml"}, {Name: "README.md"}},
		[]string{"manifest.json", "settings.yaml", "README.md"}, b)
	if err != nil {
		return nil, err
	}
	for _, r := range []Rule{{b.Name + ".cel_example", b.Layer, false}, {b.Name + ".rego_example", b.Layer, true}} {
		list, err := r.Files()
		if err != nil {
			return nil, err
		}
		all = together(all, list)
	}
	return all, nil
}

// together combines lists of files; texts for the same file are joined.
func together(all, more []File) []File {
	for _, f := range more {
		known := false
		for i := range all {
			if all[i].Name == f.Name {
				all[i].Text += "\n" + f.Text
				known = true
			}
		}
		if !known {
			all = append(all, f)
		}
	}
	return all
}

func fill(list []File, names []string, what any) ([]File, error) {
	t, err := template.ParseFS(files, "files/*")
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	for i, name := range names {
		var b strings.Builder
		if err := t.ExecuteTemplate(&b, name, what); err != nil {
			return nil, fmt.Errorf("fill in %s: %w", name, err)
		}
		list[i].Text = b.String()
	}
	return list, nil
}
