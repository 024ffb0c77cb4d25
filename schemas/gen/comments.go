package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// module is the prefix of this module's import paths.
const module = "github.com/agent-reviewer/reviewer/"

// comments holds the comments of fields and constants in the sources of types, which
// become the descriptions in schemas and in the reference.
type comments struct {
	top       string                       // folder of the module
	loaded    map[string]bool              // packages, below the module
	fields    map[string]map[string]string // package.Type -> Go name of the field -> sentence
	constants map[string]word              // package.Name -> value and comment
}

// word is a string constant and its comment.
type word struct{ value, said string }

func newComments(top string) *comments {
	return &comments{top: top, loaded: map[string]bool{}, fields: map[string]map[string]string{}, constants: map[string]word{}}
}

// field returns the comment of a field, or "".
func (c *comments) field(t reflect.Type, index int) (string, error) {
	if err := c.load(t.PkgPath()); err != nil {
		return "", err
	}
	return c.fields[t.String()][t.Field(index).Name], nil
}

// load reads the sources of a package of this module, once.
func (c *comments) load(pkg string) error {
	below, ours := strings.CutPrefix(pkg, module)
	if !ours || c.loaded[below] {
		return nil
	}
	c.loaded[below] = true
	files, err := filepath.Glob(filepath.Join(c.top, filepath.FromSlash(below), "*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("read comments: %w", err)
		}
		c.file(path.Base(below), tree)
	}
	return nil
}

func (c *comments) file(pkg string, tree *ast.File) {
	for _, d := range tree.Decls {
		general, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if fields, ok := s.Type.(*ast.StructType); ok {
					c.fields[pkg+"."+s.Name.Name] = fieldComments(fields)
				}
			case *ast.ValueSpec:
				c.constant(pkg, s)
			}
		}
	}
}

func fieldComments(t *ast.StructType) map[string]string {
	said := map[string]string{}
	names := fieldNames(t)
	for _, f := range t.Fields.List {
		for _, name := range f.Names {
			said[name.Name] = sentence(f.Doc, f.Comment, names)
		}
	}
	return said
}

// fieldNames returns the names of the fields in JSON.
func fieldNames(t *ast.StructType) []string {
	var names []string
	for _, f := range t.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// constant records the comment of a string constant by its name.
func (c *comments) constant(pkg string, s *ast.ValueSpec) {
	if len(s.Values) != 1 || len(s.Names) != 1 {
		return
	}
	literal, ok := s.Values[0].(*ast.BasicLit)
	if !ok {
		return
	}
	if value, err := strconv.Unquote(literal.Value); err == nil {
		c.constants[pkg+"."+s.Names[0].Name] = word{value, sentence(s.Doc, s.Comment, nil)}
	}
}

// about returns the comment of a value among the constants with a prefix, such as
// engine.Fact, or "".
func (c *comments) about(prefix, value string) string {
	for name, w := range c.constants {
		if strings.HasPrefix(name, prefix) && w.value == value {
			return w.said
		}
	}
	return ""
}

// sentence makes a sentence from the comment at the end of a line, or else above it. Names of
// fields and values keep their spelling at its beginning.
func sentence(above, behind *ast.CommentGroup, names []string) string {
	text := behind.Text()
	if text == "" {
		text = above.Text()
	}
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	if !startsWithName(text, names) {
		first, size := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	return strings.TrimSuffix(text, ".") + "."
}

// values is the beginning of a text that lists values: "ran or failed; …".
var values = engine.Regexp(`^\w+ or \w+[:;]`)

// startsWithName reports whether a text starts with a name or a value, not with a word: "lost is
// 90 or more" is about the field lost, if there is one.
func startsWithName(text string, names []string) bool {
	word, rest, _ := strings.Cut(text, " ")
	verb, _, _ := strings.Cut(rest, " ")
	return word != strings.ToLower(word) || strings.ContainsAny(word, "./_:") || values().MatchString(text) ||
		(verb == "is" || verb == "are") && word != "what" && slices.Contains(names, word)
}
