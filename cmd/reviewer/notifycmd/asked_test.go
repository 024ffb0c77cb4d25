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
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// A question is told to people only where a channel is about questions, without what the person
// said to the agent and what the call would write; nobody is notified once it is answered.
func TestAsked(t *testing.T) {
	now := time.Now()
	r := approval.Request{ID: "0123abcd-7", Session: "s", Harness: "claude-code", Workspace: "/home/anna/shop", Asked: now.UnixMilli(),
		Until: now.Add(time.Minute).UnixMilli(), Action: "npm publish", Goal: "ship it", Contents: []approval.Content{{Text: "const x"}},
		Effects: []engine.Effect{{Verb: "send", Target: "npm"}}, Risk: &engine.Risk{Level: "high"}, Reasons: []string{"it cannot be undone"}}
	for about, told := range map[string]bool{"": false, "stops": false, "approvals": true, "stops approvals": true} {
		p := notifying(settings.Channel{})
		if about != "" {
			p = notifying(settings.Channel{About: strings.Fields(about)})
		}
		var started [][]string
		a := &cli.App{Detach: func(args ...string) error { started = append(started, args); return nil }}
		store := &audit.Store{Dir: t.TempDir()}
		if err := Asked(a, store, p, &r); err != nil {
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
		if err := Answered(store, p, r.ID); err != nil {
			t.Error(err)
		}
	}
}
