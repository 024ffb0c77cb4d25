package overview

import (
	"cmp"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Day is what happened in a span of time.
type Day struct {
	From, To int64 // Unix milliseconds
	Tally
	Sessions int
	Agents   []Group
	Projects []Group
	Harms    []Group // only of calls that did not simply run
	Notable  []Notable
	Events   int        // in the span
	Damaged  []*Session // their logs cannot be read to the end
}

// Group counts the calls of an agent, of a project, or with a harm.
type Group struct {
	Name string
	Tally
}

// Notable is an event, with the number of similar ones: the same answer by the same rule in one session.
type Notable struct {
	*Event
	Times int
}

// Day sums up a span, with at most a number of notable events.
func (x *Index) Day(from, to int64, most int) Day {
	d := Day{From: from, To: to}
	agents, projects, harms := map[string]*Tally{}, map[string]*Tally{}, map[string]*Tally{}
	var events []*Event
	for _, s := range x.Sessions() {
		if s.Damage != "" && s.Last >= from {
			d.Damaged = append(d.Damaged, s)
		}
		t := s.Between(from, to)
		if t == (Tally{}) {
			continue
		}
		d.Sessions++
		d.Plus(t)
		add(agents, s.Key.Harness, t)
		add(projects, s.Workspace, t)
		for _, e := range s.events {
			if e.within(from, to) {
				events = append(events, e)
				add(harms, e.Harm, e.tally())
			}
		}
	}
	d.Agents, d.Projects, d.Harms, d.Events = groups(agents), groups(projects), groups(harms), len(events)
	d.Notable = Ranked(events)
	d.Notable = d.Notable[:min(most, len(d.Notable))]
	return d
}

// Between lists the events of all sessions in a span, the newest first.
func (x *Index) Between(from, to int64) []*Event {
	var list []*Event
	for _, s := range x.Sessions() {
		for _, e := range s.events {
			if e.within(from, to) {
				list = append(list, e)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Event) int { return cmp.Compare(b.T, a.T) })
	return list
}

// within reports whether an event is in a span, with the bounds as Session.Between rounds them.
func (e *Event) within(from, to int64) bool {
	slot := e.T / slotMS
	return slot >= from/slotMS && (to == 0 || slot < to/slotMS)
}

// Find returns the event of a record; nil: its call simply ran, or it is not kept.
func (x *Index) Find(id string) *Event {
	for _, s := range x.sessions {
		if e := s.Find(id); e != nil {
			return e
		}
	}
	return nil
}

func (e *Event) tally() Tally {
	var t Tally
	t.call(e.Answer)
	if e.Point != "" {
		t.Saved = 1
	}
	if e.Stop {
		t.Stopped = 1
	}
	if e.Decision != "" {
		t.Observed = 1
	}
	return t
}

func add(to map[string]*Tally, name string, t Tally) {
	if to[name] == nil {
		to[name] = &Tally{}
	}
	to[name].Plus(t)
}

func groups(of map[string]*Tally) []Group {
	var list []Group
	for name, t := range of {
		list = append(list, Group{name, *t})
	}
	slices.SortFunc(list, func(a, b Group) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) })
	return list
}

// Ranked orders events: stops first; then by the severity of the rule, by the harm, and by whether the call may have happened;
// then the newest first. Similar events are one.
func Ranked(events []*Event) []Notable {
	type same struct {
		session engine.SessionKey
		rule    string
		answer  engine.Verdict
		stop    bool
	}
	first := map[same]int{}
	var list []Notable
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, compare)
	for _, e := range sorted {
		key := same{e.Session, e.Rule, e.Answer, e.Stop}
		if at, seen := first[key]; seen {
			list[at].Times++
			continue
		}
		first[key] = len(list)
		list = append(list, Notable{e, 1})
	}
	return list
}

func compare(a, b *Event) int {
	return cmp.Or(
		cmp.Compare(rank(b.Stop), rank(a.Stop)),
		cmp.Compare(severity(a.Severity), severity(b.Severity)),
		cmp.Compare(harm(a.Harm), harm(b.Harm)),
		cmp.Compare(rank(a.Outcome == engine.OutcomeDenied), rank(b.Outcome == engine.OutcomeDenied)),
		cmp.Compare(b.T, a.T), cmp.Compare(a.ID, b.ID))
}

func rank(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// severity orders the words of rules, the worst first; others come last.
func severity(word string) int { return -slices.Index(engine.Severities(), word) }

// harm orders harms as engine.Harms does; calls without one come last.
func harm(word string) int { return place(engine.Harms(), word) }

func place(order []string, word string) int {
	if at := slices.Index(order, word); at >= 0 {
		return at
	}
	return len(order)
}
