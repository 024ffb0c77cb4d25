package simulate

import (
	"cmp"

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
