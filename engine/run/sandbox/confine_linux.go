package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Confinement applies a plan: it is the supervisor's side.
type Confinement struct {
	plan      Plan
	denied    func(Denial)
	listening func([]net.Listener)

	mu      sync.Mutex
	files   []*os.File
	sockets *sockets // nil: the processes have no network of their own
	got     int
}

// New prepares a confinement. denied is told what processes try; listening gets the sockets of the proxy and of
// Plan.Loopback, in this order, which are inside the network of the processes.
func New(p Plan, denied func(Denial), listening func([]net.Listener)) (*Confinement, error) {
	f := Probe()
	if missing := f.Missing(); p.Exact && len(missing) > 0 {
		return nil, errors.New("this system cannot confine the run completely; it lacks " + strings.Join(missing, "; "))
	}
	return &Confinement{plan: p, denied: denied, listening: listening}, nil
}

// Probe reports what the system offers.
func Probe() Features {
	f := Features{Seccomp: notifies()}
	if n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); errno == 0 {
		f.Landlock = int(n)
	}
	f.Why = noNamespaces()
	f.Namespaces = f.Why == ""
	return f
}

// notifies reports whether a seccomp filter can tell a supervisor about system calls.
func notifies() bool {
	raw, err := os.ReadFile("/proc/sys/kernel/seccomp/actions_avail")
	return err == nil && strings.Contains(string(raw), "user_notif")
}

// noNamespaces returns why namespaces cannot be created; empty: they can, according to the system's settings.
func noNamespaces() string {
	if privileged() {
		return ""
	}
	for file, refused := range map[string]string{"/proc/sys/user/max_user_namespaces": "0", "/proc/sys/kernel/unprivileged_userns_clone": "0",
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"} {
		raw, err := os.ReadFile(file)
		if err == nil && strings.TrimSpace(string(raw)) == refused {
			return "user namespaces are turned off (" + file + " is " + refused + ")"
		}
	}
	if _, err := os.Stat("/proc/self/ns/user"); err != nil {
		return "the kernel has no user namespaces"
	}
	return ""
}

// privileged reports whether this process may make namespaces without a user namespace.
func privileged() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	const need = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_NET_ADMIN
	return data[0].Effective&need == need
}

// Attr makes the helper's namespaces.
func (c *Confinement) Attr(a *syscall.SysProcAttr) {
	if !c.plan.Namespaces {
		return
	}
	a.Cloneflags |= unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC
	if privileged() {
		return
	}
	a.Cloneflags |= unix.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
}

// Order is the plan.
func (c *Confinement) Order() (json.RawMessage, error) { return json.Marshal(c.plan) }

// Given takes what the helper passes back: first the sockets, if there are any, then the file that reports system calls.
func (c *Confinement) Given(files []int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got++
	if c.plan.Namespaces && c.got == 1 {
		return c.takeSockets(files)
	}
	if len(files) != 1 || !c.plan.Watch {
		return fmt.Errorf("unexpected number of files: %d", len(files))
	}
	f := os.NewFile(uintptr(files[0]), "seccomp")
	c.files = append(c.files, f)
	go (&watcher{plan: c.plan, fd: files[0], tell: c.denied, sockets: c.sockets}).watch()
	return nil
}

func (c *Confinement) takeSockets(files []int) error {
	if len(files) == 0 {
		return errors.New("the run's sockets did not arrive")
	}
	asks := files[len(files)-1]
	c.sockets, c.files = &sockets{fd: asks}, append(c.files, os.NewFile(uintptr(asks), "sockets"))
	var list []net.Listener
	for _, fd := range files[:len(files)-1] {
		f := os.NewFile(uintptr(fd), "socket")
		l, err := net.FileListener(f) // a copy
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("receive the run's sockets: %w", err)
		}
		list = append(list, l)
	}
	c.listening(list)
	return nil
}

// Close ends the watch.
func (c *Confinement) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		_ = f.Close() // the processes have ended
	}
	c.files = nil
}
