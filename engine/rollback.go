package engine

// The results of a rollback.
const (
	RollbackRestored  = "restored"
	RollbackUnchanged = "unchanged" // the files were as they were at the checkpoint
	RollbackConflict  = "conflict"  // somebody else changed a file, so nothing was restored
	RollbackFailed    = "failed"    // nothing was restored
)

// RollbackFacts describe what came of a rollback, as it is recorded.
type RollbackFacts struct {
	Checkpoint string   `json:"checkpoint"`
	Undo       string   `json:"undo,omitempty"`      // id of the checkpoint that undoes it; absent: nothing was restored
	Restored   int64    `json:"restored,omitempty"`  // paths that were changed
	Kept       int64    `json:"kept,omitempty"`      // paths that differ and were left as they are
	Moved      int64    `json:"moved,omitempty"`     // repositories that are not as they were, and were left as they are
	Conflicts  []string `json:"conflicts,omitempty"` // some of the paths that others changed, at most MaxRollbackConflicts
	Failure    string   `json:"failure,omitempty"`   // why nothing was restored
	Effect     Verdict  `json:"effect,omitempty"`    // block: the call was made from files that are gone, and does not run
	Text       string   `json:"text,omitempty"`      // what the agent is told about it
	MS         float64  `json:"ms"`                  // how long it took, milliseconds
}

// MaxRollbackConflicts limits the paths that RollbackFacts names.
const MaxRollbackConflicts = 5

// CheckpointState is a checkpoint to which the session can return.
type CheckpointState struct {
	ID      string `json:"id"`
	Lines   int64  `json:"lines"`              // records between the call that it was taken before and the latest call
	MS      int64  `json:"ms"`                 // milliseconds since, by event time
	First   bool   `json:"first"`              // it is the session's first
	Ran     int64  `json:"ran"`                // calls that ran between the one before and it
	Failed  int64  `json:"failed"`             // calls that failed in between
	CleanMS int64  `json:"clean_ms,omitempty"` // milliseconds between the latest failure before it and it; absent: nothing failed
}
