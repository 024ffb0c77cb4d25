package simulate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Comparison evaluates several candidates and a baseline on the same sessions.
type Comparison struct {
	Baseline   Side
	Candidates []Side
	Env        engine.Env
	Selection  Selection
	Rows       engine.Rows // with which the records of transcripts were made; a side with other rows reads the events again

	// UserOf returns whose workspace a folder is; empty: that is unknown. Only a Selection of users needs it.
	UserOf func(workspace string) string

	// Event returns a context for the decisions about one event, in which policies use what
	// others have computed for it; nil: each decides alone.
	Event func(context.Context) context.Context

	// Policies finds the policy of a recorded decision by its digest, for the
	// fidelity check of audit logs; nil: no check. It may be called by several
	// goroutines at once.
	Policies func(digest string) (*review.Policy, error)
}

// Session compares one session and returns an Impact for each candidate. It may
// be called by several goroutines at once. An error means that the context
// ended; what cannot be read or decided is in the Impacts.
func (c *Comparison) Session(ctx context.Context, s RecordedSession) ([]*Impact, error) {
	r := c.reading(s)
	for m, err := range s.Events {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			err = r.step(ctx, m)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r.broken = err
			break
		}
	}
	return r.impacts(), nil
}

// Empty returns the Impact of no session for each candidate.
func (c *Comparison) Empty() []*Impact {
	var list []*Impact
	for i := range c.Candidates {
		m := newImpact(c.Baseline.Named, c.Candidates[i].Named, c.Env.Digest(), c.Selection)
		m.Causes = causesOf(&c.Candidates[i])
		if c.Policies != nil {
			m.Fidelity = newReport()
		}
		m.settle()
		list = append(list, m)
	}
	return list
}

// wanted reports whether a decision is counted; one that is not is only
// history.
func (s *Selection) wanted(m RecordedEvent) bool {
	rec := m.Record
	if m.Copied || rec.T < s.Since || s.Until > 0 && rec.T >= s.Until || rec.Event == nil || rec.Note != nil || !rec.Phase.Reviewed() {
		return false
	}
	return len(s.Tools) == 0 || slices.Contains(s.Tools, rec.Event.Tool)
}

// within reports whether a session's workspace is one of the folders, or below one, and in the home directory of one of the
// users.
func (c *Comparison) within(workspace string) bool {
	s := c.Selection
	if len(s.Users) > 0 && !slices.Contains(s.Users, c.UserOf(workspace)) {
		return false
	}
	return len(s.Workspaces) == 0 || slices.ContainsFunc(s.Workspaces, func(dir string) bool {
		dir = strings.TrimSuffix(dir, "/")
		return workspace == dir || strings.HasPrefix(workspace, dir+"/")
	})
}

// fires reports whether one of the rules fires on either side, or may fire where that is not known.
func (s *Selection) fires(base, now sideAnswer, state State) bool {
	return len(s.Rules) == 0 || slices.ContainsFunc(s.Rules, func(id string) bool {
		mayFire := (state == Unknown || state == Maybe) && slices.Contains(now.deciding, id)
		return slices.Contains(base.rules(), id) || slices.Contains(now.rules(), id) || mayFire
	})
}

// answered reports whether people reacted to the decision of a record in one of the ways.
func (s *Selection) answered(known answers, record string) bool {
	return len(s.Answers) == 0 || slices.Contains(s.Answers, string(known.words[record]))
}

// Holds reports whether a session is one of those that are examined.
func (s *Selection) Holds(session string) bool {
	return len(s.Sessions) == 0 || slices.ContainsFunc(s.Sessions, func(begin string) bool { return strings.HasPrefix(session, begin) })
}

// HasAgent reports whether the sessions of an agent are examined.
func (s *Selection) HasAgent(harness string) bool {
	return len(s.Agents) == 0 || slices.Contains(s.Agents, harness)
}

// sessionRun is one session during comparison.
type sessionRun struct {
	*Comparison
	session    RecordedSession
	replay     *replay
	baseline   *sideState
	candidates []*candidate
	answers    answers
	calls      int64
	broken     error // why the rest could not be read
}

// candidate is one candidate with its changes in a session.
type candidate struct {
	sideState
	tally   *sessionTally
	waiting []waiting
}

