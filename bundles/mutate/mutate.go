// Package mutate makes small changes to the rows, settings and data of a bundle,
// one at a time, each a bundle of its own.
//
// Out of scope: which of them tests detect, changes to Rego, and the variants of an
// expression, which the callers provide.
package mutate

import (
	"bytes"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/mutant"
)

// Change is a mutant of one file of a bundle, by its name there.
type Change struct {
	mutant.Mutant
	Path    string // where the change is in the document that policy reads, as /reviewer/risk
	Dropped string // id of the removed row, whose examples are removed too

	doc      *document
	do, undo func()
}

// Reword lists variants of an expression.
type Reword func(text string) []mutant.Rewording

// document is a file that is changed and restored, one change at a time.
type document struct {
	mu   sync.Mutex
	name string
	docs []*yaml.Node // of a file in Rego: the rows in its METADATA

	rego  []byte                // its text; nil: the file is YAML
	texts map[*yaml.Node]string // the words in these rows, as they are in the text
}

// Changes lists the changes of a bundle's rows and data that can be made, by file and
// place. reads reports whether a module reads a path such as /reviewer/risk; other
// data are left out. With ids, only the rows that have them are changed.
func Changes(b *bundles.Bundle, reads func(path string) bool, reword Reword, ids ...string) []*Change {
	var all []*Change
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		g := &mutation{bundle: b, reads: reads, reword: reword, ids: ids, doc: &document{name: name}}
		if !g.read() {
			continue
		}
		g.file()
		slices.SortStableFunc(g.all, func(a, b *Change) int { return a.Compare(b.Mutant) })
		all = append(all, g.all...)
	}
	return all
}

// Apply returns the bundle with the change. An error means that the result is not a
// valid bundle.
func (m *Change) Apply(b *bundles.Bundle) (*bundles.Bundle, error) { return Apply(b, m) }

// Apply returns the bundle with several changes of one file, each at another place.
func Apply(b *bundles.Bundle, changes ...*Change) (*bundles.Bundle, error) {
	doc := changes[0].doc
	content, err := doc.with(changes)
	if err != nil {
		return nil, err
	}
	changed, err := b.WithFile(doc.name, content)
	if err == nil && doc.rego != nil {
		changed.Modules = b.Modules // only METADATA differs, so that it need not be compiled again
	}
	return changed, err
}

