// Package precompiled writes compiled Rego modules as bytes, and reads them back in a fraction
// of the time that parsing and compiling take.
//
// The bytes contain what an evaluation reads: rules, their expressions and the places of these in
// the sources. They do not contain comments, annotations and imports, which the compiler has
// already used, and the places of most terms.
//
// Out of scope: what the compiler derives from the rules, such as their indices (package rego),
// and whether the bytes belong to the sources of a policy: the caller compares Sum.
package precompiled

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/version"
)

// format is part of each sum. It changes with the format of the bytes.
const format = "reviewer compiled rego 1"

// SumSize is the number of bytes of a sum.
const SumSize = sha256.Size

// Policy is what the compiler made from the modules of a policy.
type Policy struct {
	Modules   map[string]*ast.Module // by file
	Rewritten map[ast.Var]ast.Var    // variables that the compiler introduced -> those of the source
}

// Sum identifies sources (file -> text) and everything else that determines the bytes: their
// format and the version of the compiler.
func Sum(sources map[string]string) [SumSize]byte {
	h := sha256.New()
	add := func(text string) {
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	add(format)
	add(version.Version)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		add(name)
		add(sources[name])
	}
	return [SumSize]byte(h.Sum(nil))
}

// kind determines how the bytes of a value continue.
type kind byte

const (
	absent kind = iota // of a term: there is none
	constant
	reference
	call
	array
	object
	set
	arrayOf // comprehensions
	setOf
	objectOf
)

// The kinds of constants.
const (
	nullConstant = iota
	trueConstant
	falseConstant
	numberConstant
	stringConstant
	varConstant
)

// The kinds of the terms of an expression.
const (
	oneTerm = iota
	severalTerms
	everyTerm
)

// Bits of rules and expressions.
const (
	isDefault = 1 << iota
	hasElse
	isAssigned
)

const (
	isNegated = 1 << iota
	isGenerated
)

// ownText marks the text of a place that is not what the source contains there.
const ownText = 1

// counts are the numbers of things in a module, which are then allocated together.
type counts struct{ terms, pointers, exprs, exprPointers, locations, rules int }

func (c *counts) all() []*int {
	return []*int{&c.terms, &c.pointers, &c.exprs, &c.exprPointers, &c.locations, &c.rules}
}