func (c *Comparison) reading(s RecordedSession) *sessionRun {
	env := c.Env.Digest()
	r := &sessionRun{Comparison: c, session: s, replay: newReplay(c.Policies, c.Env), baseline: &sideState{Side: &c.Baseline, env: env}}
	for i, m := range c.Empty() {
		r.candidates = append(r.candidates, &candidate{sideState: sideState{Side: &c.Candidates[i], env: env}, tally: newSessionTally(m, s)})
	}
	for _, l := range r.listeners() {
		l.audit = s.Audit && l.Policy != nil
		if !s.Audit && l.Policy != nil && digestOf(l.Policy.Rows) != digestOf(c.Rows) {
			l.own = newReplay(nil, c.Env)
		}
	}
	return r
}

func digestOf(r engine.Rows) string {
	if r == nil {
		return ""
	}
	return r.RowsDigest()
}

// listeners are the baseline and the candidates.
func (r *sessionRun) listeners() []*sideState {
	list := []*sideState{r.baseline}
	for _, c := range r.candidates {
		list = append(list, &c.sideState)
	}
	return list
}

// step evaluates both sides on an event, and then advances the history.
func (r *sessionRun) step(ctx context.Context, m RecordedEvent) error {
	m.found = detections{}
	if r.Event != nil {
		ctx = r.Event(ctx)
	}
	if err := r.ready(ctx, m.Record); err != nil {
		return err
	}
	if m.Record.Kind == engine.KindKeyframe {
		r.replay.history.Append(m.Record)
		return r.ownKeyframe(m.Record)
	}
	for _, l := range r.listeners() {
		if err := l.reads(ctx, m, r.replay); err != nil {
			return err
		}
	}
	heard, err := r.answersTo(ctx, m)
	if err != nil {
		return err
	}
	if m.Record.Phase == engine.PhasePre && m.Record.Note == nil {
		r.calls++
	}
	if !m.Copied && m.Record.T >= r.Selection.Since {
		for _, c := range r.candidates {
			c.tally.countWork(m.Record.T)
		}
	}
	r.answers.record(m)
	for _, c := range r.candidates {
		c.tally.people.record(m.Record)
	}
	r.replay.history.Append(m.Record)
	for _, l := range r.listeners() {
		if l.own != nil {
			l.own.history.Append(l.rec)
		}
	}
	r.fold(m.Record, heard)
	return nil
}

// ownKeyframe adds a keyframe to the histories that sides fold themselves.
func (r *sessionRun) ownKeyframe(rec *engine.Record) error {
	for _, l := range r.listeners() {
		if l.own == nil {
			continue
		}
		if _, err := l.own.begin(rec); err != nil {
			return err
		}
		l.own.history.Append(rec)
	}
	return nil
}

// ready checks a record of a log, and makes the history ready for it.
func (r *sessionRun) ready(ctx context.Context, rec *engine.Record) error {
	before := r.replay.chain
	if r.session.Audit && r.Policies != nil {
		if err := r.replay.check(ctx, rec); err != nil {
			return err
		}
	} else if _, err := r.replay.begin(rec); err != nil {
		return err
	}
	if r.replay.chain != before {
		r.baseline.noticed = nil
		for _, c := range r.candidates {
			c.noticed = nil
		}
	}
	return nil
}

// answersTo returns the answers of the baseline and of each candidate to an event. Events that
// policy does not review are skipped.
func (r *sessionRun) answersTo(ctx context.Context, m RecordedEvent) ([]sideAnswer, error) {
	if m.Record.Event == nil || m.Record.Note != nil || !m.Record.Phase.Reviewed() {
		return nil, nil
	}
	base, err := r.baseline.answer(ctx, m, r.replay)
	if err != nil {
		return nil, err
	}
	heard := []sideAnswer{base}
	for _, c := range r.candidates {
		s, err := c.answer(ctx, m, r.replay)
		if err != nil {
			return nil, err
		}
		heard = append(heard, s)
		if r.Selection.wanted(m) && !base.noAnswer && r.within(r.replay.history.Workspace) {
			r.count(ctx, c, m, base, s)
		}
	}
	return heard, nil
}

