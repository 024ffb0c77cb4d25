package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// newImpact returns an Impact of no sessions.
func newImpact(baseline, candidate Named, env string, s Selection) *Impact {
	return &Impact{
		V: ImpactVersion, Version: ImpactVersion, Baseline: baseline.listed(), Candidate: candidate.listed(), Env: env,
		Selection: s.listed(),
		Sources:   Sources{Formats: map[string]int64{}, Troubles: []Trouble{}},
		Calls:     newTally(), Events: newTally(), Kinds: []Kind{}, Causes: []Cause{}, Rules: []RuleCounts{},
		Interventions: []Group{}, Tools: []Group{}, Workspaces: []Group{}, Changed: []SessionChange{}, Errors: []StepError{},
	}
}

func (n Named) listed() Named {
	n.Rules, n.Patterns = orEmpty(n.Rules), orEmpty(n.Patterns)
	return n
}

func (s Selection) listed() Selection {
	s.Sessions, s.Tools = orEmpty(s.Sessions), orEmpty(s.Tools)
	return s
}

func newTally() Tally {
	t := Tally{States: map[State]int64{}, After: map[State]int64{}, Matrix: []Cell{}}
	for _, s := range States() {
		t.States[State(s)], t.After[State(s)] = 0, 0
	}
	return t
}

func newReport() *Report { return &Report{Missing: map[string]int64{}, Why: map[string]string{}} }

// Add adds the sessions of another Impact of the same comparison. The order in
// which Impacts are added makes no difference.
func (m *Impact) Add(part *Impact) {
	if m.First == 0 || part.First != 0 && part.First < m.First {
		m.First = part.First
	}
	m.Last = max(m.Last, part.Last)
	m.Partial = least(m.Partial, part.Partial)
	m.Sources.plus(part.Sources)
	m.Sessions.Total += part.Sessions.Total
	m.Sessions.Changed += part.Sessions.Changed
	m.Sessions.Unattended += part.Sessions.Unattended
	m.Work.Milliseconds += part.Work.Milliseconds
	m.Work.Baseline += part.Work.Baseline
	m.Work.Candidate += part.Work.Candidate
	m.Calls.plus(part.Calls)
	m.Events.plus(part.Events)
	for fact, n := range part.Missing {
		m.lacks(fact, n)
	}
	for rule, n := range part.Undecided {
		m.undecided(rule, n)
	}
	m.Unclear = joined(m.Unclear, part.Unclear, Unclear.compare, (*Unclear).plus, maxKinds)
	m.Kinds = joined(m.Kinds, part.Kinds, Kind.compare, (*Kind).plus, maxKinds)
	m.Causes = joined(m.Causes, part.Causes, Cause.compare, (*Cause).plus, maxCauses)
	m.Rules = joined(m.Rules, part.Rules, RuleCounts.compare, (*RuleCounts).plus, maxGroups)
	m.Interventions = joined(m.Interventions, part.Interventions, Group.compare, (*Group).Plus, maxGroups)
	m.Duties = joined(m.Duties, part.Duties, SessionDuty.compare, (*SessionDuty).plus, maxGroups)
	m.Stops, m.Questions = m.Stops.with(part.Stops), m.Questions.with(part.Questions)
	m.Modes = joined(m.Modes, part.Modes, Group.compare, (*Group).Plus, maxGroups)
	m.Days = joined(m.Days, part.Days, Group.compare, (*Group).Plus, maxGroups)
	m.Files = filesOf(m.Files, part.Files)
	m.Tools = joined(m.Tools, part.Tools, Group.compare, (*Group).Plus, maxGroups)
	m.Workspaces = joined(m.Workspaces, part.Workspaces, Group.compare, (*Group).Plus, maxGroups)
	m.Changed = joined(m.Changed, part.Changed, SessionChange.compare, (*SessionChange).plus, MaxChanged)
	m.Errors = joined(m.Errors, part.Errors, StepError.compare, (*StepError).plus, maxErrors)
	m.Alarms.plus(part.Alarms)
	if part.Fidelity != nil {
		if m.Fidelity == nil {
			m.Fidelity = newReport()
		}
		m.Fidelity.plus(*part.Fidelity)
	}
	m.settle()
}

// lacks counts decisions that are unknown without a fact.
func (m *Impact) lacks(fact string, n int64) {
	if m.Missing == nil {
		m.Missing = map[string]int64{}
	}
	m.Missing[fact] += n
}

