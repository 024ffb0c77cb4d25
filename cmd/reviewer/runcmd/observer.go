package runcmd

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/notifycmd"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/serve/client"
)

// observer knows what the log, the transcripts and the stream say about a run. review is called by one
// goroutine, line by another.
type observer struct {
	p      *plan
	agent  agent
	began  time.Time
	stream stream

	ledger     int64 // number of the first record of the ledger that was not read
	size       int64 // of the ledger then
	sessions   []*followed
	compared   time.Time // when transcripts were compared last
	checked    time.Time // when the resident process was looked at last
	doubts     int       // looks in a row that found no process that is to be trusted
	unreviewed map[string]Unreviewed
	ran        map[string]Unreviewed // although denied
	events     []run.Event           // for the summary
	told       []run.Event           // for the supervisor
	loose      []engine.Note         // for a session that is not known yet
	unexpected int                   // connections that no reviewed call named
	only       bool                  // the sessions are known
	watching   bool                  // transcripts tell the usage, not the stream
	tails      map[string]int64      // what was read of transcripts
	made       int                   // interventions for which people were notified, if that was necessary
	tell       teller
	asked      *asked    // to rewind the conversation; nil: nothing is asked
	rewinds    int       // how often that was asked
	delivered  time.Time // when the process that notifies people was started last
}

// mask masks a string for the log and the summary.
func (p *plan) mask(text string) string { return cli.Masking(p.policy.mac)(text) }

func newObserver(p *plan) (*observer, error) {
	o := &observer{p: p, agent: findAgent(p.agent), began: time.Now(), stream: stream{messages: map[string]int64{}}, tails: map[string]int64{},
		unreviewed: map[string]Unreviewed{}, ran: map[string]Unreviewed{}, size: p.policy.log.LedgerSize(), ledger: 1}
	for r, err := range p.policy.log.Ledger() {
		if err != nil {
			return nil, err
		}
		o.ledger = r.N + 1
	}
	return o, nil
}

// line reads a line of the agent's stream.
func (o *observer) line(line []byte) {
	if len(line) == 0 || line[0] != '{' {
		return
	}
	o.stream.mu.Lock()
	defer o.stream.mu.Unlock()
	o.agent.line(&o.stream, line)
}

// event takes note of an event for the summary.
func (o *observer) event(e run.Event) {
	if e.Kind != run.EventStarted && e.Kind != run.EventEnded {
		o.events = append(o.events, e)
	}
}

// review looks at everything that has changed.
func (o *observer) review(last bool) run.Reviewed {
	o.findSessions()
	now := last || time.Since(o.compared) > milliseconds(o.p.settings.Run.CompareMS)
	if now {
		o.findResumed()
	}
	stop := ""
	for _, f := range o.sessions {
		f.read(o.p.policy.log)
		o.declare(f)
		if f.stopped != "" && stop == "" {
			stop = fill(o.p.settings.Run.Texts.Stopped, "why", f.stopped)
		}
	}
	if now {
		if why := o.compare(last); stop == "" {
			stop = why
		}
		o.compared = time.Now()
	}
	if why := o.below(); stop == "" {
		stop = why
	}
	if why := o.keepResident(); stop == "" {
		stop = why
	}
	o.deliver(last)
	o.rewind()
	o.talk()
	o.record(last)
	told := o.told
	o.told = nil
	return run.Reviewed{Usage: o.stream.used(), Stop: stop, Events: told}
}

// findSessions finds those that began since, in the folder of the run, and those that the stream names.
func (o *observer) findSessions() {
	for _, id := range o.stream.names() {
		o.follow(engine.SessionKey{Harness: o.agent.name, Session: o.p.mask(id)})
	}
	if o.only {
		return
	}
	size := o.p.policy.log.LedgerSize()
	if size == o.size {
		return
	}
	o.size = size
	for r, err := range o.p.policy.log.LedgerFrom(o.ledger) {
		if err != nil {
			return // the log's own commands report damage
		}
		if r.N < o.ledger {
			continue
		}
		o.ledger = r.N + 1
		if r.Kind == engine.KindOpen && r.Open != nil && r.Open.Of != "" && o.ours(r.Harness, r.Open.Workspace) {
			o.follow(engine.SessionKey{Harness: r.Harness, Session: r.Session})
		}
	}
}

