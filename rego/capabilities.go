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

// forbidden lists built-ins with which a decision could not be recomputed: the
// clock, chance, the network, the environment, and the machine's own time zones
// and certificates, used by all functions that take a zone's name or verify. An
// hour, a minute and a weekday in UTC are in the input.
func forbidden(b *ast.Builtin) bool {
	return b.Nondeterministic || slices.Contains([]string{
		"opa.runtime", "rego.parse_module", "trace", "io.jwt.decode_verify",
		"time.clock", "time.date", "time.weekday", "time.format", "time.diff", "time.add_date", "time.parse_ns",
		"crypto.x509.parse_and_verify_certificates", "crypto.x509.parse_and_verify_certificates_with_options",
	}, b.Name)
}
