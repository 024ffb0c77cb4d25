package stats

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Fatigue describes how much people are asked, by policy and by agents themselves, and how they
// answer. Agents report the questions of their own where the hook for them is installed.
type Fatigue struct {
	Policy        int64            `json:"policy"`  // questions of policy
	Agent         int64            `json:"agent"`   // questions that agents asked by themselves
	Granted       map[string]int64 `json:"granted"` // questions that were not asked, by the proof (grant: proven)
	Waited        map[string]int64 `json:"waited"`  // questions that waited outside the agent, by what ended them: terminal, http… if a person answered, else timeout, stop or rule
	Approved      int64            `json:"approved"`
	Refused       int64            `json:"refused"`
	Open          int64            `json:"open"`
	Hours         float64          `json:"hours"`                    // time of work: between records of a session, without longer pauses
	PerHour       float64          `json:"per_hour"`                 // questions per hour of work
	ApprovedShare *Rate            `json:"approved_share,omitempty"` // approved of those that were answered; absent: none was
	AnswerTime    ReviewTime       `json:"answer_time"`              // from the question to the result, without the time that the call took
	Undone        int64            `json:"undone"`                   // approved calls whose files were restored or discarded later in the session
	UndoneShare   *Rate            `json:"undone_share,omitempty"`   // of those approved; absent: none was
}

// pauseMS is the longest pause between two records that counts as work.
const pauseMS = 10 * 60 * 1000

// maxAsked limits the calls of a session that are watched: open questions, and approved calls.
const maxAsked = 4096

// verbDiscard is the verb of effects that replace changes with an earlier
// version.
const verbDiscard = "discard"

// watched is a call about which a person was asked.
type watched struct {
	id     string // of the record
	t, n   int64
	paths  []string
	undone bool
	by     string // the channel of a person who approved it outside the agent; the answer's time is counted
}

// fatigue counts questions and answers.
type fatigue struct {
	sum   Fatigue
	times *times
	work  int64 // milliseconds
	costs *costs

	last     int64              // time of the session's latest record
	calls    map[string]watched // calls that did not end yet, by agent and id
	open     map[string]watched // of these, those about which a person was asked
	approved []watched
	points   map[string]int64 // number of the record of a checkpoint, by its id
}

func newFatigue(c *costs) *fatigue {
	return &fatigue{costs: c, times: newTimes(), sum: Fatigue{Granted: map[string]int64{}, Waited: map[string]int64{}}}
}

// begin starts a session.
func (f *fatigue) begin() {
	f.end()
	f.last, f.calls, f.open, f.approved, f.points = 0, map[string]watched{}, map[string]watched{}, nil, map[string]int64{}
}

// end counts what is left open in the session.
func (f *fatigue) end() {
	f.sum.Open += int64(len(f.open))
	f.open = nil
}

// see counts a record of the session.
func (f *fatigue) see(r *engine.Record) {
	if f.last > 0 {
		f.work += min(max(r.T-f.last, 0), pauseMS)
	}
	f.last = r.T
	key := agentOf(r) + "\x00" + r.Call
	switch {
	case r.Act != nil:
		f.act(r)
	case r.Control != nil && r.Control.Decided != nil:
		f.decided(r)
	case r.Control != nil && r.Control.Do == engine.ControlRestore:
		f.restored(r.Control.Checkpoint)
	case r.Kind == engine.KindPre && r.Answer != nil:
		f.call(key, r)
	case r.Kind == engine.KindPost:
		f.result(key, r)
	case r.Phase == engine.PhaseRequest && r.Answer != nil:
		f.request(key, r)
	case r.Kind == engine.KindPrompt:
		f.unanswered("")
	case r.Kind == engine.KindStop:
		f.unanswered(agentOf(r) + "\x00")
	}
}

func (f *fatigue) call(key string, r *engine.Record) {
	w := watched{id: r.ID(), t: r.T, n: r.N, paths: changed(r.Action)}
	if r.Answer.Effect != engine.Block {
		f.discarded(r.Action)
	}
	if r.Call == "" || len(f.calls) >= maxAsked {
		return
	}
	f.calls[key] = w
	if r.Answer.Effect == engine.Ask {
		f.sum.Policy++
		f.open[key] = w
	}
}

// request counts a question of the agent. Where policy asked already, it is the same one.
func (f *fatigue) request(key string, r *engine.Record) {
	if g := r.Answer.Granted; g != nil {
		f.sum.Granted[g.By]++
		return
	}
	if _, there := f.open[key]; there {
		return
	}
	f.sum.Agent++
	w, known := f.calls[key]
	if !known {
		f.sum.Open++
		return
	}
	w.t = r.T
	f.open[key] = w
}

