package channel

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Problem is something about a channel that a person should change.
type Problem struct {
	Channel string // its name
	Text    string
	Broken  bool // nothing can be sent over it
	Absent  bool // because a file or variable is missing, which may exist on another machine
}

// Problems finds what keeps channels from being used, and what a person probably did not intend.
// Nothing is sent.
func Problems(list []settings.Channel, from Sources) []Problem {
	var found []Problem
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.Name] {
			found = append(found, Problem{Channel: c.Name,
				Text: "another layer has a channel of this name, and that one is used; give this one another name"})
			continue
		}
		seen[c.Name] = true
		if f, broken := senderOf(c, from).(failing); broken {
			absent := errors.Is(f.err, fs.ErrNotExist) || errors.Is(f.err, errNotSet)
			found = append(found, Problem{c.Name, f.err.Error(), true, absent})
		}
		found = append(found, doubts(c)...)
	}
	return append(found, order(list)...)
}

func doubts(c settings.Channel) []Problem {
	var found []Problem
	if _, err := parseQuiet(c.Quiet); err != nil {
		found = append(found, Problem{Channel: c.Name, Text: err.Error() + "; until then it has no quiet hours"})
	}
	if secret := []string{"slack", "ntfy"}; slices.Contains(secret, c.Kind) && c.URL != "" && cmp.Or(c.SecretFile, c.SecretEnv) == "" {
		found = append(found, Problem{Channel: c.Name,
			Text: "anyone who knows its URL can use it; move it from url to a file of mode 0600, and name that file in url_file"})
	}
	return found
}

// order finds channels that are notified second although no channel is notified first.
func order(list []settings.Channel) []Problem {
	asked := slices.DeleteFunc(slices.Clone(list), func(c settings.Channel) bool { return !slices.Contains(c.About, notify.AboutApprovals) })
	if len(asked) == 0 || slices.ContainsFunc(asked, func(c settings.Channel) bool { return c.AfterSeconds == 0 }) {
		return nil
	}
	return []Problem{{Channel: asked[0].Name, Text: fmt.Sprintf("each channel for approvals has after_seconds, so %s is notified at once; "+
		"remove after_seconds from the one that comes first", first(asked))}}
}

func first(list []settings.Channel) string {
	return slices.MinFunc(list, func(a, b settings.Channel) int { return cmp.Compare(a.AfterSeconds, b.AfterSeconds) }).Name
}
