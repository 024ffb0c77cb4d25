// Package approval defines questions that wait for a person: the states that a question can be
// in, the transitions between them, and the document that describes a question to people.
//
// A question is a call whose record has the answer ask and the key pending. Its outcome is
// in the same chain: a control record (approve, deny), a stop of the session, or the record
// of the resumed call. The order of the records decides, so of two answers at the same time
// one is refused, and a process that is killed loses nothing: the next one reads the same
// records. No answer is a denial.
//
// Out of scope: which calls are asked about (the policy), who may answer and how
// (cmd/reviewer), where the log is (engine/audit), and who is told (engine/notify).
package approval
