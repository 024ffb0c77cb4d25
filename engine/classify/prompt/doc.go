// Package prompt reads what people write to an agent: the kinds of work that they
// ask for, the names that they name, what they forbid and what they lift. It also
// reads the trouble that an error reports.
//
// The words by which it reads are lists of the policy's rows; the grammar is here.
//
// Not its business: what a goal or a constraint means for a call (policy), and
// texts that no person has written.
package prompt
