package rego

import (
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
)

// Format returns a module in the form that OPA gives it. The name is for the
// error where it is no Rego.
func Format(name string, src []byte) ([]byte, error) {
	out, err := format.SourceWithOpts(name, src, format.Opts{RegoVersion: ast.RegoV1, ParserOptions: &ast.ParserOptions{RegoVersion: ast.RegoV1}})
	var wrong ast.Errors
	switch {
	case errors.As(err, &wrong):
		list := make([]error, len(wrong))
		for i, e := range wrong {
			list[i] = e
		}
		return nil, errors.Join(list...)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}
