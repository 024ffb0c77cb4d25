package act

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// stored reports whether a record is that of a checkpoint.
func stored(rec *engine.Record) bool {
	return rec != nil && rec.Act != nil && rec.Act.Checkpoint != nil && rec.Act.Checkpoint.ID != ""
}

// save stores the files of the workspace before a call that may run, and records the
// result.
func (r *Reviewer) save(ctx context.Context, h *handling, d duty, a engine.Answer) (engine.Answer, error) {
	if r.Services.Files == nil && d.Kind == review.Checkpoint || a.Effect == engine.Block {
		return a, nil
	}
	if d.result != nil {
		return h.saved(a, d), nil
	}
	act := r.checkpoint(ctx, h, d)
	if act.Act.Result == engine.CheckpointNothing {
		return a, nil
	}
	err := r.Log.Update(ctx, h.policy, h.key, func(t history.Tail) error {
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
	d.result = act
	return h.saved(a, d), nil
}

// checkpoint takes a checkpoint before a call, and returns the record of it.
func (r *Reviewer) checkpoint(ctx context.Context, h *handling, d duty) *engine.Record {
	began := r.Clock.lap()
	c := r.checkpointOf(h, d)
	got, err := Checkpointed{}, error(nil)
	switch {
	case r.Services.Files == nil:
		err = errors.New("this reviewer stores no files")
	case d.Kind == review.Save && len(c.Save.Targets) == 0:
		err = errors.New("the policy names nothing that could be saved")
	case d.Kind == review.Save && d.Busy:
		err = errors.New("another call of the session is running, and could change them in the meantime")
	default:
		got, err = r.Services.Files.Checkpoint(ctx, c)
	}
	got.Facts.Only = c.Only
	got.Facts.MS = engine.Round6(max(r.Clock.lap()-began, 0))
	if d.Kind == review.Save && err == nil && got.Facts.Saved == nil {
		err = errors.New(cmp.Or(got.Unsaved, "the folder of the session does not exist"))
	}
	if err != nil {
		got.Result, got.Facts.Saved = engine.CheckpointFailed, nil
		got.Facts.Failure, got.Facts.Effect = engine.ClipJSON(r.mask(err.Error()), 480), h.unsaved().Effect
		if d.Kind == review.Save {
			got.Facts.Effect = review.Otherwise(d.of.Decision)
		}
	}
	return r.actOf(d.of, engine.Act{Kind: engine.ActCheckpoint, Result: got.Result, Checkpoint: &got.Facts})
}

// actOf returns the record of what was done about a call.
func (r *Reviewer) actOf(pre *engine.Record, a engine.Act) *engine.Record {
	a.Of = pre.ID()
	return &engine.Record{Kind: engine.KindAct, T: max(r.Clock.Now(), pre.T), Agent: pre.Agent, Call: pre.Call, Act: &a}
}

// unsaved returns what happens to calls whose checkpoint failed. Without a policy, none
// of them runs.
func (h *handling) unsaved() review.Unsaved {
	if h.policy == nil {
		return review.Unsaved{Effect: engine.Block}
	}
	return h.policy.Unsaved
}

// saved returns the answer to a call, given the result of the checkpoint before
// it.
func (h *handling) saved(a engine.Answer, d duty) engine.Answer {
	u, act := h.unsaved(), d.result
	if act.Act == nil || act.Act.Checkpoint == nil {
		return a
	}
	if d.Kind == review.Save {
		return h.rescued(a, d)
	}
	if act.Act.Checkpoint.Failure == "" {
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

// rescued returns the answer to a call that runs because what it destroys is stored. If it is not, the answer
// is the one that the decision has for that case.
func (h *handling) rescued(a engine.Answer, d duty) engine.Answer {
	c := d.result.Act.Checkpoint
	if c.Saved != nil && c.Failure == "" {
		said := strings.NewReplacer("{checkpoint}", cmp.Or(c.ID, "ID"), "{files}", strconv.FormatInt(c.Saved.Files, 10),
			"{targets}", h.targets(d)).Replace(h.policy.Settings.Save.Texts.Saved)
		if a.Effect == engine.Allow {
			a.Effect = engine.Warn
		}
		a.Text = strings.TrimPrefix(a.Text+"\n"+said, "\n")
		return a
	}
	effect := review.Otherwise(d.of.Decision)
	if effect.Strictness() < a.Effect.Strictness() {
		return a
	}
	a.Effect, a.Args, a.Grant = effect, nil, false
	if d.of.Decision.Otherwise == nil {
		a.Text = engine.Degraded(engine.PhasePre, c.Failure).Text
		return a
	}
	a.Text = strings.NewReplacer("{why}", strings.TrimSuffix(c.Failure, "."), "{id}", d.of.ID()).Replace(d.of.Decision.Otherwise.Text)
	return a
}

// targets names what a call destroys, as in the texts of a policy.
func (h *handling) targets(d duty) string {
	var names []string
	for _, e := range destroyed(d.of) {
		names = append(names, cmp.Or(e.Short, e.Target))
	}
	const most = 3
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// destroyed lists the effects whose files a decision wants to be saved. It is empty if one of
// them is not an effect of the action: then it is unknown what to save.
func destroyed(of *engine.Record) []*engine.Effect {
	var list []*engine.Effect
	for _, i := range of.Decision.Saves {
		if of.Action == nil || i < 0 || int(i) >= len(of.Action.Effects) {
			return nil
		}
		list = append(list, &of.Action.Effects[i])
	}
	return list
}

// saveOf describes what a call destroys and the policy wants to be saved.
func saveOf(h *handling, d duty) *SaveOf {
	s := &h.policy.Settings.Save
	save := &SaveOf{MaxFiles: s.MaxFiles, MaxBytes: s.MaxBytes, DayFiles: s.DayFiles, DayBytes: s.DayBytes,
		Until: d.of.T + s.Days*24*60*60_000}
	for _, e := range destroyed(d.of) {
		t := TargetOf{Path: e.Target, Below: e.Recursive, Unignored: e.Verb == "discard" && e.Kind == engine.EffectFileWrite}
		if e.Certainty == engine.CertaintyGlob {
			var known bool
			if t.Pattern, known = patternOf(e.Short); !known {
				t.Below = true
			}
		}
		save.Targets = append(save.Targets, t)
	}
	return save
}

// patternOf returns the part of a path with wildcards, if it is one of the forms of TargetOf.Pattern.
func patternOf(short string) (pattern string, known bool) {
	parts := strings.Split(short, "/")
	for i, part := range parts {
		if !strings.ContainsAny(part, "*?[") {
			continue
		}
		rest := parts[i:]
		name := rest[len(rest)-1]
		if (len(rest) == 1 && part != "**" || len(rest) == 2 && part == "**") && !strings.ContainsRune(name, '[') {
			return strings.Join(rest, "/"), true
		}
		break
	}
	return "", false
}

// checkpointOf describes the checkpoint of a call: the one before it, or the one after it.
func (r *Reviewer) checkpointOf(h *handling, d duty) CheckpointOf {
	after := d.Kind == review.Observe
	c := CheckpointOf{Policy: h.policy, Workspace: r.rawWorkspace(h), After: after, Session: h.event.Session, Call: d.of.Call,
		Time: max(r.Clock.Now(), d.of.T), CWD: h.event.CWD, Own: d.Busy || after}
	var sure bool
	c.First, sure = expected(h.event, d.of.ExecutedAction())
	c.Within = recursive(d.of.ExecutedAction())
	if d.Kind == review.Save {
		c.Save = saveOf(h, d)
	}
	if after { // only these are compared if only they were examined before it
		c.Only = sure && d.saved.Act.Checkpoint.Only
	} else {
		c.Only = sure && !d.First && !d.Busy
	}
	return c
}

// rawWorkspace returns the workspace as in the event: the log contains it
// masked.
func (r *Reviewer) rawWorkspace(h *handling) string {
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
