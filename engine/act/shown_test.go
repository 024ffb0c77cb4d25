package act

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/google/go-cmp/cmp"
)

// A question shows what the call would write, masked, and what the session did before.
func TestShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d := newMemoryLog(), &desk{limit: 4 * time.Second} // nobody answers within a second
		r := queueing(l, d, review.QueueAlways)
		r.Classifier = classifyFunc(func(e engine.Event, w string) (engine.Facts, error) {
			f, err := plainly(e, w)
			f.Action.Resource = e.Call
			f.Action.Contents = map[string]engine.ContentFacts{"edits[0].old": {Bytes: 4}, "edits[0].new": {Bytes: 7}, "content": {}, "gone": {}}
			return f, err
		})
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			if _, err := r.Handle(t.Context(), toolCall(id)); err != nil {
				t.Fatal(err)
			}
		}
		e := toolCall("last")
		long := strings.Repeat("x", 1<<20)
		e.Args = []byte(`{"path": "shop.go", "content": "` + long + `", "edits": [{"old": "abcd", "new": "hunter2"}]}`)
		if _, err := r.Handle(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		q := d.opened[len(d.opened)-1]
		if diff := cmp.Diff([]string{"Bash b (ask)", "Bash c (ask)", "Bash d (ask)", "Bash e (ask)", "Bash f (ask)"}, q.Before); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"content: 1048576 bytes, of which the beginning is shown"}, q.Unseen); diff != "" {
			t.Error(diff)
		}
		if len(q.Contents) != 3 || len(q.Contents[0].Text) > maxContent+len("…") || len(q.Contents[0].Text) < maxContent-10 {
			t.Fatalf("%d contents", len(q.Contents))
		}
		if diff := cmp.Diff([]approval.Content{{Name: "edits[0].new", Text: "REDACTED", Bytes: 7},
			{Name: "edits[0].old", Text: "abcd", Bytes: 4}}, q.Contents[1:]); diff != "" {
			t.Error(diff)
		}
	})
}
