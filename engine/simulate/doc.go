// Package simulate recomputes decisions: Replay recomputes the decisions of a
// log and compares them with the recorded ones; Comparison evaluates two
// policies on recorded sessions and sums up the differences in Impacts, which
// Merge combines; a Rehearsal evaluates one policy on a session's events. All
// call the same engine code as a live hook, so a simulation shows what would be
// done.
//
// Out of scope: acting and recording. The package has no access to an
// executor or a log on disk; a rehearsal's chain exists only in memory. The
// caller provides records, events and policies, and presents the results.
package simulate
