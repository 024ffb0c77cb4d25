package client

import (
	"os"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// socket is a connection to the resident process.
type socket struct {
	file   *os.File // for the poller of the runtime, which lets the process sleep: while a thread waits in a system call, another one keeps looking
	conn   syscall.RawConn
	sender int32 // the process that wrote what was received last, according to the kernel
}

// connect opens the resident process's socket. Nothing here waits longer than a given
// time: a process that is stopped accepts connections until its queue is full.
func connect(path string) (*socket, error) {
	if len(path) > wire.MaxSocketPath {
		return nil, syscall.ENAMETOOLONG
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1); err != nil {
		return nil, err
	}
	limit := syscall.NsecToTimeval(sendWait * int64(time.Millisecond))
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit); err != nil {
		return nil, err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), path)
	conn, err := file.SyscallConn()
	return &socket{file: file, conn: conn}, err
}

func in(ms int64) time.Time { return time.Now().Add(time.Duration(ms) * time.Millisecond) }

// receive reads a message, or fails after some milliseconds without a byte.
func (s *socket) receive(ms int64) ([]byte, error) {
	s.sender = 0
	b := make([]byte, wire.HeaderSize, 4096)
	if err := s.fill(b, ms); err != nil {
		return nil, err
	}
	n, err := wire.BodyLength(b)
	if err != nil {
		return nil, err
	}
	b = append(b, make([]byte, n)...)
	return b, s.fill(b[wire.HeaderSize:], ms)
}

func (s *socket) fill(b []byte, ms int64) error {
	rights := make([]byte, 64) // more than one set of credentials takes
	for len(b) > 0 {
		if err := s.file.SetReadDeadline(in(ms)); err != nil {
			return err
		}
		var n, m, flags int
		var err error
		waited := s.conn.Read(func(fd uintptr) (done bool) {
			n, m, flags, _, err = syscall.Recvmsg(int(fd), b, rights, syscall.MSG_CMSG_CLOEXEC)
			return err != syscall.EAGAIN
		})
		switch {
		case waited != nil:
			return waited
		case err == syscall.EINTR:
			continue
		case err != nil:
			return err
		case n <= 0:
			return syscall.EPIPE
		}
		if err := s.sentBy(rights[:m], flags); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// sentBy notes who wrote the bytes that were read. A message must come from a
// single process of this user.
func (s *socket) sentBy(rights []byte, flags int) error {
	list, err := syscall.ParseSocketControlMessage(rights)
	if err != nil || len(list) != 1 || flags&syscall.MSG_CTRUNC != 0 {
		return syscall.EPROTO
	}
	who, err := syscall.ParseUnixCredentials(&list[0])
	if err != nil || who.Pid <= 0 || int(who.Uid) != syscall.Geteuid() && who.Uid != 0 || s.sender != 0 && s.sender != who.Pid {
		return syscall.EPERM
	}
	s.sender = who.Pid
	return nil
}

// maxWrite limits what is written at once: the process has the time for each part.
const maxWrite = 64 << 10

func (s *socket) send(b []byte) error {
	for len(b) > 0 {
		if err := s.file.SetWriteDeadline(in(sendWait)); err != nil {
			return err
		}
		n, err := s.file.Write(b[:min(len(b), maxWrite)])
		if err != nil {
			return err
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

func (s *socket) close() { _ = s.file.Close() } // nothing more is read
