//go:build unix && !linux

package caller

import (
	"fmt"
	"os/exec"
	"time"
)

func processes() (map[int]Process, error) {
	out, err := exec.Command("/bin/ps", "-axo", "pid=,ppid=,etime=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return psTable(string(out), time.Now()), nil
}