// count adds one decision of a candidate.
func (r *sessionRun) count(ctx context.Context, c *candidate, m RecordedEvent, base, now sideAnswer) {
	d := r.sure(ctx, c, m, &base, &now)
	if m.Record.T == 0 && (c.TimeDependent || r.Baseline.TimeDependent) {
		var known, loosens bool
		if base, now, known, loosens = r.anyTime(ctx, c, m, base, now); !known {
			d = difference{Unknown, "the time of the call", d.loosens || loosens}
		}
	}
	state := d.state
	slices.Sort(now.deciding)
	if now.deciding = slices.Compact(now.deciding); !r.Selection.fires(base, now, state) {
		return
	}
	step := c.tally.step(m, r.calls, r.replay.history.Workspace, base, now)
	step.State, step.Missing = state, d.missing
	if state == Unchanged && now.missing != "" {
		step.From, step.To = "", "" // the same policy twice, whose answer is not known
	}
	if m.Record.Phase == engine.PhasePre && slices.Contains(c.Unattended, m.Record.Event.Mode) {
		c.tally.unattended = true
	}
	if state.changes() {
		step.Due = r.due(ctx, c, m, base, now)
	}
	read := m // as the candidate's rows and detectors read it
	if len(c.Causes) > 0 {
		if c.rec != nil {
			read.Record = c.rec
		}
		read.Record = c.facts(read)
	}
	add := func() {
		step.After = c.tally.diverged
		c.tally.met(read.Record, c.Causes, base, now)
		c.tally.people.count(step, m.Record.Event.Mode, base, now)
		c.tally.add(step, d.loosens, base, now)
		if m.Record.Phase == engine.PhasePre {
			c.tally.alarms.call(m, base, now)
		}
	}
	if len(r.Selection.Answers) == 0 {
		add()
		return
	}
	c.waiting = append(c.waiting, waiting{m.Record.ID(), add}) // people's answers come later
}

// waiting is a decision that is counted if people reacted to it as selected.
type waiting struct {
	record string
	add    func()
}

func (r *sessionRun) fold(rec *engine.Record, heard []sideAnswer) {
	if heard == nil {
		for _, l := range r.listeners() {
			if l.noticed != nil && rec.Kind == engine.KindAct {
				l.noticed.Fold(r.replay.history, rec, nil, nil)
			}
		}
		return
	}
	r.baseline.folded(r.replay.history, rec, heard[0])
	for i, c := range r.candidates {
		c.folded(r.replay.history, rec, heard[i+1])
	}
}

// difference is what is known about the answers of both sides to an event.
type difference struct {
	state   State
	missing string // the fact that was not recorded
	loosens bool   // the candidate's answer is milder, or may be
}

// between compares answers. One that depends on what was not recorded may be anything, but none
// is milder than allow, and block is milder than none.
func (c *candidate) between(base, now sideAnswer, baseline *Side) difference {
	d := difference{}
	d.state, d.missing = compare(base, now)
	if baseline.Policy != nil && baseline.Policy.Digest == c.Policy.Digest && d.state != Incomparable {
		return difference{state: Unchanged} // whatever is missing, it is the same policy
	}
	switch d.state {
	case Loosened:
		d.loosens = true
	case Maybe, Unknown, Incomparable:
		d.loosens = base.certain() != engine.Allow && now.certain() != engine.Block
	}
	return d
}

// compare returns the state of a decision, and the missing fact if it is unknown.
func compare(base, now sideAnswer) (State, string) {
	missing := cmp.Or(base.missing, now.missing)
	switch {
	case cmp.Or(base.foreign, now.foreign) != "":
		return Incomparable, cmp.Or(base.foreign, now.foreign)
	case base.verdict == "" || now.verdict == "":
		return Unknown, missing
	case base.verdict == now.verdict && missing != "":
		return Unknown, missing
	case base.verdict == now.verdict:
		return Unchanged, ""
	case missing != "":
		return Maybe, missing
	case base.fromOutcome && now.verdict == engine.Ask:
		return Maybe, "whether a person was asked: a transcript does not show it"
	case base.verdict.Strictness() < now.verdict.Strictness():
		return Tightened, ""
	}
	return Loosened, ""
}

// impacts finishes the session and returns its Impacts.
func (r *sessionRun) impacts() []*Impact {
	var found Sources
	if r.session.Sources != nil {
		found = r.session.Sources()
	}
	if r.broken != nil && found.Failed == 0 {
		found.Failed++
		found.Troubles = append(found.Troubles, Trouble{Path: r.session.Session, Why: r.broken.Error(), Count: 1, Failed: true})
	}
	var list []*Impact
	for _, c := range r.candidates {
		for _, w := range c.waiting {
			if r.Selection.answered(r.answers, w.record) {
				w.add()
			}
		}
		m := c.tally.sum(r.answers)
		m.Sources = found.clone()
		if m.Fidelity != nil && r.session.Audit {
			own := r.replay.report
			m.Fidelity = &own
		}
		m.settle()
		list = append(list, m)
	}
	return list
}
