package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Stopped is a session that was stopped and not resumed, or only on conditions.
type Stopped struct {
	Key       engine.SessionKey
	Workspace string
	Reason    string
	Final     bool   // a person permanently ended it, and other sessions replace it
	Resumed   string // the conditions on which it was resumed; empty: it is stopped
	By        string // who resumed it
}

// Other is another session of the same person in the same workspace.
type Other struct {
	Key   engine.SessionKey
	Chain string
	State *history.State
}

// scopeWorkspace is the scope of what applies to all sessions in a workspace.
const scopeWorkspace = "workspace"

// Shares reports whether a session that runs in a permission mode takes over anything of others in its workspace.
func (p *Inherit) Shares(mode string) bool {
	return p.Scope == scopeWorkspace || p.applies(p.Denials, mode) || p.applies(p.Limits, mode)
}

// applies reports whether something of other sessions in the workspace applies to one that
// runs in a permission mode.
func (p *Inherit) applies(scope, mode string) bool {
	return scope == scopeWorkspace || scope == "unattended" && slices.Contains(p.Unattended, mode)
}

// Taken returns the record of what a session takes over from another one; nil: nothing. A stop
// that it has already, or was resumed after, is not taken over again.
func (p *Inherit) Taken(own *history.State, o Other, mode string) *engine.Record {
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

// StoppedBy returns why a stopped session of the workspace stops a new one too, which may be a copy of it; empty: it does not.
func (p *Inherit) StoppedBy(s Stopped, mode string, copied bool) string {
	switch {
	case copied:
		return p.stopText(p.Copied, s.Key.Session, s.Reason)
	case !s.Final && p.applies(p.Scope, mode):
		return p.stopText(p.Nearby, s.Key.Session, s.Reason)
	}
	return ""
}

func (p *Inherit) stopText(template, session, reason string) string {
	return strings.NewReplacer("{session}", session, "{reason}", strings.TrimSuffix(cmp.Or(reason, p.Unsigned), ".")).Replace(template)
}
