package audit

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Recent is a session from which others can take over denials, limits or a
// stop.
type Recent struct {
	Key   engine.SessionKey
	Chain string
	State *history.State
}

// Recent returns the sessions of a workspace that were written to since a time in Unix
// milliseconds, except own. It takes no lock: of a session that is being written to, the
// records so far are read. A session that cannot be read is left out: its damage denies its
// own calls only.
//
// For each of the other sessions, it costs one look at a file.
func (s *Store) Recent(own engine.SessionKey, workspace string, since int64) ([]Recent, error) {
	dirs, err := s.sessionDirs()
	if err != nil {
		return nil, err
	}
	var list []Recent
	for _, dir := range dirs {
		if dir == s.sessionDir(own) || !writtenSince(dir, since) {
			continue
		}
		if first, err := firstRecord(dir); err != nil || workspaceOf(first) != workspace {
			continue
		}
		state, err := s.peek(dir)
		if err != nil {
			state, err = s.peek(dir) // a writer may have repaired or rotated meanwhile
		}
		if err == nil && state.N > 0 {
			list = append(list, Recent{Key: engine.SessionKey{Harness: state.Harness, Session: state.Session}, Chain: state.Chain, State: state})
		}
	}
	slices.SortFunc(list, func(a, b Recent) int {
		return cmp.Or(cmp.Compare(a.State.Started, b.State.Started), cmp.Compare(a.Chain, b.Chain))
	})
	return list, nil
}

func workspaceOf(first *engine.Record) string {
	workspace, _ := openingOf(first)
	return workspace
}

// writtenSince reports whether a chain may have been written to since a time. The time of its
// lock is that of the latest sync, at most syncEvery before the latest line.
func writtenSince(dir string, since int64) bool {
	info, err := os.Stat(filepath.Join(dir, "lock"))
	return err != nil || info.ModTime().Add(2*syncEvery).After(time.UnixMilli(since))
}
