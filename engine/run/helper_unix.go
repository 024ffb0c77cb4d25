//go:build unix

package run

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Main is the helper: it sets limits, confines itself, and becomes the command. It returns
// only on failure, which it has reported to the supervisor. apply confines the process;
// give passes files back.
func Main(apply func(raw []byte, give func(files ...int) error) error) error {
	var stat syscall.Stat_t
	if syscall.Fstat(orderFD, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
		return errors.New("this command is started by `reviewer run`, not by people")
	}
	syscall.CloseOnExec(orderFD)
	err := become(apply)
	raw, _ := json.Marshal(reply{Error: err.Error()}) // a text can be encoded
	_, _ = syscall.Write(orderFD, raw)                // the supervisor has ended
	return err
}

func become(apply func(raw []byte, give func(files ...int) error) error) error {
	t, err := readTask()
	if err != nil {
		return err
	}
	if err := t.limit(); err != nil {
		return err
	}
	if len(t.Confine) > 0 {
		if err := apply(t.Confine, give); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w", t.Program, syscall.Exec(t.Program, t.Args, os.Environ()))
}

// orders reads the supervisor's orders. It is not an os.File, which would be closed by the
// garbage collector: to the supervisor, that means that the command has begun.
type orders struct{}

// Read implements io.Reader.
func (orders) Read(b []byte) (int, error) {
	n, err := syscall.Read(orderFD, b)
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func readTask() (t task, err error) {
	in := bufio.NewReader(orders{})
	line, err := in.ReadString('\n')
	if err != nil {
		return t, fmt.Errorf("receive from the supervisor: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return t, fmt.Errorf("receive from the supervisor: %w", err)
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(in, raw); err != nil {
		return t, fmt.Errorf("receive from the supervisor: %w", err)
	}
	return t, json.Unmarshal(raw, &t)
}

// limit sets the limits per process, which child processes inherit.
func (t task) limit() error {
	limits := map[int]uint64{syscall.RLIMIT_NOFILE: t.OpenFiles, syscall.RLIMIT_FSIZE: t.FileSize}
	for resource, n := range limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("read a limit: %w", err)
		}
		if n == 0 || n >= uint64(now.Max) {
			continue
		}
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: min(now.Cur, n), Max: n}); err != nil {
			return fmt.Errorf("set a limit: %w", err)
		}
	}
	return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
}

// give passes files to the supervisor, which has them when it returns.
func give(files ...int) error {
	raw, err := json.Marshal(reply{Files: len(files)})
	if err != nil {
		return err
	}
	return syscall.Sendmsg(orderFD, raw, syscall.UnixRights(files...), nil, 0)
}
