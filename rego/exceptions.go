package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Exception is an exception in the Rego of a layer, with the parts that are written out.
type Exception struct {
	Layer     string
	File      string // layer/path
	Line, Col int    // of its end if it has one, else of the whole
	Rule      string // empty: it is computed
	Reason    string
	Owner     string
	ExpiresAt string
}

// Exceptions lists the exceptions in modules, by file and line. Modules that do not parse are left out.
func Exceptions(modules map[string]string) []Exception {
	var all []Exception
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		if isTestFile(name) || !strings.Contains(modules[name], "exceptions") {
			continue
		}
		m, err := ast.ParseModule(name, modules[name])
		if err != nil {
			continue // `policy check` reports it
		}
		layer, _, _ := strings.Cut(name, "/")
		for _, r := range m.Rules {
			if ref := r.Head.Ref(); len(ref) == 0 || ref[0].Value.Compare(ast.Var("exceptions")) != 0 {
				continue
			}
			if o, isObject := objectOf(r.Head.Key); isObject {
				all = append(all, exceptionOf(layer, name, r, o))
			}
		}
	}
	return all
}

func exceptionOf(layer, name string, r *ast.Rule, o ast.Object) Exception {
	text := func(key string) string {
		s, _ := stringOf(o.Get(ast.InternedTerm(key)))
		return s
	}
	x := Exception{Layer: layer, File: name, Line: r.Location.Row, Col: r.Location.Col, Rule: text("rule"), Reason: text("reason"),
		Owner: text("owner"), ExpiresAt: text("expires_at")}
	if _, at := stringOf(o.Get(ast.InternedTerm("expires_at"))); at != nil && x.ExpiresAt != "" {
		x.Line, x.Col = at.Row, at.Col
	}
	return x
}
