package serve

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/run/tree"
)

// peer returns the process at the other end of a socket, if it belongs to this user.
func peer(conn net.Conn) (c Client, err error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return c, err
	}
	var cred *syscall.Ucred
	pidfd := -1
	if e := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		if n, e := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, peerFile); e == nil {
			pidfd = n
		}
	}); e != nil || err != nil {
		return c, errors.Join(e, err)
	}
	if pidfd >= 0 {
		defer syscall.Close(pidfd)
	}
	if int(cred.Uid) != os.Geteuid() {
		return c, errors.New("the client belongs to another user")
	}
	pid := int(cred.Pid)
	c = Client{Pid: pid, Own: runsThis(pid), Confined: confined(pid) || pidfd >= 0 && !still(pidfd, pid)}
	c.Supervised = c.Confined && descends(pid)
	return c, nil
}

// callers are the programs that started clients: an agent, as a rule. While one of them runs, the process has to
// remember what it read.
type callers struct {
	mu   sync.Mutex
	runs map[tree.ID]bool
}

// maxCallers is the number of callers at which those that have ended are forgotten.
const maxCallers = 64

func (c *callers) add(client int) {
	id := tree.Identify(tree.Parent(client))
	if id == (tree.ID{}) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[tree.ID]bool{}
	}
	if len(c.runs) >= maxCallers { // most of them were shells that ran one hook
		maps.DeleteFunc(c.runs, func(id tree.ID, _ bool) bool { return tree.Identify(int(id.Pid)) != id })
	}
	c.runs[id] = true
}

// live reports whether one of them still runs.
func (c *callers) live() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.runs {
		if tree.Identify(int(id.Pid)) == id {
			return true
		}
		delete(c.runs, id)
	}
	return false
}

// descends reports whether one of the processes above another one runs the same program file as this process.
func descends(pid int) bool {
	for range maxAbove {
		if pid = tree.Parent(pid); pid == 0 || runsThis(pid) {
			return pid != 0
		}
	}
	return false
}

// runs reports whether a process runs a program's file.
func runs(pid int, program string) bool {
	want, err := os.Stat(program)
	file, err2 := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil && err2 == nil && os.SameFile(want, file)
}

// runsThis reports whether a process runs the same program file as this one.
func runsThis(pid int) bool { return runs(pid, "/proc/self/exe") }

// reportSenders makes the kernel report which process has written each message to a listener's connections.
func reportSenders(l net.Listener) error {
	raw, err := l.(*net.UnixListener).SyscallConn()
	if err != nil {
		return err
	}
	return errors.Join(raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1)
	}), err)
}

// senderReader reads from a connection, and notes which process has written what it reads.
type senderReader struct {
	conn    *net.UnixConn
	pid     int // 0: nothing was read yet
	several bool
}

func newSenderReader(conn net.Conn) *senderReader { return &senderReader{conn: conn.(*net.UnixConn)} }

func (r *senderReader) Read(b []byte) (int, error) {
	rights := make([]byte, 64) // more than one set of credentials takes
	n, m, flags, _, err := r.conn.ReadMsgUnix(b, rights)
	if err != nil || n == 0 {
		return 0, cmp.Or(err, io.EOF)
	}
	list, err := syscall.ParseSocketControlMessage(rights[:m])
	if err != nil || len(list) != 1 || flags&syscall.MSG_CTRUNC != 0 {
		return 0, errors.New("the kernel does not say who has written the request")
	}
	who, err := syscall.ParseUnixCredentials(&list[0])
	if err != nil {
		return 0, err
	}
	r.several = r.several || r.pid != 0 && r.pid != int(who.Pid)
	r.pid = int(who.Pid)
	return n, nil
}

// sender returns the process that has written everything; 0: several have.
func (r *senderReader) sender() int {
	if r.several {
		return 0
	}
	return r.pid
}

// maxAbove limits the processes above a client.
const maxAbove = 1000

// confined reports whether a process has given up rights that this one has: new privileges, or system calls.
func confined(pid int) bool {
	its, ok := rights("/proc/" + strconv.Itoa(pid) + "/status")
	if ok && its == (given{}) {
		return false
	}
	own, known := rights("/proc/self/status")
	return !ok || !known || its.noPrivileges > own.noPrivileges || its.filters > own.filters
}

// given records which rights a process has given up.
type given struct{ noPrivileges, filters int }

func rights(status string) (g given, ok bool) {
	raw, err := osfile.ReadProc(status)
	if err != nil {
		return g, false
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "NoNewPrivs" && name != "Seccomp_filters" {
			continue
		}
		n, _ := strconv.Atoi(strings.TrimSpace(value)) // the kernel writes numbers
		if name == "Seccomp_filters" {
			g.filters = n
			continue
		}
		g.noPrivileges, ok = n, true
	}
	return g, ok
}

// peerFile is SO_PEERPIDFD: a file for the process itself, whatever becomes of its number (since Linux 6.5).
const peerFile = 77

// still reports whether a number is still that of the process that a file is for.
func still(pidfd, pid int) bool {
	raw, err := osfile.ReadProc("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	return err == nil && strings.Contains(string(raw)+"\n", "\nPid:\t"+strconv.Itoa(pid)+"\n")
}
