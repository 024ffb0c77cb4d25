package overview

import (
	"cmp"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxOpen limits the calls of a session whose end is awaited.
const maxOpen = 1024

// Session is what an index knows about a session.
type Session struct {
	Key         engine.SessionKey
	Workspace   string
	First, Last int64 // Unix milliseconds
	N           int64 // the newest record that was added
	Stopped     bool
	Damage      string // why the log cannot be read to its end; set by the caller

	index  *Index
	slots  map[int64]*Tally // by T / slotMS
	events []*Event
	open   map[[2]string]*Event // by agent and call
}

func byTime(a, b *Session) int {
	return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Key.Harness, b.Key.Harness), cmp.Compare(a.Key.Session, b.Key.Session))
}

func mostFired(a, b Rule) int { return cmp.Or(cmp.Compare(b.Fired, a.Fired), cmp.Compare(a.ID, b.ID)) }

// Total counts all calls of the session.
func (s *Session) Total() Tally { return s.Between(0, 0) }

// Between counts the calls from one time to another, in Unix milliseconds; to 0: until now. Both are rounded down to a quarter
// of an hour.
func (s *Session) Between(from, to int64) (sum Tally) {
	for slot, t := range s.slots {
		if slot >= from/slotMS && (to == 0 || slot < to/slotMS) {
			sum.Plus(*t)
		}
	}
	return sum
}

// Events lists the calls that did not simply run, the oldest first.
func (s *Session) Events() []*Event { return s.events }

// Add adds the next record of the session.
func (s *Session) Add(r *engine.Record) {
	if r.N <= s.N {
		return
	}
	s.N, s.Last = r.N, r.T
	if s.First == 0 {
		s.First = r.T
	}
	if r.Open != nil && r.Open.Workspace != "" {
		s.Workspace = r.Open.Workspace
	}
	s.answered(r)
	switch r.Kind {
	case engine.KindPre:
		s.call(r)
	case engine.KindPost:
		s.end(r)
	case engine.KindPrompt:
		s.tally(r.T).Prompts++
		clear(s.open)
	case engine.KindAct:
		s.act(r)
	case engine.KindControl:
		s.control(r)
	}
}

func (s *Session) tally(t int64) *Tally {
	slot := s.slots[t/slotMS]
	if slot == nil {
		slot = &Tally{}
		s.slots[t/slotMS] = slot
	}
	return slot
}

func (s *Session) call(r *engine.Record) {
	if r.Answer != nil && r.Answer.Mode == engine.ModeDuplicate {
		return
	}
	t, effect := s.tally(r.T), engine.AnswerOf(r).Effect
	t.call(effect)
	d := r.Decision
	stricter := d != nil && d.Decision.Strictness() > d.Enforced.Strictness()
	if stricter {
		t.Observed++
	}
	if d != nil {
		s.count(d, effect)
	}
	saves := d != nil && d.Obliges(engine.ObligationSave)
	if effect == engine.Allow && !stricter && !saves {
		return
	}
	e := EventOf(r, s.Key, s.Workspace)
	s.keep(e, r.Call)
	if stricter {
		e.Decision = d.Decision
	}
	if d != nil && d.Stops() && d.Intervention.Issue != "" { // else it was stopped before
		e.Stop, s.Stopped = true, true
		t.Stopped++
	}
}

// count counts the rules of a decision.
func (s *Session) count(d *engine.Decision, effect engine.Verdict) {
	for _, one := range d.Rules {
		r := s.index.rule(one.ID)
		r.Fired++
		switch effect {
		case engine.Warn:
			r.Warned++
		case engine.Ask:
			r.Asked++
		case engine.Block:
			r.Denied++
		}
	}
}

// EventOf describes the call of a record, without what followed.
func EventOf(r *engine.Record, key engine.SessionKey, workspace string) *Event {
	effect := engine.AnswerOf(r).Effect
	e := &Event{ID: r.ID(), T: r.T, Session: key, Agent: cmp.Or(r.Agent, engine.MainAgent), Place: workspace, Answer: effect,
		Outcome: engine.OutcomePending}
	if effect == engine.Block {
		e.Outcome = engine.OutcomeDenied
	}
	if r.Event != nil {
		e.Tool = strings.Clone(r.Event.Tool)
	}
	if r.Action != nil {
		e.What = strings.Clone(r.Action.Resource)
	}
	if r.Answer != nil {
		e.Failure = r.Answer.Failure
	}
	if d := r.Decision; d != nil {
		e.Message = d.Reason
		if one := worst(d.Rules); one != nil {
			e.Rule, e.Severity, e.Harm, e.Message = one.ID, one.Severity, one.Harm, cmp.Or(one.Message, d.Reason)
		}
	}
	return e
}

