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

// ReadManifest reads a bundle's .manifest alone.
func ReadManifest(content []byte) (Manifest, error) { return decodeManifest(content) }
