// Package simulate decides again: Replay recomputes the decisions of a log and
// compares them with what was recorded; Comparison takes sessions through two
// policies and sums up what one makes otherwise, in Impacts that Merge puts
// together; a Rehearsal takes a session's events through one policy. All call
// the same engine code as a live hook, so what is simulated is what would
// be done.
//
// Not its business: acting and recording. The package never sees an executor or
// a log on disk; a rehearsal's chain lives in memory and ends with it. Where
// records and events come from, where a policy is found by its digest, and how a
// result is shown, the caller says.
package simulate
