package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// lateMark is a file in the folder of the socket that is there while a resident process may
// owe a review of a call that it answered. It only saves time: what is owed is in the log, and
// the next event of the session makes the review in any case.
func lateMark(home string) string { return filepath.Join(home, wire.RunDir, "late") }

func markLate(home string) error {
	if err := osfile.MkdirPrivate(filepath.Dir(lateMark(home))); err != nil {
		return err
	}
	f, err := osfile.OpenFile(lateMark(home), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// startCatchUp makes in the background the reviews that a process before this one owed when it
// was killed, including those of sessions that never have another event.
func (r *resident) startCatchUp(ctx context.Context) {
	r.caughtUp = make(chan error, 1)
	go func() { r.caughtUp <- r.catchUp(ctx) }()
}

func (r *resident) catchUp(ctx context.Context) error {
	if _, err := os.Stat(lateMark(r.home)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	sessions, err := r.plain.Sessions()
	if err != nil {
		return err
	}
	for _, one := range sessions {
		err = errors.Join(err, ctx.Err())
		if ctx.Err() == nil {
			err = errors.Join(err, r.catchUpWith(ctx, one))
		}
	}
	return err
}

func (r *resident) catchUpWith(ctx context.Context, one audit.Session) error {
	state, err := r.plain.State(one)
	if err != nil || state.Unreviewed() == 0 {
		return err
	}
	a := &cli.App{Streams: term.Streams{Env: os.Getenv}, Home: r.home, Detach: r.detach}
	made, err := reviewer(ctx, a, source{load: r.load, under: r.under, made: r.meter.ReviewedLate}, r.plain)
	if err != nil {
		return err
	}
	return made.CatchUp(ctx, one.Key)
}

// finishLate waits until every call that was answered is reviewed. The mark stays if one may
// not be.
func (r *resident) finishLate() error {
	r.late.Wait()
	if <-r.caughtUp != nil {
		return nil // the next process tries again
	}
	if err := os.Remove(lateMark(r.home)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
