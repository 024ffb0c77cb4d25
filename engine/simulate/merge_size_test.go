package simulate

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// syntheticShard is the report of so many sessions: 2 in 5 differ, in 40 kinds of change,
// and each has a workspace of its own, one in 50 a file that could not be read.
func syntheticShard(index, of, sessions int) *Impact {
	m := newImpact(Named{Name: "recorded", Recorded: true}, Named{Name: "policy", Digest: "d"}, "e", Selection{})
	m.Shard = &Shard{Index: index, Of: of, Manifest: "m"}
	for i := range sessions {
		m.Add(syntheticSession((index-1)*sessions + i))
	}
	return m
}

func syntheticSession(n int) *Impact {
	id := fmt.Sprintf("%08x-5e55-4000-8000-%012x", n*2654435761%(1<<32), n)
	m := newImpact(Named{Name: "recorded", Recorded: true}, Named{Name: "policy", Digest: "d"}, "e", Selection{})
	m.Sessions.Total, m.Sources.Files, m.Sources.Lines, m.Calls.Total = 1, 1, 100, 50
	m.Calls.States[Unchanged] = 50
	m.Calls.Matrix = []Cell{{From: engine.Allow, To: engine.Allow, Count: 50}}
	m.Workspaces = []Group{{Name: fmt.Sprintf("/srv/%s", id), Total: 50}}
	m.Tools = []Group{{Name: "Bash", Total: 40}, {Name: "Read", Total: 10}}
	if n%5 < 2 {
		step := Step{ID: id[:8] + "-7", Session: id, Index: int64(n % 50)}
		m.Sessions.Changed = 1
		m.Kinds = []Kind{{Phase: engine.PhasePre, State: Tightened, From: engine.Allow, To: engine.Block, Rule: fmt.Sprint("rule.", n%40), Count: 1, Example: step}}
		m.Changed = []SessionChange{{Session: id, Workspace: m.Workspaces[0].Name, Calls: 50, Tightened: 1 + int64(n%9), First: step, Steps: []Step{step}}}
	}
	if n%50 == 0 {
		m.Sources.Failed, m.Sources.Troubles = 1, []Trouble{{Path: id + ".jsonl", Why: "truncated", Count: 1, Failed: true}}
	}
	return m
}

// tree merges in blocks of fan, as the job on a cluster does, and tells the sizes of the
// largest document of each level.
func tree(t *testing.T, parts []*Impact, fan int) (*Impact, []int) {
	t.Helper()
	var sizes []int
	for {
		largest := 0
		for _, p := range parts {
			largest = max(largest, len(text(t, p)))
		}
		sizes = append(sizes, largest)
		if len(parts) <= fan {
			m, err := Merge(parts)
			if err != nil {
				t.Fatal(err)
			}
			return m, append(sizes, len(text(t, m)))
		}
		var next []*Impact
		for len(parts) > 0 {
			n := min(fan, len(parts))
			m, err := MergeSome(parts[:n])
			if err != nil {
				t.Fatal(err)
			}
			next, parts = append(next, m), parts[n:]
		}
		parts = next
	}
}

func text(t *testing.T, m *Impact) []byte {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// However many sessions and shards there are, a report stays as large as its bounds, and a
// tree of merges gives the bytes of one merge. SHARDS and SESSIONS make it larger; -v shows
// the sizes (docs/measurements.md).
func TestMergeSizes(t *testing.T) {
	setting := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	shards, sessions := setting("SHARDS", 24), setting("SESSIONS", 60)
	var parts []*Impact
	for i := range shards {
		parts = append(parts, syntheticShard(i+1, shards, sessions))
	}
	began := time.Now()
	m, sizes := tree(t, parts, 16)
	t.Logf("%d shards of %d sessions: bytes of a report by level %v; %v for all merges and their JSON", shards, sessions, sizes, time.Since(began).Round(time.Millisecond))
	flat, err := Merge(parts)
	if err != nil || cmp.Diff(document(t, flat), document(t, m)) != "" {
		t.Fatalf("the tree and one merge differ: %v", err)
	}
	if m.Sessions.Total != int64(shards*sessions) || len(m.Workspaces) > maxGroups || len(m.Changed) > MaxChanged || len(m.Sources.Troubles) > maxTroubles {
		t.Errorf("%d sessions, %d workspaces, %d changed, %d troubles", m.Sessions.Total, len(m.Workspaces), len(m.Changed), len(m.Sources.Troubles))
	}
	if m.Sources.Failed != int64((shards*sessions+49)/50) {
		t.Errorf("%d files failed", m.Sources.Failed)
	}
}
