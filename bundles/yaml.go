package bundles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decodeYAML reads a file that is one object, and refuses what would get lost
// or change on its way into a policy's data, which is JSON.
func decodeYAML(name string, content []byte) (map[string]any, error) {
	root, err := parseYAML(name, content)
	if err != nil {
		return nil, err
	}
	doc := map[string]any{}
	if root == nil {
		return doc, nil
	}
	if err := errors.Join(notJSON(name, root)...); err != nil {
		return nil, err
	}
	if err := root.Decode(&doc); err != nil {
		return nil, syntaxError(name, content, err)
	}
	return doc, nil
}

// parseYAML returns the one object of a file, nil where there is none.
func parseYAML(name string, content []byte) (*yaml.Node, error) {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(content))
	err := d.Decode(&doc)
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, syntaxError(name, content, err)
	}
	if d.Decode(&more) != io.EOF {
		return nil, fmt.Errorf("%s: what follows --- is not read; make one document of it", name)
	}
	root := doc.Content[0]
	if root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: expected keys with values, got %s", name, root.Line, kind(root))
	}
	return root, nil
}

// syntaxError gives YAML's own errors, which say "line 3: …", our form.
func syntaxError(file string, content []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if at, what, ok := strings.Cut(rest, ": "); ok {
			return fmt.Errorf("%s:%d: %s", file, trueLine(at, what, content), what)
		}
	}
	return fmt.Errorf("%s:1: %s", file, text)
}

// oneOff is what errors of the YAML parser begin with. Unlike those of its
// scanner they count lines from 0.
var oneOff = []string{
	"did not find expected key", "did not find expected node content", "did not find expected '-' indicator",
	"did not find expected ',' or", "did not find expected <", "found undefined tag handle",
	"found duplicate %", "found incompatible YAML document",
}

func trueLine(at, what string, content []byte) int {
	line, err := strconv.Atoi(at)
	if err != nil {
		return 1
	}
	if slices.ContainsFunc(oneOff, func(begin string) bool { return strings.HasPrefix(what, begin) }) {
		line++
	}
	return min(line, bytes.Count(bytes.TrimRight(content, "\r\n"), []byte("\n"))+1)
}

// notJSON lists what JSON does not have: keys that are no text, keys that stand
// there twice, numbers without end, and aliases, a few of which can stand for
// more than fits in memory.
func notJSON(name string, n *yaml.Node) []error {
	var errs []error
	if n.Kind == yaml.AliasNode {
		errs = append(errs, fmt.Errorf("%s:%d: aliases are not read here; write the value out", name, n.Line))
	}
	if n.Kind == yaml.MappingNode {
		errs = append(errs, badKeys(name, n)...)
	}
	if f := strings.ToLower(n.Value); n.Tag == "!!float" && (strings.HasSuffix(f, ".nan") || strings.HasSuffix(f, ".inf")) {
		errs = append(errs, fmt.Errorf("%s:%d: expected a finite number, got %s", name, n.Line, n.Value))
	}
	for _, c := range n.Content {
		errs = append(errs, notJSON(name, c)...)
	}
	return errs
}

// badKeys lists the keys of an object that are no text, or stand there twice.
func badKeys(name string, n *yaml.Node) []error {
	var errs []error
	first := map[string]int{} // key -> its line
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Tag != "!!str" {
			errs = append(errs, fmt.Errorf("%s:%d: the key %s is no text; quote it", name, key.Line, key.Value))
			continue
		}
		if line, twice := first[key.Value]; twice {
			errs = append(errs, fmt.Errorf("%s:%d: the key %s is set on line %d already; keep one of the two", name, key.Line, key.Value, line))
			continue
		}
		first[key.Value] = key.Line
	}
	return errs
}

// where returns file:line of a setting of the bundle, such as
// risk.low_threshold, or of the nearest that is written above it. It reads the
// files again: only an error needs it.
func (b *Bundle) where(setting string) string {
	keys := strings.Split(setting, ".")
	best, fewest := "settings.yaml", len(keys)
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		rest, ok := b.settingKeys(name, keys)
		if !ok {
			continue
		}
		root, err := parseYAML(name, b.Files[name])
		if err != nil || root == nil {
			continue
		}
		if line, left := lineOf(root, rest); line > 0 && left <= fewest {
			best, fewest = name+":"+strconv.Itoa(line), left
		}
	}
	if b.Layer == Base {
		return best
	}
	return b.Layer + "/" + best
}

// settingKeys returns the keys under which a file has a setting, where it may.
func (b *Bundle) settingKeys(name string, keys []string) ([]string, bool) {
	if b.Layer != Base {
		return keys, name == "settings.yaml"
	}
	keys = append([]string{"reviewer"}, keys...)
	if base := path.Base(name); base != "data.yaml" && base != "data.json" {
		return nil, false
	}
	dir := path.Dir(name)
	if dir == "." {
		return keys, true
	}
	above := strings.Split(dir, "/")
	if len(above) > len(keys) || !slices.Equal(above, keys[:len(above)]) {
		return nil, false
	}
	return keys[len(above):], true
}

// lineOf follows keys as far as they go, and says how many are left. A key may
// have dots in it, as the ids of rules do: then several make one.
func lineOf(n *yaml.Node, keys []string) (line, left int) {
	if n.Kind != yaml.MappingNode {
		return 0, len(keys)
	}
	for used := len(keys); used > 0; used-- {
		key := strings.Join(keys[:used], ".")
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value != key {
				continue
			}
			if line, left = lineOf(n.Content[i+1], keys[used:]); line == 0 {
				line = n.Content[i].Line
			}
			return line, left
		}
	}
	return 0, len(keys)
}
