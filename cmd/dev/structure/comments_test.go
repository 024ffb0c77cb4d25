package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// misnamed lists the top-level declarations of a file whose comment does not begin with
// their name, or an article and their name. A comment above a group of constants,
// variables or types is about the group.
func misnamed(set *token.FileSet, f *ast.File) []string {
	var list []string
	check := func(name *ast.Ident, doc *ast.CommentGroup) {
		if doc == nil || name.Name == "_" || strings.TrimSpace(doc.Text()) == "" {
			return
		}
		text := strings.TrimSpace(doc.Text())
		for _, article := range []string{"A ", "An ", "The "} {
			text = strings.TrimPrefix(text, article)
		}
		rest, named := strings.CutPrefix(text, name.Name)
		next, _ := utf8.DecodeRuneInString(rest)
		if !named || unicode.IsLetter(next) || unicode.IsDigit(next) {
			first, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), " ")
			list = append(list, fmt.Sprintf("%s: the comment of %s begins with %q", set.Position(name.Pos()), name.Name, first))
		}
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			check(d.Name, d.Doc)
		case *ast.GenDecl:
			checkSpecs(d, check)
		}
	}
	return list
}

// checkSpecs checks declarations that are not in a group, and the types of a group.
func checkSpecs(d *ast.GenDecl, check func(*ast.Ident, *ast.CommentGroup)) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if doc := s.Doc; doc != nil || !d.Lparen.IsValid() {
				if doc == nil {
					doc = d.Doc
				}
				check(s.Name, doc)
			}
		case *ast.ValueSpec:
			if !d.Lparen.IsValid() && len(s.Names) == 1 {
				check(s.Names[0], d.Doc)
			}
		}
	}
}

// TestComments keeps Go's convention: the comment of a declaration is a sentence that
// begins with its name.
func TestComments(t *testing.T) {
	err := filepath.WalkDir("../../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "testdata" {
			if err == nil && d.IsDir() {
				return filepath.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, problem := range misnamed(set, f) {
			t.Error(strings.TrimPrefix(problem, "../../../"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMisnamed(t *testing.T) {
	const src = `package p

// A size is a number of bytes.
type size int

// Returns nothing.
func wrong() {}

// right does nothing.
func right() {}

// Kinds of things.
const (
	one = 1
	two = 2
)

// Limit of a file.
const limit = 3

func silent() {}
`
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(misnamed(set, f), "\n")
	want := `p.go:7:6: the comment of wrong begins with "Returns"` + "\n" + `p.go:19:7: the comment of limit begins with "Limit"`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
