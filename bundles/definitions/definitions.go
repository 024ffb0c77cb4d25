// Package definitions reads the definitions of a layer: named expressions that its conditions, and
// those of the layers above it, share.
package definitions

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File is the file of a layer with its definitions.
const File = "definitions.yaml"

// Definition is a named expression.
//
//	waits:
//	  about: the session waits for something that takes time
//	  type: bool
//	  is: history.similar.count > 3
type Definition struct {
	Name  string
	Line  int    // of the file
	About string `yaml:"about"` // what the expression means
	Type  string `yaml:"type"`  // bool, int, double, string, or list (of texts)
	Is    string `yaml:"is"`    // the expression, in CEL
}

// Read returns the definitions of a file in its order. Errors name its lines.
func Read(content []byte) ([]Definition, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, at(root, errors.New("expected names with definitions"))
	}
	var list []Definition
	var errs []error
	lines := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		d, err := read(root.Content[i], root.Content[i+1])
		if first := lines[d.Name]; err == nil && first > 0 {
			err = at(root.Content[i], fmt.Errorf("%s is already defined in line %d", d.Name, first))
		}
		lines[d.Name] = d.Line
		list, errs = append(list, d), append(errs, err)
	}
	return list, errors.Join(errs...)
}

func read(key, value *yaml.Node) (Definition, error) {
	d := Definition{}
	text, err := yaml.Marshal(value)
	if err == nil {
		dec := yaml.NewDecoder(strings.NewReader(string(text)))
		dec.KnownFields(true)
		if err = dec.Decode(&d); err == io.EOF {
			err = nil
		}
	}
	d.Name, d.Line = key.Value, key.Line
	switch {
	case err != nil:
		return d, at(key, fmt.Errorf("%s: %w", d.Name, err))
	case d.Type == "" || strings.TrimSpace(d.Is) == "":
		return d, at(key, fmt.Errorf("%s: a definition needs type and is", d.Name))
	}
	return d, nil
}

func at(n *yaml.Node, err error) error { return fmt.Errorf("%s:%d: %w", File, n.Line, err) }
