// Package audit stores the records of all sessions on disk: one chain of lines
// per session, in which each line contains the hash of the previous line, and
// one small ledger per machine that names the chains, their seals, and what
// people and retention have done to them.
//
//	HOME/key                     32 random bytes, the key of all MACs
//	HOME/ledger/000001.jsonl …   the machine's chain
//	HOME/sessions/ID/000001.jsonl …
//	HOME/sessions/ID/lock        flock; its mtime is the time of the last sync
//	HOME/sessions/ID/snapshot.json
//
// ID is the first 16 bytes of SHA-256(harness, newline, session) as hex. A
// chain's file starts with a keyframe (the folded state before the line), the
// chain's first file with its open record, so that retention can delete whole
// files. The hash of a line is the SHA-256 of its raw bytes, newline included;
// the newest line is covered by the next one or by a seal. Snapshots are
// caches.
//
// The log is tamper-evident, not tamper-proof: the agent runs as the same user.
// Only a seal that was sent to another machine reveals a complete rewrite.
//
// Out of scope: the content of records (engine), how they fold to a state
// (engine/history), recomputing decisions (engine/simulate and the replay
// command), and who may stop or resume a session (cmd/reviewer).
package audit
