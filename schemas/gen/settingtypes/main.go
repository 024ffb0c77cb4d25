// Command settingtypes writes engine/settings/settings.go: the Go types of the settings that the program reads
// itself. It runs in the directory schemas, before the package schemas/gen, which needs these types.
//
// Out of scope: everything else that is generated from schemas (schemas/gen).
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-reviewer/reviewer/schemas"
)

// node is the part of a node of the settings schema that a Go type needs.
type node struct {
	Type        string     `json:"type"`
	Description string     `json:"description"`
	Enum        []any      `json:"enum"`
	Default     any        `json:"default"`
	Program     *bool      `json:"x-program"`
	GoType      string     `json:"x-type"`
	Properties  properties `json:"properties"`
	Others      additional `json:"additionalProperties"`
	Items       *node      `json:"items"`
}

// additional is what an object's other keys have; nil: there are none.
type additional struct{ *node }

func (a *additional) UnmarshalJSON(raw []byte) error {
	if string(raw) == "false" || string(raw) == "true" {
		return nil
	}
	return json.Unmarshal(raw, &a.node)
}

// properties are the properties of an object in the order of the schema.
type properties []property

type property struct {
	key string
	of  *node
}

func (p *properties) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		n := property{key: fmt.Sprint(key)}
		if err := d.Decode(&n.of); err != nil {
			return err
		}
		*p = append(*p, n)
	}
	return nil
}

func main() {
	if err := write("../engine/settings/settings.go"); err != nil {
		fmt.Fprintln(os.Stderr, "settingtypes:", err)
		os.Exit(1)
	}
}

// write writes the Go types of the settings that the program reads itself: those
// that are marked with x-program, and what is below them.
func write(file string) error {
	raw, err := schemas.FS.ReadFile("settings.json")
	if err != nil {
		return err
	}
	var root node
	if err := json.Unmarshal(raw, &root); err != nil {
		return fmt.Errorf("read the settings schema: %w", err)
	}
	var w typeWriter
	w.object("Settings", "", root.Properties, false)
	const head = "// Code generated from schemas/settings.json: go generate ./schemas. DO NOT EDIT.\n\npackage settings\n\n"
	text, err := format.Source([]byte(head + strings.Join(w.types, "\n")))
	if err != nil {
		return fmt.Errorf("types of settings: %w", err)
	}
	return os.WriteFile(filepath.FromSlash(file), text, 0o644)
}

// typeWriter collects declarations, a type before those that it names.
type typeWriter struct{ types []string }

// object declares the type of an object at a path; all: every key below a marked one is read.
func (w *typeWriter) object(name, path string, keys properties, all bool) {
	at := len(w.types)
	w.types = append(w.types, "")
	var b strings.Builder
	if path == "" {
		fmt.Fprintf(&b, "// %s are the settings that the program reads itself.\n", name)
	} else {
		fmt.Fprintf(&b, "// %s is the setting %s.\n", name, path)
	}
	fmt.Fprintf(&b, "type %s struct {\n", name)
	for _, p := range keys {
		if !p.of.read(all) {
			continue
		}
		tag := fmt.Sprintf("json:%q", p.key)
		if p.of.Default != nil {
			tag += fmt.Sprintf(" default:%q", fmt.Sprint(p.of.Default))
		}
		field := goName(p.key)
		of := w.of(strings.TrimPrefix(name, "Settings")+field, strings.TrimPrefix(path+"."+p.key, "."), p.of, all || p.of.Program != nil)
		fmt.Fprintf(&b, "%s %s `%s`\n", field, of, tag)
	}
	b.WriteString("}\n")
	w.types[at] = b.String()
}

// of returns the Go type of a node, and declares it if it is an object.
func (w *typeWriter) of(name, path string, p *node, all bool) string {
	switch {
	case p.Properties != nil:
		name = cmp.Or(p.GoType, name)
		w.object(name, path, p.Properties, all)
		return name
	case p.Others.node != nil:
		return "map[string]" + w.of(name, path+".*", p.Others.node, true)
	case p.Type == "array":
		return "[]" + w.of(name, path+"[]", p.Items, true)
	case p.Type == "boolean":
		return "bool"
	case p.Type == "integer":
		return "int64"
	case p.Type == "number":
		return "float64"
	case p.Type == "object":
		return "map[string]any"
	case mixed(p.Enum):
		return "any"
	}
	return "string"
}

// mixed reports whether an enum has values that are not strings.
func mixed(enum []any) bool {
	for _, v := range enum {
		if _, text := v.(string); !text {
			return true
		}
	}
	return false
}

// read reports whether the program reads a node, or one below it; all: unless the node itself is marked false.
func (p *node) read(all bool) bool {
	if p.Program != nil {
		return *p.Program
	}
	return all || slices.ContainsFunc(p.Properties, func(below property) bool { return below.of.read(false) })
}

// goName returns MaxFileMB for max_file_mb.
func goName(key string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(key, "_") {
		switch word {
		case "ms", "mb", "pii", "ttl", "url", "usd":
			b.WriteString(strings.ToUpper(word))
		default:
			r := []rune(word)
			r[0] = unicode.ToUpper(r[0])
			b.WriteString(string(r))
		}
	}
	return b.String()
}
