package bundles

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// RowLayers returns the layers' knowledge about programs, for a classifier to
// read. The user's and the project's rows can only add to those of the others.
func (e *Effective) RowLayers() []rows.Layer {
	var list []rows.Layer
	for _, l := range e.Layers {
		files := l.Rows
		if l.Layer == Base {
			files = baseRows(l.Rows)
		}
		if len(files) > 0 {
			list = append(list, rows.Layer{Name: l.Layer, Adds: adds(l.Layer), Files: files})
		}
	}
	return append(list, e.settingWords())
}

// baseRows are the rows of a base layer. If a folder is missing, the built-in one
// applies, because the policy may be older than that kind of rows.
func baseRows(own map[string][]byte) map[string][]byte {
	files := maps.Clone(own)
	if files == nil {
		files = map[string][]byte{}
	}
	for _, folder := range rows.Folders() {
		in := func(name string) bool { return strings.HasPrefix(name, folder) }
		if slices.ContainsFunc(slices.Collect(maps.Keys(own)), in) {
			continue
		}
		for _, l := range BuiltInRows().Layers() {
			for name, content := range l.Files {
				if in(name) {
					files[name] = content
				}
			}
		}
	}
	return files
}

// settingWords returns the lists of settings that are also used to interpret
// operations, after merging all layers.
func (e *Effective) settingWords() rows.Layer {
	lists := map[string][]string{}
	settings, _ := e.Data["reviewer"].(map[string]any)
	services, _ := settings["services"].(map[string]any)
	for _, name := range rows.SettingLists() {
		words, _ := services[strings.TrimPrefix(name, "services.")].([]any)
		for _, w := range words {
			if text, ok := w.(string); ok {
				lists[name] = append(lists[name], text)
			}
		}
	}
	return rows.Layer{Name: "settings", Files: map[string][]byte{rows.WordsFolder + "settings.yaml": rows.ListsFile(lists)}}
}

// BuiltInTokens returns the formats of secrets in the built-in policy. They are
// masked on every machine, whichever policy is active there, and even without
// one.
var BuiltInTokens = sync.OnceValue(func() *rows.Set { return shippedRows(rows.TokensFolder) })

// shippedWords returns the built-in lists of words; there are no others.
var shippedWords = sync.OnceValue(func() *rows.Set { return shippedRows(rows.WordsFolder) })

// BuiltInRows returns only the rows of the built-in policy: events are read
// with them if no policy can be loaded.
var BuiltInRows = sync.OnceValue(func() *rows.Set { return shippedRows(append(rows.Folders(), rows.ConvertedFolder)...) })

func shippedRows(folders ...string) *rows.Set {
	files := map[string][]byte{}
	for _, folder := range folders {
		names, _ := fs.Glob(DefaultFS(), folder+"*.yaml") // the files are embedded: this cannot fail
		for _, name := range names {
			files[name], _ = fs.ReadFile(DefaultFS(), name)
		}
	}
	return rows.New([]rows.Layer{{Name: Base, Files: files}})
}

// adds reports whether a layer's rows may only add facts.
func adds(layer string) bool { return layer == User || layer == Project }

// validRows contains the digests of layers' rows in which this process found no problem: most
// policies have the rows of the built-in one.
var validRows sync.Map

