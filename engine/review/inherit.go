package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Inherit is the policy's choice of which sessions a stop follows into.
type Inherit struct {
	Scope      string   // session: copies of it; workspace: all that begin in its workspace; unattended: workspace if nobody can be asked
	Unattended []string // permission modes in which nobody can be asked
	Copied     string   // reason for a copy; {session}, {reason}
	Nearby     string   // reason for another session in the workspace; {session}, {reason}
}

// Stopped is a session that was stopped and not resumed.
type Stopped struct {
	Key       engine.SessionKey
	Workspace string
	Reason    string
	Final     bool // a person ended it for good, and other sessions take its place
}

// Stops finds out which stopped sessions a new one belongs to. It is asked once in
// a session: before its first call.
type Stops interface {
	// Stopped lists the sessions that are stopped.
	Stopped() ([]Stopped, error)
	// Copied reports whether the session of an event is a copy of another one: its
	// transcript has calls of that one.
	Copied(e engine.Event, of engine.SessionKey) bool
}

// inherit stops a new session that goes on with the work of a stopped one.
func (r *Reviewer) inherit(t history.Tail, h *review) error {
	if r.Stops == nil || h.policy == nil || h.rec.Phase != engine.PhasePre || t.History.Actions > 0 || t.History.Stop != nil {
		return nil
	}
	list, err := r.Stops.Stopped()
	if err != nil {
		return fmt.Errorf("look for stopped sessions: %w", err)
	}
	for _, s := range list {
		if reason := r.inherited(h, s); reason != "" {
			rec := &engine.Record{Kind: engine.KindAct, T: h.rec.T, Agent: h.rec.Agent, Act: &engine.Act{Kind: engine.EmergencyStop, Result: reason}}
			rec.ClampTime(t.History.T)
			return t.Append(rec)
		}
	}
	return nil
}

// inherited is why a session that was stopped stops this one; empty: it does not.
func (r *Reviewer) inherited(h *review, s Stopped) string {
	p := &h.policy.Inherit
	own := engine.SessionKey{Harness: h.event.Harness, Session: h.event.Session}
	if s.Key == own || s.Key.Harness != own.Harness || s.Workspace != r.mask(h.workspace) {
		return ""
	}
	template := ""
	switch {
	case r.Stops.Copied(h.event, s.Key):
		template = p.Copied
	case s.Final:
	case p.Scope == "workspace" || p.Scope == "unattended" && slices.Contains(p.Unattended, h.event.Mode):
		template = p.Nearby
	}
	return strings.NewReplacer("{session}", s.Key.Session, "{reason}", strings.TrimSuffix(s.Reason, ".")).Replace(template)
}
