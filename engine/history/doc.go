// Package history folds the records of a session into a State, and joins an
// event with that state into the Input that policy sees.
//
// The fold is bounded, and a function of the records alone: it is the same
// whether a running process keeps it, a snapshot or a keyframe holds it, or it is
// computed again from the log. What it remembers and for how long belongs to
// FoldVersion. The files are in layers: key.go, effect.go, action.go and record.go
// say what one record holds by itself; parts.go and state.go are the state;
// checks.go to word.go fold and show one subject each; fold.go and bound.go put the
// fold together, view.go, facts.go and input.go what policy sees of it.
//
// Not its business: what an event means (engine/classify), what is decided
// (engine/review and the policy), where records are kept (engine/audit), and how
// many events a window spans (the policy).
package history
