// Package skeleton generates the parts of a policy: a bundle, a rule, a pattern, a
// case. Generated files pass `policy check` and `policy test` unchanged; a person
// then replaces the example.
//
// Out of scope: reading and writing files. It generates texts; the caller checks
// the resulting policy before writing any.
package skeleton

// File is the name and the text of a file of a policy.
type File struct {
	Name string // under the policy's folder, with slashes
	Text string
	Adds bool // the text is appended to the file; otherwise the file must be new
}
