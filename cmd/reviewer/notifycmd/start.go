package notifycmd

import (
	"maps"
	"slices"
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

// Configure notes which answers the settings have something done about.
func Configure(a *cli.App, settings map[string]any) {
	interventions, _ := settings["interventions"].(map[string]any)
	channels, _ := interventions["notification_channels"].([]any)
	kinds, _ := interventions["kinds"].(map[string]any)
	a.Notifies, a.OwnKinds = len(channels) > 0, slices.Sorted(maps.Keys(kinds))
}

// Start starts a process that tells people about a stop, or carries out a kind of
// intervention of the organisation's own, if an answer is one and there is something to
// do, and does not wait for it.
func Start(a *cli.App, store *audit.Store, key engine.SessionKey, answer engine.Answer) {
	if a.Detach == nil || answer.ID == "" {
		return
	}
	own := slices.Contains(a.OwnKinds, answer.Intervention) && answer.Mode != engine.ModeDuplicate
	if own || tells(a, store, key, answer) {
		// Where it cannot be started, the answer is as good; the next process does the work.
		_ = a.Detach("--home", store.Dir, "notify", "deliver", "--once")
	}
}

// tells reports whether people are to be told about a stop now.
func tells(a *cli.App, store *audit.Store, key engine.SessionKey, answer engine.Answer) bool {
	if !a.Notifies || !answer.Stop {
		return false
	}
	return first(store, key, answer.ID) || time.Since(spoolOf(store).Ran()) >= again
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
