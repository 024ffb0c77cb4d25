package bundles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	above    [][]string // keys of the enclosing objects
}

// parse calls take for each document that contains more than comments, and returns all
// errors.
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
	p.wrongAs("", n, format, args...)
}

// wrongAs is wrong for a problem whose kind is known.
func (p *rowParser) wrongAs(code string, n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, nodeAt(p.file, n).in(p.layer).as(code).wrong(format, args...))
}

// note records the positions of the texts of a row's keys.
func (p *rowParser) note(row *yaml.Node) texts {
	lines, cols := map[string]int{"": row.Line}, map[string]int{"": row.Column}
	folds := map[string]*foldedText{}
	for key, value := range RowValues(row) {
		if slices.Contains([]string{"when", "measure", "confidence", "details", "is"}, key) {
			folds[key] = p.foldedText(value)
		}
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
	return texts{file: p.file, spots: &spots{lines, cols, folds}}
}

// indent counts the spaces that a line of the file begins with.
func (p *rowParser) indent(line int) int {
	if line > len(p.lines) {
		return 0
	}
	return len(p.lines[line-1]) - len(bytes.TrimLeft(p.lines[line-1], " "))
}

// RowID returns the id of a row; empty: none.
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

// TextLine returns the line where the text of a value begins: below the | of a block.
func TextLine(n *yaml.Node) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Line + 1
	}
	return n.Line
}

// check compares a node with its Go type, and its words with the vocabulary, if there
// is one.
func (p *rowParser) check(n *yaml.Node, name string, t reflect.Type, known []string) {
	switch {
	case n.Kind == yaml.AliasNode:
		p.wrongAs("yaml.form", n, "%s: aliases are not allowed here; write the value in full", name)
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		p.wrongAs("row.type", n, "%s is empty; give it a value or remove it", name)
	case t.Kind() == reflect.Pointer:
		p.check(n, name, t.Elem(), known)
	case t.Kind() == reflect.Struct:
		p.object(n, name, t)
	case t.Kind() == reflect.Slice:
		p.list(n, name, t, known)
	case t.Kind() == reflect.Map:
		p.entries(n, name, t.Elem())
	case n.Kind != yaml.ScalarNode:
		p.wrongAs("row.type", n, "%s: expected %s, got %s", name, wanted(t), kind(n))
	case t.Kind() == reflect.Float64:
		p.number(n, name)
	case t.Kind() == reflect.Int64:
		if n.Tag != "!!int" {
			p.wrongAs("row.type", n, "%s: expected a whole number, got %q", name, n.Value)
		}
	case t.Kind() == reflect.Bool:
		if n.Tag != "!!bool" {
			p.wrongAs("row.type", n, "%s: expected true or false, got %q", name, n.Value)
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
		return "keys with values (quote a string that contains ': ' or starts with {)"
	case yaml.SequenceNode:
		return "a list (quote a string that starts with [ or -)"
	}
	return strconv.Quote(n.Value)
}

func (p *rowParser) object(n *yaml.Node, name string, t reflect.Type) {
	if n.Kind != yaml.MappingNode {
		p.wrongAs("row.type", n, "%s: expected keys with values, got %s", name, kind(n))
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
	if p.elsewhere(n, name, known) {
		return
	}
	p.above = append(p.above, known)
	defer func() { p.above = p.above[:len(p.above)-1] }()
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		f, ok := fields[key.Value]
		if !ok {
			p.wrongAs("row.key", key, "%s", p.unknownKey(key.Value, t, known))
			continue
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == key.Value })
		p.check(n.Content[i+1], key.Value, f.Type, engine.FieldValues(t, f))
	}
	for _, m := range missing {
		p.wrongAs("row.missing", n, "%s: %s is missing", name, m)
	}
}

// elsewhere reports an object none of whose keys is known here, as one finding
// instead of one for each key.
func (p *rowParser) elsewhere(n *yaml.Node, name string, known []string) bool {
	keys := RowValues(n)
	isRule := slices.Contains(known, "severity") // other rows may be keyed by their ids
	if !isRule || len(keys) == 0 || slices.ContainsFunc(known, func(k string) bool { return keys[k] != nil }) {
		return false
	}
	first := n.Content[0].Value
	hint := fmt.Sprintf("this file is a list of rows, each with %s", strings.Join(known[:min(3, len(known))], ", "))
	switch {
	case keys["name"] != nil:
		hint = "a case belongs in a file under cases/"
	case len(keys) == 1 && n.Content[1].Kind == yaml.SequenceNode:
		hint = fmt.Sprintf("remove the key %s: the file itself is the list, and each row begins with a dash", first)
	case len(keys) == 1 && n.Content[1].Kind == yaml.MappingNode:
		hint = "write it as an item of a list: - id: " + first
	}
	p.wrongAs("row.key", n, "%s: unknown key %q; %s", name, first, hint)
	return true
}

