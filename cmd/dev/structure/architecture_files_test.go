package main

import (
	"bytes"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The top level is fixed: what is new has a place below one of these.
func TestTopLevel(t *testing.T) {
	fixed := []string{
		"cmd", "engine", "rego", "cel", "bundles", "schemas", "testdata", "docs",
		"go.mod", "go.sum", "Makefile", "README.md", "LICENSE", ".ci", ".git", ".gitignore",
	}
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	isIgnored := func(name string) bool {
		return slices.ContainsFunc(strings.Fields(string(ignored)), func(pattern string) bool {
			match, err := path.Match(strings.Trim(pattern, "/"), name)
			return err == nil && match
		})
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(fixed, e.Name()) && !isIgnored(e.Name()) {
			t.Errorf("%s is at the top level; the owner keeps it to %s", e.Name(), strings.Join(fixed, " "))
		}
	}
}

// Files for one processor are where lint compiles them for each: CI builds for one processor of each system.
func TestOneProcessor(t *testing.T) {
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" || strings.HasPrefix(filepath.ToSlash(name), root+"/engine/run/sandbox/") {
			return err
		}
		raw, err := os.ReadFile(name)
		for _, processor := range []string{"amd64", "arm64"} {
			if strings.HasSuffix(name, "_"+processor+".go") || bytes.Contains(raw, []byte("\n//go:build "+processor)) {
				t.Errorf("%s is compiled for %s only; nothing checks it for the others", name, processor)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A file that is longer than this has two subjects.
func TestFileLengths(t *testing.T) {
	const most = 600
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".go" {
			return err
		}
		raw, err := os.ReadFile(name)
		if n := bytes.Count(raw, []byte("\n")); n > most {
			t.Errorf("%s has %d lines, at most %d", name, n, most)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// literal returns the text of literals that are added up; empty if it is not one.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}

// nameOfCall returns the name of what is called: f or p.f.
func nameOfCall(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}
