package act

import (
	"context"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Services are what duties are carried out with. Without a service, its duties are left out; a rollback fails.
type Services struct {
	Sessions  Sessions     // nil: nothing of other sessions applies to this one
	Files     Files        // nil: no checkpoints are taken
	Questions Questions    // nil: no question waits for a person outside the agent
	Late      *LateReviews // nil: no call is answered before its review

	// Answered gets each answer, with the policy by which it was given (nil: there was none); nil: nobody does.
	Answered func(*review.Policy, engine.SessionKey, engine.Answer)
	// LateReviewed gets the record of a review that was made after its answer; nil: nobody does.
	LateReviewed func(*review.Policy, engine.SessionKey, *engine.Record)
}

// Sessions finds the other sessions of a person.
type Sessions interface {
	// Stopped lists the sessions that are stopped, or were resumed on conditions. It is called
	// once in a session: before its first call.
	Stopped() ([]review.Stopped, error)
	// Await returns when the transcript of an event shows its call, and so everything before
	// it, or when that takes too long. An agent writes its transcript while hooks run.
	Await(e engine.Event)
	// Copied reports whether the session of an event is a copy of another one: its
	// transcript has calls of that one.
	Copied(e engine.Event, of engine.SessionKey) bool
	// Others returns the sessions of a workspace, of any agent, that had an event since a
	// time in Unix milliseconds, except own.
	Others(own engine.SessionKey, workspace string, since int64) ([]review.Other, error)
}

// Files stores the files of a workspace.
type Files interface {
	// Checkpoint stores everything that is not stored yet, and reports the changes since the last
	// checkpoint. It is called without any lock.
	Checkpoint(ctx context.Context, c CheckpointOf) (Checkpointed, error)
	// Rollback restores files to a checkpoint: all of them, or none. It is called without
	// any lock, and possibly again for the same decision.
	Rollback(ctx context.Context, c RollbackOf) (RolledBack, error)
}

// CheckpointOf describes the call that a checkpoint is taken for.
type CheckpointOf struct {
	Policy    *review.Policy // nil: there is none
	Workspace string         // raw
	After     bool           // the call has ended
	Session   string
	Call      string
	Time      int64    // Unix milliseconds
	CWD       string   // to which First is relative
	First     []string // paths that the call is expected to change, as far as they are known
	Within    []string // folders below which it is expected to change everything
	Only      bool     // it can change nothing else
	Own       bool     // the session made the changes since the last checkpoint
	Save      *SaveOf  // what has to be stored whole; nil: nothing
}

// SaveOf is what a call destroys and must be stored whole, with the limits of the policy.
type SaveOf struct {
	Targets                                []TargetOf
	MaxFiles, MaxBytes, DayFiles, DayBytes int64
	Until                                  int64 // Unix milliseconds: it is kept until then
}

// TargetOf is one of the targets of a call.
type TargetOf struct {
	Path      string // absolute
	Below     bool   // with all that is under it
	Pattern   string // only what this matches: NAME in the folder, or **/NAME anywhere under it; empty: everything
	Unignored bool   // only what git does not ignore
}

// Checkpointed is the result of a checkpoint.
type Checkpointed struct {
	Result  string // one of the results of a checkpoint
	Facts   engine.CheckpointFacts
	Root    string // the workspace, in the form of the paths of Changes
	Changes []FileChange
	Unsaved string // why Save could not be done; empty: it was, or was not asked for
}

// FileChange is a path that changed, absolute and with slashes.
type FileChange struct {
	Path   string
	Folder bool
}

// RollbackOf describes what a rollback restores.
type RollbackOf struct {
	Policy     *review.Policy
	Workspace  string // raw
	Session    string
	Checkpoint string
	Time       int64 // of the decision, Unix milliseconds: the same if it is repeated
}

// RolledBack is the result of a rollback.
type RolledBack struct {
	Undo      string // absent: nothing was restored
	Restored  int    // paths
	Kept      int    // paths that differ and were not changed
	Moved     int    // repositories that differ from the checkpoint and were not changed
	Conflicts []string
}

// Questions makes questions known to people.
type Questions interface {
	// Limit returns how much longer the agent waits for this hook.
	Limit() time.Duration
	// Open tells people about a question until Close is called. An error means that nobody can
	// be told, so the call is denied at once. The action is what the call would do, in the
	// workspace.
	Open(ctx context.Context, p *review.Policy, q approval.Request, a *engine.Action, workspace string) (Question, error)
}

// Question is a question that people were told about.
type Question interface {
	// Changed returns which file that the call reads, changes or may run has changed since the
	// question was opened; empty: none.
	Changed() string
	// Pause returns when it is time to look for an answer again; an error: the agent has ended,
	// or its time has passed.
	Pause(ctx context.Context) error
	// Waited returns how long ago the question was opened, in milliseconds, whatever happens
	// to the clock.
	Waited() int64
	Close()
}

// LateReviews are the reviews of calls that were answered before them (mode: async). A process that
// continues after an answer has one for all its sessions. The zero value is ready.
//
// Which call waits for a review is in the log: history.State.Early. This type only saves time: the
// next holder of the session's lock, in this process or another one, makes the review before
// anything else if it is not recorded yet.
type LateReviews struct {
	// Begin is called before the first call is answered early; an error: none is.
	Begin func() error
	// Lazy leaves each review to the next event of the session.
	Lazy bool

	mu      sync.Mutex
	open    map[string]*lateReview // by id of the call's record
	running sync.WaitGroup
	begun   bool
}

// lateWait is the time that a review after the answer may take. The next call waits for
// it, as long as its own deadline allows.
const lateWait = time.Minute

// lateReview is a review that is being made.
type lateReview struct {
	done     chan struct{}
	decision engine.Decision
	err      error
}
