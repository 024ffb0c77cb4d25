// Package abstract holds what is known of a string before anything has run:
// values that are known, known by their beginning, patterns, or unknown; where a
// text comes from (taint); and the raw effects, commands and signals that the
// readers of code make of it.
//
// Not its business: any language, program or path. It only keeps what the
// readers of those have found out.
package abstract
