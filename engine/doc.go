// Package engine holds the nouns of reviewer and the deciding core: an Event
// (what an agent said) becomes Facts (what it means), is joined with the
// session's History into an Input (all that policy may see), and is answered
// by a Decision; everything is kept as a Record.
//
// The package imports the standard library only. Review is a pure function of
// (policy, facts, history): no clock, disk, network or logger. Handle is the
// only code here that causes effects, and only through the interfaces that it
// is given.
//
// Not its business: wire formats of agents (engine/harness), shell syntax and
// paths (engine/classify), files and locks (engine/audit), Rego (rego) and CEL
// (cel), and any threshold, list or verdict (the policy bundle).
package engine
