package bundles

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles/encoded"
	"github.com/agent-reviewer/reviewer/engine/yamltext"
)

// decodeYAML reads a file that is one object, and refuses values that JSON, the form
// of a policy's data, cannot represent.
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

// parseYAML returns the one object of a file, nil if there is none.
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
		return nil, inFile(name).as("yaml.form").wrong("only one YAML document is allowed; remove the --- and what follows")
	}
	root := doc.Content[0]
	if root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, nodeAt(name, root).as("yaml.form").wrong("expected keys with values, got %s", kind(root))
	}
	return root, nil
}

// syntaxError reports what keeps a file from being YAML, and where.
func syntaxError(file string, content []byte, err error) error {
	fault := yamltext.Explain(string(content), err)
	return position{"", file, fault.Line, fault.Col, "yaml.syntax"}.wrong("%s", fault.Message)
}

// notJSON lists what JSON does not have: keys that are not text, duplicate keys,
// infinite numbers, and aliases, a few of which can expand beyond the memory.
func notJSON(name string, n *yaml.Node) []error {
	var errs []error
	if n.Kind == yaml.AliasNode {
		errs = append(errs, nodeAt(name, n).as("yaml.form").wrong("aliases are not allowed here; write the value in full"))
	}
	if n.Kind == yaml.MappingNode {
		errs = append(errs, badKeys(name, n)...)
	}
	if f := strings.ToLower(n.Value); n.Tag == "!!float" && (strings.HasSuffix(f, ".nan") || strings.HasSuffix(f, ".inf")) {
		errs = append(errs, nodeAt(name, n).as("yaml.form").wrong("expected a finite number, got %s", n.Value))
	}
	for _, c := range n.Content {
		errs = append(errs, notJSON(name, c)...)
	}
	return errs
}

// badKeys lists the keys of an object that are not text, or occur twice.
func badKeys(name string, n *yaml.Node) []error {
	var errs []error
	first := map[string]int{} // key -> its line
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Tag != "!!str" {
			errs = append(errs, nodeAt(name, key).as("yaml.form").wrong("the key %s is not a string; quote it", key.Value))
			continue
		}
		if line, twice := first[key.Value]; twice {
			errs = append(errs, nodeAt(name,
				key).as("yaml.form").wrong("the key %s is already set on line %d; keep one of the two", key.Value, line))
			continue
		}
		first[key.Value] = key.Line
	}
	return errs
}

// parsed is what a file of the built-in policy is parsed to.
type parsed struct {
	Rules       []Rule
	Detectors   []Detector
	Lines       []detectorLines
	Data        map[string]any
	Definitions []Definition
}

// detectorLines are the lines of a detector, of its patterns and of its examples.
type detectorLines struct {
	Row                int
	Patterns, Examples []int
}

// parsedFile is a file whose contents were parsed before.
type parsedFile struct{ Name, Sum, Raw string }

// prepared contains parsed.bin: the files of the built-in policy that are parsed at each start, in a form
// that is read in a small part of the time. `make prepared` writes it. Without it, all files are parsed, and
// those that differ from what it was written from are parsed in any case.
//
//go:embed all:prepared
var prepared embed.FS

var parsedFiles = sync.OnceValue(func() map[string]parsedFile {
	raw, err := prepared.ReadFile("prepared/parsed.bin")
	if err != nil {
		return nil
	}
	return readParsed(string(raw))
})

// readParsed returns the parsed files by name; none if they were not written by this program.
func readParsed(raw string) map[string]parsedFile {
	list, err := encoded.Read[[]parsedFile](raw)
	files := make(map[string]parsedFile, len(list))
	if err != nil {
		return files
	}
	for _, f := range list {
		files[f.Name] = f
	}
	return files
}

// parsedShape identifies the types of parsed files.
var parsedShape = sync.OnceValue(func() string { return encoded.Shape[parsed]() })

// fileSum identifies a file, and the types to which it is parsed.
func fileSum(name string, content []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", parsedShape(), name)
	h.Write(content)
	return string(h.Sum(nil))
}

// parsedBefore returns what a file of the built-in policy is parsed to; false: the
// file is another one.
func parsedBefore(name string, content []byte) (parsed, bool) {
	return parsedIn(parsedFiles(), name, content)
}

func parsedIn(files map[string]parsedFile, name string, content []byte) (parsed, bool) {
	f, there := files[name]
	if !there || f.Sum != fileSum(name, content) {
		return parsed{}, false
	}
	p, err := encoded.Read[parsed](f.Raw)
	if err != nil {
		return parsed{}, false
	}
	late := &lateSpots{parse: func() (all []texts) {
		rules, _, _ := readConditions(name, content)
		for _, r := range rules {
			all = append(all, r.texts)
		}
		return all
	}}
	if len(p.Definitions) > 0 {
		late.parse = func() (all []texts) {
			definitions, _ := readDefinitions(name, content)
			for _, d := range definitions {
				all = append(all, d.texts)
			}
			return all
		}
	}
	for i := range p.Rules {
		p.Rules[i].texts = texts{file: name, late: late, row: i}
	}
	for i := range p.Definitions {
		p.Definitions[i].texts = texts{file: name, late: late, row: i}
	}
	for i := range p.Detectors {
		at, d := p.Lines[i], &p.Detectors[i]
		d.file, d.line, d.patterns, d.matches = name, at.Row, at.Patterns, at.Examples
	}
	return p, true
}
