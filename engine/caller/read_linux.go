package caller

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Quick reports whether a process can be looked up alone.
const Quick = true

// Read returns the facts about a process and all above it. markers are variables that agents set for what they run.
func Read(pid int, markers []string) (*Facts, error) {
	return read(&Facts{}, pid, markers, func(*Facts) bool { return false })
}

// ReadCaller returns the facts as far as Caller needs them. hookClient is as in Facts.
func ReadCaller(pid int, hookClient File) (*Facts, error) {
	return read(&Facts{HookClient: hookClient}, pid, nil, func(f *Facts) bool {
		at, _ := f.find()
		return at > 0
	})
}

func readOne(pid int) (*Facts, error) {
	return read(&Facts{}, pid, nil, func(*Facts) bool { return true })
}

// read follows parents until there is none, or until it is enough.
func read(f *Facts, pid int, markers []string, enough func(*Facts) bool) (*Facts, error) {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return nil, errors.New("/proc is missing, or is that of other namespaces than this process is in")
	}
	f.Boot = bootID()
	for range maxAbove {
		p, err := readProcess(pid, markers)
		if err != nil {
			if len(f.Chain) == 0 {
				return nil, err
			}
			break // it ended in the meantime, and what it started has another parent
		}
		if f.Chain = append(f.Chain, p); p.Parent == 0 || enough(f) {
			break
		}
		pid = p.Parent
	}
	return f, nil
}

// maxAbove limits the processes above one.
const maxAbove = 1000

// bootID identifies the start of the system.
var bootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return string(b[:min(8, len(b))])
})

func readProcess(pid int, markers []string) (Process, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/"
	raw, err := osfile.ReadProc(dir + "stat")
	end := bytes.LastIndexByte(raw, ')')
	fields := strings.Fields(string(raw[end+1:]))
	if err != nil || end < 0 || len(fields) < 20 {
		return Process{}, fmt.Errorf("process %d is not in the system's process list", pid)
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(fields[i], 10, 64) // the kernel writes numbers
		return n
	}
	p := Process{Pid: pid, Parent: int(number(1)), Group: fields[3],
		Terminal: number(4) != 0, Start: number(19), Began: startTime(number(19)),
		Lost: lost(dir + "status"), Program: programAt(dir + "exe"), Spaces: spaces(dir)}
	line, err := osfile.ReadProc(dir + "cmdline")
	if p.Command = strings.ReplaceAll(string(line), "\x00", " "); err != nil || len(line) == 0 {
		p.Command = string(raw[bytes.IndexByte(raw, '(')+1 : end]) // of the kernel, or about to end
	}
	if len(markers) > 0 {
		p.Marker = marker(dir+"environ", markers)
	}
	return p, nil
}

// startTime is when a process was started, from ticks since the start of the system, of which there are 100 a second.
// /proc/stat would round to a second, by which processes would seem to have been started too early.
func startTime(ticks int64) int64 {
	var since unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &since) != nil {
		return 0
	}
	return time.Now().UnixMilli() - since.Nano()/1e6 + ticks*10
}

// programAt identifies the file at a path; empty: it is unknown, as for programs of other users.
func programAt(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
}

// lost counts the rights that a process has given up for good; -1: it is unknown.
func lost(status string) (n int) {
	b, err := osfile.ReadProc(status)
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "NoNewPrivs" || name == "Seccomp_filters" {
			rights, _ := strconv.Atoi(strings.TrimSpace(value)) // the kernel writes numbers
			n += rights
		}
	}
	return n
}

// spaces names the namespaces of a process; empty: they are unknown.
func spaces(dir string) string {
	var list []string
	for _, kind := range []string{"pid", "user", "mnt"} {
		link, err := os.Readlink(dir + "ns/" + kind)
		if err != nil {
			return ""
		}
		list = append(list, strings.Trim(strings.TrimPrefix(link, kind), ":[]"))
	}
	return strings.Join(list, ":")
}

// marker returns the first of some variables with which a process was started.
func marker(environ string, markers []string) string {
	b, err := osfile.ReadProc(environ)
	if err != nil {
		return "" // of another user
	}
	for one := range bytes.SplitSeq(b, []byte{0}) {
		if name, value, _ := strings.Cut(string(one), "="); value != "" && slices.Contains(markers, name) {
			return name
		}
	}
	return ""
}

// SpacesOf names the namespaces of a process; empty: they are unknown.
func SpacesOf(pid int) string { return spaces("/proc/" + strconv.Itoa(pid) + "/") }

// Installed identifies a program's file.
func Installed(path string) File { return File{path, programAt(path)} }
