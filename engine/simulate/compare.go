package simulate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Comparison asks several candidates and a baseline about the same sessions.
type Comparison struct {
	Baseline   Side
	Candidates []Side
	Env        engine.Env
	Selection  Selection
	Rows       engine.Rows // by which the records of transcripts were made; a side with others reads the events again

	// Policies finds the policy of a recorded decision by its digest, for the
	// fidelity check of audit logs; nil: no check. It may be called by several
	// goroutines at once.
	Policies func(digest string) (*review.Policy, error)
}

// Session compares one session and returns an Impact for each candidate. It may
// be called by several goroutines at once. An error means that the context
// ended; what cannot be read or decided is in the Impacts.
func (c *Comparison) Session(ctx context.Context, s Story) ([]*Impact, error) {
	r := c.reading(s)
	for m, err := range s.Moments {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			err = r.moment(ctx, m)
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
		if c.Policies != nil {
			m.Fidelity = newReport()
		}
		m.settle()
		list = append(list, m)
	}
	return list
}

// wanted says whether a decision is counted; what is not is history.
func (s *Selection) wanted(m Moment) bool {
	rec := m.Record
	if m.Copied || rec.T < s.Since || rec.Event == nil || rec.Note != nil || !rec.Phase.Reviewed() {
		return false
	}
	return len(s.Tools) == 0 || slices.Contains(s.Tools, rec.Event.Tool)
}

// Holds says whether a session is one of those that are looked at.
func (s *Selection) Holds(session string) bool {
	return len(s.Sessions) == 0 || slices.ContainsFunc(s.Sessions, func(begin string) bool { return strings.HasPrefix(session, begin) })
}

// reading is one session as it is compared.
type reading struct {
	*Comparison
	story      Story
	replay     *replay
	baseline   *listener
	candidates []*candidate
	answers    answers
	calls      int64
	broken     error // why the rest could not be read
}

// candidate is one with what it changes in a session.
type candidate struct {
	listener
	tally *sessionTally
}

func (c *Comparison) reading(s Story) *reading {
	env := c.Env.Digest()
	r := &reading{Comparison: c, story: s, replay: newReplay(c.Policies, c.Env), baseline: &listener{Side: &c.Baseline, env: env}}
	for i, m := range c.Empty() {
		r.candidates = append(r.candidates, &candidate{listener{Side: &c.Candidates[i], env: env}, newSessionTally(m, s)})
	}
	for _, l := range r.listeners() {
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
func (r *reading) listeners() []*listener {
	list := []*listener{r.baseline}
	for _, c := range r.candidates {
		list = append(list, &c.listener)
	}
	return list
}

// moment lets both sides speak, and then lets happen what happened.
func (r *reading) moment(ctx context.Context, m Moment) error {
	if err := r.ready(ctx, m.Record); err != nil {
		return err
	}
	if m.Record.Kind == engine.KindKeyframe {
		r.replay.history.Append(m.Record)
		return nil
	}
	for _, l := range r.listeners() {
		if err := l.reads(ctx, m); err != nil {
			return err
		}
	}
	heard, err := r.hear(ctx, m)
	if err != nil {
		return err
	}
	if m.Record.Phase == engine.PhasePre && m.Record.Note == nil {
		r.calls++
	}
	r.answers.record(m)
	r.replay.history.Append(m.Record)
	for _, l := range r.listeners() {
		if l.own != nil {
			l.own.history.Append(l.rec)
		}
	}
	r.fold(m.Record, heard)
	return nil
}

// ready checks a record of a log, and makes the history ready for it.
func (r *reading) ready(ctx context.Context, rec *engine.Record) error {
	before := r.replay.chain
	if r.story.Audit && r.Policies != nil {
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

// hear returns what the baseline says of a moment, and then each candidate.
// Nobody is asked about what policy is not asked about.
func (r *reading) hear(ctx context.Context, m Moment) ([]said, error) {
	if m.Record.Event == nil || m.Record.Note != nil || !m.Record.Phase.Reviewed() {
		return nil, nil
	}
	base, err := r.baseline.say(ctx, m, r.replay)
	if err != nil {
		return nil, err
	}
	heard := []said{base}
	for _, c := range r.candidates {
		s, err := c.say(ctx, m, r.replay)
		if err != nil {
			return nil, err
		}
		heard = append(heard, s)
		if r.Selection.wanted(m) && !base.silent {
			r.count(ctx, c, m, base, s)
		}
	}
	return heard, nil
}

// count takes in one decision of a candidate.
func (r *reading) count(ctx context.Context, c *candidate, m Moment, base, now said) {
	state, missing := compare(base, now)
	if state == Maybe || state == Tightened || state == Loosened {
		state, missing = r.sure(ctx, c, m, state, missing)
	}
	if m.Record.T == 0 && missing == "" && (c.Times || r.Baseline.Times) {
		state, missing = r.anyTime(ctx, c, m, state, base, now)
	}
	step := c.tally.step(m, r.calls, r.replay.history.Workspace, base, now)
	step.State, step.Missing = state, missing
	c.tally.add(step, base, now)
	if m.Record.Phase == engine.PhasePre {
		c.tally.alarms.call(m, base, now)
	}
}

func (r *reading) fold(rec *engine.Record, heard []said) {
	if heard == nil {
		return
	}
	r.baseline.folded(r.replay.history, rec, heard[0])
	for i, c := range r.candidates {
		c.folded(r.replay.history, rec, heard[i+1])
	}
}

// compare says what became of a decision, and what is missing for knowing it.
func compare(base, now said) (State, string) {
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
	case base.fate && now.verdict == engine.Ask:
		return Maybe, "whether a person was asked: a transcript does not tell"
	case base.verdict.Strictness() < now.verdict.Strictness():
		return Tightened, ""
	}
	return Loosened, ""
}

// impacts ends the session.
func (r *reading) impacts() []*Impact {
	var found Sources
	if r.story.Sources != nil {
		found = r.story.Sources()
	}
	if r.broken != nil && found.Failed == 0 {
		found.Failed++
		found.Troubles = append(found.Troubles, Trouble{Path: r.story.Session, Why: r.broken.Error(), Count: 1, Failed: true})
	}
	var list []*Impact
	for _, c := range r.candidates {
		m := c.tally.sum(r.answers)
		m.Sources = found.clone()
		if m.Fidelity != nil && r.story.Audit {
			own := r.replay.report
			m.Fidelity = &own
		}
		m.settle()
		list = append(list, m)
	}
	return list
}