func (b *Bundle) rowsDigest() [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q", b.Layer)
	for _, name := range slices.Sorted(maps.Keys(b.Rows)) {
		fmt.Fprintf(h, "%q%d:", name, len(b.Rows[name]))
		h.Write(b.Rows[name])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// checkRows reports every problem in a layer's rows.
func (b *Bundle) checkRows() error {
	digest := b.rowsDigest()
	if _, valid := validRows.Load(digest); valid {
		return nil
	}
	c := &rowCheck{adds: adds(b.Layer), layer: b.Layer, as: map[string]string{}}
	for _, folder := range rows.Folders() {
		c.folder, c.seen = folder, map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(b.Rows)) {
			if strings.HasPrefix(name, folder) {
				c.file(name, b.Rows[name])
			}
		}
	}
	if len(c.errors) == 0 {
		validRows.Store(digest, true)
	}
	return errors.Join(c.errors...)
}

// rowCheck checks the rows of a layer.
type rowCheck struct {
	folder string
	p      *rowParser
	layer  string
	adds   bool
	seen   map[string]string // the name of a row of the folder -> where it is
	as     map[string]string // a program -> another one as which a step reads its operands
	errors []error
}

// file checks one file: it must be YAML, its blocks must be what YAML reads there, and
// each row must be valid.
func (c *rowCheck) file(name string, content []byte) {
	root, err := parseYAML(name, content)
	if err != nil {
		var at *positionedError
		if errors.As(err, &at) {
			at.layer = c.layer
		}
		c.errors = append(c.errors, err)
		return
	}
	if root == nil {
		return
	}
	c.p = &rowParser{layer: c.layer, file: name}
	blocks := rows.Split(string(content))
	if len(blocks) != len(root.Content)/2 {
		c.p.wrong(root, "each program must start at the first column of its own line, and nothing else may")
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if len(blocks) == len(root.Content)/2 && !slices.Equal(blocks[i/2].Names, strings.Fields(key.Value)) {
			c.p.wrong(key, "write the names of a program in one line, followed only by a colon")
		}
		c.named(key)
		switch c.folder {
		case rows.ProgramsFolder:
			row(c, key, value, c.program)
		case rows.PlacesFolder:
			row(c, key, value, c.paths)
		case rows.ToolsFolder:
			row(c, key, value, c.tool)
		case rows.WordsFolder:
			row(c, key, value, c.wordList)
		case rows.TokensFolder:
			row(c, key, value, c.token)
		}
	}
	c.errors = append(c.errors, c.p.problems...)
}

// named checks the names of a row, each of which no other row of the layer has.
func (c *rowCheck) named(key *yaml.Node) {
	names := strings.Fields(key.Value)
	if len(names) == 0 {
		c.p.wrong(key, "a row needs a name")
	}
	for _, name := range names {
		if c.folder == rows.ProgramsFolder && !programName(name) {
			c.p.wrong(key, "%q: expected the name of a program in ASCII, without its folder; a * can only be at the end", name)
		}
		if strings.HasPrefix(c.p.file, rows.ConvertedFolder) {
			name += " converted" // another row of the same program may be above it
		}
		if c.p.file == rows.ChecksFile {
			name += " checks" // its other row is in another file
		}
		if c.p.file == rows.RevealsFile {
			name += " reveals"
		}
		if other, twice := c.seen[name]; twice {
			c.p.wrong(key, "%s already has a row (%s); merge the two", name, other)
		}
		c.seen[name] = nodeAt(c.p.file, key).String()
	}
}

// programName reports whether a row may have this name for a program.
func programName(name string) bool {
	strange := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("/\\$`'\"<>|&;*", r) }
	return !strings.ContainsFunc(strings.TrimSuffix(name, "*"), strange) && name != "*"
}

// row reads one row, and calls check for the rest.
func row[T any](c *rowCheck, key, n *yaml.Node, check func(names string, row T, n *yaml.Node)) {
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		return // the name alone
	}
	before := len(c.p.problems)
	c.p.check(n, key.Value, reflect.TypeFor[T](), nil)
	if len(c.p.problems) > before {
		return
	}
	var read T
	if err := n.Decode(&read); err != nil {
		c.p.wrong(n, "%v", err)
		return
	}
	check(key.Value, read, n)
}

