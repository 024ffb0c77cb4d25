package tree

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// stat is what /proc tells about a process.
type stat struct {
	pid, parent int
	command     string
	ended       bool // it waits to be reaped
	ticks       int64
	started     int64 // ticks after the start of the system
}

// Parent returns the ID of a process's parent; 0: it has none, or does not run.
func Parent(pid int) int {
	s, _ := readStat(pid)
	return s.parent
}

// Identify returns the ID of a process that runs.
func Identify(pid int) ID {
	if s, ok := readStat(pid); ok && !s.ended {
		return ID{int64(pid), s.started}
	}
	return ID{}
}

// List returns the processes of the system.
func List() []Listed {
	boot := bootTime()
	var list []Listed
	for pid, s := range table() {
		one := Listed{Pid: pid, Parent: s.parent}
		if !boot.IsZero() {
			one.Started = boot.Add(ticks(s.started))
		}
		list = append(list, one)
	}
	return list
}

// bootTime is when the system was started; the zero time: unknown. /proc/stat would round
// it to a second, by which processes would seem to have been started too early.
func bootTime() time.Time {
	var since unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &since) != nil {
		return time.Time{}
	}
	return time.Now().Add(-time.Duration(since.Nano()))
}

// ticksPerSecond is the unit of times in /proc, which is the same on all systems that Go runs on.
const ticksPerSecond = 100

// readStat reads the state of a process.
func readStat(pid int) (stat, bool) {
	raw, err := osfile.ReadProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	text := string(raw)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 20 {
		return stat{}, false
	}
	s := stat{pid: pid, command: text[open+1 : end], ended: fields[0] == "Z" || fields[0] == "X"}
	s.parent, _ = strconv.Atoi(fields[1])
	for _, f := range fields[11:15] { // its own time, and that of children that it waited for
		n, _ := strconv.ParseInt(f, 10, 64)
		s.ticks += n
	}
	s.started, _ = strconv.ParseInt(fields[19], 10, 64)
	return s, true
}

// table reads the state of all processes.
func table() map[int]stat {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := make(map[int]stat, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if s, ok := readStat(pid); ok {
				all[pid] = s
			}
		}
	}
	return all
}

// below returns some processes and all that descend from them.
func below(all map[int]stat, roots []int) map[int]stat {
	children := map[int][]int{}
	for pid, s := range all {
		children[s.parent] = append(children[s.parent], pid)
	}
	found := map[int]stat{}
	for queue := roots; len(queue) > 0; queue = queue[1:] {
		pid := queue[0]
		if _, seen := found[pid]; seen || all[pid].pid == 0 {
			continue
		}
		found[pid] = all[pid]
		queue = append(queue, children[pid]...)
	}
	return found
}

// resident returns the memory that a process has for itself, with its share of what others use too.
func resident(pid int) int64 {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return residentPages(pid)
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, "Pss:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

func residentPages(pid int) int64 {
	raw, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[1], 10, 64)
	return n * int64(os.Getpagesize())
}

// written returns the bytes that a process, and children that it waited for, wrote to disks.
func written(pid int) int64 {
	raw, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	var total int64
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "write_bytes":
			total += n
		case "cancelled_write_bytes":
			total -= n
		}
	}
	return max(total, 0)
}

func ticks(n int64) time.Duration { return time.Duration(n) * time.Second / ticksPerSecond }
