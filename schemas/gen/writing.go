package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
)

// writing has the text of the reference for authors, whose tables are generated here.
//
//go:embed writing
var writing embed.FS

func writeGuide(file string) error {
	text, err := guide("..")
	if err != nil {
		return fmt.Errorf("write the guide for authors: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// guide returns the reference; top is the root of the module.
func guide(top string) (string, error) {
	say, err := newDescriber(top)
	if err != nil {
		return "", err
	}
	if err := say.load(module + "engine"); err != nil {
		return "", err
	}
	t := tables{top, say}
	page, err := template.New("guide.md").Funcs(template.FuncMap{
		"fields": t.fields, "vocabulary": t.vocabulary, "functions": functions, "placeholders": placeholderTable,
	}).ParseFS(writing, "writing/*.md")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = page.Execute(&b, nil)
	return b.String(), err
}

// tables generates the tables of the guide.
type tables struct {
	top string
	say *describer
}

// property has the parts of a field's schema that a table shows.
type property struct {
	Type        string            `json:"type"`
	Ref         string            `json:"$ref"`
	Enum        []string          `json:"enum"`
	Items       *property         `json:"items"`
	Values      json.RawMessage   `json:"additionalProperties"`
	AnyOf       []property        `json:"anyOf"`
	Description string            `json:"description"`
	Examples    []json.RawMessage `json:"examples"`
}

// fields returns the table of the fields of an object: the root of a schema, or one
// of its definitions.
func (t tables) fields(file, definition string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(t.top, "schemas", file))
	if err != nil {
		return "", err
	}
	type object struct {
		Properties map[string]property `json:"properties"`
		AnyOf      []object            `json:"anyOf"`
	}
	var doc struct {
		object
		Definitions map[string]object `json:"definitions"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	o := doc.object
	if definition != "" {
		o = doc.Definitions[definition]
	}
	for _, form := range o.AnyOf {
		if form.Properties != nil {
			o = form
		}
	}
	if o.Properties == nil {
		return "", fmt.Errorf("%s has no object %q", file, definition)
	}
	var b strings.Builder
	b.WriteString("| field | type | meaning | example |\n|---|---|---|---|\n")
	for _, name := range sorted(o.Properties) {
		p := o.Properties[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, p.kind(), cell(p.Description), example(p.Examples))
	}
	return b.String(), nil
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// kind returns a type in words, with the names of objects as in the tables.
func (p property) kind() string {
	const few = 6 // enough to show them all in a cell
	switch {
	case p.Ref != "":
		return strings.TrimPrefix(p.Ref, "#/definitions/")
	case len(p.Enum) > 0 && len(p.Enum) <= few:
		return strings.Join(slices.DeleteFunc(slices.Clone(p.Enum), func(w string) bool { return w == "" }), ", ")
	case len(p.Enum) > 0:
		return "a word"
	case p.Type == "array" && p.Items != nil:
		if items := p.Items.kind(); items != "a word" {
			return "list of " + items
		}
		return "list of words"
	case p.Type == "object" && p.Values != nil:
		var values property
		if json.Unmarshal(p.Values, &values) == nil && values.kind() != "any" {
			return "map of " + values.kind()
		}
		return "object"
	case p.Type == "" && len(p.AnyOf) > 0:
		return p.AnyOf[0].kind()
	case p.Type == "":
		return "any"
	}
	return p.Type
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func example(list []json.RawMessage) string {
	if len(list) == 0 {
		return ""
	}
	var v any
	if err := json.Unmarshal(list[0], &v); err != nil {
		return ""
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return "`" + cell(strings.TrimSpace(b.String())) + "`"
}

// vocabulary returns the table of the words that a field may have.
func (t tables) vocabulary(of string) (string, error) {
	words, known := vocabularies()[of]
	if !known {
		return "", fmt.Errorf("there is no vocabulary %q", of)
	}
	var b strings.Builder
	b.WriteString("| word | meaning |\n|---|---|\n")
	for _, w := range words() {
		said := t.say.about("engine."+of, w)
		if said == "" {
			said = strings.ToUpper(w[:1]) + strings.ReplaceAll(w[1:], "_", " ") + "."
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", w, cell(said))
	}
	return b.String(), nil
}

// vocabularies lists fixed vocabularies by the prefix of their Go constants.
func vocabularies() map[string]func() []string {
	return map[string]func() []string{
		"Phase": engine.Phases, "Type": engine.Types, "Effect": engine.EffectKinds, "Certainty": engine.Certainties,
		"Location": engine.Locations, "Class": engine.Classes, "Signal": engine.Signals, "Fact": engine.FactNames, "Harm": engine.Harms,
		"Label": engine.Labels, "Intent": engine.Intents, "Constraint": engine.ConstraintKinds, "Trouble": engine.Troubles, "Op": engine.Operations,
	}
}

func functions() string {
	var b strings.Builder
	b.WriteString("| function | meaning | an example that is true |\n|---|---|---|\n")
	for _, f := range cel.Reference() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", f.Signature, cell(f.About), cell(f.Example))
	}
	return b.String()
}

// placeholder is a name in braces in a message, and when its value is known.
type placeholder struct{ name, about, when, example string }

// placeholders describes bundles.MessageFields.
func placeholders() []placeholder {
	const always = "always"
	return []placeholder{
		{"command", "the command, path, URL or arguments of the call, shortened (action.resource)", always, "helm uninstall web"},
		{"tool", "name of the tool", always, "Bash"},
		{"rule", "id of the rule that has the message", always, "shop.release_delete"},
		{"workspace", "the project folder", "the session has one (empty with `workspace: none`)", "/srv/shop"},
		{"host", "hosts that are contacted", "the call contacts a known host; else \"an unknown host\"", "forms.example"},
		{"target", "first three targets of effects other than reads", "the call has such effects; else \"an unknown target\"",
			"./billing/invoice.go"},
		{"deleted", "first three targets that are deleted or moved away", "the call deletes something; else as {target}", "./data"},
		{"late", "the call that was answered before its review (mode: async)", "session.late is present", "./go.sum"},
		{"late_reason", "what the review found about that call", "session.late is present", "This edits a lock file, which only its package manager should write: ./go.sum"},
		{"instruction", "file, line and sentence of the instruction file that forbids the call", "the call breaks what an instruction file forbids", "CLAUDE.md:12 says: \"Never commit.\""},
		{"instructed", "what the call would do, in words for the act", "as {instruction}", "commit"},
		{"guarded", "what concerns reviewer itself, at most three; also what is only read", "the call concerns reviewer; else as {target}", "~/.local/state/reviewer/key"},
		{"deleted_outside", "those of {deleted} that are outside the workspace", "the call deletes something outside; else as {deleted}", "/etc/app.conf"},
		{"deletes", "what happens to {deleted}", "always: moves away if it is only moved, else deletes", "deletes"},
		{"deletion", "the same as a noun, for whole folders", "always: Moving whole folders away if they are only moved, else Recursive deletion", "Recursive deletion"},
		{"place", "places protected by workspace rules", "the call touches such a place; else \"this\"", "billing/"},
		{"said", "the sentence of the user that forbids the call", "the call breaks a prohibition; else \"The user said so\"", "You said: \"Don't commit.\" (prompt 3)"},
		{"act", "what that sentence forbids", "the call breaks a prohibition; else \"do that\"", "commit"},
		{"details", "text of details of the pattern or rule", "the row has details, and the finding is its own; else empty",
			"4 folders in the last 10 actions"},
		{"opaque", "reasons why parts could not be parsed", "a part could not be parsed; else empty", "command"},
		{"operations", "writes and deletions since the last prompt", always, "7"},
		{"limits", "limits of a throttled session that the call exceeds", "rule throttled; else empty", "60 calls in 60 seconds"},
		{"tokens", "tokens that the model wrote since the last prompt", "always; 0 where they are unknown", "110000"},
		{"seconds", "seconds that calls took since the last prompt", always, "350"},
		{"deletions", "files that the session deleted and had not created", always, "0"},
		{"written", "code that was written, with the rules that match it", "rule written_code and similar rules; else empty",
			"./clean.sh (deletion of a root, home or system directory)"},
	}
}

func placeholderTable() string {
	var b strings.Builder
	b.WriteString("| placeholder | replaced by | if | example |\n|---|---|---|---|\n")
	for _, p := range placeholders() {
		fmt.Fprintf(&b, "| `{%s}` | %s | %s | `%s` |\n", p.name, p.about, p.when, p.example)
	}
	return b.String()
}
