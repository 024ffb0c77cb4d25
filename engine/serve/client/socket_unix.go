//go:build linux || darwin

package client

import (
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// connect opens the resident process's socket.
func connect(path string) (int, error) {
	if len(path) > wire.MaxSocketPath {
		return -1, syscall.ENAMETOOLONG
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	syscall.CloseOnExec(fd)
	return fd, syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
}

// receive reads a message, or fails after some milliseconds without a byte.
func receive(fd int, wait int64) ([]byte, error) {
	limit := syscall.NsecToTimeval(wait * int64(time.Millisecond))
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return nil, err
	}
	b := make([]byte, wire.HeaderSize, 4096)
	if err := fill(fd, b); err != nil {
		return nil, err
	}
	n, err := wire.BodyLength(b)
	if err != nil {
		return nil, err
	}
	b = append(b, make([]byte, n)...)
	return b, fill(fd, b[wire.HeaderSize:])
}

func fill(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Read(fd, b)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return err
		case n <= 0:
			return syscall.EPIPE
		}
		b = b[n:]
	}
	return nil
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