// undecided counts decisions that are unknown or maybe since a rule may fire.
func (m *Impact) undecided(rule string, n int64) {
	if m.Undecided == nil {
		m.Undecided = map[string]int64{}
	}
	m.Undecided[rule] += n
}

// least returns the smaller of two texts, ignoring empty ones.
func least(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// joined merges two sorted lists without duplicates, and keeps the first
// entries, so that the result does not depend on the order of merging.
func joined[T any](a, b []T, compare func(x, y T) int, plus func(*T, T), limit int) []T {
	list := make([]T, 0, min(len(a)+len(b), limit))
	for (len(a) > 0 || len(b) > 0) && len(list) < limit {
		switch {
		case len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) < 0:
			list, a = append(list, a[0]), a[1:]
		case len(a) == 0 || compare(a[0], b[0]) > 0:
			list, b = append(list, b[0]), b[1:]
		default:
			both := a[0]
			plus(&both, b[0])
			list, a, b = append(list, both), a[1:], b[1:]
		}
	}
	return list
}

func (s *Sources) plus(o Sources) {
	s.Files, s.Lines, s.Bad, s.Failed = s.Files+o.Files, s.Lines+o.Lines, s.Bad+o.Bad, s.Failed+o.Failed
	s.Damaged += o.Damaged
	s.Copied, s.Unpaired, s.Unasked = s.Copied+o.Copied, s.Unpaired+o.Unpaired, s.Unasked+o.Unasked
	for format, n := range o.Formats {
		s.Formats[format] += n
	}
	s.Troubles = joined(s.Troubles, o.Troubles, Trouble.compare, (*Trouble).plus, maxTroubles)
}

// clone returns sources that share nothing, in order.
func (s Sources) clone() Sources {
	own := Sources{Formats: map[string]int64{}, Troubles: []Trouble{}}
	troubles := slices.Clone(s.Troubles)
	slices.SortFunc(troubles, Trouble.compare)
	s.Troubles = nil
	own.plus(s)
	for _, t := range troubles {
		own.Troubles = joined(own.Troubles, []Trouble{t}, Trouble.compare, (*Trouble).plus, maxTroubles)
	}
	return own
}

func (t *Tally) plus(o Tally) {
	t.Total, t.Failed = t.Total+o.Total, t.Failed+o.Failed
	for s, n := range o.States {
		t.States[s] += n
	}
	for s, n := range o.After {
		t.After[s] += n
	}
	t.Matrix = joined(t.Matrix, o.Matrix, Cell.compare, (*Cell).plus, maxGroups)
	if len(o.Open) > 0 {
		t.Open = joined(t.Open, o.Open, OpenCell.compare, (*OpenCell).plus, maxGroups)
	}
}

func (c *Cell) plus(o Cell) {
	c.Count, c.After, c.Maybe, c.Sure = c.Count+o.Count, c.After+o.After, c.Maybe+o.Maybe, c.Sure+o.Sure
}

func (c *OpenCell) plus(o OpenCell) { c.Count += o.Count }

func (c OpenCell) compare(o OpenCell) int {
	return cmp.Or(cmp.Compare(c.From, o.From), cmp.Compare(c.To, o.To), number(c.Sure)-number(o.Sure))
}

func (k *Kind) plus(o Kind) {
	k.Count, k.After = k.Count+o.Count, k.After+o.After
	if smaller(o.Example, k.Example) < 0 {
		k.Example = o.Example
	}
}

func (u *Unclear) plus(o Unclear) {
	u.Count += o.Count
	if smaller(o.Example, u.Example) < 0 {
		u.Example = o.Example
	}
}

func (r *RuleCounts) plus(o RuleCounts) {
	r.Baseline, r.Candidate = r.Baseline+o.Baseline, r.Candidate+o.Candidate
	r.Gained, r.Lost = r.Gained+o.Gained, r.Lost+o.Lost
	r.Tightened, r.Loosened, r.Maybe = r.Tightened+o.Tightened, r.Loosened+o.Loosened, r.Maybe+o.Maybe
}

// Plus adds the counts of another group.
func (g *Group) Plus(o Group) {
	g.Total, g.Tightened, g.Loosened, g.Maybe = g.Total+o.Total, g.Tightened+o.Tightened, g.Loosened+o.Loosened, g.Maybe+o.Maybe
	g.Baseline, g.Candidate = g.Baseline+o.Baseline, g.Candidate+o.Candidate
}

// plus adds two sources of one session.
func (c *SessionChange) plus(o SessionChange) {
	c.More += o.More + int64(len(o.Steps))
}

