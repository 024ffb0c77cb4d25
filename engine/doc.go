// Package engine defines the data types of reviewer: an Event (what an agent
// reported) becomes Facts (what it means), is joined with the session's history
// into an Input (all that policy may see), and is answered by a Decision;
// everything is kept as a Record. It also defines the interfaces of the
// components that answer a part of it (Classifier, Matcher, Decider, Detector),
// canonical JSON and its digests, and the JSON Schemas of the documents.
//
// The package imports only the standard library, and all others import it.
// Nothing in it has side effects or reads a clock.
//
// Out of scope: the state of a session (engine/history), how an event is decided
// (engine/review), recorded and answered (engine/act), wire formats of agents
// (engine/harness), shell syntax and paths (engine/classify),
// files and locks (engine/audit), Rego (rego) and CEL (cel), and any threshold,
// list or verdict (the policy bundle).
package engine