// with returns the text of the document with some of its changes.
func (d *document) with(changes []*Change) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range changes {
		m.do()
		defer m.undo()
	}
	if d.rego != nil {
		return d.reworded(), nil
	}
	var out bytes.Buffer
	for _, node := range d.docs {
		text, err := yaml.Marshal(node)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

// reworded returns the text in Rego with the words that differ.
func (d *document) reworded() []byte {
	lines := bytes.Split(d.rego, []byte("\n"))
	for n, was := range d.texts {
		if n.Value == was {
			continue
		}
		line := lines[n.Line-1]
		lines[n.Line-1] = slices.Concat(line[:n.Column-1], bytes.Replace(line[n.Column-1:], []byte(was), []byte(n.Value), 1))
	}
	return bytes.Join(lines, []byte("\n"))
}

// readRego reads the rows in METADATA, and reports whether there are any.
func (g *mutation) readRego() bool {
	d := g.doc
	d.rego, d.texts = g.bundle.Files[d.name], map[*yaml.Node]string{}
	bundles.EachRowInRego(d.rego, func(row *yaml.Node) {
		d.docs = append(d.docs, row)
		for _, n := range bundles.RowValues(row) {
			if n.Kind == yaml.ScalarNode {
				d.texts[n] = n.Value
			}
		}
	})
	return len(d.docs) > 0
}

// mutation walks one file.
type mutation struct {
	bundle  *bundles.Bundle
	reads   func(path string) bool
	reword  Reword
	ids     []string // of the rows to change; empty: all
	doc     *document
	all     []*Change
	about   string
	path    string
	dropped string
}

// read parses the file, and reports whether there is anything to change in it.
func (g *mutation) read() bool {
	switch bundles.FileKind(g.doc.name) {
	case "", bundles.ManifestFile:
		return false
	case bundles.RegoFile:
		return g.readRego()
	case bundles.SettingsFile, bundles.DataFile:
		if len(g.ids) > 0 {
			return false
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(g.bundle.Files[g.doc.name]))
	for {
		var n yaml.Node
		err := d.Decode(&n)
		if err == io.EOF {
			return true
		}
		if err != nil {
			return false // unreachable: the bundle has been read
		}
		g.doc.docs = append(g.doc.docs, &n)
	}
}

func (g *mutation) file() {
	for _, d := range g.doc.docs {
		if g.doc.rego != nil {
			if g.wanted(bundles.RowID(d)) {
				g.rule(d)
			}
			continue
		}
		root := d.Content[0]
		switch bundles.FileKind(g.doc.name) {
		case bundles.SettingsFile:
			g.settings(root, "/reviewer")
		case bundles.DataFile:
			g.settings(root, strings.TrimSuffix("/"+path.Dir(g.doc.name), "/."))
		case bundles.RulesFile:
			g.rows(root, g.rule)
		case bundles.AccessFile:
			g.list(root)
		case bundles.DetectorsFile:
			g.rows(root, g.detector)
		}
	}
}

func (g *mutation) add(operator string, at *yaml.Node, before, after string, do, undo func()) {
	g.all = append(g.all, &Change{
		Mutant: mutant.Mutant{File: g.doc.name, Line: at.Line, Col: at.Column, Kind: g.kind(), Operator: operator, Rule: g.about, Before: before, After: after},
		Path:   g.path, Dropped: g.dropped, doc: g.doc, do: do, undo: undo,
	})
}

// kind is that of mutants which change no expression.
func (g *mutation) kind() string {
	switch bundles.FileKind(g.doc.name) {
	case bundles.SettingsFile, bundles.DataFile:
		return mutant.Data
	}
	return mutant.Rows
}

// rows walks the rows of a file: one, or a list of them.
func (g *mutation) rows(n *yaml.Node, row func(*yaml.Node)) {
	if n.Kind == yaml.MappingNode {
		if g.wanted(bundles.RowID(n)) {
			row(n)
		}
		return
	}
	for _, r := range n.Content {
		if !g.wanted(bundles.RowID(r)) {
			continue
		}
		g.about, g.path = bundles.RowID(r), g.root()+"/"+bundles.CatalogueKey+"/"+bundles.RowID(r)
		g.dropRow(n, r)
		row(r)
	}
}

func (g *mutation) wanted(id string) bool { return len(g.ids) == 0 || slices.Contains(g.ids, id) }

func (g *mutation) root() string { return "/" + g.bundle.Root() }

func (g *mutation) dropRow(list, row *yaml.Node) {
	g.dropped = g.about
	g.remove(mutant.DropRow, list, row, "(removed)")
	g.dropped = ""
}

// remove removes a node from a list.
func (g *mutation) remove(operator string, list, item *yaml.Node, after string) {
	was := list.Content
	without := slices.DeleteFunc(slices.Clone(was), func(n *yaml.Node) bool { return n == item })
	before := item.Value
	if item.Kind != yaml.ScalarNode {
		before = g.about
	}
	g.add(operator, item, before, after, func() { list.Content = without }, func() { list.Content = was })
}

// rule changes the parts of a rule's row that affect decisions. Its texts, tags and
// severity do not.
func (g *mutation) rule(row *yaml.Node) {
	g.about = bundles.RowID(row)
	g.path = g.root() + "/" + bundles.CatalogueKey + "/" + g.about
	parts := bundles.RowValues(row)
	g.verdict(parts["decision"])
	g.oneOf(parts["enforcement"], mutant.ChangeWord, bundles.Enforcements())
	g.truth(parts["always"])
	g.truth(parts["fixed"])
	g.number(parts["hysteresis"])
	g.match(parts["match"], parts["when"] != nil || parts["measure"] != nil)
	g.expression(parts["when"])
	g.expression(parts["measure"])
	g.number(parts["threshold"])
	if levels := parts["levels"]; levels != nil {
		for _, l := range levels.Content {
			g.number(bundles.RowValues(l)["at"])
			g.oneOf(bundles.RowValues(l)["level"], mutant.ChangeWord, bundles.Severities())
			g.remove(mutant.DropItem, levels, l, "(level removed)")
		}
	}
}

// match changes the match of a row. A fact in front of an expression only saves time,
// so it is replaced by another fact instead of being removed.
func (g *mutation) match(n *yaml.Node, expression bool) {
	if n == nil {
		return
	}
	for i := 1; i < len(n.Content); i += 2 {
		key, list := n.Content[i-1], n.Content[i]
		if key.Value != "facts" || !expression {
			g.items(n, key, list)
			continue
		}
		for _, fact := range list.Content {
			g.oneOf(fact, mutant.ChangeWord, engine.FactNames())
		}
	}
}

func (g *mutation) detector(row *yaml.Node) {
	g.about = bundles.RowID(row)
	g.path = g.root() + "/" + bundles.DetectorsKey + "/" + g.about
	for i := 1; i < len(row.Content); i += 2 {
		switch key := row.Content[i-1]; key.Value {
		case "patterns", "in", "tools":
			g.items(row, key, row.Content[i])
		}
	}
}

// list changes an access list.
func (g *mutation) list(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		for _, one := range n.Content {
			g.list(one)
		}
		return
	}
	list := bundles.RowID(n)
	g.about, g.path = list, g.root()+"/"+bundles.AccessKey+"/"+list
	if g.wanted(list) {
		g.oneOf(bundles.RowValues(n)["default"], mutant.SwapVerdict, bundles.Effects())
	}
	rules := bundles.RowValues(n)["rules"]
	if rules == nil {
		return
	}
	for _, r := range rules.Content {
		g.about = bundles.AccessList{ID: list}.FindingID(bundles.RowID(r))
		if !g.wanted(g.about) {
			continue
		}
		g.dropRow(rules, r)
		g.accessRule(r)
	}
}

func (g *mutation) accessRule(row *yaml.Node) {
	for i := 1; i < len(row.Content); i += 2 {
		switch key, value := row.Content[i-1], row.Content[i]; key.Value {
		case "effect":
			g.oneOf(value, mutant.SwapVerdict, bundles.Effects())
		case "actions", "tools":
			g.items(row, key, value)
		case "when":
			g.expression(value)
		case "schedule":
			g.schedule(value)
		}
	}
}

func (g *mutation) schedule(n *yaml.Node) {
	for i := 1; i < len(n.Content); i += 2 {
		switch key, value := n.Content[i-1], n.Content[i]; key.Value {
		case "weekdays":
			g.items(n, key, value)
		case "hours":
			for _, hour := range value.Content {
				g.number(hour)
			}
		}
	}
}

// most is how many items of a list are left out, one after another. Of a longer list
// it is the first, the middle and the last: its items usually have one purpose and are
// tested together.
const most = 5

// items removes the items of a list; a single item is removed with its key.
func (g *mutation) items(in, key, list *yaml.Node) {
	if list.Kind != yaml.SequenceNode {
		return
	}
	switch n := len(list.Content); {
	case n == 1:
		g.removeKey(in, key, list)
	case n <= most:
		for _, item := range list.Content {
			g.remove(mutant.DropItem, list, item, "(removed)")
		}
	default:
		for _, i := range []int{0, n / 2, n - 1} {
			g.remove(mutant.DropItem, list, list.Content[i], "(removed)")
		}
	}
}

func (g *mutation) removeKey(in, key, list *yaml.Node) {
	was := in.Content
	at := slices.Index(was, key)
	without := slices.Delete(slices.Clone(was), at, at+2)
	g.add(mutant.DropItem, list.Content[0], key.Value+": "+list.Content[0].Value, "(removed)", func() { in.Content = without },
		func() { in.Content = was })
}

// textAt converts a place in a string to a place in the file.
func (g *mutation) textAt(n *yaml.Node, line, col int) (int, int) {
	row := bundles.TextLine(n) + line - 1
	lines := bytes.Split(g.bundle.Files[g.doc.name], []byte("\n"))
	switch quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0; {
	case row != n.Line && row <= len(lines):
		text := lines[row-1]
		return row, len(text) - len(bytes.TrimLeft(text, " ")) + col
	case quoted:
		return row, n.Column + col
	}
	return row, n.Column + col - 1
}

// expression replaces an expression by its variants.
func (g *mutation) expression(n *yaml.Node) {
	if n == nil || g.reword == nil {
		return
	}
	was := *n
	for _, r := range g.reword(n.Value) {
		at := *n
		at.Line, at.Column = g.textAt(n, r.Line, r.Col)
		g.add(r.Operator, &at, r.Before, r.After, func() { n.Value, n.Style = r.Text, yaml.DoubleQuotedStyle }, func() { *n = was })
		g.all[len(g.all)-1].Kind = mutant.Conditions
	}
}
