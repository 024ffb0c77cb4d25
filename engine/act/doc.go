// Package act answers the events of agents. [Reviewer.Handle] classifies an event, lets policy decide about it (package
// review) and records it; then one loop carries out the duties that follow from the record, one file for each kind, and
// each can only make the answer stricter. An error before a tool call becomes a denial here and nowhere else.
//
// Simulation uses the same code with services that only note what they would do.
//
// Out of scope: what an event means (engine/classify), what policy decides and which duties follow (engine/review), what is
// remembered about a session (engine/history), how records reach the disk (engine/audit), what the agent's answer looks like
// on the wire (engine/harness), and notifications, which are derived from the log.
package act
