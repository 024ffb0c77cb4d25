package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// lockDir creates a chain's folder if missing, and takes its lock. It starts
// over if retention removed the folder meanwhile: a lock on an unlinked
// file excludes nobody.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	for {
		f, err := osfile.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, fmt.Errorf("create audit folder: %w", err)
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open lock: %w", err)
		}
		if err := lockFile(ctx, f); err != nil {
			return nil, err
		}
		if sameFile(f, path) {
			return f, nil
		}
		f.Close()
	}
}

func sameFile(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}

// lockFile waits in the kernel's queue, so that of many processes each gets its
// turn. On an error the file is closed, or will be.
func lockFile(ctx context.Context, f *os.File) error {
	err := osfile.TryLock(f, osfile.Exclusive)
	if err == nil {
		return nil
	}
	if !errors.Is(err, osfile.ErrLocked) {
		f.Close()
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	got := make(chan error, 1)
	go func() { got <- osfile.Lock(f, osfile.Exclusive) }()
	select {
	case err = <-got:
	case <-ctx.Done():
		go func() {
			<-got
			f.Close()
		}()
		return fmt.Errorf("wait for lock %s: %w", f.Name(), context.Cause(ctx))
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// waitShared waits until nobody writes. Several readers may hold the lock
// together.
func waitShared(ctx context.Context, f *os.File) error {
	for {
		err := osfile.TryLock(f, osfile.Together)
		if err == nil {
			return nil
		}
		if !errors.Is(err, osfile.ErrLocked) {
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait for lock %s: %w", f.Name(), context.Cause(ctx))
		}
	}
}

// lastSync is kept as the lock file's mtime: all processes see it, and it costs
// one system call.
func lastSync(lock *os.File) (time.Time, error) {
	info, err := lock.Stat()
	if err != nil {
		return time.Time{}, fmt.Errorf("stat lock: %w", err)
	}
	return info.ModTime(), nil
}

func setLastSync(lock *os.File, t time.Time) error {
	if err := osfile.SetTime(lock, t); err != nil {
		return fmt.Errorf("note time of sync: %w", err)
	}
	return nil
}