// keep keeps an event, whose end is awaited.
func (s *Session) keep(e *Event, call string) {
	s.events = append(s.events, e)
	if len(s.events) > MaxEvents {
		s.events = append([]*Event(nil), s.events[len(s.events)-MaxEvents:]...)
	}
	if call != "" && len(s.open) < maxOpen {
		s.open[[2]string{e.Agent, call}] = e
	}
}

// worst returns the first of the rules with the strictest decision.
func worst(rules []engine.RuleResult) (one *engine.RuleResult) {
	for i := range rules {
		if one == nil || rules[i].Decision.Strictness() > one.Decision.Strictness() {
			one = &rules[i]
		}
	}
	return one
}

func (s *Session) end(r *engine.Record) {
	key := [2]string{cmp.Or(r.Agent, engine.MainAgent), r.Call}
	e := s.open[key]
	if e == nil {
		return
	}
	delete(s.open, key)
	e.Outcome = engine.OutcomeUnknown
	if r.Event != nil && r.Event.Result != nil {
		e.Outcome = r.Event.Result.Outcome
	}
}

// act adds what was stored before a call, and stops that were carried out otherwise.
func (s *Session) act(r *engine.Record) {
	c := r.Act.Checkpoint
	if c == nil || c.Saved == nil {
		return
	}
	s.tally(r.T).Saved++
	if e := s.Find(r.Act.Of); e != nil {
		e.Point, e.Until, e.Files, e.Bytes = c.ID, c.Saved.Until, c.Saved.Files, c.Saved.Bytes
	}
}

// Find returns the event of a record; nil: its call simply ran, or it is not kept.
func (s *Session) Find(id string) *Event {
	for i := len(s.events) - 1; i >= 0; i-- {
		if s.events[i].ID == id {
			return s.events[i]
		}
	}
	return nil
}

// answered adds answers that were inferred from whether a call ran.
func (s *Session) answered(r *engine.Record) {
	if r.Answer == nil {
		return
	}
	for _, a := range r.Answer.Approvals {
		word := Refused
		if a.Approved {
			word = Approved
		}
		s.answer(a.Of, word, 0)
	}
}

// answer adds a person's answer to a question. at is when it was given; 0: unknown.
func (s *Session) answer(id string, word Answered, at int64) {
	e := s.Find(id)
	if e == nil || e.Person != Unasked {
		return
	}
	e.Person = word
	if e.Rule == "" {
		return
	}
	r := s.index.rule(e.Rule)
	switch word {
	case Approved:
		r.Approved++
	case Refused:
		r.Refused++
	default:
		return
	}
	if at > e.T {
		r.Waited++
		r.WaitMS += at - e.T
	}
}

func (s *Session) control(r *engine.Record) {
	c := r.Control
	if c == nil {
		return
	}
	byPerson := c.Decided == nil || c.Decided.Who == engine.DecidedPerson
	switch c.Do {
	case engine.ControlApprove:
		s.answer(c.Record, Approved, r.T)
	case engine.ControlDeny:
		word := Expired
		if byPerson {
			word = Refused
		}
		s.answer(c.Record, word, r.T)
		if e := s.Find(c.Record); e != nil {
			e.Outcome = engine.OutcomeDenied
		}
	case engine.ControlAllowOnce, engine.ControlAllowSession:
		if e := s.Find(c.Record); e != nil && e.Person != Overruled && e.Person != Approved {
			e.Person = Overruled
			if e.Rule != "" {
				s.index.rule(e.Rule).Overruled++
			}
		}
	case engine.ControlStop, engine.ControlAbort:
		s.Stopped = true
		s.tally(r.T).Stopped++
	case engine.ControlResume:
		s.Stopped = false
	}
}
