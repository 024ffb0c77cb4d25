// Package rego hosts policy written in Rego on an embedded OPA: it restricts
// the language to what is deterministic, compiles the modules of all layers,
// and answers the one question data.reviewer.decision. It is the only package
// that imports OPA.
//
// Not its business: where bundles come from and how settings merge (bundles),
// CEL conditions (cel), and what a decision means (engine).
package rego
