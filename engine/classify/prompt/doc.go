// Package prompt interprets what people write to an agent: the kinds of work
// that they ask for, the names that they mention, what they forbid and what
// they allow again. It also classifies the trouble that an error reports.
//
// The words that it recognises are lists in the policy's rows; the grammar is
// here.
//
// Of an agent's last message, it reads what the agent claims to have done.
//
// Out of scope: what a goal or a constraint means for a call (policy), and
// texts that no person has written.
package prompt
