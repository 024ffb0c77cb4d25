//go:build unix

package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// order is the supervisor's side of the socket to the helper.
type order struct {
	o      Options
	raw    []byte
	mine   *os.File
	theirs *os.File
}

// newOrder describes what the helper has to do.
func newOrder(o Options) (*order, error) {
	program, err := lookUp(o.Command[0], o.Dir, o.Env)
	if err != nil {
		return nil, err
	}
	t := task{Program: program, Args: o.Command, OpenFiles: uint64(max(o.Limits.OpenFiles, 0)), FileSize: uint64(max(o.Limits.FileSize, 0))}
	if o.Confine != nil {
		if t.Confine, err = o.Confine.Order(); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("describe the run: %w", err)
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, fmt.Errorf("connect to the command's process: %w", err)
	}
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	return &order{o, raw, os.NewFile(uintptr(pair[0]), "order"), os.NewFile(uintptr(pair[1]), "order")}, nil
}

// lookUp finds a program as a shell with the command's environment would.
func lookUp(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	for _, v := range slices.Backward(env) {
		folders, is := strings.CutPrefix(v, "PATH=")
		if !is {
			continue
		}
		for _, folder := range filepath.SplitList(folders) {
			if at := filepath.Join(folder, name); filepath.IsAbs(folder) && executable(at) == nil {
				return at, nil
			}
		}
		break
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%s is not a program", path)
	}
	return nil
}

// attach passes the helper its end.
func (o *order) attach(cmd *exec.Cmd) {
	cmd.ExtraFiles = []*os.File{o.theirs}
	if o.o.Confine != nil {
		o.o.Confine.Attr(cmd.SysProcAttr)
	}
}

// give tells the helper what to do, and waits until it has become the command.
func (o *order) give(*os.Process) error {
	_ = o.theirs.Close() // the helper has it
	o.theirs = nil
	if _, err := fmt.Fprintf(o.mine, "%d\n%s", len(o.raw), o.raw); err != nil {
		return err
	}
	for {
		said, files, err := receive(int(o.mine.Fd()))
		if errors.Is(err, io.EOF) {
			return nil // the socket is closed when the command begins
		}
		if err == nil && said.Error != "" {
			err = errors.New(said.Error)
		}
		if err == nil && o.o.Confine != nil {
			err = o.o.Confine.Given(files)
		}
		if err != nil {
			return err
		}
	}
}

// receive reads one reply.
func receive(fd int) (reply, []int, error) {
	b, rights := make([]byte, maxReply), make([]byte, syscall.CmsgSpace(4*maxFiles))
	var n, m int
	var err error
	for {
		if n, m, _, _, err = syscall.Recvmsg(fd, b, rights, cloexec); err != syscall.EINTR {
			break
		}
	}
	switch {
	case err != nil:
		return reply{}, nil, fmt.Errorf("receive from the command's process: %w", err)
	case n == 0:
		return reply{}, nil, io.EOF
	}
	var said reply
	if err := json.Unmarshal(b[:n], &said); err != nil {
		return reply{}, nil, fmt.Errorf("receive from the command's process: %w", err)
	}
	files, err := received(rights[:m])
	if err == nil && len(files) != said.Files {
		err = fmt.Errorf("expected %d, but %d arrived", said.Files, len(files))
	}
	return said, files, err
}

func received(rights []byte) ([]int, error) {
	if len(rights) == 0 {
		return nil, nil
	}
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	var files []int
	for i := range messages {
		list, err := syscall.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, err
		}
		files = append(files, list...)
	}
	return files, nil
}

func (o *order) close() {
	_ = o.mine.Close() // everything was said
	if o.theirs != nil {
		_ = o.theirs.Close() // the helper was not started
	}
}

// HelperPossible reports whether Options.Helper can be used on this system.
const HelperPossible = true
