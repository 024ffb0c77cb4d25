package bundles

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// ReadDocument reads a file that is one YAML object into a struct, as strictly
// as the rows of a policy are read: an unknown key, a key that stands twice, an
// alias, a value of another kind and a second document are errors, each as
// file:line: what is wrong. name is what the object is called in them.
func ReadDocument(file string, data []byte, name string, into any) error {
	p := &rowParser{file: file}
	var root *yaml.Node
	err := p.parse(data, func(n *yaml.Node) {
		if root != nil {
			p.wrong(n, "what follows --- is not read; make one document of it")
			return
		}
		root = n
		p.check(n, name, reflect.TypeOf(into).Elem(), nil)
	})
	switch {
	case err != nil:
		return err
	case root == nil:
		return inFile(file).wrong("is empty; write what belongs there")
	}
	if err := root.Decode(into); err != nil {
		return nodeAt(file, root).wrong("%w", err)
	}
	return nil
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

// ReadManifest reads a bundle's .manifest alone.
func ReadManifest(content []byte) (Manifest, error) { return decodeManifest(content) }
