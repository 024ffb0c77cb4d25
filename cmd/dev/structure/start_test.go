package main

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// checkStart finds variables that take their time in every process, be it one
// that answers a single hook, and compiles the expressions that wait.
func checkStart(t *testing.T, file string, d *ast.GenDecl) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // runs when it is asked
		case *ast.CallExpr:
			switch name := nameOfCall(n); {
			case strings.HasPrefix(name, "regexp."), strings.HasPrefix(name, "ast.MustParse"):
				t.Errorf("%s: %s in a variable of the package runs in every process; engine.Regexp or sync.OnceValue waits", file, name)
			case name == "engine.Regexp":
				if _, err := regexp.Compile(literal(n.Args[0])); err != nil || literal(n.Args[0]) == "" {
					t.Errorf("%s: engine.Regexp needs a literal that compiles: %v", file, err)
				}
			}
		}
		return true
	})
}
