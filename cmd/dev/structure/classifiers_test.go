package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestClassifiersMaskTokens: the creator of a Classifier specifies which tokens are
// masked whatever the policy, so that an error is masked where no policy could
// be read, and calls where the policy has no rows of tokens.
func TestClassifiersMaskTokens(t *testing.T) {
	made := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			c, ok := n.(*ast.CompositeLit)
			if !ok || !isClassifier(c.Type) {
				return true
			}
			made++
			if !sets(c, "Secrets") {
				t.Errorf("%s: a Classifier without Secrets masks no tokens where the policy has none", files.Position(c.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || made < 8 {
		t.Errorf("%d classifiers, %v", made, err)
	}
}

func isClassifier(n ast.Expr) bool {
	s, ok := n.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Classifier"
}

func sets(c *ast.CompositeLit, field string) bool {
	for _, e := range c.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == field {
				return true
			}
		}
	}
	return false
}
