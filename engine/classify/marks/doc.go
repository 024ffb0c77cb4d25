// Package marks computes marks: short keyed hashes of the literals in a string,
// which show whether an action contains something that an earlier output or
// prompt contained.
//
// Out of scope: comparing marks over a session (engine/history) and judging
// what is carried (policy). No mark contains part of a string.
package marks
