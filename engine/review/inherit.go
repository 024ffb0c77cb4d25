package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

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
	// Await returns when the transcript of an event shows its call, and so everything before
	// it, or when that takes too long. An agent writes its transcript while hooks run.
	Await(e engine.Event)
	// Copied reports whether the session of an event is a copy of another one: its
	// transcript has calls of that one.
	Copied(e engine.Event, of engine.SessionKey) bool
	// Others returns the sessions of a workspace, of any agent, that had an event since a
	// time in Unix milliseconds, except own.
	Others(own engine.SessionKey, workspace string, since int64) ([]Other, error)
}

// Other is another session of the same person in the same workspace.
type Other struct {
	Key   engine.SessionKey
	Chain string
	State *history.State
}

// takes lets a session take over what other sessions have, before the call is reviewed.
// It is recorded first, so that the session's own chain determines its decisions.
func (r *Reviewer) takes(t history.Tail, h *review) error {
	if r.Stops == nil || h.policy == nil || h.rec.Phase != engine.PhasePre {
		return nil
	}
	if err := r.inherit(t, h); err != nil {
		return err
	}
	p := &h.policy.Inherit
	if p.Scope != scopeWorkspace && !p.applies(p.Denials, h.event.Mode) && !p.applies(p.Limits, h.event.Mode) {
		return nil
	}
	since := h.rec.T - p.MS
	if last := t.History.LastCall(); last > 0 {
		since = min(since, last)
	}
	own := engine.SessionKey{Harness: h.event.Harness, Session: h.event.Session}
	others, err := r.Stops.Others(own, t.History.Workspace, since)
	if err != nil {
		return fmt.Errorf("look for other sessions: %w", err)
	}
	for _, o := range others {
		if rec := p.taken(t.History, o, h.event.Mode); rec != nil {
			if err := r.chained(t, h, rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// scopeWorkspace is the scope of what applies to all sessions in a workspace.
const scopeWorkspace = "workspace"

// applies reports whether something of other sessions in the workspace applies to one that
// runs in a permission mode.
func (p *Inherit) applies(scope, mode string) bool {
	return scope == scopeWorkspace || scope == "unattended" && slices.Contains(p.Unattended, mode)
}

// taken returns the record of what a session takes over from another one; nil: nothing. A stop
// that it has already, or was resumed after, is not taken over again.
func (p *Inherit) taken(own *history.State, o Other, mode string) *engine.Record {
	g := o.State.Given(own.TakenTo(o.Chain), p.Within)
	if p.Scope != scopeWorkspace {
		g.Stop = nil
	}
	if !p.applies(p.Denials, mode) {
		g.Denials = nil
	}
	if !p.applies(p.Limits, mode) {
		g.Limits = nil
	}
	if g.Empty() {
		return nil
	}
	act := &engine.Act{Kind: engine.ActTaken, Taken: &engine.Taken{Harness: o.Key.Harness, Session: o.Key.Session, Chain: o.Chain,
		To: o.State.N, Denials: g.Denials, Limits: g.Limits}}
	if g.Stop != nil && own.Stop == nil {
		act.Kind, act.Result = engine.EmergencyStop, p.stopText(p.Nearby, o.Key.Session, g.Stop.Told())
	}
	return &engine.Record{Kind: engine.KindAct, Act: act}
}

func (p *Inherit) stopText(template, session, reason string) string {
	return strings.NewReplacer("{session}", session, "{reason}", strings.TrimSuffix(cmp.Or(reason, p.Unsigned), ".")).Replace(template)
}

// inherit stops a new session that continues the work of a stopped one, and puts a copy of one
// that was resumed with conditions under the same conditions.
func (r *Reviewer) inherit(t history.Tail, h *review) error {
	if t.History.Actions > 0 || t.History.Stop != nil {
		return nil
	}
	list, err := r.Stops.Stopped()
	if err != nil {
		return fmt.Errorf("look for stopped sessions: %w", err)
	}
	if slices.ContainsFunc(list, func(s Stopped) bool { return r.original(h, s) }) {
		r.Stops.Await(h.event)
	}
	for _, s := range list {
		if reason := r.inherited(h, s); reason != "" {
			return r.chained(t, h, &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Result: reason}})
		}
	}
	for _, s := range list {
		if s.Resumed != "" && r.original(h, s) && r.Stops.Copied(h.event, s.Key) {
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

// original reports whether a session may be a copy of another one: copies have the same agent.
func (r *Reviewer) original(h *review, s Stopped) bool {
	return s.Key.Harness == h.event.Harness && r.beside(h, s)
}

// beside reports whether a session is another one in the same workspace.
func (r *Reviewer) beside(h *review, s Stopped) bool {
	own := engine.SessionKey{Harness: h.event.Harness, Session: h.event.Session}
	return s.Key != own && s.Workspace == r.mask(h.workspace)
}

// inherited returns why a stopped session stops this one too; empty: it does not.
func (r *Reviewer) inherited(h *review, s Stopped) string {
	p := &h.policy.Inherit
	if s.Resumed != "" || !r.beside(h, s) {
		return ""
	}
	template := ""
	switch {
	case s.Key.Harness == h.event.Harness && r.Stops.Copied(h.event, s.Key):
		template = p.Copied
	case s.Final:
	case p.applies(p.Scope, h.event.Mode):
		template = p.Nearby
	}
	return p.stopText(template, s.Key.Session, s.Reason)
}
