// Package engine holds the nouns of reviewer: an Event (what an agent said)
// becomes Facts (what it means), is joined with the session's history into an
// Input (all that policy may see), and is answered by a Decision; everything is
// kept as a Record. With them come the interfaces of those who answer for a part
// of it (Classifier, Matcher, Decider, Detector), canonical JSON and its digests,
// and the JSON Schemas of the documents.
//
// The package imports the standard library only, and everybody imports it.
// Nothing in it causes an effect or reads a clock.
//
// Not its business: what a session has come to (engine/history), the order in
// which an event is classified, judged, recorded and answered (engine/review),
// wire formats of agents (engine/harness), shell syntax and paths
// (engine/classify), files and locks (engine/audit), Rego (rego) and CEL (cel),
// and any threshold, list or verdict (the policy bundle).
package engine
