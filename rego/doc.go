// Package rego evaluates policy written in Rego with an embedded OPA: it
// restricts the language to what is deterministic, compiles the modules of all
// layers, and evaluates data.reviewer.decision. It is the only package that
// imports OPA.
//
// Out of scope: where bundles come from and how settings merge (bundles),
// CEL conditions (cel), and what a decision means (engine).
package rego
