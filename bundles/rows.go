package bundles

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// rowParser reads the rows of one file.
type rowParser struct {
	layer    string // empty: the layer that is being read
	file     string
	seen     map[string]int // id -> line
	problems []error
	lines    [][]byte
}

// parse calls take for each document that holds more than comments, and returns
// all that is wrong with them.
func (p *rowParser) parse(data []byte, take func(*yaml.Node)) error {
	p.lines = bytes.Split(data, []byte("\n"))
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := d.Decode(&doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			p.problems = append(p.problems, syntaxError(p.file, data, err))
			break
		}
		if n := doc.Content[0]; n.Kind != yaml.ScalarNode || n.Tag != "!!null" {
			take(n)
		}
	}
	return errors.Join(p.problems...)
}

func (p *rowParser) wrong(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, nodeAt(p.file, n).in(p.layer).wrong(format, args...))
}

// note takes down where the texts of a row's keys are.
func (p *rowParser) note(row *yaml.Node) texts {
	lines, cols := map[string]int{"": row.Line}, map[string]int{"": row.Column}
	for key, value := range RowValues(row) {
		lines[key], cols[key] = TextLine(value), value.Column
		switch {
		case value.Style&yaml.LiteralStyle != 0:
			cols[key], cols[blockKey+key] = p.indent(lines[key])+1, 1
		case value.Style&yaml.FoldedStyle != 0:
			cols[key] = 0
		case value.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
			cols[key]++
		}
	}
	return texts{p.file, lines, cols}
}

// indent counts the spaces that a line of the file begins with.
func (p *rowParser) indent(line int) int {
	if line > len(p.lines) {
		return 0
	}
	return len(p.lines[line-1]) - len(bytes.TrimLeft(p.lines[line-1], " "))
}

// RowID is what stands where a row has its id; empty: nothing.
func RowID(row *yaml.Node) string {
	if row.Kind != yaml.MappingNode {
		return ""
	}
	if id := RowValues(row)["id"]; id != nil {
		return id.Value
	}
	return ""
}

// RowValues returns the values of an object by their keys.
func RowValues(n *yaml.Node) map[string]*yaml.Node {
	nodes := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		nodes[n.Content[i].Value] = n.Content[i+1]
	}
	return nodes
}

// TextLine is where the text of a value begins: below the | of a block.
func TextLine(n *yaml.Node) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Line + 1
	}
	return n.Line
}

// check compares a node with the type that it is to become, and its words with
// those known, where there are such.
func (p *rowParser) check(n *yaml.Node, name string, t reflect.Type, known []string) {
	switch {
	case n.Kind == yaml.AliasNode:
		p.wrong(n, "%s: aliases are not read here; write the value out", name)
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		p.wrong(n, "%s is empty; give it a value or leave it out", name)
	case t.Kind() == reflect.Pointer:
		p.check(n, name, t.Elem(), known)
	case t.Kind() == reflect.Struct:
		p.object(n, name, t)
	case t.Kind() == reflect.Slice:
		p.list(n, name, t, known)
	case t.Kind() == reflect.Map:
		p.entries(n, name, t.Elem())
	case n.Kind != yaml.ScalarNode:
		p.wrong(n, "%s: expected %s, got %s", name, wanted(t), kind(n))
	case t.Kind() == reflect.Float64:
		p.number(n, name)
	case t.Kind() == reflect.Int64:
		if n.Tag != "!!int" {
			p.wrong(n, "%s: expected a whole number, got %q", name, n.Value)
		}
	case t.Kind() == reflect.Bool:
		if n.Tag != "!!bool" {
			p.wrong(n, "%s: expected true or false, got %q", name, n.Value)
		}
	default:
		p.word(n, name, known)
	}
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float64:
		return "a number"
	case reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return "text"
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values (quote a text that holds ': ' or begins with {)"
	case yaml.SequenceNode:
		return "a list (quote a text that begins with [ or -)"
	}
	return strconv.Quote(n.Value)
}

func (p *rowParser) object(n *yaml.Node, name string, t reflect.Type) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "%s: expected keys with values, got %s", name, kind(n))
		return
	}
	fields := map[string]engine.JSONField{}
	var known, missing []string
	for _, f := range engine.JSONFields(t) {
		fields[f.Name] = f
		known = append(known, f.Name)
		if !f.Omit {
			missing = append(missing, f.Name)
		}
	}
	p.unique(n)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		f, ok := fields[key.Value]
		if !ok {
			p.wrong(key, "unknown key %s", engine.Meant(key.Value, known))
			continue
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == key.Value })
		p.check(n.Content[i+1], key.Value, f.Type, engine.FieldValues(t, f))
	}
	for _, m := range missing {
		p.wrong(n, "%s: %s is missing", name, m)
	}
}

