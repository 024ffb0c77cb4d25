package checkpointcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Unsuitable is the reason why a session cannot be rolled back.
type Unsuitable struct{ Reason string }

// Error implements error.
func (e *Unsuitable) Error() string { return e.Reason }

// RollBack restores the files of a session's workspace to the newest checkpoint of the
// session before a time (Unix milliseconds), or else to its first one, after asking the
// person. The latest interventions.max_rollback_depth of those before that time are considered, and
// those that are not safe according to the settings are skipped. Where policy offered a checkpoint,
// that one is restored. An Unsuitable error means that there is none, or that it cannot be
// restored.
func RollBack(ctx context.Context, a *cli.App, one audit.Session, began int64, offered, by string) (Restored, error) {
	s, err := open(a)
	if err != nil {
		return Restored{}, err
	}
	store, err := s.here(one.Workspace)
	if missing := (*noStore)(nil); errors.As(err, &missing) {
		return Restored{}, &Unsuitable{"no checkpoint of " + term.OneLine(one.Workspace, longest) + " is stored"}
	}
	if err != nil {
		return Restored{}, &Unsuitable{err.Error()}
	}
	if offered == "" {
		c, err := s.choose(store, one, began)
		if err != nil {
			return Restored{}, &Unsuitable{err.Error()}
		}
		offered = c.ID
	}
	d, err := s.rollBackTo(ctx, a, offered, by)
	if err != nil && !errors.Is(err, errDeclined) && ctx.Err() == nil {
		return d, &Unsuitable{err.Error()}
	}
	return d, err
}

func (s *stores) rollBackTo(ctx context.Context, a *cli.App, id, by string) (Restored, error) {
	r, err := s.plan(ctx, id, nil)
	if err != nil {
		return Restored{}, err
	}
	r.by = by
	return r.ask(ctx, a)
}

// choose returns the checkpoint that a session can be rolled back to.
func (s *stores) choose(store *checkpoint.Store, one audit.Session, began int64) (checkpoint.Checkpoint, error) {
	list, err := store.List()
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	policy, err := s.policy(one.Workspace)
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	unsafe, err := s.unsafe(one, &policy.Settings.Interventions.SafeCheckpointCriteria)
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	c := choice{session: one.Key.Session, began: began, oldest: oldestKept(store), unsafe: unsafe,
		depth: int(policy.Settings.Interventions.MaxRollbackDepth)}
	return c.among(list)
}

// unsafe returns the ids of the checkpoints of a session that are not safe to return to, and
// of the failed calls, with the prefix "after ": checkpoints taken after these are not safe
// either.
func (s *stores) unsafe(one audit.Session, safe *settings.InterventionsSafeCheckpointCriteria) (map[string]bool, error) {
	rate, clean := safe.MinSuccessRate, safe.NoErrorsDurationSeconds*1000
	h, unsafe := history.New(), map[string]bool{}
	for r, err := range s.log.Records(one.Key, 0) {
		if err != nil {
			return nil, err
		}
		h.Append(r)
		if failed(r) {
			unsafe[afterCall+r.Call] = true
		}
	}
	for _, c := range h.Checkpointed() {
		unsafe[c.ID] = !c.First && (float64(c.Ran) < rate*float64(c.Ran+c.Failed) || c.CleanMS > 0 && c.CleanMS < clean)
	}
	return unsafe, nil
}

func failed(r *engine.Record) bool {
	return r.Kind == engine.KindPost && r.Event != nil && r.Event.Result != nil && r.Event.Result.Outcome == engine.OutcomeFailed
}

const afterCall = "after "

// choice determines which checkpoints a session can be rolled back to.
type choice struct {
	session string
	began   int64           // when the trouble began
	oldest  int64           // number of the oldest checkpoint that is still stored
	depth   int             // how many of those before the trouble are considered
	unsafe  map[string]bool // of the ids in the session's log; see unsafe
}

// among returns the newest safe checkpoint of those before the trouble that are considered;
// the first one if all are later.
func (o *choice) among(list []checkpoint.Checkpoint) (checkpoint.Checkpoint, error) {
	kept, expired := o.kept(list)
	switch {
	case len(kept) == 0 && expired > 0:
		return checkpoint.Checkpoint{}, &Unsuitable{term.Counted(expired, "checkpoint", "checkpoints") + " of the session expired"}
	case len(kept) == 0:
		return checkpoint.Checkpoint{}, &Unsuitable{"no checkpoint of the session was taken"}
	}
	before := slices.DeleteFunc(slices.Clone(kept), func(c checkpoint.Checkpoint) bool { return c.T > o.began })
	if len(before) == 0 {
		return kept[0], nil
	}
	far := max(0, len(before)-o.depth)
	if c, ok := o.newestSafe(before[far:]); ok {
		return c, nil
	}
	return checkpoint.Checkpoint{}, o.refusal(before, far)
}

// kept returns the checkpoints of the session, and how many more there were. One of another session belongs to it if
// nothing had changed since then when this session needed one.
func (o *choice) kept(list []checkpoint.Checkpoint) (kept []checkpoint.Checkpoint, expired int) {
	for i := range list {
		c := &list[i]
		restore := c.When == checkpoint.BeforeRestore || c.When == checkpoint.AfterRestore
		_, used := o.unsafe[c.ID]
		switch {
		case (c.Session != o.session || restore) && !used:
		case c.N < o.oldest:
			expired++
		default:
			kept = append(kept, *c)
		}
	}
	return kept, expired
}

func (o *choice) newestSafe(list []checkpoint.Checkpoint) (checkpoint.Checkpoint, bool) {
	for _, c := range slices.Backward(list) {
		if !o.unsafe[c.ID] && (c.When != checkpoint.AfterCall || !o.unsafe[afterCall+c.Call]) {
			return c, true
		}
	}
	return checkpoint.Checkpoint{}, false
}

// refusal names the checkpoint for a person who wants to go further back than the policy
// allows, or to one that is not safe.
func (o *choice) refusal(before []checkpoint.Checkpoint, far int) error {
	said := fmt.Sprintf("none of the latest %s of the session from before its trouble began is safe to return to, "+
		"and interventions.max_rollback_depth is %d",
		term.Counted(len(before)-far, "checkpoint", "checkpoints"), o.depth)
	if c, ok := o.newestSafe(before[:far]); ok {
		return &Unsuitable{fmt.Sprintf("%s; `reviewer checkpoint restore %s` restores the safe one before them", said, c.ID)}
	}
	latest := before[len(before)-1]
	return &Unsuitable{fmt.Sprintf("%s; `reviewer checkpoint restore %s` restores the latest of them nevertheless", said, latest.ID)}
}
