// Package abstract represents strings before anything has run: exact values,
// known prefixes, patterns, or unknown ones; the origin of a string (taint); and
// the raw effects, commands and signals that the interpreters of code produce.
//
// Out of scope: any language, program or path. It only stores the results of their
// interpreters.
package abstract
