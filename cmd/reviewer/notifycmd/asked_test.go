package notifycmd

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/notify"
)

// A question is told to people only where a channel is about questions, without what the person
// said to the agent and what the call would write; nobody is notified once it is answered.
func TestAsked(t *testing.T) {
	now := time.Now()
	r := approval.Request{ID: "0123abcd-7", Session: "s", Harness: "claude-code", Workspace: "/home/anna/shop", Asked: now.UnixMilli(),
		Until: now.Add(time.Minute).UnixMilli(), Action: "npm publish", Goal: "ship it", Contents: []approval.Content{{Text: "const x"}},
		Effects: []engine.Effect{{Verb: "send", Target: "npm"}}, Risk: &engine.Risk{Level: "high"}, Reasons: []string{"it cannot be undone"}}
	for about, told := range map[string]bool{"": false, "stops": false, "approvals": true, "stops approvals": true} {
		channel := map[string]any{}
		for _, word := range strings.Fields(about) {
			list, _ := channel["about"].([]any)
			channel["about"] = append(list, word)
		}
		var started [][]string
		a := &cli.App{Detach: func(args ...string) error { started = append(started, args); return nil }}
		Configure(a, map[string]any{"interventions": map[string]any{"notification_channels": []any{channel}}})
		store := &audit.Store{Dir: t.TempDir()}
		if err := Asked(a, store, &r); err != nil {
			t.Fatal(err)
		}
		item, known, err := notify.Told(Dir(store), r.ID)
		if err != nil || known != told || len(started) > 0 != told {
			t.Fatalf("%q: %v, %v, started %v", about, known, err, started)
		}
		if !told {
			continue
		}
		if q := item.Entry.Approval; q.Action != "npm publish" || q.Level != "high" || q.Undo != "cannot be undone" ||
			!slices.Equal(q.Effects, []string{"send npm"}) {
			t.Errorf("%q: %+v", about, q)
		}
		if err := Answered(a, store, r.ID); err != nil {
			t.Error(err)
		}
	}
}
