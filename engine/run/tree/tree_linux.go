package tree

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Tree is the processes of one run.
type Tree struct {
	ways    Ways
	groups  []*group
	unified *os.File // folder of the group of version 2 in which the first process is started; nil: none
	mine    map[int]bool

	mu   sync.Mutex
	root int
	most Usage         // Peak, and what ended processes used
	seen map[int]spent // by process

	known map[int]int64 // when the processes began that were seen, of a tree that is watched; else nil
}

// spent is what grows while a process runs.
type spent struct {
	written, ticks int64
	adopted        bool // no other process of the tree waits for it
}

// made numbers the trees of this process.
var made atomic.Int64

// adopting counts the trees that are not closed: while there are any, this process adopts orphans.
var adopting struct {
	sync.Mutex
	trees int
}

// adopt has this process adopt orphans for another tree, or for one less.
func adopt(trees int) error {
	adopting.Lock()
	defer adopting.Unlock()
	n := adopting.trees + trees
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, uintptr(min(n, 1)), 0, 0, 0); err != nil {
		return err
	}
	adopting.trees = n
	return nil
}

// New prepares a tree, which is closed once. What the system does not offer is replaced, and Ways reports by what.
func New(l Limits) (*Tree, error) {
	t := &Tree{ways: Ways{Track: Subreaper, Memory: Measured, Processes: Measured}, mine: map[int]bool{}, seen: map[int]spent{}}
	if err := adopt(1); err != nil {
		return nil, fmt.Errorf("adopt the orphans of the run: %w", err)
	}
	for pid, s := range table() {
		if s.parent == os.Getpid() {
			t.mine[pid] = true
		}
	}
	name := groupPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(made.Add(1), 10)
	for _, m := range mounts() {
		if m.v2 || sharesOne(m.options, []string{"memory", "pids"}) {
			t.addGroup(m, name, l)
		}
	}
	return t, nil
}

// addGroup makes a group in a hierarchy, if this process may.
func (t *Tree) addGroup(m mount, name string, l Limits) {
	g, err := m.newGroup(name)
	if err != nil {
		return
	}
	t.groups = append(t.groups, g)
	if !m.v2 {
		g.limit(l, &t.ways)
		return
	}
	for _, controller := range []string{"+memory", "+pids"} {
		// The kernel refuses it where the parent has processes of its own; then another way is used.
		_ = os.WriteFile(m.own()+"/cgroup.subtree_control", []byte(controller), 0)
	}
	if t.unified, err = os.Open(g.dir); err == nil {
		t.ways.Track = CgroupV2
		g.limit(l, &t.ways)
	}
}

// Ways reports how the processes are found, limited and terminated.
func (t *Tree) Ways() Ways { return t.ways }

// Attr changes how the first process is started: in the group, and not to outlive this process.
func (t *Tree) Attr(a *syscall.SysProcAttr) {
	a.Pdeathsig = syscall.SIGKILL
	if t.unified != nil {
		a.UseCgroupFD, a.CgroupFD = true, int(t.unified.Fd())
	}
}

// Add makes a process the first of the tree. It must not have started others.
func (t *Tree) Add(pid int) error {
	t.mu.Lock()
	t.root = pid
	t.mu.Unlock()
	for _, g := range t.groups {
		if err := g.write("cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("put the run into its control group: %w", err)
		}
	}
	return nil
}

// Ignore marks a process that this one started as not part of the run.
func (t *Tree) Ignore(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mine[pid] = true
}

// living returns the processes of the tree that have not ended, and reaps those that were adopted and have.
func (t *Tree) living() map[int]stat {
	all := table()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known != nil {
		return t.watched(all)
	}
	roots := []int{t.root}
	for _, g := range t.groups {
		roots = append(roots, g.pids()...)
	}
	orphans := t.adopted(all)
	if t.ways.Track == Subreaper {
		roots = append(roots, orphans...)
	}
	for _, pid := range orphans { // a group does not list those that have ended
		if all[pid].ended {
			t.reap(all[pid])
		}
	}
	found := below(all, roots)
	delete(found, os.Getpid())
	for pid, s := range found {
		if s.ended {
			t.reap(s)
			delete(found, pid)
		}
	}
	return found
}

// adopted lists the children of this process that it has not started itself.
func (t *Tree) adopted(all map[int]stat) []int {
	var list []int
	for pid, s := range all {
		if s.parent == os.Getpid() && !t.mine[pid] {
			list = append(list, pid)
		}
	}
	return list
}

// reap records the end of an adopted process. Whoever started the first process waits for it.
func (t *Tree) reap(s stat) {
	if s.parent != os.Getpid() || s.pid == t.root || t.mine[s.pid] {
		return
	}
	var status unix.WaitStatus
	var used unix.Rusage
	if pid, err := unix.Wait4(s.pid, &status, unix.WNOHANG, &used); err != nil || pid != s.pid {
		return
	}
	// The kernel's account of it, and of those that it waited for, is complete: what was measured before is part of it.
	t.most.Written += max(used.Oublock*blockSize, t.seen[s.pid].written)
	t.most.CPU += max(time.Duration(used.Utime.Nano()+used.Stime.Nano()), ticks(t.seen[s.pid].ticks))
	delete(t.seen, s.pid)
}

