package act

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// observe takes a checkpoint after a call, and records how the changes compare with the
// expected ones. A failure is recorded too; the call has run in any case.
func (r *Reviewer) observe(ctx context.Context, h *handling, d duty, a engine.Answer) (engine.Answer, error) {
	if r.Services.Files == nil || !stored(d.saved) || d.of == nil {
		return a, nil
	}
	began := r.Clock.lap()
	c := r.checkpointOf(h, d)
	c.First = append(c.First, reported(h.event)...)
	got, err := r.Services.Files.Checkpoint(ctx, c)
	got.Facts.Only = c.Only
	got.Facts.MS = engine.Round6(max(r.Clock.lap()-began, 0))
	act := engine.Act{Kind: engine.ActObserved, Result: got.Result, Checkpoint: &got.Facts}
	if err != nil {
		act.Result, got.Facts.Failure = engine.CheckpointFailed, engine.ClipJSON(r.mask(err.Error()), 480)
	} else if got.Result != engine.CheckpointNothing {
		act.Observed = r.compare(d.of, &got)
	}
	rec := r.actOf(d.of, act)
	return a, r.Log.Update(ctx, h.policy, h.key, func(t history.Tail) error { return t.Append(rec) })
}

// reported lists the paths that a call changed according to the client. It proves nothing: it
// only shows where to look first.
func reported(e engine.Event) []string {
	if e.Result == nil {
		return nil
	}
	return e.Result.Changed
}

// compare compares what an action was expected to change with what changed.
func (r *Reviewer) compare(pre *engine.Record, got *Checkpointed) *engine.Observed {
	a := pre.ExecutedAction()
	expected := predictions(a, r.mask(got.Root))
	changed := make([]string, 0, len(got.Changes))
	o := &engine.Observed{Programs: programsOf(a)}
	for _, c := range got.Changes {
		if p := r.mask(c.Path); !c.Folder || !leads(p, got.Changes, r.mask) {
			changed = append(changed, p)
		}
	}
	o.Predicted, o.Changed = int64(len(expected)), int64(len(changed))
	for _, e := range expected {
		if slices.ContainsFunc(changed, func(p string) bool { return covers(e, p) }) {
			o.Confirmed++
		} else {
			o.Absent = named(o.Absent, e.Short)
		}
	}
	for _, p := range changed {
		if slices.ContainsFunc(expected, func(e *engine.Effect) bool { return covers(e, p) }) {
			o.Matched++
		} else {
			o.Unexpected = named(o.Unexpected, short(p, r.mask(got.Root)))
		}
	}
	return o
}

// leads reports whether something changed under a folder: the folder is then only the
// path to it.
func leads(folder string, changes []FileChange, mask func(string) string) bool {
	return slices.ContainsFunc(changes, func(c FileChange) bool { return strings.HasPrefix(mask(c.Path), folder+"/") })
}

// predictions lists the effects that can be compared: on files that checkpoints contain,
// one for each path.
func predictions(a *engine.Action, root string) []*engine.Effect {
	if a == nil {
		return nil
	}
	var list []*engine.Effect
	for i := range a.Effects {
		e := &a.Effects[i]
		if !changesFile(e) || e.Target == "" || e.Certainty == engine.CertaintyUnknown || e.Class == engine.ClassGenerated ||
			strings.Contains(e.Target+"/", "/.git/") {
			continue
		}
		if !below(root, e.Target) && e.Certainty != engine.CertaintyExact {
			continue
		}
		if !slices.ContainsFunc(list, func(o *engine.Effect) bool { return o.Target == e.Target }) {
			list = append(list, e)
		}
	}
	return list
}

// covers reports whether a path is one that an effect was expected to change.
func covers(e *engine.Effect, p string) bool {
	switch {
	case e.Target == p:
		return true
	case e.Certainty == engine.CertaintyPrefix:
		return strings.HasPrefix(p, e.Target)
	case e.Recursive || e.Certainty == engine.CertaintyGlob || e.Entry == "dir":
		return below(e.Target, p)
	}
	return false
}

func below(dir, p string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// short returns a path with the workspace as a dot.
func short(p, root string) string {
	if below(root, p) {
		return "." + strings.TrimPrefix(p, root)
	}
	return p
}

// maxObservedPath limits a path of a comparison, in bytes as JSON: twenty of them fit a record.
const maxObservedPath = 160

func named(list []string, p string) []string {
	if len(list) == engine.MaxObservedPaths {
		return list
	}
	return append(list, engine.ClipJSON(p, maxObservedPath))
}

// maxObservedPrograms limits the programs that a comparison names.
const maxObservedPrograms = 4

// programsOf names the programs of an action, the first that changes files first.
func programsOf(a *engine.Action) []string {
	var list []string
	add := func(name string) {
		if name != "" && len(list) < maxObservedPrograms && !slices.Contains(list, name) {
			list = append(list, engine.ClipJSON(name, 64))
		}
	}
	if a == nil {
		return nil
	}
	for i := range a.Effects {
		if e := &a.Effects[i]; changesFile(e) && e.Command >= 0 && e.Command < len(a.Commands) {
			add(a.Commands[e.Command].Name)
			break
		}
	}
	for i := range a.Commands {
		add(a.Commands[i].Name)
	}
	if len(list) == 0 {
		add(a.Name)
	}
	return list
}
