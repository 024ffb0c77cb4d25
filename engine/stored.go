package engine

import "strings"

// ObligationCheckpoint in a decision asks for a checkpoint: the files of the workspace are
// stored before the call runs.
const ObligationCheckpoint = "checkpoint"

// ObligationSave is ObligationCheckpoint, and the call runs only if the files that Decision.Saves is about
// are stored whole.
const ObligationSave = "save"

// The kinds of acts that are not interventions.
const (
	ActCheckpoint = "checkpoint" // files were stored before a call
	ActObserved   = "observed"   // what a call changed was compared with what it was expected to change
)

// OfFiles reports whether an act is about the files of a call, and not an intervention.
func (a *Act) OfFiles() bool { return a != nil && (a.Kind == ActCheckpoint || a.Kind == ActObserved) }

// Unsaved reports whether a call did not run, or a person was asked about it, because its files could not be stored.
func (a *Act) Unsaved() bool {
	return a.OfFiles() && a.Checkpoint != nil && a.Checkpoint.Failure != "" &&
		(a.Checkpoint.Effect == Block || a.Checkpoint.Effect == Ask)
}

// The results of a checkpoint.
const (
	CheckpointTaken     = "taken"
	CheckpointUnchanged = "unchanged" // nothing had changed since the previous one, which is used instead
	CheckpointNothing   = "nothing"   // the workspace does not exist, so there is nothing to store
	CheckpointFailed    = "failed"
)

// CheckpointFacts is the recorded form of a checkpoint before or after a call.
type CheckpointFacts struct {
	ID      string  `json:"id,omitempty"`      // of the checkpoint in its store; absent: there is none
	Files   int64   `json:"files,omitempty"`   // files in the workspace
	Stored  int64   `json:"stored,omitempty"`  // bytes that the store grew by
	Changed int64   `json:"changed,omitempty"` // paths that differ from the checkpoint before
	By      string  `json:"by,omitempty"`      // who changed them: session or others
	Left    int64   `json:"left,omitempty"`    // paths whose contents are not stored, and cannot be restored
	Unseen  int64   `json:"unseen,omitempty"`  // folders that could not be read in time
	Only    bool    `json:"only,omitempty"`    // only the paths that the call names were examined
	MS      float64 `json:"ms"`                // how long it took, milliseconds
	Failure string  `json:"failure,omitempty"` // why there is none
	Effect  Verdict `json:"effect,omitempty"`  // after a failure before a call: the answer to it, block, ask or warn
	Saved   *Saved  `json:"saved,omitempty"`   // what the call would destroy, if all of it is stored
}

// Saved is what a checkpoint keeps of the files that a call destroys.
type Saved struct {
	Files int64 `json:"files"` // files and links
	Bytes int64 `json:"bytes"`
	Until int64 `json:"until"` // the checkpoint is kept until then, Unix milliseconds
}

// Observed compares the effects that an action was expected to have on files with
// what changed while it ran.
type Observed struct {
	Programs  []string `json:"programs,omitempty"` // the program that changes files, else the first one; then the others
	Predicted int64    `json:"predicted"`          // paths that were expected to change
	Confirmed int64    `json:"confirmed"`          // of these, paths that did, or below which something did
	Changed   int64    `json:"changed"`            // paths that changed
	Matched   int64    `json:"matched"`            // of these, paths that were expected to
	// Paths that were expected to change and did not, and paths that changed without
	// being expected to; at most MaxObservedPaths each, as in `effects[].short`.
	Absent     []string `json:"absent,omitempty"`
	Unexpected []string `json:"unexpected,omitempty"`
}

// MaxObservedPaths limits the paths that Observed names.
const MaxObservedPaths = 10

// Differs reports whether the changes differ from the expected ones.
func (o *Observed) Differs() bool { return o.Confirmed < o.Predicted || o.Matched < o.Changed }

// Obliges reports whether a decision asks for something to be done before the call runs.
func (d *Decision) Obliges(what string) bool {
	for _, o := range d.Obligations {
		if o == what {
			return true
		}
	}
	return false
}

// The results of a rollback.
const (
	RollbackRestored  = "restored"
	RollbackUnchanged = "unchanged" // the files were as they were at the checkpoint
	RollbackConflict  = "conflict"  // someone else changed a file, so nothing was restored
	RollbackFailed    = "failed"    // nothing was restored
)