// program checks a row beyond its form.
func (c *rowCheck) program(names string, row rows.Program, n *yaml.Node) {
	nodes := RowValues(n)
	c.checks(row, nodes, n)
	c.reveals(nodes)
	c.options(row, nodes)
	c.words(nodes["grammar"], row.Grammar, rows.Grammars(), "grammar")
	c.function(nodes["go"], row.Go)
	if row.Like != "" {
		c.readAs(nodes["like"], "like", names, row.Like)
	}
	for i, hop := range row.Hops {
		c.hop(hop, nodes["hops"].Content[i])
	}
	if row.Wraps != nil {
		wraps := RowValues(nodes["wraps"])
		c.function(wraps["go"], row.Wraps.Go)
		if row.Wraps.Writes != "" {
			c.selector(wraps["writes"], row.Wraps.Writes)
		}
	}
	for _, key := range []string{"before", "cases", "notes"} {
		cases := map[string][]rows.Case{"before": row.Before, "cases": row.Cases, "notes": row.Notes}[key]
		for i, one := range cases {
			c.oneCase(names, one, nodes[key].Content[i])
		}
	}
	if subs := nodes["subcommands"]; subs != nil {
		for i := 0; i+1 < len(subs.Content); i += 2 {
			c.subcommand(subs.Content[i], subs.Content[i+1], names)
		}
	}
	if c.adds {
		c.onlyAdds(row, nodes, n)
	}
}

func (c *rowCheck) subcommand(key, value *yaml.Node, names string) {
	var row rows.Program
	if value.Decode(&row) == nil && len(value.Content) > 0 {
		c.program(names+" "+key.Value, row, value)
	}
}

// options refuses a duplicate option, or one both with and without a value.
func (c *rowCheck) options(row rows.Program, nodes map[string]*yaml.Node) {
	first := map[string]string{}
	for _, list := range []struct{ key, words string }{{"values", row.Values}, {"persistent", row.Persistent}, {"code", row.Code},
		{"scripts", row.Scripts}, {"glued", row.Glued}, {"flags", row.Flags}} {
		for _, option := range strings.Fields(list.words) {
			if !strings.HasPrefix(option, "-") && !(list.key == "values" && list.words == "*") {
				c.p.wrong(nodes[list.key], "%s: %q is not an option: it does not start with a dash", list.key, option)
			}
			switch in, twice := first[option]; {
			case twice && in == list.key:
				c.p.wrong(nodes[list.key], "%s: duplicate %s", list.key, option)
			case twice:
				c.p.wrong(nodes[list.key], "%s is in %s and in %s: it takes a value in one of these ways, or none", option, in, list.key)
			}
			first[option] = list.key
		}
	}
}

func (c *rowCheck) words(n *yaml.Node, words string, known []string, what string) {
	for _, w := range strings.Fields(words) {
		if !slices.Contains(known, w) {
			c.p.wrong(n, "%s: unknown word %s", what, engine.Suggest(w, known))
		}
	}
}

func (c *rowCheck) function(n *yaml.Node, text string) {
	name, _, _ := strings.Cut(text, " ")
	if name != "" && !slices.Contains(rows.Functions(), name) {
		c.p.wrong(n, "go: unknown function %s", engine.Suggest(name, rows.Functions()))
	}
}

func (c *rowCheck) oneCase(names string, one rows.Case, n *yaml.Node) {
	nodes := RowValues(n)
	if one.Operands != "" {
		if _, _, err := rows.Count(one.Operands); err != nil {
			c.p.wrong(nodes["operands"], "operands: %v", err)
		}
	}
	if one.Has != "" {
		c.selector(nodes["has"], one.Has)
	}
	c.words(nodes["means"], one.Means, rows.Meanings(), "means")
	for i, step := range one.Do {
		if step.Meant != "" && one.Means == "" {
			c.p.wrong(nodes["do"].Content[i], "meant: the case needs means, which says what to search for: %s", strings.Join(rows.Meanings(), ", "))
		}
		c.step(names, step, nodes["do"].Content[i])
	}
}

