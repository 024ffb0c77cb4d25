// Package marks makes marks: short keyed hashes of the literals in a text by which
// it can be told that an action carries what an earlier output or prompt held.
//
// Not its business: comparing marks over a session (engine) and judging what is
// carried (policy). No mark holds a part of a text.
package marks
