package notifycmd

import (
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/incident"
)

// again is how long after a process began to deliver the next one is started for a
// session that is stopped already, in case the first one was killed.
const again = time.Minute

// Start starts a process that tells people about a stop, if an answer is one, and does
// not wait for it. detach starts this program; nil: nothing is started.
func Start(detach func(args ...string) error, store *audit.Store, key engine.SessionKey, answer engine.Answer) {
	if detach == nil || !answer.Stop || answer.ID == "" {
		return
	}
	if !first(store, key, answer.ID) && time.Since(spoolOf(store).Ran()) < again {
		return
	}
	// Where it cannot be started, the stop is as good; the next process tells people.
	_ = detach("--home", store.Dir, "notify", "deliver", "--once")
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
