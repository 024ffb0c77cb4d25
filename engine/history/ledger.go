package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Left lists what a session made and has not removed, as far as its log shows. A person has to
// check it when the session ends.
type Left struct {
	Running []engine.StartedFacts // processes that were started and not waited for
	Trees   []string              // working trees of git
	Remotes []string              // names of remotes of git that were added
	Created []string              // files outside the workspace, or temporary ones
	Moved   []string              // paths that files of the session were moved to
}

// Left lists the files and processes that the session leaves behind.
func (h *State) Left() Left {
	left := Left{Trees: h.Trees, Remotes: h.Remotes}
	for _, s := range h.started() {
		if !s.Listed {
			left.Running = append(left.Running, s)
		}
	}
	for _, p := range h.Paths {
		switch {
		case p.mayHoldMoved():
			left.Moved = append(left.Moved, p.Key)
		case p.State == engine.LedgerCreated && p.Where != string(engine.LocationInside):
			left.Created = append(left.Created, p.Key)
		}
	}
	return left
}

func (h *State) foldDelete(n int64, e *engine.Effect) {
	if p := h.path(truncateKey(e.Place())); p == nil || p.State != engine.LedgerCreated || !p.known() {
		h.Deleted++
	}
	h.dropTree(e)
	h.place(n, e, engine.LedgerDeleted)
}

func (h *State) foldWrite(n int64, e *engine.Effect) {
	maybe := ""
	if e.Verb == "move" {
		maybe = engine.LedgerMoved
	} else if p := h.path(truncateKey(e.Place())); p != nil && p.State == engine.LedgerDeleted {
		maybe = engine.LedgerWritten
	}
	h.place(n, e, maybe)
}

// place notes the location of a path that is written or deleted, and what the call may do to it.
func (h *State) place(n int64, e *engine.Effect, maybe string) {
	key := truncateKey(e.Place())
	if key == "" {
		return
	}
	i := slices.IndexFunc(h.Paths, func(p pathEntry) bool { return p.Key == key })
	p := pathEntry{Key: key, State: ledgerPending}
	if i >= 0 {
		p = h.Paths[i]
		h.Paths = slices.Delete(h.Paths, i, i+1)
	}
	p.N, p.Agreed = n, p.Agreed && maybe != engine.LedgerDeleted
	if maybe != "" && p.Maybe != engine.LedgerMoved {
		p.Maybe = maybe
	}
	if p.Where = boundKey(string(h.location(e)), digestLength); h.Goals.named(e) {
		p.Where = engine.LocationNamed
	}
	h.Paths = append(h.Paths, p)
}

func (h *State) foldReads(r *engine.Record) {
	if r.Action == nil {
		return
	}
	for i := range r.Action.Effects {
		if e := &r.Action.Effects[i]; e.Kind == engine.EffectFileRead && e.Certainty == engine.CertaintyExact {
			h.mark(e.Place(), engine.LedgerRead, r.N)
		}
	}
}

// mark sets a path's state. A state that makes policy stricter is never
// replaced by a milder one.
func (h *State) mark(short, state string, n int64) {
	if short == "" {
		return
	}
	key := truncateKey(short)
	e := pathEntry{Key: key, State: state, N: n}
	if old := h.path(key); old != nil {
		e.Agreed = old.Agreed && state != engine.LedgerDeleted
		e.Used, e.Where, e.Labels, e.Apart = old.Used || state == engine.LedgerRead, old.Where, old.Labels, old.Apart
		if e.Maybe = old.Maybe; settles(state, old.Maybe) {
			e.Maybe = ""
		}
		if !replaces(old.State, state) {
			e.State, e.N = old.State, old.N
		}
		h.Paths = slices.DeleteFunc(h.Paths, func(p pathEntry) bool { return p.Key == key })
	}
	h.Paths = append(h.Paths, e)
}

// settles reports whether it no longer matters what a call without a result may have done to a path
// that is now in a state: what was moved there may still be the only copy of something.
func settles(state, maybe string) bool {
	switch state {
	case engine.LedgerMoved:
		return true
	case engine.LedgerDeleted, engine.LedgerCreated:
		return maybe != engine.LedgerMoved
	case engine.LedgerWritten:
		return maybe == engine.LedgerWritten
	}
	return false
}

// replaces reports whether a path in state old becomes state new. Something
// that was moved into stays so; something created stays created however often
// it is read or written, until it is deleted.
func replaces(old, new string) bool {
	switch old {
	case ledgerPending:
		return true
	case engine.LedgerMoved:
		return false
	case engine.LedgerCreated:
		return new == engine.LedgerMoved || new == engine.LedgerDeleted
	case engine.LedgerDeleted:
		return new != engine.LedgerRead
	}
	return new != engine.LedgerRead
}

func (p *pathEntry) mayHoldMoved() bool {
	return p.State == engine.LedgerMoved || p.Maybe == engine.LedgerMoved
}
