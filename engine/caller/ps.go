package caller

import (
	"strconv"
	"strings"
	"time"
)

// psTable reads what ps lists on macOS: pid, parent, elapsed time and command.
func psTable(list string, now time.Time) map[int]Process {
	table := map[int]Process{}
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		if err1 == nil && err2 == nil {
			began := now.Add(-elapsed(f[2])).UnixMilli()
			table[pid] = Process{Pid: pid, Parent: parent, Lost: -1, Command: strings.Join(f[3:], " "), Began: began, Start: began}
		}
	}
	return table
}

// elapsed reads a time as ps writes it: days-hours:minutes:seconds.
func elapsed(text string) time.Duration {
	days, clock, ok := strings.Cut(text, "-")
	if !ok {
		days, clock = "0", text
	}
	n, _ := strconv.Atoi(days)
	total := time.Duration(n) * 24 * time.Hour
	unit := time.Second
	parts := strings.Split(clock, ":")
	for i := len(parts) - 1; i >= 0; i-- {
		n, _ := strconv.Atoi(parts[i])
		total += time.Duration(n) * unit
		unit *= 60
	}
	return total
}

// commandLine writes the words of a Windows command as on other systems: programs with
// slashes and without .exe, and no word with a space in it.
func commandLine(words []string) string {
	var line []string
	for i, w := range words {
		if w = strings.ReplaceAll(w, " ", "_"); i < 2 {
			w = strings.ReplaceAll(w, `\`, "/")
		}
		if i == 0 {
			w = strings.ToLower(w)
			for _, ext := range []string{".exe", ".cmd", ".bat", ".com"} {
				w = strings.TrimSuffix(w, ext)
			}
		}
		line = append(line, w)
	}
	return strings.Join(line, " ")
}
