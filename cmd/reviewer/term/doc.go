// Package term lays out text for people: colours, widths, broken lines, tables,
// and the formats that one document has.
//
// Not its business: what is said.
package term
