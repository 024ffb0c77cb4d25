package incident

import (
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// worse returns the more severe of two levels; an unknown one counts as none.
func worse(a, b string) string {
	if slices.Index(engine.Severities(), b) > slices.Index(engine.Severities(), a) {
		return b
	}
	return a
}

// severity returns the worst level that the issue reached. An issue of unknown severity counts
// as high, since it stopped a session.
func severity(worst map[string]string, c Cause) string {
	level := worse(worst[c.Issue], c.Level)
	if slices.Contains(engine.Severities(), level) {
		return level
	}
	return "high"
}

// summary describes in two sentences what happened.
func summary(i *Incident) string {
	return fmt.Sprintf("Session %s of %s was stopped: %s. Until then it made %s, of which %d were denied; it wrote %s and deleted %s.",
		i.Session, i.Harness, i.Cause.Reason, engine.Counted(int(i.Impact.Calls), "call", "calls"), i.Impact.Denied,
		engine.Counted(int(i.Impact.Written), "path", "paths"), engine.Counted(int(i.Impact.Deleted), "path", "paths"))
}
