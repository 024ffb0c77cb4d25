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

	"github.com/agent-reviewer/reviewer/engine/run/tree"
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
	table := map[int]process{}
	for _, p := range tree.List() {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/cmdline")
		if err != nil {
			continue
		}
		table[p.Pid] = process{p.Pid, p.Parent, strings.ReplaceAll(string(line), "\x00", " "), milliseconds(p.Started)}
	}
	if len(table) == 0 {
		return nil, errors.New("list processes: /proc cannot be read")
	}
	return table, nil
}

// milliseconds is a time as processes have it; 0: unknown.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
