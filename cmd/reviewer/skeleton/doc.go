// Package skeleton writes the first lines of what a policy is made of: a bundle,
// a rule, a pattern, a case. What it writes passes `policy check` and `policy
// test` as it is; a person then puts their own words where the example's are.
//
// Not its business: reading and writing files. It makes texts, and whoever asks
// for them checks the policy that they give before any is written.
package skeleton

// File is a text for a file of a policy.
type File struct {
	Name string // below the policy's folder, with slashes
	Text string
	Adds bool // the text goes behind what the file holds; otherwise the file must be new
}