// RollbackFacts describe the recorded result of a rollback.
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
	ID      string `json:"id"`                 // id of the checkpoint
	CallMS  int64  `json:"call_ms"`            // milliseconds since the call before which it was taken, by event time
	MS      int64  `json:"ms"`                 // milliseconds since it was taken, by event time
	First   bool   `json:"first"`              // it is the session's first
	Ran     int64  `json:"ran"`                // calls that ran between the previous checkpoint and this one
	Failed  int64  `json:"failed"`             // calls that failed between the previous checkpoint and this one
	CleanMS int64  `json:"clean_ms,omitempty"` // milliseconds from the latest failure to the checkpoint; absent: nothing failed
}

// SourceAsync marks calls that were answered before their review (mode: async). The review
// follows, in a record of kind act with a LateReview.
const SourceAsync = "async"

// ActLateReview is the review of a call that was answered before it. Act.Result is its answer,
// or LateReviewFailed.
const ActLateReview = "late_review"

// LateReviewFailed means that a call that was answered before its review could not be reviewed.
// It counts as blocked.
const LateReviewFailed = "failed"

// LateReview is the result of the review of a call that had been answered before it.
type LateReview struct {
	Call     string    `json:"call,omitempty"` // as action.resource of the call, shortened
	Findings []Finding `json:"findings,omitempty"`
	Decision *Decision `json:"decision,omitempty"` // absent: the review failed
	By       *By       `json:"by,omitempty"`
	Failure  string    `json:"failure,omitempty"` // why there is no decision
}

// Answer returns what the agent would have been answered.
func (l *LateReview) Answer() Verdict {
	if l.Decision == nil {
		return Block
	}
	return l.Decision.Enforced
}

// LateFacts describes a call of the session that was answered before its review, which found
// more than the answer said.
type LateFacts struct {
	Record   string  `json:"record"`           // id of the record of the call
	Call     string  `json:"call"`             // the call, as in action.resource, shortened
	Decision Verdict `json:"decision"`         // the answer that the review would have given; block as well if it failed
	Rule     string  `json:"rule,omitempty"`   // first of the rules that fired; absent: none did
	Reason   string  `json:"reason,omitempty"` // primary reason of the review, shortened
}

// ActTaken records what a session took over from another one of the same person in its
// workspace, before it was used. A stop that was taken over is an act of kind EmergencyStop.
const ActTaken = "taken"

// ActResumed records that a call runs after it waited for a person's approval: Act.Of is
// the id of the call's record.
const ActResumed = "resumed"

// Taken is what a session takes over from another one. The decisions of the session
// depend on this record only, and not on the other chain.
type Taken struct {
	Harness string        `json:"harness"` // of the other session
	Session string        `json:"session"` // its id
	Chain   string        `json:"chain"`   // its chain
	To      int64         `json:"to"`      // the newest of its records that was read: earlier ones are not taken again
	Denials []TakenDenial `json:"denials,omitempty"`
	Limits  []TakenLimit  `json:"limits,omitempty"`
	Said    []Statement   `json:"said,omitempty"` // what people forbade in a session of which this one is a copy
}

// From names the other session.
func (t *Taken) From() string { return "from session " + t.Session + " of " + t.Harness }

// Text counts what was taken over.
func (t *Taken) Text() string {
	var parts []string
	if n := t.denied(); n > 0 {
		parts = append(parts, Counted(n, "denial", "denials"))
	}
	if n := len(t.Limits); n > 0 {
		parts = append(parts, Counted(n, "limit", "limits"))
	}
	if n := len(t.Said); n > 0 {
		parts = append(parts, Counted(n, "prohibition", "prohibitions"))
	}
	return strings.Join(parts, ", ")
}

// denied counts the calls that were denied: each can have several effects.
func (t *Taken) denied() int {
	calls := map[int64]bool{}
	for _, d := range t.Denials {
		calls[d.N] = true
	}
	return len(calls)
}

// MaxTaken limits the denials, and the limits, that are taken over at a time.
const MaxTaken = 16

// TakenDenial is one effect of a call that was denied there.
type TakenDenial struct {
	N      int64  `json:"n"` // number of the record that denied it
	Print  string `json:"print,omitempty"`
	Kind   string `json:"kind,omitempty"`
	Verb   string `json:"verb,omitempty"`
	Target string `json:"target,omitempty"`
	Harm   string `json:"harm,omitempty"`   // named by the rule that denied it
	Person bool   `json:"person,omitempty"` // a person refused it
}

