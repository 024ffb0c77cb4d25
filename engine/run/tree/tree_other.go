//go:build !linux

package tree

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// Tree is the processes of one run: here those of a process group, as far as the system has such.
type Tree struct{ root int }

// New prepares a tree.
func New(Limits) (*Tree, error) { return &Tree{}, nil }

// Watch is not available here.
func Watch(int) (*Tree, error) {
	return nil, errors.New("processes that somebody else started can be watched on Linux only")
}

// Parent returns 0: it is not looked up here.
func Parent(int) int { return 0 }

// List returns nothing: the processes of the system are not looked up here.
func List() []Listed { return nil }

// Identify returns the zero ID: processes are not looked up here.
func Identify(int) ID { return ID{} }

// Runs reports whether the first process runs.
func (t *Tree) Runs() bool { return len(t.Processes()) > 0 }

// Began returns the time now: the system does not say.
func (t *Tree) Began() time.Time { return time.Now() }

// Connections lists nothing here.
func (t *Tree) Connections() []Connection { return nil }

// Ways reports how the processes are found, limited and terminated.
func (t *Tree) Ways() Ways { return Ways{Track: ProcessGroup, Memory: None, Processes: None} }

// Attr changes how the first process is started: in a group of its own.
func (t *Tree) Attr(a *syscall.SysProcAttr) { grouped(a) }

// Add makes a process the first of the tree.
func (t *Tree) Add(pid int) error {
	t.root = pid
	return nil
}

// Ignore does nothing here.
func (t *Tree) Ignore(int) {}

// Processes lists the first process, if it runs.
func (t *Tree) Processes() []Process {
	if t.root == 0 || !groupAlive(t.root) {
		return nil
	}
	return []Process{{Pid: t.root}}
}

// Usage counts the first process; nothing else is measured here.
func (t *Tree) Usage() Usage { return Usage{Processes: len(t.Processes())} }

// MaxResident returns 0: the unit of the system's number is not known here.
func MaxResident(*os.ProcessState) int64 { return 0 }

// OutOfMemory reports false: the system does not report it.
func (t *Tree) OutOfMemory() bool { return false }

// OutOfProcesses reports false: the system does not report it.
func (t *Tree) OutOfProcesses() bool { return false }

// Signal sends a signal to the group.
func (t *Tree) Signal(sig syscall.Signal) { signalGroup(t.root, sig) }

// Kill kills the group, and returns what is still there after some time.
func (t *Tree) Kill(wait time.Duration) []Process {
	for begin := time.Now(); len(t.Processes()) > 0; time.Sleep(5 * time.Millisecond) {
		signalGroup(t.root, syscall.SIGKILL)
		if time.Since(begin) > wait {
			return t.Processes()
		}
	}
	return nil
}

// Close does nothing here.
func (t *Tree) Close() error { return nil }

// KillLeft does nothing here: no groups are made.
func KillLeft() {}
