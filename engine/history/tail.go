package history

import "github.com/agent-reviewer/reviewer/engine"

// Tail is the end of a session's chain while its lock is held.
type Tail struct {
	History *State                                // everything folded; Append keeps it up to date
	Append  func(*engine.Record) error            // sets v, prev, n and chain, writes the line, and folds it
	Read    func(n int64) (*engine.Record, error) // an earlier record
	Before  func(n int64) (*State, error)         // the state before an earlier record
}
