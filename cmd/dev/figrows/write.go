package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const header = `# Facts about the command lines of programs: which options take a value, what is
# a command or a script that is run, what the source marks as dangerous.
# Taken from the npm package %s %s
# (%s; LICENSE is next to this file).
# Made by make programs, which lists what it left out; manual changes are lost.
`

// write puts the rows into files by first letter, next to the package's licence.
func write(to, pkg string, rows map[string]*row) error {
	licence, err := os.ReadFile(filepath.Join(pkg, "LICENSE"))
	if err != nil {
		return err
	}
	if err := empty(to); err != nil {
		return err
	}
	files := map[string]map[string]*row{}
	for name, r := range rows {
		letter := strings.ToLower(name[:1])
		if files[letter] == nil {
			files[letter] = map[string]*row{}
		}
		files[letter][name] = r
	}
	for letter, rows := range files {
		if err := os.WriteFile(filepath.Join(to, letter+".yaml"), file(shared(rows)), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(to, "LICENSE"), licence, 0o644)
}

// empty makes a folder without rows.
func empty(to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(to, "*.yaml"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// file writes rows, each a block that begins at column 0.
func file(rows map[string]*row) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, header, sourceName, sourceVersion, sourceLicence)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		block := mapping()
		add(block, name, node(rows[name], true))
		b.WriteString(encoded(block))
	}
	return b.Bytes()
}

// text is a row as YAML; equal rows have equal texts.
func text(r *row) string { return encoded(node(r, false)) }

func encoded(n *yaml.Node) string {
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return err.Error() // unreachable: nodes are made of strings and numbers
	}
	return b.String()
}

// node is a row as YAML: one line, unless it is a program's or has rows below it.
func node(r *row, block bool) *yaml.Node {
	plain := *r
	plain.Subcommands = nil
	n := &yaml.Node{}
	if err := n.Encode(plain); err != nil {
		return n // unreachable: as in encoded
	}
	n.Style = 0
	if len(r.Subcommands) > 0 {
		below := mapping()
		for _, name := range slices.Sorted(maps.Keys(r.Subcommands)) {
			add(below, name, node(r.Subcommands[name], false))
		}
		add(n, "subcommands", below)
	} else if !block {
		n.Style = yaml.FlowStyle
	}
	return n
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func add(to *yaml.Node, name string, is *yaml.Node) {
	key := &yaml.Node{}
	key.SetString(name)
	to.Content = append(to.Content, key, is)
}
