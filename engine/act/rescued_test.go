package act

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// saving returns a reviewer whose policy lets a call run if what it destroys is stored, and blocks or asks otherwise.
func saving(t *testing.T, otherwise engine.Verdict) (*Reviewer, *memoryLog, *storage) {
	t.Helper()
	r, l, s := storing(t, engine.Allow, blocking())
	d := say(engine.Allow)
	d.Obligations, d.Saves = []string{engine.ObligationSave}, []int64{1}
	d.Otherwise = &engine.Fallback{Effect: otherwise, Text: "not saved: {why}, {id}"}
	p, _ := r.Policy("")
	p.Decider = always(d)
	p.Settings.Save.MaxFiles, p.Settings.Save.Days = 7, 2
	p.Settings.Save.Texts.Saved = "saved {targets}: {files} in {checkpoint}"
	r.Classifier = destroys{r.Classifier}
	s.got.Facts.Saved = &engine.Saved{Files: 3, Bytes: 12}
	return r, l, s
}

// destroys is a classifier for which each call reads one file, and empties a folder.
type destroys struct{ engine.Classifier }

func (d destroys) Classify(ctx context.Context, e engine.Event, workspace string) (engine.Facts, error) {
	f, err := d.Classifier.Classify(ctx, e, workspace)
	if f.Action != nil {
		f.Action.Effects = []engine.Effect{
			{Kind: engine.EffectFileRead, Target: "/w/a", Certainty: engine.CertaintyExact},
			{Kind: engine.EffectFileDelete, Verb: "delete", Target: "/w/data", Short: "./data/*.csv", Certainty: engine.CertaintyGlob},
		}
	}
	return f, err
}

// A call whose files were saved runs, and agent and user are told where they are.
func TestSavedCall(t *testing.T) {
	r, l, s := saving(t, engine.Block)
	a := answered(t, r, event(engine.PhasePre, "c1"))
	if a.Effect != engine.Warn || !strings.HasSuffix(a.Text, "\nsaved ./data/*.csv: 3 in abcd1234-1") {
		t.Errorf("answered %+v", a)
	}
	want := &SaveOf{Targets: []TargetOf{{Path: "/w/data", Pattern: "*.csv"}}, MaxFiles: 7, Until: l.records[1].T + 2*24*60*60_000}
	if d := cmp.Diff(want, s.asked[0].Save); d != "" {
		t.Error(d)
	}
	if act := l.last().Act; act.Kind != engine.ActCheckpoint || act.Checkpoint.Saved.Files != 3 {
		t.Errorf("recorded %+v", act)
	}
}

// A call whose files cannot be saved gets the answer that the policy has for that case: a failed save never lets it run.
func TestUnsavedCall(t *testing.T) {
	for name, spoil := range map[string]func(r *Reviewer, s *storage){
		"more than the limits":   func(_ *Reviewer, s *storage) { s.got.Facts.Saved, s.got.Unsaved = nil, "too much" },
		"a full disk":            func(_ *Reviewer, s *storage) { s.err = errors.New("disk full") },
		"nothing stores files":   func(r *Reviewer, _ *storage) { r.Services.Files = nil },
		"no folder":              func(_ *Reviewer, s *storage) { s.got = Checkpointed{Result: engine.CheckpointNothing} },
		"a store that forgot it": func(_ *Reviewer, s *storage) { s.got.Facts.Saved = nil },
	} {
		for _, effect := range []engine.Verdict{engine.Block, engine.Ask} {
			r, l, s := saving(t, effect)
			spoil(r, s)
			a := answered(t, r, event(engine.PhasePre, "c1"))
			if a.Effect != effect || !strings.HasPrefix(a.Text, "not saved: ") || !strings.Contains(a.Text, l.records[1].ID()) {
				t.Errorf("%s: answered %+v, want %s", name, a, effect)
			}
			if c := l.last().Act.Checkpoint; c.Failure == "" || c.Effect != effect || c.Saved != nil {
				t.Errorf("%s: recorded %+v", name, c)
			}
			if again := answered(t, r, event(engine.PhasePre, "c1")); again.Effect != effect || again.Text != a.Text {
				t.Errorf("%s: the second hook answered %+v", name, again)
			}
		}
	}
}

// A decision that wants a save but names no effect of the action, or one that is not there, saves
// nothing: the call gets the answer for that case.
func TestSaveOfNothing(t *testing.T) {
	for _, saves := range [][]int64{nil, {2}, {-1}, {1, 2}} {
		r, l, s := saving(t, engine.Ask)
		p, _ := r.Policy("")
		d := say(engine.Allow)
		d.Obligations, d.Saves = []string{engine.ObligationSave}, saves
		d.Otherwise = &engine.Fallback{Effect: engine.Ask, Text: "not saved: {why}"}
		p.Decider = always(d)
		a := answered(t, r, event(engine.PhasePre, "c1"))
		if a.Effect != engine.Ask || a.Text != "not saved: the policy names nothing that could be saved" {
			t.Errorf("%v: answered %+v", saves, a)
		}
		if len(s.asked) != 0 || l.last().Act.Checkpoint.Failure == "" {
			t.Errorf("%v: asked for %v, recorded %+v", saves, s.asked, l.last().Act.Checkpoint)
		}
	}
}

// Without an answer for that case, the call does not run.
func TestUnsavedWithoutAnAnswer(t *testing.T) {
	r, _, s := saving(t, engine.Ask)
	p, _ := r.Policy("")
	d := say(engine.Allow)
	d.Obligations, d.Saves = []string{engine.ObligationSave}, []int64{1}
	p.Decider = always(d)
	s.err = errors.New("disk full")
	if a := answered(t, r, event(engine.PhasePre, "c1")); a.Effect != engine.Block || !strings.Contains(a.Text, "disk full") {
		t.Errorf("answered %+v", a)
	}
}

// Only patterns that a store knows are given to it; for others it stores the whole folder.
func TestPatterns(t *testing.T) {
	for short, want := range map[string]string{
		"./*": "*", "./data/*.csv": "*.csv", "./**/*.md": "**/*.md", "~/a?": "a?", "~/a[12]": "", "./**/[!.]*": "",
		"./a*/b.txt": "", "./**": "", "./**/a/*.md": "", "./plain": "",
	} {
		if got, known := patternOf(short); got != want || known != (want != "") {
			t.Errorf("%s: %q, %v; want %q", short, got, known, want)
		}
	}
}
