package rego

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/version"
)

// Version returns the version of the embedded OPA, for engine.Env.
func Version() string { return version.Version }

// Capabilities returns the language that policies may use: OPA's without any
// built-in whose result could differ between two runs over the same input.
// Using one of them is a compile error.
func Capabilities() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(c.Builtins, forbidden)
	c.AllowNet = []string{}
	return c
}

// forbidden says why a decision could not be computed again: the clock, chance,
// the network, the environment, and the machine's own time zones.
func forbidden(b *ast.Builtin) bool {
	return b.Nondeterministic || slices.Contains([]string{
		"opa.runtime", "rego.parse_module", "trace", "io.jwt.decode_verify",
	}, b.Name)
}