func (t *Trouble) plus(o Trouble) {
	t.Count, t.Failed, t.Damaged = t.Count+o.Count, t.Failed || o.Failed, t.Damaged || o.Damaged
}
func (e *StepError) plus(_ StepError) {}

// plus adds the results for further chains.
func (r *Report) plus(o Report) {
	r.Records, r.Decisions, r.Same, r.Different = r.Records+o.Records, r.Decisions+o.Decisions, r.Same+o.Same, r.Different+o.Different
	r.Incomparable, r.Degraded, r.Keyframes = r.Incomparable+o.Incomparable, r.Degraded+o.Degraded, r.Keyframes+o.Keyframes
	for digest, n := range o.Missing {
		r.Missing[digest] += n
		r.Why[digest] = least(r.Why[digest], o.Why[digest])
	}
	if o.First != nil && (r.First == nil || o.First.ID < r.First.ID) {
		r.First = o.First
	}
}

func (c Cell) compare(o Cell) int {
	return cmp.Or(byStrictness(c.From, o.From), byStrictness(c.To, o.To))
}

// byStrictness orders verdicts by strictness.
func byStrictness(a, b engine.Verdict) int {
	return cmp.Or(cmp.Compare(a.Strictness(), b.Strictness()), cmp.Compare(a, b))
}

func (k Kind) compare(o Kind) int {
	return cmp.Or(phases(k.Phase, o.Phase), k.State.compare(o.State), byStrictness(k.From, o.From), byStrictness(k.To, o.To),
		cmp.Compare(k.Rule, o.Rule), cmp.Compare(k.Due, o.Due), cmp.Compare(number(k.Unasked), number(o.Unasked)))
}

func (u Unclear) compare(o Unclear) int {
	return cmp.Or(phases(u.Phase, o.Phase), u.State.compare(o.State), cmp.Compare(u.Tool, o.Tool), cmp.Compare(u.Missing, o.Missing),
		slices.Compare(u.Rules, o.Rules))
}

// phases puts tool calls first.
func phases(a, b engine.Phase) int {
	return cmp.Or(cmp.Compare(number(a != engine.PhasePre), number(b != engine.PhasePre)), cmp.Compare(a, b))
}

func (s State) compare(o State) int {
	return cmp.Compare(slices.Index(States(), string(s)), slices.Index(States(), string(o)))
}

func (r RuleCounts) compare(o RuleCounts) int { return cmp.Compare(r.ID, o.ID) }

func (g Group) compare(o Group) int { return cmp.Compare(g.Name, o.Name) }

// compare puts the sessions with the most changes first.
func (c SessionChange) compare(o SessionChange) int {
	return cmp.Or(cmp.Compare(o.changes(), c.changes()), cmp.Compare(c.Session, o.Session), cmp.Compare(c.Harness, o.Harness),
		cmp.Compare(c.Format, o.Format), smaller(c.First, o.First))
}

func (c SessionChange) changes() int64 { return c.Tightened + c.Loosened + c.Maybe }

func (t Trouble) compare(o Trouble) int {
	return cmp.Or(cmp.Compare(t.Path, o.Path), cmp.Compare(t.Line, o.Line), cmp.Compare(t.Why, o.Why))
}

func (e StepError) compare(o StepError) int {
	return cmp.Or(cmp.Compare(e.ID, o.ID), cmp.Compare(e.Side, o.Side), cmp.Compare(e.Error, o.Error))
}

// settle computes what follows from the sums.
func (m *Impact) settle() {
	fired := map[string]bool{}
	for _, r := range m.Rules {
		fired[r.ID] = r.Candidate > 0
	}
	m.NeverFired = []string{}
	for _, id := range slices.Concat(m.Candidate.Rules, m.Candidate.Patterns) {
		if !fired[id] {
			m.NeverFired = append(m.NeverFired, id)
		}
	}
	slices.Sort(m.NeverFired)
	m.NeverFired = slices.Compact(m.NeverFired)
	m.Alarms.estimate()
	m.settleCauses()
}

// alike returns an error unless a part was made by the same comparison.
func (m *Impact) alike(o *Impact) error {
	for _, f := range []struct {
		name string
		a, b any
	}{
		{"version", m.Version, o.Version}, {"baseline", m.Baseline, o.Baseline}, {"candidate", m.Candidate, o.Candidate},
		{"env", m.Env, o.Env}, {"selection", m.Selection, o.Selection},
	} {
		if !same(f.a, f.b) {
			return fmt.Errorf("%s is %s, and %s in the first part", f.name, show(f.b), show(f.a))
		}
	}
	return nil
}
