package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockDir makes a chain's folder where it is missing, and takes its lock. It
// starts again when retention removed the folder meanwhile: a lock on a file
// that has no name any more keeps nobody out.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make audit folder: %w", err)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
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
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return nil
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	got := make(chan error, 1)
	go func() { got <- flock(f, syscall.LOCK_EX) }()
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

// waitShared waits until nobody writes. Readers may hold the lock together.
func waitShared(ctx context.Context, f *os.File) error {
	for {
		err := flock(f, syscall.LOCK_SH|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait for lock %s: %w", f.Name(), context.Cause(ctx))
		}
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// lastSync is kept as the lock file's mtime: all processes see it, and it costs
// one system call.
func lastSync(lock *os.File) (time.Time, error) {
	info, err := lock.Stat()
	if err != nil {
		return time.Time{}, fmt.Errorf("look at lock: %w", err)
	}
	return info.ModTime(), nil
}

func setLastSync(lock *os.File, t time.Time) error {
	tv := syscall.NsecToTimeval(t.UnixNano())
	if err := syscall.Futimes(int(lock.Fd()), []syscall.Timeval{tv, tv}); err != nil {
		return fmt.Errorf("note time of sync: %w", err)
	}
	return nil
}
