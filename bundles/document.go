package bundles

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// ReadDocument reads a file that is one YAML object into a struct, as strictly
// as the rows of a policy are read: an unknown key, a key that occurs twice, an
// alias, a value of another kind and a second document are errors, each as
// file:line: what is wrong. name is what the object is called in them.
func ReadDocument(file string, data []byte, name string, into any) error {
	p := &rowParser{file: file}
	var root *yaml.Node
	err := p.parse(data, func(n *yaml.Node) {
		if root != nil {
			p.wrongAs("yaml.form", n, "only one YAML document is allowed; remove the --- and what follows")
			return
		}
		root = n
		p.check(n, name, reflect.TypeOf(into).Elem(), nil)
	})
	switch {
	case err != nil:
		return err
	case root == nil:
		return inFile(file).as("file.unreadable").wrong("the file is empty; add content")
	}
	if err := root.Decode(into); err != nil {
		return nodeAt(file, root).as("yaml.form").wrong("%w", err)
	}
	return nil
}

// ReadManifest reads a bundle's .manifest alone.
func ReadManifest(content []byte) (Manifest, error) { return decodeManifest(content) }
