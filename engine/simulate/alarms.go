package simulate

import "github.com/agent-reviewer/reviewer/engine"

// reaction is a person's reaction to a stop.
type reaction string

const (
	approved  reaction = "approved"
	refused   reaction = "refused"
	overruled reaction = "overruled"
)

// Reactions lists the reactions of people to stops.
func Reactions() []string { return []string{string(approved), string(refused), string(overruled)} }

// answers are the reactions to stops that a session shows afterwards.
type answers struct {
	words map[string]reaction // by record
	ran   map[string]bool     // records of calls that ran
	calls map[callKey]string
}

type callKey struct{ agent, call string }

// record reads what an event shows about earlier ones.
func (a *answers) record(m RecordedEvent) {
	if a.words == nil {
		*a = answers{words: map[string]reaction{}, ran: map[string]bool{}, calls: map[callKey]string{}}
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

// questions records the answers to questions; the latest counts.
func (a *answers) questions(list []engine.Approval) {
	for _, q := range list {
		a.words[q.Of] = refused
		if q.Approved {
			a.words[q.Of] = approved
		}
	}
}

// alarms keeps the stops of either side until their outcome is known.
type alarms struct{ stops []stop }

type stop struct {
	record   string
	was, is  bool
	compared bool // both sides are known
}

func (a *alarms) call(m RecordedEvent, base, now sideAnswer) {
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

func (a *Alarms) word(w reaction) {
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

// estimate returns how many of the new stops people would allow if they answer as
// they did, rounded half up.
func (a *Alarms) estimate() {
	allowed := a.Approved + a.Overruled
	if known := allowed + a.Refused; known > 0 {
		a.Gained = (2*a.New*allowed + known) / (2 * known)
	}
}
