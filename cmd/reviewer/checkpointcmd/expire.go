package checkpointcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/snapshots"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/settings"
	"github.com/spf13/cobra"
)

// Retention defines how long checkpoints are kept.
type Retention struct {
	AfterEnd time.Duration // from the end of their session
	Idle     time.Duration // a session without an end counts as ended after this time without a record
	ByHand   time.Duration // those that a person took, from when they were taken
}

// retention reads from the settings of a policy how long checkpoints are kept.
func retention(s *settings.Interventions) Retention {
	return Retention{
		AfterEnd: time.Duration(s.CheckpointRetentionMinutes) * time.Minute,
		Idle:     time.Duration(s.CheckpointRetention.IdleHours) * time.Hour,
		ByHand:   time.Duration(s.CheckpointRetention.ByHandDays) * 24 * time.Hour,
	}
}

// retention returns how long the checkpoints of a workspace are kept.
func (s *stores) retention(workspace string) (Retention, error) {
	policy, err := s.policy(workspace)
	if err != nil {
		return Retention{}, err
	}
	return retention(&policy.Settings.Interventions), nil
}

// life is what retention needs to know of a session.
type life struct {
	stopped bool
	ended   int64 // Unix milliseconds; 0: it is open
}

// keeps reports whether a session's checkpoints are kept.
func (k Retention) keeps(l life, now int64) bool {
	return l.stopped || l.ended == 0 || l.ended > now-k.AfterEnd.Milliseconds()
}

// oldest returns the oldest checkpoint that is kept: the first one that is recent, that
// keeps what a call destroyed for some time yet, that belongs to a session whose checkpoints are kept, or that a person took and
// that has not expired; otherwise the newest one.
func (k Retention) oldest(list []checkpoint.Checkpoint, lives map[string]life, now int64) checkpoint.Checkpoint {
	for i := range list {
		c := &list[i]
		if c.Session != "" && k.keeps(lives[c.Session], now) && known(lives, c.Session) {
			return *c
		}
		if c.Save != nil && c.Save.Until > now {
			return *c
		}
		if recent := c.T > now-k.AfterEnd.Milliseconds(); recent || c.When == checkpoint.ByHand && c.T > now-k.ByHand.Milliseconds() {
			return *c
		}
	}
	return list[len(list)-1]
}

// known reports whether there is a log of a session: without one, only the times of its
// checkpoints are known.
func known(lives map[string]life, session string) bool {
	_, ok := lives[session]
	return ok
}

// lives returns the state of all sessions according to the log.
func (s *stores) lives(k Retention, now int64) (map[string]life, error) {
	sessions, err := s.log.Sessions()
	lives := map[string]life{}
	for _, one := range sessions {
		if one.Key.Session == "" {
			continue
		}
		l := life{stopped: one.Stopped != nil && !one.Stopped.Final, ended: ended(s.log, one)}
		if l.ended == 0 && one.Last < now-k.Idle.Milliseconds() {
			l.ended = one.Last
		}
		if one.Err != nil {
			l.ended = 0 // what cannot be read may be open
		}
		lives[one.Key.Session] = l
	}
	return lives, err
}

// ended returns when the client reported the end of a session; 0: it did not, or the session
// continued.
func ended(log *audit.Store, one audit.Session) (at int64) {
	const last = 8 // records: a person's choices may follow the end
	for r, err := range log.Records(one.Key, max(one.N-last, 1)) {
		switch {
		case err != nil:
			return 0
		case r.Kind == engine.KindNote && r.Phase == engine.PhaseEnd:
			at = r.T
		case r.Kind != engine.KindControl && r.Kind != engine.KindSeal && r.Kind != engine.KindKeyframe:
			at = 0
		}
	}
	return at
}

// keptBy returns the oldest checkpoint of a store that retention keeps. A negative
// afterEnd means that of the settings.
func (s *stores) keptBy(store *checkpoint.Store, afterEnd time.Duration) (checkpoint.Checkpoint, error) {
	now := time.Now().UnixMilli()
	k, err := s.retention(store.Root())
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	if afterEnd >= 0 {
		k.AfterEnd = afterEnd
	}
	lives, err := s.lives(k, now)
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	list, err := store.List()
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: %w: the journal is empty", store.Dir(), checkpoint.ErrDamaged)
	}
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	return k.oldest(list, lives, now), nil
}

// expireAll removes from all stores what retention does not keep. What fails is tried
// again next time.
func (s *stores) expireAll(ctx context.Context) error {
	all, err := s.all()
	errs := []error{err}
	d := collection{By: "retention"}
	for _, store := range all {
		oldest, err := s.keptBy(store, -1)
		if err == nil && oldest.N > oldestKept(store) {
			var one collected
			one, err = collect(ctx, store, oldest)
			d.Workspaces = append(d.Workspaces, one)
		}
		errs = append(errs, err)
	}
	if len(d.Workspaces) > 0 {
		errs = append(errs, s.noteCollected(ctx, d))
	}
	return errors.Join(errs...)
}

// StartExpire starts a process that removes expired checkpoints, and does not wait for
// it. It is called when a session starts: retention of the log runs at the same time.
func StartExpire(a *cli.App, log *audit.Store, phase engine.Phase) {
	if a.Detach == nil || phase != engine.PhaseStart {
		return
	}
	if _, err := os.Lstat(snapshots.Folder(log.Dir)); err == nil {
		// If it cannot be started, that of the next session does the work.
		_ = a.Detach("--home", log.Dir, "checkpoint", "expire")
	}
}

// expireCommand is for StartExpire. It needs no person: it removes only what the policy does
// not keep.
func expireCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "expire",
		Short:   "Remove checkpoints that have expired; started when a session begins",
		Example: "  reviewer checkpoint expire",
		Hidden:  true,
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := open(a)
			if err != nil {
				return err
			}
			return s.expireAll(cmd.Context())
		},
	}
}
