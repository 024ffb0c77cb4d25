package bundles

import (
	"bytes"
	"errors"
	"io"
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
		return nil, inFile(name).wrong("what follows --- is not read; make one document of it")
	}
	root := doc.Content[0]
	if root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, nodeAt(name, root).wrong("expected keys with values, got %s", kind(root))
	}
	return root, nil
}

// syntaxError gives YAML's own errors, which say "line 3: …", our form.
func syntaxError(file string, content []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if at, what, ok := strings.Cut(rest, ": "); ok {
			return spot{"", file, trueLine(at, what, content), 0}.wrong("%s", what)
		}
	}
	return spot{"", file, 1, 0}.wrong("%s", text)
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
		errs = append(errs, nodeAt(name, n).wrong("aliases are not read here; write the value out"))
	}
	if n.Kind == yaml.MappingNode {
		errs = append(errs, badKeys(name, n)...)
	}
	if f := strings.ToLower(n.Value); n.Tag == "!!float" && (strings.HasSuffix(f, ".nan") || strings.HasSuffix(f, ".inf")) {
		errs = append(errs, nodeAt(name, n).wrong("expected a finite number, got %s", n.Value))
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
			errs = append(errs, nodeAt(name, key).wrong("the key %s is no text; quote it", key.Value))
			continue
		}
		if line, twice := first[key.Value]; twice {
			errs = append(errs, nodeAt(name, key).wrong("the key %s is set on line %d already; keep one of the two", key.Value, line))
			continue
		}
		first[key.Value] = key.Line
	}
	return errs
}
