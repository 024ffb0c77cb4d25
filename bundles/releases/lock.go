package releases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// lock keeps other processes from changing the store until release is called. The
// system releases it when the process ends.
func (d *Store) lock(ctx context.Context) (release func() error, err error) {
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of activated policies: %w", err)
	}
	f, err := osfile.OpenItself(filepath.Join(d.Dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := waitFor(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// waitFor waits for the lock: changes are rare, and take milliseconds.
func waitFor(ctx context.Context, f *os.File) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := osfile.TryLock(f, osfile.Exclusive)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, osfile.ErrLocked):
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("another process is changing the activated policies (%s): %w; try again when it has finished",
				f.Name(), context.Cause(ctx))
		}
	}
}
