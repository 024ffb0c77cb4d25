//go:build unix

package serve

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// nextEnv names the file descriptor from which a process reads what the one before it hands over.
const nextEnv = "REVIEWER_READ_FD"

// HandOver makes a program continue in the place of this one, with the same arguments. It can read what give writes.
func HandOver(program string, give func(io.Writer) error) error {
	f, err := os.CreateTemp("", "reviewer")
	if err != nil {
		return err
	}
	if err := errors.Join(os.Remove(f.Name()), give(f)); err != nil {
		return err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return err
	}
	fd, err := syscall.Dup(int(f.Fd())) // the copy stays open in the next program
	if err != nil {
		return err
	}
	err = syscall.Exec(program, os.Args, append(os.Environ(), nextEnv+"="+strconv.Itoa(fd)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was removed
	}
	return err
}

// TakeOver reads what the process before handed over; nothing, if there was none.
func TakeOver(take func(io.Reader) error) error {
	fd, err := strconv.Atoi(os.Getenv(nextEnv))
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), "memory")
	defer f.Close()
	return errors.Join(os.Unsetenv(nextEnv), take(f))
}

// Ready tells the process that started this one, if it waits, that this one listens.
func Ready() {
	if fd, err := strconv.Atoi(os.Getenv(wire.ReadyVariable)); err == nil {
		_ = errors.Join(os.Unsetenv(wire.ReadyVariable), syscall.Close(fd)) // the other one would wait until its own limit
	}
}
