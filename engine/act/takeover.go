package act

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// takeOver lets a session take over what other sessions have, before the call is reviewed.
// It is recorded first, so that the session's own chain determines its decisions.
func (r *Reviewer) takeOver(t history.Tail, h *handling) error {
	if r.Services.Sessions == nil || h.policy == nil || h.rec.Phase != engine.PhasePre {
		return nil
	}
	if err := r.inherit(t, h); err != nil {
		return err
	}
	if err := r.copyWords(t, h); err != nil {
		return err
	}
	p := &h.policy.Inherit
	if !p.Shares(h.event.Mode) {
		return nil
	}
	since := h.rec.T - p.MS
	if last := t.History.LastCall(); last > 0 {
		since = min(since, last)
	}
	others, err := r.Services.Sessions.Others(h.key, t.History.Workspace, since)
	if err != nil {
		return fmt.Errorf("look for other sessions: %w", err)
	}
	for _, o := range others {
		if rec := p.Taken(t.History, o, h.event.Mode); rec != nil {
			if err := before(t, h, rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// inherit stops a new session that continues the work of a stopped one, and puts a copy of one
// that was resumed with conditions under the same conditions.
func (r *Reviewer) inherit(t history.Tail, h *handling) error {
	if t.History.Actions > 0 || t.History.Stop != nil {
		return nil
	}
	list, err := r.Services.Sessions.Stopped()
	if err != nil {
		return fmt.Errorf("look for stopped sessions: %w", err)
	}
	list = slices.DeleteFunc(list, func(s review.Stopped) bool { return s.Key == h.key || s.Workspace != r.mask(h.workspace) })
	original := func(s review.Stopped) bool { return s.Key.Harness == h.key.Harness } // copies have the same agent
	if slices.ContainsFunc(list, original) {
		r.Services.Sessions.Await(h.event)
	}
	copied := func(s review.Stopped) bool { return original(s) && r.Services.Sessions.Copied(h.event, s.Key) }
	for _, s := range list {
		if s.Resumed != "" {
			continue
		}
		if reason := h.policy.Inherit.StoppedBy(s, h.event.Mode, copied(s)); reason != "" {
			return before(t, h, &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Result: reason}})
		}
	}
	for _, s := range list {
		if s.Resumed != "" && copied(s) {
			reason := strings.ReplaceAll(h.policy.Inherit.Conditions, "{session}", s.Key.Session)
			return before(t, h, &engine.Record{Kind: engine.KindControl,
				Control: &engine.Control{Do: engine.ControlResume, Mode: s.Resumed, By: s.By, Reason: reason}})
		}
	}
	return nil
}

// copyWords lets a new session that is a copy of another one take over what people forbade there. What they permitted stays there.
func (r *Reviewer) copyWords(t history.Tail, h *handling) error {
	if t.History.Actions > 0 || h.event.Transcript == "" {
		return nil
	}
	others, err := r.Services.Sessions.Others(h.key, t.History.Workspace, h.rec.T-h.policy.Grants.MS)
	if err != nil {
		return fmt.Errorf("look for other sessions: %w", err)
	}
	others = slices.DeleteFunc(others, func(o review.Other) bool {
		return o.Key.Harness != h.key.Harness || len(o.State.Goals.Prohibitions()) == 0 || t.History.TakenTo(o.Chain) > 0
	})
	if len(others) > 0 {
		r.Services.Sessions.Await(h.event)
	}
	for _, o := range others {
		if !r.Services.Sessions.Copied(h.event, o.Key) {
			continue
		}
		taken := &engine.Taken{Harness: o.Key.Harness, Session: o.Key.Session, Chain: o.Chain, To: o.State.N, Said: o.State.Goals.Prohibitions()}
		if err := before(t, h, &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActTaken, Taken: taken}}); err != nil {
			return err
		}
	}
	return nil
}

// before appends a record before that of the event.
func before(t history.Tail, h *handling, rec *engine.Record) error {
	rec.T, rec.Agent = h.rec.T, h.rec.Agent
	rec.ClampTime(t.History.T)
	return t.Append(rec)
}