// TakenLimit is a throttling of the other session.
type TakenLimit struct {
	N      int64   `json:"n"` // number of the record that decided it
	Issue  string  `json:"issue,omitempty"`
	Factor float64 `json:"factor"`
}

// Request is what the record of a request contains besides the facts of its call: a request
// is the moment at which an agent is about to ask a person about a call. What it says about
// other sessions is written here before it is used, so that the chain alone determines the
// answer.
type Request struct {
	Of         string        `json:"of,omitempty"`         // id of the record of the call; absent: it is unknown
	Form       string        `json:"form,omitempty"`       // form of the call; absent: it is not understood completely
	Checkpoint bool          `json:"checkpoint,omitempty"` // all files of the workspace were stored before the call
	Left       int64         `json:"left,omitempty"`       // paths that the checkpoint could not store
	Answers    []FormAnswers `json:"answers,omitempty"`    // to calls of the same form, in this session and others
}

// FormAnswers counts what people answered in one session, in one permission mode, to calls of one form.
type FormAnswers struct {
	Session  string `json:"session"`            // first digits of the id of its chain
	Mode     string `json:"mode,omitempty"`     // permission mode
	Person   int64  `json:"person,omitempty"`   // approvals that a person is known to have given
	Inferred int64  `json:"inferred,omitempty"` // approvals that were inferred: the call ran
	Refused  int64  `json:"refused,omitempty"`  // refusals, inferred or not
	First    int64  `json:"first"`              // time of the first answer, Unix milliseconds
	Last     int64  `json:"last"`               // time of the latest one
}

// MaxFormAnswers limits the answers that a Request lists.
const MaxFormAnswers = 12

// RequestFacts describes a call that the agent is about to ask a person about.
type RequestFacts struct {
	Decision   Verdict `json:"decision"`   // decision of the policy before the call; empty: the call is unknown
	Enforced   Verdict `json:"enforced"`   // the answer after enforcement
	Checkpoint bool    `json:"checkpoint"` // all files of the workspace were stored before the call
	Left       int64   `json:"left"`       // paths whose contents could not be stored
	// How many of the session's actions ago a call was denied or refused, of any agent; 1000: never.
	Denied int64 `json:"denied"`
	// 16 hexadecimal digits: the same for calls with the same tool, programs, options and words, and paths
	// of the same classes. Empty: the call is not understood completely.
	Form    string            `json:"form"`
	Answers []FormAnswerFacts `json:"answers"` // people's answers about calls of this form, by session and permission mode
}

// FormAnswerFacts counts what people answered in one session, in one permission mode, to calls of one form.
type FormAnswerFacts struct {
	Session   string `json:"session"`    // first digits of the id of the session's chain
	Mode      string `json:"mode"`       // permission mode of the agent
	Person    int64  `json:"person"`     // approvals that a person is known to have given
	Inferred  int64  `json:"inferred"`   // approvals that were inferred: the call ran
	Refused   int64  `json:"refused"`    // refusals
	MS        int64  `json:"ms"`         // milliseconds since the first of these answers
	RefusedMS int64  `json:"refused_ms"` // milliseconds since the latest refusal
}

// Proof is why policy grants a call that the agent would ask a person about.
type Proof struct {
	By        string  `json:"by"`                  // one of Proofs
	Approvals float64 `json:"approvals,omitempty"` // approved: weighted approvals of the form
	Sessions  int64   `json:"sessions,omitempty"`  // approved: sessions in which there are some
	Days      int64   `json:"days,omitempty"`      // approved: days after which an approval no longer counts
}

// The proofs for a grant.
const (
	ProofReads    = "reads"    // it only reads, and is understood completely
	ProofUndo     = "undo"     // what it changes can be undone
	ProofApproved = "approved" // people approved calls of this form
)

// Proofs lists every proof.
func Proofs() []string { return []string{ProofReads, ProofUndo, ProofApproved} }

// Granted is the recorded form of a grant: the person is not asked about the call.
type Granted struct {
	Of string `json:"of"` // id of the record of the call
	Proof
	Form       string `json:"form,omitempty"`
	Checkpoint bool   `json:"checkpoint,omitempty"` // all files of the workspace were stored before the call
}
