package audit

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// snapshot is a cache of a chain's state. It only saves time: one that is
// missing, broken, forged or of another fold version is ignored.
type snapshot struct {
	End   end            `json:"end"`
	State *history.State `json:"state"`
}

// A snapshot's file is its MAC and its body; the MAC keeps a flipped bit from
// becoming a state.
const (
	snapshotBegin = `{"mac":"`
	snapshotBody  = `","snapshot":`
	maxSnapshot   = engine.MaxKeyframe + 4<<10
)

func snapshotPath(dir string) string { return filepath.Join(dir, "snapshot.json") }

func readSnapshot(dir string, mac func([]byte) string) *snapshot {
	b, err := osfile.ReadFile(snapshotPath(dir))
	if err != nil || len(b) > maxSnapshot || mac == nil {
		return nil
	}
	b, ok := bytes.CutPrefix(b, []byte(snapshotBegin))
	if !ok || len(b) < hashHex {
		return nil
	}
	sum, b := b[:hashHex], b[hashHex:]
	b, ok = bytes.CutPrefix(b, []byte(snapshotBody))
	body, ended := bytes.CutSuffix(b, []byte("}\n"))
	if !ok || !ended || !hmac.Equal(sum, []byte(mac(body))) {
		return nil
	}
	var s snapshot
	if err := json.Unmarshal(body, &s); err != nil || s.State == nil || s.State.Fold != history.FoldVersion || s.State.Check() != nil {
		return nil
	}
	return &s
}

// restore adopts a snapshot if the files contain its newest line.
func (c *chain) restore(s *snapshot) bool {
	if c.open(s.End.File) != nil || !c.newestLineIs(s.End) {
		return false
	}
	inode := c.end.inode
	c.end, c.state, c.saved = s.End, s.State, s.State.N
	c.end.inode = inode
	return true
}

// save writes the snapshot. It is renamed into place, not synced: after a loss
// of power it may be missing or empty, which does no harm.
func (c *chain) save(mac func([]byte) string) error {
	body, err := json.Marshal(snapshot{End: c.end, State: c.state})
	if err != nil {
		return fmt.Errorf("encode snapshot: %w", err)
	}
	b := append([]byte(snapshotBegin+mac(body)+snapshotBody), body...)
	tmp, err := writeTemp(c.dir, "snapshot", append(b, "}\n"...))
	if err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	if err := osfile.Rename(tmp, snapshotPath(c.dir)); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("write snapshot: %w", err)
	}
	c.saved = c.state.N
	return nil
}
