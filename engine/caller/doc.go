// Package caller decides from facts of the system who is asking: whether an event comes from the client of its
// session, and whether a command may act for a person. Names of programs only ever add a reason to refuse.
//
// The facts are values, which Read gets from the system: all of them on Linux; on macOS and Windows the processes,
// their names and times, but neither namespaces, environments nor terminals.
//
// Out of scope: the approval code, which the person also types (engine/approval/code), and what an unverified event
// may still do (engine/act).
package caller
