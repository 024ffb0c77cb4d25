package notifycmd

import (
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/incident"
)

// again is how long after a process began to deliver the next one is started for a
// session that is stopped already, in case the first one was killed.
const again = time.Minute

// Configured reports whether settings have a channel.
func Configured(settings map[string]any) bool {
	interventions, _ := settings["interventions"].(map[string]any)
	channels, _ := interventions["notification_channels"].([]any)
	return len(channels) > 0
}

// Start starts a process that tells people about a stop, if an answer is one and there
// is a channel, and does not wait for it.
func Start(a *cli.App, store *audit.Store, key engine.SessionKey, answer engine.Answer) {
	if a.Detach == nil || !a.Notifies || !answer.Stop || answer.ID == "" {
		return
	}
	if !first(store, key, answer.ID) && time.Since(spoolOf(store).Ran()) < again {
		return
	}
	// Where it cannot be started, the stop is as good; the next process tells people.
	_ = a.Detach("--home", store.Dir, "notify", "deliver", "--once")
}

// first reports whether a record's decision stopped a session that was not stopped.
func first(store *audit.Store, key engine.SessionKey, id string) bool {
	n, err := strconv.ParseInt(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	if err != nil {
		return false
	}
	for rec, err := range store.Records(key, n) {
		return err == nil && incident.Stops(rec)
	}
	return false
}
