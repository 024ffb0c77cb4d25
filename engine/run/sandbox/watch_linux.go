package sandbox

import (
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watcher answers the system calls that a filter reports.
type watcher struct {
	plan Plan
	fd   int
	tell func(Denial)
}

// call is the kernel's struct seccomp_notif.
type call struct {
	id     uint64
	pid    uint32
	flags  uint32
	number int32
	arch   uint32
	ip     uint64
	args   [6]uint64
}

// verdict is the kernel's struct seccomp_notif_resp.
type verdict struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// The kernel's requests to a filter's file, and the flag that lets a call run.
const (
	receiveCall = 0xc0502100
	sendVerdict = 0xc0182101
	letRun      = 1
)

// watch answers until no process of the run is left.
func (w *watcher) watch() {
	for {
		poll := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err == unix.EINTR {
			continue
		} else if err != nil || poll[0].Revents&unix.POLLIN == 0 {
			return
		}
		var c call
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), receiveCall, uintptr(unsafe.Pointer(&c))); errno != 0 {
			continue // the process ended meanwhile
		}
		v := w.judge(&c)
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), sendVerdict, uintptr(unsafe.Pointer(&v)))
	}
}

// judge refuses every call but connections. Of these, the network and Landlock decide about
// most: the process could change the address after it was read here, so reading it gives no
// protection. The answer only distinguishes sockets with a path, which are refused where
// none was expected.
func (w *watcher) judge(c *call) verdict {
	d := Denial{Pid: int(c.pid), Program: programOf(c.pid)}
	if c.number != unix.SYS_CONNECT {
		if d.What = refused()[uintptr(c.number)]; d.What == "" {
			d.What = map[int32]string{unix.SYS_CLONE: "clone", unix.SYS_UNSHARE: "unshare", unix.SYS_IOCTL: "ioctl", unix.SYS_PRLIMIT64: "prlimit64",
				unix.SYS_SOCKET: "socket"}[c.number]
		}
		d.Refused = true
		w.tell(d)
		return verdict{id: c.id, errno: -int32(unix.EPERM)}
	}
	d.What = "connect"
	target, path, ours := addressOf(c)
	if d.Target = target; path != "" && !w.expected(path) {
		d.Refused = true
		w.tell(d)
		return verdict{id: c.id, errno: -int32(unix.EACCES)}
	}
	if path == "" && !ours && target != "" {
		w.tell(d)
	}
	return verdict{id: c.id, flags: letRun}
}

// expected reports whether a socket may be connected to: one of the run itself, or that of the resident process.
func (w *watcher) expected(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true // there is none
	}
	return slices.ContainsFunc(w.plan.UnixPaths, func(dir string) bool { return Within(real, dir) })
}

func programOf(pid uint32) string {
	raw, _ := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/comm") // it may have ended
	return strings.TrimSpace(string(raw))
}

// addressOf reads the address of a connection: as a text, its path if it is a socket with one, and whether it
// stays inside the run's network.
func addressOf(c *call) (text, path string, ours bool) {
	raw := make([]byte, min(c.args[2], 128))
	mem, err := os.Open("/proc/" + strconv.Itoa(int(c.pid)) + "/mem")
	if err != nil {
		return "", "", false
	}
	defer mem.Close()
	if n, _ := mem.ReadAt(raw, int64(c.args[1])); n < len(raw) || n < 8 {
		return "", "", false
	}
	switch binary.NativeEndian.Uint16(raw) {
	case unix.AF_UNIX:
		path, _, _ := bytes.Cut(raw[2:], []byte{0})
		if len(path) == 0 {
			return "", "", true // abstract, which Landlock limits, or without a name
		}
		return string(path), absolute(string(path), c.pid), false
	case unix.AF_INET:
		return address(raw[4:8], raw[2:4])
	case unix.AF_INET6:
		if len(raw) >= 24 {
			return address(raw[8:24], raw[2:4])
		}
	}
	return "", "", true
}

func absolute(path string, pid uint32) string {
	if filepath.IsAbs(path) {
		return path
	}
	dir, err := os.Readlink("/proc/" + strconv.Itoa(int(pid)) + "/cwd")
	if err != nil {
		return path
	}
	return filepath.Join(dir, path)
}

func address(ip net.IP, port []byte) (text, path string, ours bool) {
	n := binary.BigEndian.Uint16(port)
	return net.JoinHostPort(ip.String(), strconv.Itoa(int(n))), "", ip.IsLoopback() || n == 0
}
