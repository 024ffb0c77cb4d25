package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ranges writes line numbers in order as 3-5, 9.
func ranges(list []int) string {
	var parts []string
	for _, s := range spans(list) {
		parts = append(parts, s.String())
	}
	return strings.Join(parts, ", ")
}

// span is lines that follow each other.
type span struct{ first, last int }

func (s span) String() string {
	if s.last > s.first {
		return fmt.Sprintf("%d-%d", s.first, s.last)
	}
	return strconv.Itoa(s.first)
}

func spans(list []int) []span {
	var all []span
	for _, n := range list {
		if last := len(all) - 1; last >= 0 && all[last].last >= n-1 {
			all[last].last = n
			continue
		}
		all = append(all, span{n, n})
	}
	return all
}

// percent is truncated to a tenth, not rounded, so that only complete coverage shows
// as 100.0.
func percent(covered, total int) string {
	if total == 0 {
		return "–"
	}
	tenths := 1000 * covered / total
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// short writes a duration for people.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
