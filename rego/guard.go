package rego

import (
	"fmt"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// guardBuiltins makes a panic of a built-in an error of the test that calls it.
// OPA's runner has tests in goroutines of its own, where nobody else could catch
// it. It changes OPA's table, so it must be called before anything is evaluated.
var guardBuiltins = sync.OnceFunc(func() {
	for _, b := range ast.Builtins {
		if f := topdown.GetBuiltin(b.Name); f != nil {
			topdown.RegisterBuiltinFunc(b.Name, guarded(b.Name, f))
		}
	}
})

func guarded(name string, f topdown.BuiltinFunc) topdown.BuiltinFunc {
	return func(c topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &topdown.Error{Code: topdown.InternalErr, Message: fmt.Sprintf("%s panicked: %v", name, p), Location: c.Location}
			}
		}()
		return f(c, operands, iter)
	}
}
