// Package simulate decides again: Replay recomputes the decisions of a log and
// compares them with what was recorded; Run takes a session's events through a
// policy. Both call the same engine code as a live hook, so what is simulated
// is what would be done.
//
// Not its business: acting and recording. The package never sees an executor or
// a log on disk; Run's chain lives in memory and ends with it. Where records
// and events come from, and where a policy is found by its digest, the caller
// says.
package simulate
