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

// metadata is the METADATA of a rule, as YAML in the lines and columns of its file.
type metadata struct {
	id   *yaml.Node // the rule's name
	yaml []byte
}

// metadataOf returns the METADATA of the rules in a file of a family.
func metadataOf(source []byte) []metadata {
	if !familyPackage().Match(source) {
		return nil
	}
	var all []metadata
	lines := strings.Split(string(source), "\n")
	for i := 0; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) != "# METADATA" {
			continue
		}
		text := bytes.Repeat([]byte{'\n'}, i+1)
		for i++; i < len(lines) && strings.HasPrefix(lines[i], "#"); i++ {
			text = append(append(append(text, ' '), lines[i][1:]...), '\n')
		}
		if i == len(lines) {
			break
		}
		if name := ruleName().FindStringSubmatch(lines[i]); name != nil {
			all = append(all, metadata{&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name[1], Line: i + 1, Column: 1}, text})
		}
	}
	return all
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
		for i := 0; one.Kind == yaml.MappingNode && i+1 < len(one.Content); i += 2 {
			if one.Content[i].Value == "ref" {
				one = one.Content[i+1]
			}
		}
		list.Content = append(list.Content, one)
	}
	return &list
}
