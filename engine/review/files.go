package review

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

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
	Workspace string // raw
	Rows      engine.Rows
	After     bool // the call has ended
	Session   string
	Call      string
	Time      int64    // Unix milliseconds
	CWD       string   // to which First is relative
	First     []string // paths that the call is expected to change, as far as they are known
	Within    []string // folders below which it is expected to change everything
	Only      bool     // it can change nothing else
	Own       bool     // the session made the changes since the last checkpoint
}

// Checkpointed is the result of a checkpoint.
type Checkpointed struct {
	Result  string // one of the results of a checkpoint
	Facts   engine.CheckpointFacts
	Root    string // the workspace, in the form of the paths of Changes
	Changes []FileChange
}

// FileChange is a path that changed, absolute and with slashes.
type FileChange struct {
	Path   string
	Folder bool
}

// Unsaved is a policy's decision about calls whose checkpoint failed.
type Unsaved struct {
	Effect  engine.Verdict // block or warn; allow where the policy only observes
	Denied  string         // text for the agent; {why} stands for the cause
	Allowed string         // the same if the call runs
}

// duty describes what must be done about the files of a call.
type duty struct {
	pre   *engine.Record // of the call
	after bool           // the call has ended
	kept  *engine.Record // the result of the checkpoint before it, if it was taken already
	first bool           // the session has no checkpoint yet
	own   bool           // the session may be changing files without this call
}

// dutyOf returns which checkpoint or restore a call needs. It runs under the
// session's lock; nil: nothing.
func (r *Reviewer) dutyOf(t history.Tail, rec *engine.Record) *duty {
	if rec.Phase != engine.PhasePre && rec.Phase != engine.PhasePost {
		return nil
	}
	d := &duty{pre: rec, after: rec.Phase == engine.PhasePost, first: !t.History.HasCheckpoint()}
	d.kept, _ = earlier(t, t.History.Kept(rec.Agent, rec.Call))
	if d.after {
		if !d.stored() {
			return nil
		}
		d.pre, _ = earlier(t, t.History.Recorded(rec.Agent, rec.Call, engine.PhasePre))
	}
	if d.pre == nil || !obliged(d.pre) {
		return nil
	}
	d.own = t.History.HasUnfinished(d.pre.N)
	return d
}

// obliged reports whether files are to be stored before the call of a record.
func obliged(pre *engine.Record) bool {
	return pre.Phase == engine.PhasePre && pre.Decision != nil && pre.Answer != nil &&
		pre.Decision.Obliges(engine.ObligationCheckpoint) && pre.Answer.Effect.Strictness() < engine.Block.Strictness()
}

// stored reports whether there is a checkpoint before the call.
func (d *duty) stored() bool {
	return d.kept != nil && d.kept.Act != nil && d.kept.Act.Checkpoint != nil && d.kept.Act.Checkpoint.ID != ""
}

func earlier(t history.Tail, n int64) (*engine.Record, error) {
	if n == 0 {
		return nil, errors.New("the chain has no record with this number")
	}
	return t.Read(n)
}

// keep stores the files of the workspace before a call that may run, and records the
// result.
func (r *Reviewer) keep(ctx context.Context, key engine.SessionKey, h *review, a engine.Answer) (engine.Answer, error) {
	if h.duty.kept != nil {
		return h.unsaved().answer(a, h.duty.kept), nil
	}
	act := r.checkpoint(ctx, h)
	if act.Act.Result == engine.CheckpointNothing {
		return a, nil
	}
	err := r.Log.Update(ctx, key, func(t history.Tail) error {
		// The hook is installed twice: what the other one recorded counts.
		if n := t.History.Kept(act.Agent, act.Call); n > 0 {
			kept, err := t.Read(n)
			act = kept
			return err
		}
		return t.Append(act)
	})
	if err != nil {
		return engine.Answer{}, err
	}
	return h.unsaved().answer(a, act), nil
}

// checkpoint takes a checkpoint before a call, and returns the record of it.
func (r *Reviewer) checkpoint(ctx context.Context, h *review) *engine.Record {
	began := r.lap()
	c := r.request(h)
	got, err := r.Files.Checkpoint(ctx, c)
	got.Facts.Only = c.Only
	got.Facts.MS = engine.Round6(max(r.lap()-began, 0))
	if err != nil {
		got.Result = engine.CheckpointFailed
		got.Facts.Failure, got.Facts.Effect = engine.ClipJSON(r.mask(err.Error()), 480), h.unsaved().Effect
	}
	return r.actOf(h, engine.Act{Kind: engine.ActCheckpoint, Result: got.Result, Checkpoint: &got.Facts})
}

func (r *Reviewer) actOf(h *review, a engine.Act) *engine.Record {
	a.Of = h.duty.pre.ID()
	return &engine.Record{Kind: engine.KindAct, T: max(r.Now(), h.duty.pre.T), Agent: h.duty.pre.Agent, Call: h.duty.pre.Call, Act: &a}
}

