package review

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Policy is a compiled policy: all its layers and their merged settings.
type Policy struct {
	Digest   string // over the ordered (layer, digest) pairs and the settings
	Config   string // digest of the merged settings
	View     engine.View
	Redact   []string // those of PersonalKinds that are masked in facts in addition to secrets
	Settings settings.Settings
	Inherit  Inherit
	Grants   Grants
	Unsaved  Unsaved
	Matcher  engine.Matcher
	Decider  engine.Decider
	Early    engine.EarlyDecider // nil: every call waits for its review (mode: blocking)

	Detector  engine.Detector // nil: the policy declares no detectors
	Detectors string          // digest of the patterns that Detector searches for; empty: none
	Rows      engine.Rows     // knowledge by which events are read; nil: the policy has no rows

	Notice string // what the person is told when a session starts; empty: nothing
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

// The values of the setting approvals.queue by which questions wait for a person outside the agent:
// all, or those that the agent cannot put to a person.
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
