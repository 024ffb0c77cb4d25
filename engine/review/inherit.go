package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Inherit is the policy's choice of the later sessions to which a stop also applies.
type Inherit struct {
	Scope      string   // session: copies of it; workspace: all that begin in its workspace; unattended: workspace if nobody can be asked
	Unattended []string // permission modes in which nobody can be asked
	Copied     string   // reason for a copy; {session}, {reason}
	Nearby     string   // reason for another session in the workspace; {session}, {reason}
	Conditions string   // reason for a copy of a session that was resumed on conditions; {session}
}

// Stopped is a session that was stopped and not resumed, or only on conditions.
type Stopped struct {
	Key       engine.SessionKey
	Workspace string
	Reason    string
	Final     bool   // a person permanently ended it, and other sessions replace it
	Resumed   string // the conditions on which it was resumed; empty: it is stopped
	By        string // who resumed it
}

// Stops finds out which stopped sessions a new one belongs to. It is called once in a session:
// before its first call.
type Stops interface {
	// Stopped lists the sessions that are stopped, or were resumed on conditions.
	Stopped() ([]Stopped, error)
	// Copied reports whether the session of an event is a copy of another one: its
	// transcript has calls of that one.
	Copied(e engine.Event, of engine.SessionKey) bool
}

// inherit stops a new session that continues the work of a stopped one, and puts a copy of one
// that was resumed with conditions under the same conditions.
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
			return r.chained(t, h, &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Result: reason}})
		}
	}
	for _, s := range list {
		if s.Resumed != "" && r.beside(h, s) && r.Stops.Copied(h.event, s.Key) {
			reason := strings.ReplaceAll(h.policy.Inherit.Conditions, "{session}", s.Key.Session)
			return r.chained(t, h, &engine.Record{Kind: engine.KindControl,
				Control: &engine.Control{Do: engine.ControlResume, Mode: s.Resumed, By: s.By, Reason: reason}})
		}
	}
	return nil
}

// chained appends a record before that of the call.
func (r *Reviewer) chained(t history.Tail, h *review, rec *engine.Record) error {
	rec.T, rec.Agent = h.rec.T, h.rec.Agent
	rec.ClampTime(t.History.T)
	return t.Append(rec)
}

// beside reports whether a session is another one of the same agent and workspace.
func (r *Reviewer) beside(h *review, s Stopped) bool {
	own := engine.SessionKey{Harness: h.event.Harness, Session: h.event.Session}
	return s.Key != own && s.Key.Harness == own.Harness && s.Workspace == r.mask(h.workspace)
}

// inherited returns why a stopped session stops this one too; empty: it does not.
func (r *Reviewer) inherited(h *review, s Stopped) string {
	p := &h.policy.Inherit
	if s.Resumed != "" || !r.beside(h, s) {
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