// unique reports keys that stand twice: one of the two values would be lost.
func (p *rowParser) unique(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := first[key.Value]; twice {
			p.wrong(key, "%s is given twice, first in line %d", key.Value, line)
		}
		first[key.Value] = key.Line
	}
}

func (p *rowParser) list(n *yaml.Node, name string, t reflect.Type, known []string) {
	if n.Kind != yaml.SequenceNode {
		p.wrong(n, "%s: expected a list such as [a, b], got %s", name, kind(n))
		return
	}
	for _, item := range n.Content {
		p.check(item, name, t.Elem(), known)
	}
}

// free accepts any object without aliases and double keys: an event.
func (p *rowParser) free(n *yaml.Node, name string) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "%s: expected an event such as {tool: Bash, args: {command: ls}}, got %s", name, kind(n))
		return
	}
	p.plain(n, name)
}

func (p *rowParser) plain(n *yaml.Node, name string) {
	if n.Kind == yaml.AliasNode {
		p.wrong(n, "%s: aliases are not read here; write the value out", name)
		return
	}
	if n.Kind == yaml.MappingNode {
		p.unique(n)
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Tag != "!!str" {
				p.wrong(key, "%s: the key %s is no text; quote it", name, key.Value)
			}
		}
	}
	for _, c := range n.Content {
		p.plain(c, name)
	}
}

func (p *rowParser) number(n *yaml.Node, name string) {
	var f float64
	if err := n.Decode(&f); err != nil || n.Tag == "!!str" {
		p.wrong(n, "%s: expected a number, got %q", name, n.Value)
	} else if math.IsNaN(f) || math.IsInf(f, 0) {
		p.wrong(n, "%s: expected a finite number, got %s", name, n.Value)
	}
}

func (p *rowParser) word(n *yaml.Node, name string, known []string) {
	if strings.TrimSpace(n.Value) == "" {
		p.wrong(n, "%s is empty; give it a value or leave it out", name)
	} else if known != nil && !slices.Contains(known, n.Value) {
		p.wrong(n, "%s: unknown word %s", name, engine.Meant(n.Value, known))
	}
}

var idForm = engine.Regexp(`^[a-z0-9]+([_.-][a-z0-9]+)*$`)

func (p *rowParser) idForm(n *yaml.Node, id string) {
	if !idForm().MatchString(id) {
		p.wrong(n, "id %q: expected lower-case words joined by . _ or -, such as git.force_push", id)
	}
}

// patterns reports a * that stands elsewhere than at the end, where it would
// mean itself.
func (p *rowParser) patterns(n *yaml.Node, name string, patterns []string) {
	for _, w := range patterns {
		if strings.Contains(strings.TrimSuffix(w, "*"), "*") {
			p.wrong(n, "%s: %q: a * can stand at the end only", name, w)
		}
	}
}

// entries accepts an object whose keys are free, and compares the values with
// what they are to become where that is known.
func (p *rowParser) entries(n *yaml.Node, name string, t reflect.Type) {
	if t.Kind() != reflect.Struct {
		p.free(n, name)
		return
	}
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "%s: expected keys with values, got %s", name, kind(n))
		return
	}
	p.unique(n)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Tag != "!!str" {
			p.wrong(key, "%s: the key %s is no text; quote it", name, key.Value)
		}
		p.check(n.Content[i+1], name+"."+key.Value, t, nil)
	}
}

// once reports a name that was seen before, and in which line.
func (p *rowParser) once(n *yaml.Node, seen map[string]int, what, name string) {
	if line, twice := seen[name]; twice {
		p.wrong(n, "%s %s is given twice, first in line %d", what, name, line)
	}
	seen[name] = n.Line
}

// filled reports lists without an item: it could mean nothing or everything.
func (p *rowParser) filled(nodes map[string]*yaml.Node, names ...string) {
	for _, name := range names {
		if n := nodes[name]; n != nil && len(n.Content) == 0 {
			p.wrong(n, "%s is empty; give it a value or leave it out", name)
		}
	}
}
