//go:build !windows

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func processTable() (map[int]process, error) {
	if runtime.GOOS == "linux" {
		return procTable()
	}
	out, err := exec.Command("/bin/ps", "-axo", "pid=,ppid=,etime=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return psTable(string(out), time.Now()), nil
}

// procTable reads /proc. A process that ends in the meantime is left out.
func procTable() (map[int]process, error) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	table, boot := map[int]process{}, bootTime()
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		stat, err1 := os.ReadFile("/proc/" + d.Name() + "/stat")
		line, err2 := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		// The name in parentheses may contain anything; the fields after it do not.
		_, after, ok := strings.Cut(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]), ") ")
		f := strings.Fields(after)
		if errors.Join(err1, err2) != nil || !ok || len(f) < 2 {
			continue
		}
		parent, err := strconv.Atoi(f[1])
		if err == nil {
			table[pid] = process{pid, parent, strings.ReplaceAll(string(line), "\x00", " "), startOf(f, boot)}
		}
	}
	return table, nil
}

// ticks is how many units of time /proc counts in a second, on all of Linux.
const ticks = 100

// startOf returns when a process was started: the 22nd field of its stat, of which the
// first two are cut off here.
func startOf(stat []string, boot int64) int64 {
	if len(stat) < 20 || boot == 0 {
		return 0
	}
	n, err := strconv.ParseInt(stat[19], 10, 64)
	if err != nil {
		return 0
	}
	return boot + n*1000/ticks
}

// bootTime is when the system was started, in Unix milliseconds; 0: unknown.
func bootTime() int64 {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(stat), "btime ")
	seconds, err := strconv.ParseInt(strings.TrimSpace(strings.SplitN(after, "\n", 2)[0]), 10, 64)
	if err != nil {
		return 0
	}
	return seconds * 1000
}
