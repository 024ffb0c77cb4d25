package engine

// Usage is what the agent's own record of the session says about tokens. It is read
// when an event is reviewed, from where the event before it ended, and never at a
// replay.
type Usage struct {
	Tokens  int64 `json:"tokens"`            // tokens that the model wrote since the event before
	Skipped int64 `json:"skipped,omitempty"` // bytes of the agent's record that were not read, since there were too many
	To      int64 `json:"to"`                // length of the agent's record up to which it was read, in bytes
	// Digest of the id of the last message that was read, of which more may follow.
	Message string `json:"message,omitempty"`
	Counted int64  `json:"counted,omitempty"` // tokens of that message that were counted so far
}