func (f *fatigue) result(key string, r *engine.Record) {
	w, asked := f.open[key]
	delete(f.open, key)
	delete(f.calls, key)
	if !asked || r.Event == nil || r.Event.Result == nil {
		return
	}
	if r.Event.Result.Outcome == engine.OutcomeDenied {
		f.sum.Refused++
		return
	}
	f.sum.Approved++
	if w.by == "" {
		f.waited(w, r.T-r.Event.Result.MS)
	}
	if len(f.approved) < maxAsked {
		f.approved = append(f.approved, w)
	}
}

// waited counts the time until a question was answered.
func (f *fatigue) waited(w watched, until int64) {
	f.times.add(float64(until - w.t))
	f.costs.waited(w.id, float64(until-w.t))
}

// decided counts how a question that waited ended. An approval counts when the call has run.
func (f *fatigue) decided(r *engine.Record) {
	c := r.Control
	person, by := c.Decided.Who == engine.DecidedPerson, c.Decided.Who
	if person {
		by = c.Decided.Channel
	}
	waited := counts[string](f.sum.Waited)
	waited.add(by, Other)
	for key, w := range f.open {
		if w.id != c.Record {
			continue
		}
		if w.by != "" { // the approval no longer applied, so the question did not end with it
			waited[w.by]--
		}
		if person {
			f.waited(w, r.T)
			w.by = by
		}
		if f.open[key] = w; c.Do != engine.ControlApprove {
			f.denied(key, person)
		}
		return
	}
}

// denied ends a question whose call does not run.
func (f *fatigue) denied(key string, person bool) {
	if person {
		f.sum.Refused++
	}
	delete(f.open, key)
	delete(f.calls, key)
}

// unanswered counts the open questions of an agent as refused.
func (f *fatigue) unanswered(agent string) {
	for key := range f.open {
		if strings.HasPrefix(key, agent) {
			f.denied(key, true)
		}
	}
}

// act looks for checkpoints, and for files that were restored to one.
func (f *fatigue) act(r *engine.Record) {
	a := r.Act
	if c := a.Checkpoint; c != nil && c.ID != "" && f.points[c.ID] == 0 && len(f.points) < maxAsked {
		f.points[c.ID] = r.N
	}
	if b := a.Rollback; b != nil && b.Restored > 0 {
		f.restored(b.Checkpoint)
	}
}

// restored counts the approved calls after a checkpoint that changed files. A checkpoint is recorded
// after the call that it precedes.
func (f *fatigue) restored(checkpoint string) {
	n, known := f.points[checkpoint]
	for i := range f.approved {
		if w := &f.approved[i]; known && w.n >= n-1 && len(w.paths) > 0 {
			f.undo(w)
		}
	}
}

// discarded counts the approved calls whose files an action discards.
func (f *fatigue) discarded(a *engine.Action) {
	if a == nil {
		return
	}
	for i := range a.Effects {
		if e := &a.Effects[i]; e.Verb == verbDiscard {
			f.discard(e)
		}
	}
}

func (f *fatigue) discard(e *engine.Effect) {
	for i := range f.approved {
		for _, p := range f.approved[i].paths {
			if p == e.Short || strings.HasPrefix(p, strings.TrimSuffix(e.Short, "/")+"/") {
				f.undo(&f.approved[i])
			}
		}
	}
}

func (f *fatigue) undo(w *watched) {
	if !w.undone {
		w.undone = true
		f.sum.Undone++
	}
}

// changed lists the paths that an action writes or deletes.
func changed(a *engine.Action) []string {
	var paths []string
	if a == nil {
		return nil
	}
	for i := range a.Effects {
		if e := &a.Effects[i]; (e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete) && e.Short != "" {
			paths = append(paths, e.Short)
		}
	}
	return paths
}

func (f *fatigue) document() Fatigue {
	f.end()
	d := f.sum
	d.Hours, d.AnswerTime = places(float64(f.work)/3_600_000, 2), f.times.document()
	if f.work > 0 {
		d.PerHour = places(float64(d.Policy+d.Agent)*3_600_000/float64(f.work), 2)
	}
	if n := d.Approved + d.Refused; n > 0 {
		rate := rateOf(d.Approved, n)
		d.ApprovedShare = &rate
	}
	if d.Approved > 0 {
		rate := rateOf(d.Undone, d.Approved)
		d.UndoneShare = &rate
	}
	return d
}
