package notify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// messageLog contains the times at which each channel got messages about requests in the last hour, in Unix
// milliseconds. It is kept in a file, since a process that delivers ends when nothing waits.
type messageLog map[string][]int64

func (s Spool) sentFile() string { return filepath.Join(s.Dir, "sent.json") }

// messageLog reads the file; one that cannot be read counts as empty: too many messages are better than none.
func (s Spool) messageLog() messageLog {
	log := messageLog{}
	if raw, err := osfile.ReadFile(s.sentFile()); err == nil && json.Unmarshal(raw, &log) != nil || log == nil {
		log = messageLog{}
	}
	return log
}

// last returns when a channel got a message in the last hour, oldest first. Times in the future are from
// before the clock was set back, and do not count.
func (l messageLog) last(channel string, now time.Time) []int64 {
	hour := now.Add(-time.Hour).UnixMilli()
	l[channel] = slices.DeleteFunc(l[channel], func(at int64) bool { return at <= hour || at > now.UnixMilli() })
	return l[channel]
}

// addMessage records a message, and writes the file.
func (s Spool) addMessage(l messageLog, channel string, now time.Time) error {
	l[channel] = append(l.last(channel, now), now.UnixMilli())
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	tmp := s.sentFile() + ".new" // only the process that holds the lock writes it
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	return osfile.Rename(tmp, s.sentFile())
}
