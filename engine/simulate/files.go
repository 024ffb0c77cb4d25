package simulate

import (
	"cmp"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// FileChanges compares what both sides do about the files of the workspace: before which
// calls these are stored, and to which checkpoint they are restored. Only decisions that are
// known on both sides count.
type FileChanges struct {
	Checkpoints Asked      `json:"checkpoints"` // before calls
	Rollbacks   Asked      `json:"rollbacks"`   // also those that a person is to make
	Steps       []FileStep `json:"steps"`       // the differences, by session; at most maxFileSteps
}

// maxFileSteps bounds the differences that are listed.
const maxFileSteps = 200

// Asked counts the decisions that ask for something.
type Asked struct {
	Baseline  int64 `json:"baseline"`
	Candidate int64 `json:"candidate"`
	Changed   int64 `json:"changed"` // by one side only, or for something else
}

// FileStep is a decision whose consequences for files differ.
type FileStep struct {
	ID       string       `json:"id"` // of the record
	Session  string       `json:"session"`
	Index    int64        `json:"index"` // calls before it in the session, from 0
	Phase    engine.Phase `json:"phase"`
	Tool     string       `json:"tool,omitempty"`
	Resource string       `json:"resource,omitempty"`
	What     string       `json:"what"` // checkpoint, rollback
	From     string       `json:"from"` // taken, none; or: to the checkpoint with an id, offered to it, none can be restored, none
	To       string       `json:"to"`
	After    bool         `json:"after,omitempty"` // after the session's first difference
}

// What a FileStep is about.
const (
	stepCheckpoint = "checkpoint"
	stepRollback   = "rollback"
	stepNone       = "none"
)

// files compares what both sides do about files.
func (t *sessionTally) files(s Step, base, now sideAnswer) {
	if base.decision == nil || now.decision == nil || s.State == Unknown || s.State == Incomparable {
		return
	}
	t.asked(s, stepCheckpoint, base.stores(), now.stores())
	t.asked(s, stepRollback, base.restores(), now.restores())
}

func (t *sessionTally) asked(s Step, what, was, is string) {
	if was == stepNone && is == stepNone {
		return
	}
	if t.impact.Files == nil {
		t.impact.Files = &FileChanges{Steps: []FileStep{}}
	}
	f := t.impact.Files
	a := &f.Checkpoints
	if what == stepRollback {
		a = &f.Rollbacks
	}
	a.plus(Asked{int64(number(was != stepNone)), int64(number(is != stepNone)), int64(number(was != is))})
	if was == is || len(f.Steps) == maxFileSteps {
		return
	}
	f.Steps = append(f.Steps, FileStep{ID: s.ID, Session: s.Session, Index: s.Index, Phase: s.Phase, Tool: s.Tool, Resource: s.Resource,
		What: what, From: was, To: is, After: s.After})
}

// stores reports whether files are stored before the call.
func (s sideAnswer) stores() string {
	stored := s.decision.Obliges(engine.ObligationCheckpoint) || s.decision.Obliges(engine.ObligationSave)
	if stored && s.verdict.Strictness() < engine.Block.Strictness() {
		return "taken"
	}
	return stepNone
}

// restores returns the checkpoint to which files are restored, if they are.
func (s sideAnswer) restores() string {
	i := s.decision.Intervention
	switch {
	case i == nil || i.Kind != engine.CheckpointRollback && i.Checkpoint == "":
		return stepNone
	case i.Checkpoint == "":
		return "none can be restored"
	case s.decision.RollsBack():
		return "to " + clip(i.Checkpoint)
	}
	return "offered to " + clip(i.Checkpoint)
}

func (a *Asked) plus(o Asked) {
	a.Baseline, a.Candidate, a.Changed = a.Baseline+o.Baseline, a.Candidate+o.Candidate, a.Changed+o.Changed
}

// filesOf adds the differences of other sessions.
func filesOf(f, part *FileChanges) *FileChanges {
	if part == nil {
		return f
	}
	sum := FileChanges{}
	if f != nil {
		sum = *f
	}
	sum.Checkpoints.plus(part.Checkpoints)
	sum.Rollbacks.plus(part.Rollbacks)
	sum.Steps = joined(sum.Steps, part.Steps, FileStep.compare, func(*FileStep, FileStep) {}, maxFileSteps)
	return &sum
}

func (s FileStep) compare(o FileStep) int {
	return cmp.Or(cmp.Compare(s.Session, o.Session), cmp.Compare(s.Index, o.Index), cmp.Compare(s.Phase, o.Phase), cmp.Compare(s.ID, o.ID),
		cmp.Compare(s.What, o.What), cmp.Compare(s.From, o.From), cmp.Compare(s.To, o.To))
}

// SessionDuty counts the decisions of a session that ask for the same thing besides their answer.
type SessionDuty struct {
	Session   string `json:"session"`
	What      string `json:"what"`           // limit, wait, restore or stop; offered: a person is asked to restore or to stop
	Kind      string `json:"kind,omitempty"` // of the intervention that asks for it; absent: a rule or the scores do
	Baseline  int64  `json:"baseline"`
	Candidate int64  `json:"candidate"`
}

// offered is what a decision asks for that leaves a rollback or a stop to a person.
const offered = "offered"

// Vocabulary lists the values that a field may have; nil: any.
func (SessionDuty) Vocabulary(field string) []string {
	if field == "what" {
		return []string{engine.DoesLimit, engine.DoesWait, engine.DoesRestore, engine.DoesStop, offered}
	}
	return nil
}

type dutyKey struct{ what, kind string }

// duty counts what both sides ask for.
func (t *sessionTally) duty(base, now sideAnswer) {
	for _, key := range base.duties() {
		t.dutyOf(key).Baseline++
	}
	for _, key := range now.duties() {
		t.dutyOf(key).Candidate++
	}
}

func (t *sessionTally) dutyOf(key dutyKey) *SessionDuty {
	d := t.duties[key]
	if d == nil {
		d = &SessionDuty{Session: t.change.Session, What: key.what, Kind: key.kind}
		t.duties[key] = d
	}
	return d
}

// duties lists what a side asks for. A session that is stopped already is not stopped again.
func (s sideAnswer) duties() []dutyKey {
	var list []dutyKey
	var made engine.Intervention
	if s.decision != nil && s.decision.Intervention != nil {
		made = *s.decision.Intervention
	}
	if s.verdict == engine.Ask {
		wait := dutyKey{what: engine.DoesWait}
		if slices.Contains(made.Does, engine.DoesWait) {
			wait.kind = made.Kind
		}
		list = append(list, wait)
	}
	if made.Issue == "" || s.verdict == engine.Allow {
		return list
	}
	for _, one := range []struct {
		what string
		is   bool
	}{
		{engine.DoesLimit, made.Factor > 0},
		{engine.DoesRestore, s.decision.RollsBack()},
		{engine.DoesStop, s.decision.Stops()},
		{offered, made.Asks},
	} {
		if one.is {
			list = append(list, dutyKey{one.what, made.Kind})
		}
	}
	return list
}

func (d *SessionDuty) plus(o SessionDuty) {
	d.Baseline, d.Candidate = d.Baseline+o.Baseline, d.Candidate+o.Candidate
}

func (d SessionDuty) compare(o SessionDuty) int {
	return cmp.Or(cmp.Compare(d.Session, o.Session), cmp.Compare(d.What, o.What), cmp.Compare(d.Kind, o.Kind))
}