// unknownKey describes a key that an object does not have, and where it belongs if
// that is known.
func (p *rowParser) unknownKey(key string, t reflect.Type, known []string) string {
	for _, f := range engine.JSONFields(t) {
		inner := f.Type
		for inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() != reflect.Struct {
			continue
		}
		for _, below := range engine.JSONFields(inner) {
			if below.Name == key {
				return fmt.Sprintf("%s belongs under %s, as in %s: {%s: …}", key, f.Name, f.Name, key)
			}
		}
	}
	if outer := len(p.above) - 2; outer >= 0 && slices.Contains(p.above[outer], key) {
		return fmt.Sprintf("%s belongs one level up, next to the key of this object", key)
	}
	return "unknown key " + engine.Suggest(key, known)
}

// unique reports keys that occur twice: one of the two values would be lost.
func (p *rowParser) unique(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := first[key.Value]; twice {
			p.wrongAs("yaml.form", key, "duplicate key %s, first in line %d", key.Value, line)
		}
		first[key.Value] = key.Line
	}
}

func (p *rowParser) list(n *yaml.Node, name string, t reflect.Type, known []string) {
	if n.Kind != yaml.SequenceNode {
		p.wrongAs("row.type", n, "%s: expected a list such as [a, b], got %s", name, kind(n))
		return
	}
	for _, item := range n.Content {
		p.check(item, name, t.Elem(), known)
	}
}

// free accepts any object without aliases and duplicate keys: an event.
func (p *rowParser) free(n *yaml.Node, name string) {
	if n.Kind != yaml.MappingNode {
		p.wrongAs("row.type", n, "%s: expected an event such as {tool: Bash, args: {command: ls}}, got %s", name, kind(n))
		return
	}
	p.plain(n, name)
}

func (p *rowParser) plain(n *yaml.Node, name string) {
	if n.Kind == yaml.AliasNode {
		p.wrongAs("yaml.form", n, "%s: aliases are not allowed here; write the value in full", name)
		return
	}
	if n.Kind == yaml.MappingNode {
		p.unique(n)
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Tag != "!!str" {
				p.wrongAs("yaml.form", key, "%s: the key %s is not a string; quote it", name, key.Value)
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
		p.wrongAs("row.type", n, "%s: expected a number, got %q", name, n.Value)
	} else if math.IsNaN(f) || math.IsInf(f, 0) {
		p.wrongAs("row.type", n, "%s: expected a finite number, got %s", name, n.Value)
	}
}

func (p *rowParser) word(n *yaml.Node, name string, known []string) {
	if strings.TrimSpace(n.Value) == "" && n.Tag[:min(2, len(n.Tag))] != "!!" && n.Tag != "" {
		p.wrongAs("row.type", n, "%s: %s is a tag of YAML, since it begins with a !; write it in quotes", name, n.Tag)
	} else if strings.TrimSpace(n.Value) == "" {
		p.wrongAs("row.type", n, "%s is empty; give it a value or remove it", name)
	} else if known != nil && !slices.Contains(known, n.Value) {
		p.wrongAs("row.word", n, "%s: unknown word %s", name, engine.Suggest(n.Value, known))
	}
}

var idForm = engine.Regexp(`^[a-z0-9]+([_.-][a-z0-9]+)*$`)

func (p *rowParser) idForm(n *yaml.Node, id string) {
	if !idForm().MatchString(id) {
		p.wrongAs("row.id", n, "id %q: expected lower-case words joined by . _ or -, such as git.force_push", id)
	}
}

// patterns reports a * that is not at the end, where it would be literal.
func (p *rowParser) patterns(n *yaml.Node, name string, patterns []string) {
	for _, w := range patterns {
		if tool, rest, other := strings.Cut(w, "("); strings.Contains(strings.TrimSuffix(w, "*"), "*") && other {
			p.wrongAs("row.word", n, "%s: %q is not how tools are written here: write %s, and in an access list commands: [%q]", name, w, tool,
				strings.TrimSuffix(rest, ")"))
		} else if strings.Contains(strings.TrimSuffix(w, "*"), "*") {
			p.wrongAs("row.word", n, "%s: %q: a * can only be at the end", name, w)
		}
	}
}

// entries accepts an object with any keys, and compares the values with their Go type,
// if that is known.
func (p *rowParser) entries(n *yaml.Node, name string, t reflect.Type) {
	if t.Kind() != reflect.Struct {
		p.free(n, name)
		return
	}
	if n.Kind != yaml.MappingNode {
		p.wrongAs("row.type", n, "%s: expected keys with values, got %s", name, kind(n))
		return
	}
	p.unique(n)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Tag != "!!str" {
			p.wrongAs("yaml.form", key, "%s: the key %s is not a string; quote it", name, key.Value)
		}
		p.check(n.Content[i+1], name+"."+key.Value, t, nil)
	}
}

