package bundles

import (
	"reflect"

	"go.yaml.in/yaml/v3"
)

// definitionsFile is the file of a layer with its definitions.
const definitionsFile = "definitions.yaml"

// Definition is a named expression that the conditions of a layer, and those of the layers above it, share.
//
//	waits:
//	  about: the session waits for something that takes time
//	  type: bool
//	  is: history.similar.count > 3
type Definition struct {
	Name  string `yaml:"-" json:"-"`
	About string `yaml:"about" json:"about,omitempty"` // what the expression means
	Type  string `yaml:"type" json:"type"`             // one of DefinitionTypes
	Is    string `yaml:"is" json:"is"`                 // the expression, in CEL

	texts
}

// DefinitionTypes lists the types of definitions. A list is one of texts.
func DefinitionTypes() []string { return []string{"bool", "int", "double", "string", "list"} }

// Vocabulary lists the words that a field may have.
func (Definition) Vocabulary(field string) []string {
	if field == "type" {
		return DefinitionTypes()
	}
	return nil
}

func (b *Bundle) addDefinitions(file string, data []byte) (err error) {
	p, known := parsedBefore(file, data)
	if b.Definitions = p.Definitions; !known {
		b.Definitions, err = readDefinitions(file, data)
	}
	return err
}

// readDefinitions returns the definitions of a file in its order.
func readDefinitions(file string, data []byte) (list []Definition, err error) {
	root, err := parseYAML(file, data)
	if err != nil || root == nil {
		return nil, err
	}
	p := &rowParser{file: file, seen: map[string]int{}, problems: notJSON(file, root)}
	err = p.parse(data, func(n *yaml.Node) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			list = append(list, p.definition(n.Content[i], n.Content[i+1]))
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// definition reads a definition. Its result is valid only if there are no errors.
func (p *rowParser) definition(key, value *yaml.Node) Definition {
	d := Definition{Name: key.Value}
	before := len(p.problems)
	p.check(value, "definition "+key.Value, reflect.TypeFor[Definition](), nil)
	if len(p.problems) > before {
		return d
	}
	if err := value.Decode(&d); err != nil {
		p.wrong(value, "%v", err)
		return d
	}
	d.texts = p.note(value)
	d.spots.lines[""], d.spots.cols[""] = key.Line, key.Column
	return d
}
