package simulate

import "github.com/agent-reviewer/reviewer/engine"

// word is what a person said of a stop.
type word string

const (
	approved  word = "approved"
	refused   word = "refused"
	overruled word = "overruled"
)

// answers are what a session tells of stops afterwards.
type answers struct {
	words map[string]word // by record
	ran   map[string]bool // records of calls that ran
	calls map[callKey]string
}

type callKey struct{ agent, call string }

// record notes what a moment tells of earlier ones.
func (a *answers) record(m Moment) {
	if a.words == nil {
		*a = answers{words: map[string]word{}, ran: map[string]bool{}, calls: map[callKey]string{}}
	}
	rec := m.Record
	switch key := (callKey{rec.Agent, rec.Call}); {
	case rec.Kind == engine.KindControl && rec.Control != nil:
		a.control(rec.Control)
	case rec.Phase == engine.PhasePre && rec.Note == nil:
		a.calls[key] = rec.ID()
	case rec.Phase == engine.PhasePost && rec.Event != nil:
		if res := rec.Event.Result; res != nil && res.Outcome == engine.OutcomeRan {
			a.ran[a.calls[key]] = true
		}
		delete(a.calls, key)
	}
	if rec.Answer != nil {
		a.questions(rec.Answer.Approvals)
	}
}

func (a *answers) control(c *engine.Control) {
	if (c.Do == engine.ControlAllowOnce || c.Do == engine.ControlAllowSession) && c.Record != "" {
		a.words[c.Record] = overruled
	}
}

// questions notes what came of them; the latest word counts.
func (a *answers) questions(list []engine.Approval) {
	for _, q := range list {
		a.words[q.Of] = refused
		if q.Approved {
			a.words[q.Of] = approved
		}
	}
}

// alarms are the stops of either side, until it is known what came of them.
type alarms struct{ stops []stop }

type stop struct {
	record   string
	was, is  bool
	compared bool // both sides are known
}

func (a *alarms) call(m Moment, base, now said) {
	s := stop{m.Record.ID(), stops(base.verdict), stops(now.verdict), base.verdict != "" && now.verdict != ""}
	if recorded := m.Record.Decision; s.was || s.is || recorded != nil && stops(recorded.Enforced) {
		a.stops = append(a.stops, s)
	}
}

func (a *alarms) sum(known answers) Alarms {
	var sum Alarms
	for _, s := range a.stops {
		w := known.words[s.record]
		sum.word(w)
		through := s.compared && s.was && !s.is
		switch {
		case through && (w == approved || w == overruled):
			sum.Lost++
		case through && w == refused:
			sum.Missed++
		case s.compared && !s.was && s.is && known.ran[s.record]:
			sum.New++
		}
	}
	return sum
}

func (a *Alarms) word(w word) {
	switch w {
	case approved:
		a.Approved++
	case overruled:
		a.Overruled++
	case refused:
		a.Refused++
	}
}

func (a *Alarms) plus(b Alarms) {
	a.Approved, a.Overruled, a.Refused = a.Approved+b.Approved, a.Overruled+b.Overruled, a.Refused+b.Refused
	a.Lost, a.Missed, a.New = a.Lost+b.Lost, a.Missed+b.Missed, a.New+b.New
}

// estimate says how many of the new stops are false, if people answer as they
// did; half a one is one.
func (a *Alarms) estimate() {
	wrong := a.Approved + a.Overruled
	if known := wrong + a.Refused; known > 0 {
		a.Gained = (2*a.New*wrong + known) / (2 * known)
	}
}
