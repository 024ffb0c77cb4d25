package sandbox

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watcher answers the system calls that a filter reports.
type watcher struct {
	plan    Plan
	fd      int
	tell    func(Denial)
	sockets *sockets
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
		if c.number == unix.SYS_CONNECT {
			go w.answer(w.connect, &c) // it can wait for the other side
			continue
		}
		w.answer(w.judge, &c)
	}
}

// answer sends the verdict about a call.
func (w *watcher) answer(judge func(*call) verdict, c *call) {
	v := judge(c)
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), sendVerdict, uintptr(unsafe.Pointer(&v))) // the process may have ended
}

// judge refuses every call but those that are checked.
func (w *watcher) judge(c *call) verdict {
	d := Denial{Pid: int(c.pid), Program: programOf(c.pid), Refused: true}
	if d.What = checked()[uintptr(c.number)]; d.What != "" {
		if w.inside(c) {
			return verdict{id: c.id, flags: letRun}
		}
	} else if d.What = refused()[uintptr(c.number)]; d.What == "" {
		d.What = map[int32]string{unix.SYS_CLONE: "clone", unix.SYS_UNSHARE: "unshare", unix.SYS_IOCTL: "ioctl", unix.SYS_PRLIMIT64: "prlimit64",
			unix.SYS_SOCKET: "socket"}[c.number]
	}
	w.tell(d)
	return verdict{id: c.id, errno: -int32(unix.EPERM)}
}

// inside reports whether a call that changes another process is about one of the run: it has the same network, or without one of its
// own, the same process makes the call. A number of zero is that of the caller.
func (w *watcher) inside(c *call) bool {
	target := uint32(c.args[0])
	switch uintptr(c.number) {
	case unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET:
		if own := map[uintptr]uint64{unix.SYS_SETPRIORITY: unix.PRIO_PROCESS, unix.SYS_IOPRIO_SET: 1}[uintptr(c.number)]; c.args[0] != own {
			return false // groups and users have processes outside
		}
		target = uint32(c.args[1])
	}
	if target == 0 || target == c.pid || leader(target) == leader(c.pid) {
		return true
	}
	theirs, err := os.Readlink(procOf(target) + "/ns/net")
	own, err2 := os.Readlink(procOf(c.pid) + "/ns/net")
	return w.plan.Namespaces && err == nil && err2 == nil && theirs == own
}

func programOf(pid uint32) string {
	raw, _ := os.ReadFile(procOf(pid) + "/comm") // it may have ended
	return strings.TrimSpace(string(raw))
}
