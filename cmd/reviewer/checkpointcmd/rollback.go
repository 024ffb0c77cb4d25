package checkpointcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Unsuitable is the reason why a session cannot be rolled back.
type Unsuitable struct{ Reason string }

// Error implements error.
func (e *Unsuitable) Error() string { return e.Reason }

// RollBack restores the files of a session's workspace to the newest checkpoint of the
// session before a time (Unix milliseconds), or else to its first one, after asking the
// person. A checkpoint that is not safe, as the settings have it, is left out. Where policy
// offered one, that one is restored. An Unsuitable error means that there is none, or that
// it cannot be restored.
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
	list, err := store.List()
	if err != nil {
		return Restored{}, &Unsuitable{err.Error()}
	}
	if offered == "" {
		if list, err = s.suitable(list, one); err != nil {
			return Restored{}, &Unsuitable{err.Error()}
		}
		c, err := choose(list, one.Key.Session, began, oldestKept(store))
		if err != nil {
			return Restored{}, err
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

// suitable leaves out the checkpoints of a session that are not safe to return to.
func (s *stores) suitable(list []checkpoint.Checkpoint, one audit.Session) ([]checkpoint.Checkpoint, error) {
	policy, err := s.policy(one.Workspace)
	if err != nil {
		return nil, err
	}
	interventions, _ := policy.Settings["interventions"].(map[string]any)
	said, _ := interventions["safe_checkpoint_criteria"].(map[string]any)
	rate, clean := decimal(said["min_success_rate"]), duration(said["no_errors_duration_seconds"], time.Second).Milliseconds()
	h := history.New()
	for r, err := range s.log.Records(one.Key, 0) {
		if err != nil {
			return nil, err
		}
		h.Append(r)
	}
	unsafe := map[string]bool{}
	for _, c := range h.Checkpointed() {
		unsafe[c.ID] = !c.First && (float64(c.Ran) < rate*float64(c.Ran+c.Failed) || c.CleanMS > 0 && c.CleanMS < clean)
	}
	return slices.DeleteFunc(list, func(c checkpoint.Checkpoint) bool { return unsafe[c.ID] }), nil
}

func decimal(value any) float64 {
	n, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil {
		return 0 // not reached: the settings are checked
	}
	return n
}

// choose returns the newest checkpoint of a session before a time; the first one if all are
// later.
func choose(list []checkpoint.Checkpoint, session string, began, oldest int64) (checkpoint.Checkpoint, error) {
	var found *checkpoint.Checkpoint
	expired := 0
	for i := range list {
		c := &list[i]
		switch {
		case c.Session != session || c.When == checkpoint.BeforeRestore || c.When == checkpoint.AfterRestore:
		case c.N < oldest:
			expired++
		case found == nil || c.T <= began:
			found = c
		}
	}
	switch {
	case found != nil:
		return *found, nil
	case expired > 0:
		return checkpoint.Checkpoint{}, &Unsuitable{fmt.Sprintf("%s of the session expired", term.Counted(expired, "checkpoint", "checkpoints"))}
	}
	return checkpoint.Checkpoint{}, &Unsuitable{"no checkpoint of the session was taken"}
}
