package queue

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// A process that is killed leaves its request behind. The next question removes it, once no
// question can wait that long.
func TestLeftBehind(t *testing.T) {
	q := Queue{Log: &audit.Store{Dir: t.TempDir()}}
	for _, id := range []string{"0a-1", "0a-2"} {
		if fresh, err := q.Put(approval.Request{ID: id}); !fresh || err != nil {
			t.Fatal(fresh, err)
		}
	}
	unfinished := filepath.Join(q.dir(), ".0a-3.17")
	if err := os.WriteFile(unfinished, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ago := func(path string, d time.Duration) {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-d)); err != nil {
			t.Fatal(err)
		}
	}
	ago(q.path("0a-1"), keep+time.Second)
	ago(unfinished, keep+time.Second)
	ago(q.path("0a-2"), keep-time.Minute)
	if _, err := q.Put(approval.Request{ID: "0a-4"}); err != nil {
		t.Fatal(err)
	}
	ids, err := q.IDs()
	if slices.Sort(ids); err != nil || !slices.Equal(ids, []string{"0a-2", "0a-4"}) {
		t.Errorf("%q, %v", ids, err)
	}
	if _, err := os.Lstat(unfinished); !os.IsNotExist(err) {
		t.Errorf("the unfinished file: %v", err)
	}
}

// Requests without a question in the log do not wait, whoever wrote them.
func TestWithoutAQuestion(t *testing.T) {
	q := Queue{Log: &audit.Store{Dir: t.TempDir()}}
	for _, id := range []string{"0a-1", "0b-2"} {
		if _, err := q.Put(approval.Request{ID: id, Session: "s", Harness: "claude-code", Until: time.Now().Add(time.Hour).UnixMilli()}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := q.Waiting(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}