// selecting are the steps whose value selects words.
const selecting = "read write delete fetch send listen install meant code script run aims takes seeks"

func (c *rowCheck) step(names string, s rows.Step, n *yaml.Node) {
	nodes := RowValues(n)
	key, value := s.Op()
	if rows.Has(selecting, key) {
		c.selector(nodes[key], value)
	}
	switch {
	case key == "":
		c.p.wrong(n, "a step needs exactly one of %s", strings.Join(rows.Ops(), ", "))
	case key == "run" && (value == rows.SelectProgram || strings.HasPrefix(value, "=") && rows.Has(names, value[1:])):
		c.p.wrong(nodes[key], "run: the program would run itself; select the words of the command to run, such as rest")
	case key == "signal":
		c.words(nodes[key], value, engine.Signals(), "signal")
	case key == "go":
		c.function(nodes[key], value)
	case key == "out" && !slices.Contains(rows.Outs(), value):
		c.p.wrong(nodes[key], "out: unknown word %s", engine.Suggest(value, rows.Outs()))
	case key == "as":
		c.readAs(nodes[key], "as", names, value)
	}
	if s.On != "" {
		c.selector(nodes["on"], s.On)
	}
	if s.Mode != "" {
		c.selector(nodes["mode"], s.Mode)
	}
	if s.Size != "" {
		c.selector(nodes["size"], s.Size)
	}
	less := key == "go" || key == "out" || s.Reversible != "" && s.Reversible < "R4" || rows.Has(s.Signal, string(engine.SignalDryRun))
	if c.adds && (less || s.Verb == "trash" || s.Verb == "restrict") {
		c.p.wrong(n, "a row of the %s layer only adds to what a program does: it cannot remove effects, or say how they are undone", c.layer)
	}
}

func (c *rowCheck) selector(n *yaml.Node, text string) {
	if _, err := rows.Selectors(text); err != nil {
		c.p.wrong(n, "%v", err)
	}
}

// hop checks how a program runs code elsewhere.
func (c *rowCheck) hop(h rows.Hop, n *yaml.Node) {
	nodes := RowValues(n)
	for key, options := range map[string]string{"values": h.Values, "name": h.Name, "code": h.Code} {
		for _, option := range strings.Fields(options) {
			if !strings.HasPrefix(option, "-") {
				c.p.wrong(nodes[key], "%s: %q is not an option: it does not start with a dash", key, option)
			} else if !rows.Has(h.Values, option) {
				c.p.wrong(nodes[key], "%s: %s takes a value; list it in values too", key, option)
			}
		}
	}
}

// readAs notes that a program, or its operands, are interpreted as another one's.
func (c *rowCheck) readAs(n *yaml.Node, key, names, other string) {
	for _, name := range strings.Fields(names) {
		c.as[name] = other
		for next, hops := other, 0; next != "" && hops <= len(c.as); next, hops = c.as[next], hops+1 {
			if next == name {
				c.p.wrong(n, "%s: %s refers to itself; name a program that has effects of its own", key, name)
				break
			}
		}
	}
}

// onlyAdds refuses keys that remove facts, in a layer that may only add some.
func (c *rowCheck) onlyAdds(row rows.Program, nodes map[string]*yaml.Node, n *yaml.Node) {
	taken := map[string]bool{"reads_only": row.ReadsOnly, "dry_run": row.DryRun != "", "usage": row.Usage != "",
		"go": row.Go != "", "replace": row.Replace, "kind": row.Kind != "", "like": row.Like != "", "checks": row.Checks != ""}
	for key, given := range taken {
		if given {
			c.p.wrong(nodes[key], "%s: a row of the %s layer only adds to what a program does; move this to the organisation's layer", key, c.layer)
		}
	}
	if row.Wraps != nil && row.Wraps.Go != "" {
		c.p.wrong(n, "wraps: a row of the %s layer cannot name a function; move this to the organisation's layer", c.layer)
	}
}
