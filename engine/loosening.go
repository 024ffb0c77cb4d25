package engine

import (
	"fmt"
	"strings"
)

// Loosening is what one policy may allow that another one does not, in numbers of recorded
// decisions.
type Loosening struct {
	Decisions int64    // that were examined
	Loosened  int64    // with a milder answer
	Maybe     int64    // with an answer that may be milder, since a fact is missing
	Unknown   int64    // that could not be compared, and may be milder; all, if nothing could be compared
	Settings  []string // loosened settings that apply to all decisions, such as enforcement
}

// Above returns why a policy is not known to loosen at most so many decisions, as what a
// simulation does; empty: it is known. What could not be compared counts.
func (l Loosening) Above(most int64) string {
	all, may := Counted(l.Decisions, "decision", "decisions"), l.Maybe+l.Unknown
	switch {
	case l.Decisions == 0:
		return "covers no decisions"
	case len(l.Settings) > 0:
		return "loosens what applies to all decisions: " + strings.Join(l.Settings, ", ")
	case l.Unknown >= l.Decisions:
		return "could compare none of " + all
	case l.Loosened+may <= most:
		return ""
	case may == 0:
		return fmt.Sprintf("loosened %d of %s", l.Loosened, all)
	case l.Loosened == 0:
		return fmt.Sprintf("may have loosened %d of %s", may, all)
	}
	return fmt.Sprintf("loosened %d and may have loosened %d of %s", l.Loosened, may, all)
}

// Counted writes a count with its noun: 1 file, 2 files.
func Counted[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