// blockSize is the unit of what the kernel counts as written.
const blockSize = 512

// Processes lists the processes that run.
func (t *Tree) Processes() []Process {
	var list []Process
	for pid, s := range t.living() {
		list = append(list, Process{pid, s.command})
	}
	slices.SortFunc(list, func(a, b Process) int { return a.Pid - b.Pid })
	return list
}

// Usage measures.
func (t *Tree) Usage() Usage {
	found := t.living()
	t.mu.Lock()
	defer t.mu.Unlock()
	u := Usage{Processes: len(found), Memory: t.memory(found)}
	now := map[int]spent{}
	for pid, s := range found {
		now[pid] = spent{max(written(pid), t.seen[pid].written), s.ticks, s.parent == os.Getpid() && pid != t.root}
		u.Written += now[pid].written
		u.CPU += ticks(s.ticks)
	}
	// What a process used that ended is in the account of the one that waited for it; an adopted one has none.
	for pid, s := range t.seen {
		if _, runs := now[pid]; !runs && s.adopted {
			t.most.Written += s.written
			t.most.CPU += ticks(s.ticks)
		}
	}
	t.seen = now
	t.most.Peak = max(t.most.Peak, u.Memory, t.peak())
	u.Peak, u.Written, u.CPU = t.most.Peak, u.Written+t.most.Written, u.CPU+t.most.CPU
	return u
}

func (t *Tree) memory(found map[int]stat) int64 {
	for _, g := range t.groups {
		// The group's number contains the cache of files, which gives way; a limit there is held by the kernel.
		if file := g.stat(); file != "" {
			return g.field(file, map[bool]string{true: "anon", false: "total_rss"}[g.v2])
		}
	}
	var sum int64
	for pid := range maps.Keys(found) {
		sum += resident(pid)
	}
	return sum
}

// stat returns the file with the parts of the memory, if the group counts it.
func (g *group) stat() string {
	if g.has("memory.max") || g.has("memory.limit_in_bytes") {
		return "memory.stat"
	}
	return ""
}

// peak returns the most memory that a group counted, as far as the kernel keeps it; the cache of files is part of it.
func (t *Tree) peak() int64 {
	for _, g := range t.groups {
		if n := max(g.number("memory.peak"), g.number("memory.max_usage_in_bytes")); n > 0 {
			return n
		}
	}
	return 0
}

// MaxResident returns the most memory in bytes that an ended process, or one that it waited for, had.
func MaxResident(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss * 1024
	}
	return 0
}

// OutOfMemory reports whether the kernel killed a process because the run used too much memory.
func (t *Tree) OutOfMemory() bool {
	return slices.ContainsFunc(t.groups, func(g *group) bool {
		return g.field("memory.events", "oom_kill") > 0 || g.field("memory.oom_control", "oom_kill") > 0
	})
}

// OutOfProcesses reports whether a process could not be started because there were too many.
func (t *Tree) OutOfProcesses() bool {
	return slices.ContainsFunc(t.groups, func(g *group) bool { return g.field("pids.events", "max") > 0 })
}

// Signal sends a signal to every process.
func (t *Tree) Signal(sig syscall.Signal) { t.signal(t.living(), sig) }

// signal holds on to the processes, looks whether they are still those of the tree, and sends the signal: their numbers
// could have gone to others.
func (t *Tree) signal(found map[int]stat, sig syscall.Signal) {
	files := map[int]int{}
	for pid := range found {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil { // else it has ended, or there are too many files
			files[pid] = fd
		}
	}
	now := t.living()
	for pid, fd := range files {
		if _, belongs := now[pid]; belongs {
			_ = unix.PidfdSendSignal(fd, sig, nil, 0) // it may end now
		}
		_ = unix.Close(fd)
	}
}

// pause is how long Kill waits before it looks again.
const pause = 5 * time.Millisecond

// Kill kills every process, and returns those that are still there after some time: they wait for a
// device, and end as soon as it answers.
func (t *Tree) Kill(wait time.Duration) []Process {
	for begin := time.Now(); ; time.Sleep(pause) {
		for _, g := range t.groups {
			if g.v2 {
				_ = g.write("cgroup.kill", "1") // since Linux 5.14; what follows does it without
			}
		}
		found := t.living()
		t.signal(found, syscall.SIGKILL)
		if len(found) == 0 {
			return nil
		}
		if time.Since(begin) > wait {
			return t.Processes()
		}
	}
}

// Close removes the groups. All processes must have ended.
func (t *Tree) Close() error {
	var errs []error
	if t.known == nil {
		errs = append(errs, adopt(-1))
	}
	if t.unified != nil {
		errs = append(errs, t.unified.Close())
	}
	for _, g := range t.groups {
		errs = append(errs, g.remove())
	}
	return errors.Join(errs...)
}
