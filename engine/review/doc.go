// Package review is the contract of reviewer: how an event becomes an answer.
// Policy.Review is a pure function of (policy, record, history): no clock, disk,
// network or logger. Reviewer.Handle calls it under the session's lock, between
// what classifies the event and what records it, and causes effects only through
// the fields that it is given. An error before a tool call becomes a denial here
// and nowhere else.
//
// It is a package of its own because it needs the history, which needs the nouns:
// Handle uses seven methods and fields of a State, too many for an interface that
// the nouns could declare.
//
// Not its business: what an event means (engine/classify), what is remembered of a
// session (engine/history), how records reach the disk (engine/audit), what the
// agent's answer looks like on the wire (engine/harness), and any judgement (the
// policy, behind engine.Matcher and engine.Decider).
package review
