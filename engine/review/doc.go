// Package review decides: [Policy.Review] turns the facts of an event and the history of its session into a decision, and
// [Duties] lists what follows from its record. All functions are pure: no clock, disk, network or log. Live calls, replays
// and simulations call the same ones.
//
// It is a separate package because it needs the history, which needs the data types: it uses too many methods and fields of a
// State for an interface that package engine could declare.
//
// Out of scope: carrying out anything (engine/act), what an event means (engine/classify), what is remembered about a session
// (engine/history), and any judgement (the policy, behind engine.Matcher and engine.Decider).
package review
