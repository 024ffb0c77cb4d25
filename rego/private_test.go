package rego

import (
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/agent-reviewer/reviewer/bundles"
)

// A helper of the built-in policy whose name begins with _ is used in its own file only: what several
// files need is a rule of the package, or a function of reviewer.effects.
func TestPrivateHelpers(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string][]string{} // package and name -> files
	trees := map[string]*ast.Module{}
	for name, source := range base.Modules {
		if trees[name], err = ast.ParseModuleWithOpts(name, source, ast.ParserOptions{RegoVersion: ast.RegoV1}); err != nil {
			t.Fatal(err)
		}
		for _, r := range trees[name].Rules {
			key := trees[name].Package.Path.String() + " " + string(r.Head.Ref()[0].Value.(ast.Var))
			if !slices.Contains(defined[key], name) {
				defined[key] = append(defined[key], name)
			}
		}
	}
	private := 0
	for name, m := range trees {
		ast.WalkVars(m, func(v ast.Var) bool {
			files := defined[m.Package.Path.String()+" "+string(v)]
			if !strings.HasPrefix(string(v), "_") || files == nil {
				return false
			}
			if private++; len(files) > 1 || files[0] != name {
				t.Errorf("%s uses %s, which %s defines", name, v, strings.Join(files, ", "))
			}
			return false
		})
	}
	if private < 300 {
		t.Errorf("only %d uses of private helpers were seen", private)
	}
}