// findResumed finds sessions that began before the run and go on in it, if the stream names none.
func (o *observer) findResumed() {
	if o.only || len(o.stream.names()) > 0 {
		return
	}
	list, err := o.p.policy.log.Written(o.began.UnixMilli())
	if err != nil {
		return // the log's own commands report damage
	}
	for _, one := range list {
		if o.ours(one.Key.Harness, one.Workspace) {
			o.follow(one.Key)
		}
	}
}

func (o *observer) ours(agent, workspace string) bool {
	return (o.agent.name == "" || agent == o.agent.name) && (inside(workspace, o.p.dir) || inside(o.p.dir, workspace))
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return path != "" && dir != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (o *observer) follow(key engine.SessionKey) {
	if !slices.ContainsFunc(o.sessions, func(f *followed) bool { return f.key == key }) {
		o.sessions = append(o.sessions, &followed{key: key, next: 1, since: o.began.UnixMilli(), blocked: []Blocked{}, interventions: []Made{}})
	}
}

// note keeps something for the log, and for the summary and whoever reads the run's events.
func (o *observer) note(what, detail string, e run.Event) {
	o.loose = append(o.loose, engine.Note{What: what, Detail: detail})
	e.Kind, e.Text = what, detail
	o.told = append(o.told, e)
}

// record writes what waits into the log of the run's first session; if none is known in the end, into the ledger.
func (o *observer) record(last bool) {
	if len(o.loose) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), logWait)
	defer cancel()
	for _, f := range o.sessions {
		if o.p.policy.log.NoteIn(ctx, f.key, o.loose...) == nil {
			o.loose = nil
			return
		}
	}
	if !last {
		return
	}
	for _, n := range o.loose {
		if err := o.p.policy.log.Note(ctx, n); err != nil {
			o.told = append(o.told, run.Event{Kind: "unrecorded", Text: o.p.mask(err.Error())})
			return
		}
	}
	o.loose = nil
}

// logWait is how long to wait for the lock of a log.
const logWait = 5 * time.Second

// fill replaces a placeholder in a string.
func fill(text, name, value string) string { return strings.ReplaceAll(text, "{"+name+"}", value) }

// keepResident starts the process that answers hooks again if it has ended: inside, nothing could be recorded. If it is
// another program that answers, which the hooks inside cannot see, the run ends. The looks also keep it from ending for
// lack of events.
func (o *observer) keepResident() (stop string) {
	if o.p.confined == nil || time.Since(o.checked) < milliseconds(o.p.settings.Run.ResidentCheckMS) {
		return ""
	}
	o.checked = time.Now()
	why := client.Check(o.p.policy.log.Dir)
	if why == "" {
		o.doubts = 0
		return ""
	}
	_ = o.p.startResident() // until it runs, calls are denied
	if o.doubts++; o.doubts < int(o.p.settings.Run.ResidentDoubts) {
		return ""
	}
	o.note("resident", o.p.mask(why), run.Event{})
	return fill(o.p.settings.Isolation.Texts.Resident, "why", why)
}

// deliver starts the process that notifies people, and carries out an organisation's own interventions. The process that
// answers hooks does not: it would have to use the environment of a confined program.
func (o *observer) deliver(last bool) {
	made := 0
	for _, f := range o.sessions {
		made += len(f.interventions)
	}
	early := !last && time.Since(o.delivered) < milliseconds(o.p.settings.Run.CompareMS)
	if o.p.confined == nil || early || made == o.made && !notifycmd.Waiting(o.p.policy.log) {
		return
	}
	o.made, o.delivered = made, time.Now()
	_ = o.p.detach(nil, "notify", "deliver", "--once") // the next one does the work
}
