package notifycmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/agent-reviewer/reviewer/engine/notify"
)

// again is the time after which another process is started for a session that is
// already stopped, in case the first one was killed.
const again = time.Minute

// Configure records for which answers the settings require a delivery.
func Configure(a *cli.App, settings map[string]any) {
	interventions, _ := settings["interventions"].(map[string]any)
	channels, _ := interventions["notification_channels"].([]any)
	kinds, _ := interventions["kinds"].(map[string]any)
	a.Notifies, a.OwnKinds = slices.ContainsFunc(channels, about(notify.AboutStops)), telling(kinds)
	a.NotifiesRequests = slices.ContainsFunc(channels, about(notify.AboutApprovals))
}

// telling lists the kinds that start a program or call a webhook. Others need no delivery.
func telling(kinds map[string]any) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(kinds)), func(name string) bool {
		kind, _ := kinds[name].(map[string]any)
		return kind["command"] == nil && kind["webhook"] == nil && kind["webhook_file"] == nil && kind["webhook_env"] == nil
	})
}

// about selects the channels for a kind of event; channels that name none are for stops.
func about(what string) func(channel any) bool {
	return func(channel any) bool {
		c, _ := channel.(map[string]any)
		list, named := c["about"].([]any)
		return slices.Contains(list, any(what)) || !named && what == notify.AboutStops
	}
}

// Ask writes a request for approval into the spool, and starts a process that delivers it
// unless one is running. It does not wait for the process. Whoever answers the request
// calls notify.Resolve with Dir and its id; nobody else is notified after that.
func Ask(a *cli.App, store *audit.Store, e notify.Entry) error {
	spool := spoolOf(store)
	if err := spool.Put(e); err != nil {
		return err
	}
	if a.Detach == nil || spool.Busy() {
		return nil
	}
	return a.Detach("--home", store.Dir, "notify", "deliver", "--once")
}

// Waiting reports whether something waits in the spool that no process delivers.
func Waiting(store *audit.Store) bool {
	spool := spoolOf(store)
	return spool.Waiting() && !spool.Busy()
}

// Dir returns the folder of the spool, for notify.Resolve and notify.Told.
func Dir(store *audit.Store) string { return spoolOf(store).Dir }

// Start starts a process that delivers notifications about a stop, or carries out an
// organisation's own intervention, if the answer requires it. It does not wait for the
// process.
func Start(a *cli.App, store *audit.Store, key engine.SessionKey, answer engine.Answer) {
	if a.Detach == nil || answer.ID == "" {
		return
	}
	own := slices.Contains(a.OwnKinds, answer.Intervention) && answer.Mode != engine.ModeDuplicate
	if own || tells(a, store, key, answer) {
		// A failure does not affect the answer; the next process does the work.
		_ = a.Detach("--home", store.Dir, "notify", "deliver", "--once")
	}
}

// StartLate is Start for a review that was made after the answer to its call.
func StartLate(a *cli.App, store *audit.Store, rec *engine.Record) {
	if a.Detach != nil && a.Notifies && incident.Stops(rec) {
		_ = a.Detach("--home", store.Dir, "notify", "deliver", "--once") // as in Start
	}
}

// tells reports whether people have to be notified of a stop now.
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

// Alerts are the channels through which people are told about the installation: those for stops.
type Alerts struct {
	channels []notify.Channel
	limit    time.Duration // of one attempt
}

// AlertsOf reads the settings.
func AlertsOf(a *cli.App, home string) (Alerts, error) {
	to, err := configuration(a, home)
	other := func(c notify.Channel) bool { return !to.when[c.Name()].Takes(notify.KindInstallation) }
	return Alerts{slices.DeleteFunc(to.channels, other), to.plan.Timeout}, err
}

// Send tells people something about a part of the installation, and of an agent if it concerns only one. kept: the state
// directory is there, so that its spool can be used; otherwise each channel gets it once.
func (l Alerts) Send(a *cli.App, store *audit.Store, part, agent, text string, kept bool) error {
	if len(l.channels) == 0 {
		return nil
	}
	now := time.Now()
	e := notify.Entry{V: notify.EntryVersion, ID: fmt.Sprintf("installation-%.16s-%d", engine.HexSum([]byte(text)), now.Unix()),
		Kind: notify.KindInstallation, Time: now.UTC().Format(time.RFC3339), Harness: agent,
		Title: "reviewer: the installation has changed (" + part + ")", Text: text, Next: "reviewer doctor"}
	if kept {
		return Ask(a, store, e)
	}
	for _, c := range l.channels {
		go func() { _ = notify.Send(context.Background(), c, e, l.limit) }() // there is no log in which a failure could be noted
	}
	return nil
}
