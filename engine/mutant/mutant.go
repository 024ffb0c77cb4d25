// Package mutant defines the vocabulary of mutation testing: a small change to
// a policy, and the operators that make one.
//
// Out of scope: making the changes (rego, cel, bundles/mutate) and finding
// out whether tests notice them (cmd/reviewer/trial).
package mutant

import (
	"cmp"
	"math/big"
	"strings"
)

// The kinds of mutants, by what they change.
const (
	Rego       = "rego"
	Conditions = "conditions"
	Rows       = "rows"
	Data       = "data"
)

// Kinds lists the kinds in the order in which they are reported.
func Kinds() []string { return []string{Rego, Conditions, Rows, Data} }

// Mutant is a small change to a policy, and the outcome of testing it.
type Mutant struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"` // from 1
	Col      int    `json:"col,omitempty"`  // from 1
	Kind     string `json:"kind"`
	Operator string `json:"operator"`
	Rule     string `json:"rule"` // id of the rule, list or detector; else the path of what is changed
	Before   string `json:"before"`
	After    string `json:"after"`
	Outcome  string `json:"outcome"` // empty: not tested yet
}

// Rewording is another form of an expression. Line and Col are in its text.
type Rewording struct {
	Mutant
	Text string // the whole expression
}

// Compare orders mutants by file and place.
func (m Mutant) Compare(o Mutant) int {
	return cmp.Or(strings.Compare(m.File, o.File), cmp.Compare(m.Line, o.Line), cmp.Compare(m.Col, o.Col))
}

// Steps returns the decimals one step below and above a number: a step is 1, or
// one unit of its last digit after the point. Not ok: the text is not a number.
func Steps(number string) (below, above string, ok bool) {
	n, ok := new(big.Rat).SetString(number)
	if !ok {
		return "", "", false
	}
	_, digits, _ := strings.Cut(number, ".")
	step := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(digits))), nil))
	return new(big.Rat).Sub(n, step).FloatString(len(digits)), new(big.Rat).Add(n, step).FloatString(len(digits)), true
}