// once reports a duplicate name, with the line of the first one.
func (p *rowParser) once(n *yaml.Node, seen map[string]int, what, name string) {
	if line, twice := seen[name]; twice {
		p.wrongAs("row.id", n, "duplicate %s %s, first in line %d", what, name, line)
	}
	seen[name] = n.Line
}

// filled reports lists without an item: such a list could mean nothing or everything.
func (p *rowParser) filled(nodes map[string]*yaml.Node, names ...string) {
	for _, name := range names {
		if n := nodes[name]; n != nil && len(n.Content) == 0 {
			p.wrongAs("row.type", n, "%s is empty; give it a value or remove it", name)
		}
	}
}

// foldedText describes where the characters of a value are written if its text
// in the file differs: a block below >, lines that are joined, escapes in
// quotes.
type foldedText struct {
	value  string
	pieces []piece // in their order
	escape byte    // what escapes begin with; 0: there are none
}

// piece is a part of a value that is written literally on one line.
type piece struct {
	at        int // in the value, bytes
	line, col int // in the file, of its first character
}

// place returns where the character at a line and column of the value, both
// from 1, is written.
func (f *foldedText) place(line, col int) (int, int) {
	at, rest := 0, f.value
	for range line - 1 {
		_, after, _ := strings.Cut(rest, "\n")
		rest = after
	}
	at = len(f.value) - len(rest)
	for range col - 1 {
		_, size := utf8.DecodeRuneInString(f.value[at:])
		at += size
	}
	best := f.pieces[0]
	for _, p := range f.pieces {
		if p.at <= at {
			best = p
		}
	}
	return best.line, best.col + utf8.RuneCountInString(f.value[best.at:at])
}

// foldedText finds the pieces of a value; nil if it is written as it is on
// one line, or is a block below |, whose lines are those of the value.
func (p *rowParser) foldedText(n *yaml.Node) *foldedText {
	if n.Kind != yaml.ScalarNode || n.Style&yaml.LiteralStyle != 0 {
		return nil
	}
	f := &foldedText{value: n.Value}
	line, col := n.Line, n.Column
	switch {
	case n.Style&yaml.FoldedStyle != 0:
		line, col = n.Line+1, 1
	case n.Style&yaml.SingleQuotedStyle != 0:
		f.escape, col = '\'', col+1
	case n.Style&yaml.DoubleQuotedStyle != 0:
		f.escape, col = '\\', col+1
	}
	for at := 0; at < len(f.value) && line <= len(p.lines); line, col = line+1, 1 {
		at = f.follow(at, string(p.lines[line-1]), line, col)
	}
	if len(f.pieces) == 0 || len(f.pieces) == 1 && n.Style&yaml.FoldedStyle == 0 {
		return nil
	}
	return f
}

// follow notes the part of the value that a line of the file contains from a byte on, and
// returns how far the value has been found.
func (f *foldedText) follow(at int, text string, line, col int) int {
	for range col - 1 {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	blank := len(text) - len(strings.TrimLeft(text, " \t"))
	text, col = text[blank:], col+blank
	at = len(f.value) - len(strings.TrimLeft(f.value[at:], " \n"))
	for at < len(f.value) {
		n := f.samePrefix(f.value[at:], text)
		if n > 0 {
			f.pieces = append(f.pieces, piece{at, line, col})
		}
		at, col, text = at+n, col+utf8.RuneCountInString(text[:n]), text[n:]
		if at == len(f.value) || !escaped(text, f.value[at]) {
			return at
		}
		f.pieces = append(f.pieces, piece{at, line, col})
		at, col, text = at+1, col+2, text[2:]
	}
	return at
}

// samePrefix returns how many bytes are the same at the beginning of a value and of its
// text.
func (f *foldedText) samePrefix(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] || f.escape != 0 && b[i] == f.escape {
			return i
		}
	}
	return min(len(a), len(b))
}

// escaped reports whether a string begins with the two characters by which a
// quoted string of YAML writes this one.
func escaped(text string, char byte) bool {
	return len(text) > 1 && (text[0] == '\\' && strings.IndexByte("\"\\/\t\n", char) >= 0 || strings.HasPrefix(text,
		"''") && char == '\'')
}
