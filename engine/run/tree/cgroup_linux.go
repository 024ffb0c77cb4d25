package tree

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// group is one control group that was made for a run.
type group struct {
	dir string
	v2  bool
}

// mount is a hierarchy of control groups.
type mount struct {
	root, at string
	v2       bool
	options  []string // controllers, of version 1
}

// mounts lists the hierarchies that this process sees.
func mounts() []mount {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	var list []mount
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		dash := slices.Index(words, "-")
		if dash < 5 || len(words) < dash+4 || words[dash+1] != "cgroup" && words[dash+1] != "cgroup2" {
			continue
		}
		list = append(list, mount{root: words[3], at: words[4], v2: words[dash+1] == "cgroup2", options: strings.Split(words[dash+3], ",")})
	}
	return list
}

// own returns the folder of this process's group in a hierarchy.
func (m mount) own() string {
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || m.v2 != (parts[0] == "0" && parts[1] == "") {
			continue
		}
		if m.v2 || sharesOne(strings.Split(parts[1], ","), m.options) {
			return filepath.Join(m.at, strings.TrimPrefix(parts[2], m.root))
		}
	}
	return ""
}

func sharesOne(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return s != "" && slices.Contains(b, s) })
}

// groupPrefix begins the names of the groups of runs; the number of the process that made one follows.
const groupPrefix = "reviewer-run-"

// newGroup creates a group under that of this process. Groups that a killed run left behind are removed: the kernel
// refuses that for one that has processes.
func (m mount) newGroup(name string) (*group, error) {
	parent := m.own()
	if parent == "" {
		return nil, errors.New("this process has no group there")
	}
	for _, dir := range m.left() {
		_ = os.Remove(dir) // see above
	}
	g := &group{dir: filepath.Join(parent, name), v2: m.v2}
	return g, os.Mkdir(g.dir, 0o755)
}

// left lists the groups of runs whose supervisors were killed.
func (m mount) left() []string {
	parent := m.own()
	if parent == "" {
		return nil
	}
	groups, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*")) // the pattern is right
	return slices.DeleteFunc(groups, alive)
}

// KillLeft kills the processes of runs whose supervisors were killed, as far as these had control groups.
func KillLeft() {
	for _, m := range mounts() {
		for _, dir := range m.left() {
			g := &group{dir: dir, v2: m.v2}
			for _, pid := range g.pids() {
				_ = unix.Kill(pid, unix.SIGKILL) // it may end now
			}
		}
	}
}

// alive reports whether the process that made a group still runs.
func alive(dir string) bool {
	number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
	pid, err := strconv.Atoi(number)
	s, runs := readStat(pid)
	return err == nil && runs && !s.ended
}

func (g *group) write(file, value string) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(value), 0)
}

func (g *group) has(file string) bool {
	_, err := os.Stat(filepath.Join(g.dir, file))
	return err == nil
}

// number reads a file that contains one; -1: there is none.
func (g *group) number(file string) int64 {
	raw, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return -1
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// field reads one of the numbers of a file of names and numbers.
func (g *group) field(file, name string) int64 {
	raw, _ := os.ReadFile(filepath.Join(g.dir, file)) // without the file there is no field
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}

// pids lists the processes of the group and of its subgroups.
func (g *group) pids() []int {
	var list []int
	_ = filepath.WalkDir(g.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // it is gone
		}
		raw, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		for word := range strings.FieldsSeq(string(raw)) {
			if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
				list = append(list, pid)
			}
		}
		return nil
	})
	return list
}

// remove removes the group and its subgroups, the deepest first.
func (g *group) remove() error {
	var dirs []string
	_ = filepath.WalkDir(g.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the control group of the run: %w", err)
		}
	}
	return nil
}

// limit sets the limits that the group's controllers support, and returns which these are.
func (g *group) limit(l Limits, w *Ways) {
	name := map[bool]string{true: CgroupV2, false: CgroupV1}[g.v2]
	memory := map[bool]string{true: "memory.max", false: "memory.limit_in_bytes"}[g.v2]
	if l.Memory > 0 && g.has(memory) && g.write(memory, strconv.FormatInt(l.Memory, 10)) == nil {
		w.Memory = name
		g.noSwap(l.Memory)
	}
	if l.Processes > 0 && g.has("pids.max") && g.write("pids.max", strconv.Itoa(l.Processes)) == nil {
		w.Processes = name
	}
}

// noSwap keeps the memory limit from being evaded by swapping, where swap is counted.
func (g *group) noSwap(memory int64) {
	if g.v2 {
		_ = g.write("memory.swap.max", "0")
		return
	}
	_ = g.write("memory.memsw.limit_in_bytes", strconv.FormatInt(memory, 10))
}
