// Package audit keeps the records of all sessions on disk: one chain of lines
// per session, each line holding the hash of the line before, and one small
// ledger per machine that names the chains, their seals, and what a person or
// retention did to them.
//
//	HOME/key                     32 random bytes, the key of all MACs
//	HOME/ledger/000001.jsonl …   the machine's chain
//	HOME/sessions/ID/000001.jsonl …
//	HOME/sessions/ID/lock        flock; its mtime is the time of the last sync
//	HOME/sessions/ID/snapshot.json
//
// ID is the first 16 bytes of SHA-256(harness, newline, session) as hex. A
// chain's file begins with a keyframe (the folded state before the line), the
// chain's first with its open record, so that retention can delete whole files.
// The hash of a line is the SHA-256 of its raw bytes, newline included; the
// newest line is covered by the next one or by a seal. Snapshots are caches.
//
// The log is tamper-evident, not tamper-proof: the agent runs as the same user.
// Only a seal that was sent to another machine shows a whole rewrite.
//
// Not its business: what a record says and how records fold to a state
// (engine), deciding again (engine/simulate and the replay command), and who
// may stop or resume a session (cmd/reviewer).
package audit
