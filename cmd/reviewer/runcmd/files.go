package runcmd

import (
	"context"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/snapshots"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// snapshot is the state of the workspace before the run.
type snapshot struct {
	store *checkpoint.Store
	taken *checkpoint.Taken
	err   error
}

// takeSnapshot takes a checkpoint, with which the files are compared in the end. A run does not fail
// because of one that cannot be taken: the summary says so.
func takeSnapshot(ctx context.Context, p *plan) (s snapshot) {
	o, err := snapshots.Options(p.policy.log, p.policy.world, p.dir, &p.policy.Settings.Checkpoints, classify.NewRows(p.policy.RowLayers()))
	if err == nil {
		s.store, err = checkpoint.Open(snapshots.Folder(p.policy.log.Dir), p.dir, o)
	}
	if err == nil {
		s.taken, err = s.store.Take(ctx, checkpoint.Request{When: checkpoint.BeforeCall, By: checkpoint.ByOthers, Time: time.Now().UnixMilli()})
	}
	s.err = err
	return s
}

// maxChanged limits the files that a summary names; the counts are of all.
const maxChanged = 1000

// Files are the files of the workspace that a run changed.
type Files struct {
	Checkpoint string        `json:"checkpoint,omitempty"` // before the run: `reviewer checkpoint restore` restores it
	Created    int           `json:"created"`
	Changed    int           `json:"changed"`
	Deleted    int           `json:"deleted"`
	List       []ChangedFile `json:"list"`              // the first 1000
	Failure    string        `json:"failure,omitempty"` // why this is not known
}

// ChangedFile is one of them.
type ChangedFile struct {
	Path string `json:"path"`
	Does string `json:"does"` // created, deleted, changed, mode
}

// changes compares the files with the snapshot.
func (s snapshot) changes(ctx context.Context, p *plan) Files {
	f := Files{List: []ChangedFile{}}
	if s.err != nil {
		f.Failure = p.mask(s.err.Error())
		return f
	}
	f.Checkpoint = s.taken.ID
	changes, err := s.store.DiffNow(ctx, s.taken.Checkpoint)
	if err != nil {
		f.Failure = p.mask(err.Error())
	}
	for _, c := range changes {
		switch c.Does() {
		case "created":
			f.Created++
		case "deleted":
			f.Deleted++
		default:
			f.Changed++
		}
		if len(f.List) < maxChanged {
			f.List = append(f.List, ChangedFile{p.mask(c.Path), c.Does()})
		}
	}
	return f
}