// unsaved returns what happens to calls whose checkpoint failed. Without a policy, none
// of them runs.
func (h *review) unsaved() Unsaved {
	if h.policy == nil {
		return Unsaved{Effect: engine.Block}
	}
	return h.policy.Unsaved
}

// answer returns the answer to a call, given the result of the checkpoint before
// it.
func (u Unsaved) answer(a engine.Answer, act *engine.Record) engine.Answer {
	if act.Act == nil || act.Act.Checkpoint == nil || act.Act.Checkpoint.Failure == "" {
		return a
	}
	said := func(template string) string {
		return strings.ReplaceAll(template, "{why}", strings.TrimSuffix(act.Act.Checkpoint.Failure, "."))
	}
	switch act.Act.Checkpoint.Effect {
	case engine.Allow:
		return a
	case engine.Warn:
		if a.Effect == engine.Allow {
			a.Effect = engine.Warn
		}
		a.Text = strings.TrimPrefix(a.Text+"\n"+said(u.Allowed), "\n")
		return a
	}
	a.Effect, a.Args, a.Grant, a.Text = engine.Block, nil, false, said(u.Denied)
	if u.Denied == "" {
		a.Text = engine.Degraded(engine.PhasePre, act.Act.Checkpoint.Failure).Text
	}
	return a
}

// request describes the checkpoint of a call.
func (r *Reviewer) request(h *review) CheckpointOf {
	d := h.duty
	c := CheckpointOf{Workspace: r.rawWorkspace(h), After: d.after, Session: h.event.Session, Call: d.pre.Call,
		Time: max(r.Now(), d.pre.T), CWD: h.event.CWD, Own: d.own || d.after}
	if h.policy != nil {
		c.Rows = h.policy.Rows
	}
	var sure bool
	c.First, sure = expected(h.event, d.pre.ExecutedAction())
	c.Within = recursive(d.pre.ExecutedAction())
	c.Only = sure && (d.after && d.keptOnly() || !d.after && !d.first && !d.own)
	return c
}

// keptOnly reports whether only the paths of the call were examined before it.
func (d *duty) keptOnly() bool { return d.stored() && d.kept.Act.Checkpoint.Only }

// rawWorkspace returns the workspace as in the event: the log contains it
// masked.
func (r *Reviewer) rawWorkspace(h *review) string {
	for _, dir := range []string{h.event.Project, h.event.CWD} {
		if dir != "" && r.mask(dir) == h.workspace {
			return dir
		}
	}
	return h.workspace
}

// expected returns the paths that a call is expected to change, and whether these are
// all: a file tool of the client states exactly what it writes. The paths of effects are
// masked, and those in the arguments are not.
func expected(e engine.Event, a *engine.Action) (paths []string, sure bool) {
	if a == nil {
		return nil, false
	}
	if sure = strings.HasPrefix(a.Name, "filesystem.") && len(a.Commands) == 0 && len(a.Opaque) == 0; sure {
		paths = argumentPaths(e)
		sure = len(paths) > 0
	}
	for i := range a.Effects {
		f := &a.Effects[i]
		exact := changesFile(f) && f.Certainty == engine.CertaintyExact
		sure = sure && (f.Kind == engine.EffectFileRead || exact && !f.Recursive && f.Entry != "dir")
		if exact && !slices.Contains(paths, f.Target) {
			paths = append(paths, f.Target)
		}
	}
	return paths, sure
}

// recursive returns the folders below which a call is expected to change everything.
func recursive(a *engine.Action) []string {
	var dirs []string
	if a == nil {
		return nil
	}
	for i := range a.Effects {
		f := &a.Effects[i]
		if changesFile(f) && f.Recursive && whole(f) && !slices.Contains(dirs, f.Target) {
			dirs = append(dirs, f.Target)
		}
	}
	return dirs
}

// whole reports whether a recursive effect is about all of its target: of a pattern such as
// /tmp/a*, the target is the folder in which it is searched for.
func whole(f *engine.Effect) bool {
	below := strings.TrimRight(f.Short, "*")
	return f.Certainty == engine.CertaintyExact ||
		f.Certainty == engine.CertaintyGlob && strings.HasSuffix(below, "/") && !strings.ContainsAny(below, "*?[")
}

// changesFile reports whether an effect changes files of this machine.
func changesFile(e *engine.Effect) bool {
	return (e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete) && e.Host == "" && e.Location != engine.LocationNull
}

// argumentPaths lists the arguments of a call that name paths.
func argumentPaths(e engine.Event) []string {
	var args map[string]any
	if json.Unmarshal(e.Args, &args) != nil {
		return nil
	}
	var list []string
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if p, ok := args[key].(string); ok && p != "" && strings.HasSuffix(key, "path") {
			list = append(list, p)
		}
	}
	return list
}
