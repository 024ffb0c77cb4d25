package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Shared is a literal that occurs both in the rules or the classifier and in the
// corpus: a rule may have been written for a particular case.
type Shared struct {
	Literal   string `json:"literal"`
	Where     string `json:"where"`     // file:line, the first
	Dangerous int    `json:"dangerous"` // rows that contain it
	Other     int    `json:"other"`     // benign rows and samples that do
}

// minLiteral is the minimum length of a significant literal, in bytes.
const minLiteral = 12

// allowedYAML lists common literals that rules and commands may share.
//
//go:embed allowed.yaml
var allowedYAML []byte

// allowance is a row of that list: one pattern, or names.
type allowance struct {
	Match string   `yaml:"match"` // RE2, of the whole literal
	Names []string `yaml:"names"` // whole literals
	Why   string   `yaml:"why"`
}

// pattern matches what the row allows.
func (a allowance) pattern() (*regexp.Regexp, error) {
	if a.Why == "" || (a.Match == "") == (len(a.Names) == 0) {
		return nil, fmt.Errorf("allowed.yaml: the row %q %q needs either match or names, and why", a.Match, a.Names)
	}
	parts := []string{a.Match}
	if len(a.Names) > 0 {
		parts = nil
	}
	for _, name := range a.Names {
		parts = append(parts, regexp.QuoteMeta(name))
	}
	re, err := regexp.Compile(`(?i)^(?:` + strings.Join(parts, "|") + `)$`)
	if err != nil {
		return nil, fmt.Errorf("allowed.yaml: %w", err)
	}
	return re, nil
}

// sharedLiterals compares the literals under the folders with the corpus.
func sharedLiterals(c Corpus, folders ...string) ([]Shared, error) {
	allowed, err := allowances(allowedYAML)
	if err != nil {
		return nil, err
	}
	places := map[string]string{}
	for _, dir := range folders {
		if err := collect(dir, places); err != nil {
			return nil, fmt.Errorf("literals of %s: %w", dir, err)
		}
	}
	var out []Shared
	c = c.lower()
	for literal, where := range places {
		if allowed(literal) {
			continue
		}
		if s := c.holds(literal); s.Dangerous+s.Other > 0 {
			s.Where = where
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Shared) int { return strings.Compare(a.Literal, b.Literal) })
	return out, nil
}

func allowances(raw []byte) (func(string) bool, error) {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	var rows []allowance
	if err := d.Decode(&rows); err != nil {
		return nil, fmt.Errorf("allowed.yaml: %w", err)
	}
	var list []*regexp.Regexp
	for _, row := range rows {
		re, err := row.pattern()
		if err != nil {
			return nil, err
		}
		list = append(list, re)
	}
	return func(s string) bool {
		return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(s) })
	}, nil
}

// lower returns the corpus in lower case: rules contain some names in that form.
func (c Corpus) lower() Corpus {
	c.Rows, c.Samples = slices.Clone(c.Rows), slices.Clone(c.Samples)
	for i := range c.Rows {
		c.Rows[i].Command = strings.ToLower(c.Rows[i].Command)
	}
	for i := range c.Samples {
		c.Samples[i].Text = strings.ToLower(c.Samples[i].Text)
	}
	return c
}

// holds counts the occurrences of a literal in a lower-case corpus.
func (c Corpus) holds(literal string) Shared {
	s := Shared{Literal: literal}
	literal = strings.ToLower(literal)
	for _, r := range c.Rows {
		switch {
		case !strings.Contains(r.Command, literal):
		case r.Label == dangerous:
			s.Dangerous++
		default:
			s.Other++
		}
	}
	for _, sample := range c.Samples {
		if strings.Contains(sample.Text, literal) {
			s.Other++
		}
	}
	return s
}

// collect notes the literals of the Go, Rego and YAML files under a folder,
// except those of tests, of packages that serve tests, of cases and of examples,
// which are inputs, not rules.
func collect(dir string, places map[string]string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "cases" || strings.HasSuffix(d.Name(), "test")):
			return fs.SkipDir
		case d.IsDir() || strings.Contains(name, "_test."):
			return nil
		}
		read := map[string]func([]byte, func(int, string)) error{".go": goLiterals, ".rego": regoLiterals, ".yaml": yamlLiterals}[path.Ext(name)]
		if read == nil {
			return nil
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return read(raw, func(line int, literal string) {
			if len(literal) >= minLiteral && places[literal] == "" {
				places[literal] = fmt.Sprintf("%s:%d", filepath.ToSlash(name), line)
			}
		})
	})
}

// goLiterals finds the strings of a Go file; for one in backquotes, which is
// often a list, also its words.
func goLiterals(raw []byte, found func(int, string)) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", raw, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, imports := n.(*ast.ImportSpec); imports {
			return false
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			line := set.Position(lit.Pos()).Line
			found(line, text)
			if lit.Value[0] == '`' {
				for _, word := range strings.Fields(text) {
					found(line, word)
				}
			}
		}
		return true
	})
	return nil
}

// regoLiterals finds the strings of a Rego file. They have the syntax of Go's
// strings, and so have CEL's except for those in single quotes; comments have
// another syntax.
func regoLiterals(raw []byte, found func(int, string)) error {
	quotedStrings(raw, found)
	return nil
}

// quotedStrings finds what Go's scanner takes for strings.
func quotedStrings(raw []byte, found func(int, string)) {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(raw))
	var s scanner.Scanner
	s.Init(file, raw, func(token.Position, string) {}, 0) // errors do not matter: text that is not Go is ignored
	comment := 0
	for {
		pos, tok, text := s.Scan()
		line := file.Line(pos)
		switch {
		case tok == token.EOF:
			return
		case tok == token.ILLEGAL && text == "#":
			comment = line
		case (tok == token.STRING || tok == token.CHAR) && line != comment && len(text) > 1:
			if plain, err := strconv.Unquote(text); err == nil {
				found(line, plain)
			} else {
				found(line, text[1:len(text)-1])
			}
		}
	}
}

// prose lists the keys of YAML rows that are for people, and texts to try a
// pattern on.
func prose() []string {
	return []string{"title", "message", "description", "remediation", "examples", "tags"}
}

// yamlLiterals finds the scalars of a YAML file, the strings in expressions,
// and the literal parts of patterns.
func yamlLiterals(raw []byte, found func(int, string)) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return err
	}
	scalars(&doc, found)
	return nil
}

func scalars(n *yaml.Node, found func(int, string)) {
	switch n.Kind {
	case yaml.ScalarNode:
		found(n.Line, n.Value)
		quotedStrings([]byte(n.Value), func(_ int, s string) { found(n.Line, s) })
		if re, err := syntax.Parse(n.Value, syntax.Perl); err == nil {
			runs(re, func(s string) { found(n.Line, s) })
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !slices.Contains(prose(), n.Content[i].Value) {
				scalars(n.Content[i+1], found)
			}
		}
	default:
		for _, child := range n.Content {
			scalars(child, found)
		}
	}
}

// runs finds the literal parts of a pattern.
func runs(re *syntax.Regexp, found func(string)) {
	if re.Op == syntax.OpLiteral {
		found(string(re.Rune))
	}
	for _, sub := range re.Sub {
		runs(sub, found)
	}
}
