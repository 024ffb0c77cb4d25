package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Package contains the measurements of a package. Tests and generated files do not
// count.
type Package struct {
	Dir       string // from the module's folder, with slashes
	Files     int
	Lines     int
	Functions []string // those that are too long, as file:line: what
	Wide      []string // lines that are too wide, as file:line: what
	Component []string // the files of the largest strongly connected component
}

// measure reads all packages under a folder, regardless of their build tags.
func measure(root string) ([]*Package, error) {
	found := map[string]*Package{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		dir := path.Dir(rel)
		if found[dir] == nil {
			found[dir] = &Package{Dir: dir}
		}
		return found[dir].add(rel, src)
	})
	var list []*Package
	for _, p := range found {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *Package) int { return strings.Compare(a.Dir, b.Dir) })
	return list, err
}

// add measures one file.
func (p *Package) add(name string, src []byte) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	p.Files++
	p.Lines += bytes.Count(src, []byte("\n"))
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; n > longestFunction {
			p.Functions = append(p.Functions, fmt.Sprintf("%s: %s has %d lines", set.Position(f.Pos()), f.Name.Name, n))
		}
	}
	p.wide(name, src, rows(set, file))
	return nil
}

func (p *Package) wide(name string, src []byte, rows map[int]bool) {
	line := 0
	for text := range bytes.Lines(src) {
		line++
		if n := utf8.RuneCount(bytes.TrimRight(text, "\n")); n > widestLine && !rows[line] {
			p.Wide = append(p.Wide, fmt.Sprintf("%s:%d: %d columns", name, line, n))
		}
	}
}

// rows returns the lines that are rows of a table and may be wide: those that
// begin with an element of a composite literal, a field of a struct or a
// constant or variable of a group, the words of a case, and the lines of a raw
// string of several lines.
func rows(set *token.FileSet, file *ast.File) map[int]bool {
	all := map[int]bool{}
	line := func(p token.Pos) int { return set.Position(p).Line }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if line(e.Pos()) != line(n.Lbrace) {
					all[line(e.Pos())] = true
				}
			}
		case *ast.StructType:
			for _, f := range n.Fields.List {
				all[line(f.Pos())] = all[line(f.Pos())] || line(f.Pos()) != line(n.Struct)
			}
		case *ast.GenDecl:
			for _, s := range n.Specs {
				all[line(s.Pos())] = all[line(s.Pos())] || n.Lparen.IsValid()
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				all[line(e.Pos())] = true
			}
		case *ast.BasicLit:
			for l := line(n.Pos()); n.Kind == token.STRING && line(n.Pos()) < line(n.End()) && l <= line(n.End()); l++ {
				all[l] = true
			}
		}
		return true
	})
	return all
}
