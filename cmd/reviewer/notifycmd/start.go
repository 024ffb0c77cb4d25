package notifycmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/notify/channel"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// again is the time after which another process is started for a session that is
// already stopped, in case the first one was killed.
const again = time.Minute

// told reports whether a policy has a channel for a kind of event; channels that name none are for stops.
func told(p *review.Policy, about string) bool {
	return p != nil && slices.ContainsFunc(p.Settings.Interventions.NotificationChannels, func(c settings.Channel) bool {
		return slices.Contains(c.About, about) || c.About == nil && about == notify.AboutStops
	})
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
func Start(a *cli.App, store *audit.Store, p *review.Policy, key engine.SessionKey, answer engine.Answer) {
	if a.Detach == nil || answer.ID == "" || p == nil {
		return
	}
	own := channel.Tells(p.Settings.Interventions.Kinds[answer.Intervention]) && answer.Mode != engine.ModeDuplicate
	if own || answer.Stop && told(p, notify.AboutStops) && (first(store, key, answer.ID) || time.Since(spoolOf(store).Ran()) >= again) {
		// A failure does not affect the answer; the next process does the work.
		_ = a.Detach("--home", store.Dir, "notify", "deliver", "--once")
	}
}

// StartLate is Start for a review that was made after the answer to its call.
func StartLate(a *cli.App, store *audit.Store, p *review.Policy, rec *engine.Record) {
	if a.Detach != nil && told(p, notify.AboutStops) && incident.Stops(rec) {
		_ = a.Detach("--home", store.Dir, "notify", "deliver", "--once") // as in Start
	}
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
