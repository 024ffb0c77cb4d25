package bundles

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// A rule of a family (package reviewer.families.FAMILY) has its row in its METADATA: title, description and
// related_resources are those of OPA, the other keys of a row are below custom. Its id is its name.

var (
	familyPackage = engine.Regexp(`(?m)^package reviewer\.families\.`)
	ruleName      = engine.Regexp(`^([a-z][a-zA-Z0-9_]*) (if|:=)`)
)

// rowsInRego parses the rows in the METADATA of a file in Rego; it returns what readConditions does.
func rowsInRego(file string, source []byte) (found []Rule, broken []string, err error) {
	p := &ruleParser{rowParser: rowParser{file: file, seen: map[string]int{}}}
	err = p.inRego(source, p.row)
	return p.rules, p.broken, err
}

// EachRowInRego calls each for the rows in the METADATA of a file in Rego that has no errors. Lines and columns
// of the nodes are those of the file.
func EachRowInRego(source []byte, each func(row *yaml.Node)) {
	p := &rowParser{seen: map[string]int{}}
	_ = p.inRego(source, each) // reported when the bundle was read
}

func (p *rowParser) inRego(source []byte, each func(row *yaml.Node)) (err error) {
	if !familyPackage().Match(source) {
		return nil
	}
	lines := strings.Split(string(source), "\n")
	for i := 0; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "# METADATA" {
			continue
		}
		// The comments as YAML, in their own lines and columns.
		text := bytes.Repeat([]byte{'\n'}, i+1)
		for i++; i < len(lines) && strings.HasPrefix(lines[i], "#"); i++ {
			text = append(append(append(text, ' '), lines[i][1:]...), '\n')
		}
		if i == len(lines) {
			break
		}
		if name := ruleName().FindStringSubmatch(lines[i]); name != nil {
			id := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name[1], Line: i + 1, Column: 1}
			err = p.parse(text, func(n *yaml.Node) {
				if row := rowOf(n, id); row != nil {
					each(row)
				}
			})
		}
	}
	return err
}

// rowOf makes a row of METADATA; nil: it contains none.
func rowOf(metadata, id *yaml.Node) *yaml.Node {
	var custom *yaml.Node
	row := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: id.Line, Column: id.Column}
	add := func(key string, value *yaml.Node) {
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: value.Line, Column: value.Column}
		row.Content = append(row.Content, name, value)
	}
	add("id", id)
	for i := 0; i+1 < len(metadata.Content); i += 2 {
		switch key, value := metadata.Content[i].Value, metadata.Content[i+1]; key {
		case "title", "description":
			add(key, value)
		case "related_resources":
			add("references", linksOf(value))
		case "custom":
			custom = value
		}
	}
	if custom == nil || custom.Kind != yaml.MappingNode {
		return nil
	}
	row.Content = append(row.Content, custom.Content...)
	return row
}

// linksOf returns the addresses of related_resources, each of which may have a description.
func linksOf(resources *yaml.Node) *yaml.Node {
	list := *resources
	list.Content = nil
	for _, one := range resources.Content {
		if ref := RowValues(one)["ref"]; one.Kind == yaml.MappingNode && ref != nil {
			one = ref
		}
		list.Content = append(list.Content, one)
	}
	return &list
}
