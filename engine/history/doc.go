// Package history folds the records of a session into a State, and joins an
// event with that state into the Input that policy sees.
//
// The fold is bounded, and a function of the records alone: the state is the
// same whether a running process keeps it, it is loaded from a snapshot or
// keyframe, or it is recomputed from the log. What is remembered and for how
// long belongs to FoldVersion. The files are in layers: key.go, effect.go,
// action.go and record.go read single records; parts.go and state.go define the
// state; the files that are named after a subject (checks.go, denied.go,
// goal.go, …) fold it and present it; fold.go and bound.go combine the folds; view.go, facts.go and input.go present the state
// to policy.
//
// Out of scope: what an event means (engine/classify), decisions
// (engine/review and the policy), where records are stored (engine/audit), and
// how many events a window spans (the policy).
package history
