// Package review turns an event into an answer. Policy.Review is a pure function of (policy,
// record, history): no clock, disk, network or logger. Reviewer.Handle calls it under the
// session's lock, between classifying the event and recording it, and has side effects only
// through the fields that it is given. An error before a tool call becomes a denial here and
// nowhere else.
//
// It is a separate package because it needs the history, which needs the data types: Handle
// uses seven methods and fields of a State, too many for an interface that package engine
// could declare.
//
// Out of scope: what an event means (engine/classify), what is remembered about a session
// (engine/history), how records reach the disk (engine/audit), what the agent's answer looks
// like on the wire (engine/harness), and any judgement (the policy, behind engine.Matcher and
// engine.Decider).
package review
