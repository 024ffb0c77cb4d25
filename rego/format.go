package rego

import (
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
)

// Format returns a module in the form that OPA gives it. The name appears in
// the error if the text is not Rego.
func Format(name string, src []byte) ([]byte, error) {
	v1 := &ast.ParserOptions{RegoVersion: ast.RegoV1}
	out, err := format.SourceWithOpts(name, src, format.Opts{RegoVersion: ast.RegoV1, ParserOptions: v1})
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
	return out, sameRules(name, src, out)
}

// sameRules rejects a formatted text in which a rule means something else:
// OPA's formatter drops the parentheses of a == (b == c), among others.
func sameRules(name string, src, out []byte) error {
	before, err := parse(name, src)
	if err != nil {
		return err
	}
	after, err := parse(name, out)
	if err != nil {
		return fmt.Errorf("%s: OPA's formatter makes it invalid Rego, so it was left unchanged: %w", name, err)
	}
	for i, r := range before.Rules {
		if i >= len(after.Rules) || !r.Equal(after.Rules[i]) {
			return fmt.Errorf("%s:%d: OPA's formatter would change the meaning of this rule, so the file was left unchanged; "+
				"move the expression in brackets into a rule of its own", name, r.Location.Row)
		}
	}
	return nil
}

func parse(name string, src []byte) (*ast.Module, error) {
	return ast.ParseModuleWithOpts(name, string(src), ast.ParserOptions{RegoVersion: ast.RegoV1})
}
