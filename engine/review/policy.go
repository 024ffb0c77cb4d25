package review

import "github.com/agent-reviewer/reviewer/engine"

// Policy is a compiled policy: all its layers and their merged settings.
type Policy struct {
	Digest  string // over the ordered (layer, digest) pairs and the settings
	Config  string // digest of the merged settings
	View    engine.View
	Redact  []string // those of PersonalKinds that are masked in facts in addition to secrets
	Inherit Inherit
	// Approvals defines what happens to questions.
	Approvals Approvals
	Grants    Grants
	Headless  bool // prompts of a client that a schedule or a service started count as a person's
	Unsaved   Unsaved
	// Rollback contains the texts about the result of a rollback.
	Rollback Rollback
	Kinds    []string // kinds of intervention that the organisation has defined
	Matcher  engine.Matcher
	Decider  engine.Decider
	Early    engine.EarlyDecider // nil: every call waits for its review (mode: blocking)

	Detector  engine.Detector // nil: the policy declares no detectors
	Detectors string          // digest of the patterns that Detector searches for; empty: none
	Rows      engine.Rows     // knowledge by which events are read; nil: the policy has no rows

	Notice string // what the person is told when a session starts; empty: nothing

	MaxCPU float64 // CPU time, in milliseconds, of a review that counts as slow if it takes more; 0: none does
}

// By returns what a record says about who decided: the policy in an environment.
func (p *Policy) By(env *engine.Env) *engine.By {
	by := &engine.By{Policy: p.Digest, Config: p.Config, Env: env.Digest(), Detectors: p.Detectors}
	if p.Rows != nil {
		by.Rows = p.Rows.RowsDigest()
	}
	return by
}

// Inherit is the policy's choice of what else a stop, a denial or a limit of a session applies
// to: to which other sessions of the same person, of any agent.
type Inherit struct {
	Scope      string   // of a stop. session: copies; workspace: all in its workspace; unattended: those that begin there, if nobody can be asked
	Denials    string   // of denials: session, unattended or workspace
	Limits     string   // of throttling, as Denials
	Within     int64    // denials of this many latest actions of a session
	MS         int64    // in sessions that had an event within this time, in milliseconds
	Unattended []string // permission modes in which nobody can be asked
	Copied     string   // reason for a copy; {session}, {reason}
	Nearby     string   // reason for another session in the workspace; {session}, {reason}
	Conditions string   // reason for a copy of a session that was resumed on conditions; {session}
	Unsigned   string   // stands for {reason} where nobody signed the stop
}

// Approvals is the policy's choice of which questions wait for a person outside the agent.
type Approvals struct {
	Queue      string   // never; unattended: those that the agent cannot put to a person; always
	MS         int64    // how long a call waits at most
	Unattended []string // permission modes in which nobody can be asked
	Texts      ApprovalTexts
}

// ApprovalTexts are told to the agent when its call does not run. {why} stands for what a person
// wrote, or what changed. The agent does not learn the id of the question, as with denials.
type ApprovalTexts struct {
	Denied  string // by a person
	Silent  string // stands for {why} in Denied where the person wrote nothing
	Expired string // nobody answered
	Stopped string // the session was stopped
	Changed string // approved, but the policy or a file has changed since
	Nobody  string // nobody could be notified of the question
}

// The values of Approvals.Queue.
const (
	QueueAlways     = "always"
	QueueUnattended = "unattended"
)

// Grants is the policy's choice to let calls pass that the agent would ask a person about
// (grant: proven). The zero value grants none.
type Grants struct {
	On bool
	MS int64 // answers to calls of the same form count in sessions that had an event within this time
}

// Unsaved is a policy's decision about calls whose checkpoint failed.
type Unsaved struct {
	Effect  engine.Verdict // block or warn; allow where the policy only observes
	Denied  string         // text for the agent; {why} stands for the cause
	Allowed string         // the same if the call runs
}

// Rollback has the texts about the result of a rollback, with the placeholders {checkpoint},
// {undo}, {count}, {kept} and {why}.
type Rollback struct {
	Restored  string
	Unchanged string
	Failed    string
	NotRun    string // added to Restored if the call does not run
}
