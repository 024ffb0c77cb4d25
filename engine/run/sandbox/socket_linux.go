package sandbox

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// idValid is the kernel's request that reports whether the process still waits for the answer.
const idValid = 0x40082102

// maxAddress is the longest address of a socket that the kernel accepts.
const maxAddress = 128

// argument copies the address that a process passed to connect.
func (w *watcher) argument(c *call) ([]byte, error) {
	if c.args[2] > maxAddress {
		return nil, unix.EINVAL
	}
	raw := make([]byte, c.args[2])
	mem, err := os.Open(procOf(c.pid) + "/mem")
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	if _, err := mem.ReadAt(raw, int64(c.args[1])); err != nil {
		return nil, err
	}
	id := c.id // the number could have gone to another process before it was opened
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), idValid, uintptr(unsafe.Pointer(&id))); errno != 0 {
		return nil, errno
	}
	return raw, nil
}

// socketOf returns a copy of the socket that a thread passed to connect.
func socketOf(c *call) (int, error) {
	process, err := unix.PidfdOpen(int(c.pid), unix.O_EXCL) // PIDFD_THREAD, since Linux 6.9
	if errors.Is(err, unix.EINVAL) {
		process, err = unix.PidfdOpen(leader(c.pid), 0)
	}
	if err != nil {
		return -1, err
	}
	defer unix.Close(process)
	return unix.PidfdGetfd(process, int(int32(c.args[0])), 0)
}

// leader returns the process that a thread belongs to.
func leader(thread uint32) int {
	raw, _ := os.ReadFile(procOf(thread) + "/status") // it may have ended
	for line := range strings.Lines(string(raw)) {
		if id, ok := strings.CutPrefix(line, "Tgid:"); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(id))
			return n
		}
	}
	return int(thread)
}

// connectRaw connects a socket to an address as the kernel has it.
func connectRaw(socket int, address []byte) unix.Errno {
	at := unsafe.Pointer(unsafe.SliceData(address))
	if len(address) == 0 {
		at = unsafe.Pointer(&[1]byte{})
	}
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(socket), uintptr(at), uintptr(len(address)))
	return errno
}

// boundAt is where a socket has its path: the file's number, and that of its file system.
type boundAt struct{ inode, device uint32 }

// sockets asks the kernel about the sockets that were made in the run's network, through a socket that was made there too.
type sockets struct {
	mu sync.Mutex
	fd int
}

// What the kernel's interface for it is called.
const (
	byFamily = 20 // SOCK_DIAG_BY_FAMILY
	showFile = 2  // UDIAG_SHOW_VFS
	fileKind = 1  // UNIX_DIAG_VFS
)

// newSockets makes the socket that asks.
func newSockets() (int, error) {
	return unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
}

// bound lists the sockets that have a path.
func (s *sockets) bound() ([]boundAt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request := binary.NativeEndian.AppendUint32(nil, unix.SizeofNlMsghdr+24)
	request = binary.NativeEndian.AppendUint16(request, byFamily)
	request = binary.NativeEndian.AppendUint16(request, unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	request = append(request, make([]byte, 8)...)     // number, sender
	request = append(request, unix.AF_UNIX, 0, 0, 0)  // family
	request = append(request, 0xff, 0xff, 0xff, 0xff) // all states
	request = append(request, make([]byte, 4)...)     // all sockets
	request = append(request, showFile, 0, 0, 0)      // what to tell
	request = append(request, make([]byte, 8)...)     // cookie
	if err := unix.Sendto(s.fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	var list []boundAt
	for buffer := make([]byte, 64<<10); ; {
		n, _, err := unix.Recvfrom(s.fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofNlMsghdr; {
			size := int(binary.NativeEndian.Uint32(rest))
			if size < unix.SizeofNlMsghdr || size > len(rest) {
				return nil, errors.New("the kernel's answer is incomplete")
			}
			switch binary.NativeEndian.Uint16(rest[4:]) {
			case unix.NLMSG_DONE:
				return list, nil
			case unix.NLMSG_ERROR:
				return nil, errors.New("the kernel does not list sockets")
			}
			if at, ok := fileOf(rest[unix.SizeofNlMsghdr:size]); ok {
				list = append(list, at)
			}
			rest = rest[min(aligned(size), len(rest)):]
		}
	}
}

func aligned(n int) int { return (n + 3) &^ 3 }

// fileOf reads the description of one socket.
func fileOf(b []byte) (at boundAt, ok bool) {
	const head = 16 // struct unix_diag_msg
	if len(b) < head {
		return at, false
	}
	for b = b[head:]; len(b) >= 4; {
		size, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
		if size < 4 || size > len(b) {
			return at, false
		}
		if kind == fileKind && size >= 12 {
			return boundAt{binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[8:])}, true
		}
		b = b[min(aligned(size), len(b)):]
	}
	return at, false
}
