package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// sessionTally collects the changes of one candidate in one session.
type sessionTally struct {
	impact        *Impact
	change        SessionChange
	differs       bool // in any decision
	diverged      bool // in one that a call does not survive: what follows is hypothetical
	people        people
	unattended    bool
	last          int64 // time of the event before, in Unix ms; 0: there was none, or it is unknown
	kinds         map[kindKey]*Kind
	rules         map[string]*RuleCounts
	causes        map[string]*Cause // by Cause.Key
	interventions map[string]*Group
	duties        map[dutyKey]*SessionDuty
	tools         map[string]*Group
	alarms        alarms
	patterns      map[string]bool
	matrix        map[*Tally]map[cellKey]*Cell
	open          map[*Tally]map[OpenCell]*OpenCell // by all but the count
}

type kindKey struct {
	phase    engine.Phase
	state    State
	from, to engine.Verdict
	rule     string
	due      string
	unasked  bool
}

type cellKey struct{ from, to engine.Verdict }

func newSessionTally(m *Impact, s RecordedSession) *sessionTally {
	t := &sessionTally{
		impact: m, change: SessionChange{Session: s.Session, Harness: s.Harness, Format: s.Format, Steps: []Step{}},
		kinds: map[kindKey]*Kind{}, rules: map[string]*RuleCounts{}, causes: map[string]*Cause{}, interventions: map[string]*Group{}, tools: map[string]*Group{},
		duties: map[dutyKey]*SessionDuty{}, patterns: map[string]bool{}, matrix: map[*Tally]map[cellKey]*Cell{&m.Calls: {}, &m.Events: {}},
		open: map[*Tally]map[OpenCell]*OpenCell{&m.Calls: {}, &m.Events: {}}, people: newPeople(),
	}
	for _, id := range slices.Concat(m.Baseline.Patterns, m.Candidate.Patterns) {
		t.patterns[id] = true
	}
	return t
}

// step describes a decision; its state is still missing.
func (t *sessionTally) step(m RecordedEvent, index int64, workspace string, base, now sideAnswer) Step {
	rec := m.Record
	t.change.Workspace = workspace
	s := Step{
		ID: rec.ID(), Session: t.change.Session, Index: index, Time: rec.T, Phase: rec.Phase, Call: rec.Call, Tool: clip(rec.Event.Tool),
		From: base.verdict, To: now.verdict, FromRules: base.rules(), ToRules: now.rules(), After: t.diverged,
	}
	if rec.Agent != engine.MainAgent {
		s.Agent = rec.Agent
	}
	if rec.Action != nil {
		s.Resource = clip(rec.Action.Resource)
	}
	if strict, _ := stricter(base, now); strict.decision != nil {
		s.Reason = clip(reason(strict, base, now))
	}
	return s
}

// reason returns the reason of the stricter side: of a changed answer, the reason of its rule.
func reason(strict, base, now sideAnswer) string {
	if base.verdict != now.verdict {
		rule, _ := cause(base, now)
		if rule == ByEnforcement {
			return lessEnforced(strict, base, now)
		}
		for _, r := range strict.decision.Rules {
			if r.ID == rule && r.Message != "" {
				return r.Message
			}
		}
	}
	return strict.decision.Reason
}

// lessEnforced names the setting by which one side enforces the same decision less: for the first rule of which that is
// known, or else for all. It has no words of the call.
func lessEnforced(strict, base, now sideAnswer) string {
	modeOf := func(s sideAnswer, id string) string {
		i := slices.IndexFunc(s.decision.Rules, func(r engine.RuleResult) bool { return r.ID == id })
		if i < 0 {
			return ""
		}
		return cmp.Or(s.decision.Rules[i].Enforcement, "enforce")
	}
	for _, id := range strict.rules() {
		if was, is := modeOf(base, id), modeOf(now, id); was != is && was != "" && is != "" {
			return fmt.Sprintf("setting enforcement, or rules.enforcement.%s: %s -> %s", id, was, is)
		}
	}
	return fmt.Sprintf("setting enforcement: %s -> %s", mode(base.decision), mode(now.decision))
}

// mode is how a decision was enforced.
func mode(d *engine.Decision) string {
	switch d.Enforced {
	case d.Decision:
		return "enforce"
	case engine.Allow:
		return "observe"
	}
	return "warn"
}

func (s sideAnswer) rules() []string {
	if s.decision == nil {
		return []string{}
	}
	return s.decision.RuleIDs()
}

// stricter returns the side with the stricter answer; if both are equal, the candidate, and
// then the other.
func stricter(base, now sideAnswer) (strict, other sideAnswer) {
	if base.verdict != "" && base.verdict.Strictness() > now.verdict.Strictness() {
		return base, now
	}
	return now, base
}

// clip limits a string without splitting a character.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// changes reports whether a state is a changed answer.
func (s State) changes() bool { return s == Tightened || s == Loosened || s == Maybe }

// add counts a decision. loosens: the candidate's answer is milder, or may be.
func (t *sessionTally) add(s Step, loosens bool, base, now sideAnswer) {
	tally, m := &t.impact.Events, t.impact
	if s.Phase == engine.PhasePre {
		tally = &m.Calls
		t.call(s)
	}
	m.span(s.Time)
	tally.Total++
	if s.After {
		tally.After[s.State]++
	} else {
		tally.States[s.State]++
	}
	t.cell(tally, s, loosens, base, now)
	t.unclear(s, now)
	t.firedRules(s, base, now)
	t.intervention(s, base, now)
	t.duty(base, now)
	t.files(s, base, now)
	t.errors(tally, s, base, now)
	if s.State.changes() {
		t.changed(s, base, now)
	}
	t.keep(s)
}

// unclear counts an unknown decision by the fact that was not recorded, and by the rules that may decide it.
func (t *sessionTally) unclear(s Step, now sideAnswer) {
	if s.State == Unknown || s.State == Maybe {
		for _, rule := range now.deciding {
			t.impact.undecided(rule, 1)
		}
	}
	if s.State == Unknown && s.Missing != "" {
		t.impact.lacks(s.Missing, 1)
	}
	if s.State == Unknown || s.State == Incomparable {
		one := Unclear{Phase: s.Phase, State: s.State, Tool: s.Tool, Missing: s.Missing, Rules: now.deciding, Count: 1, Example: s}
		t.impact.Unclear = joined(t.impact.Unclear, []Unclear{one}, Unclear.compare, (*Unclear).plus, maxKinds)
	}
}

// span widens the time that the Impact covers.
func (m *Impact) span(ms int64) {
	if ms == 0 {
		return // not recorded
	}
	if m.First == 0 || ms < m.First {
		m.First = ms
	}
	m.Last = max(m.Last, ms)
}

func (t *sessionTally) cell(tally *Tally, s Step, loosens bool, base, now sideAnswer) {
	if s.State == Unknown || s.State == Incomparable {
		key := OpenCell{From: base.certain(), To: now.certain(), Sure: !loosens}
		if t.open[tally][key] == nil {
			cell := key
			t.open[tally][key] = &cell
		}
		t.open[tally][key].Count++
		return
	}
	if s.From == "" || s.To == "" {
		return // both are the same at any time, and differ between times
	}
	key := cellKey{s.From, s.To}
	c := t.matrix[tally][key]
	if c == nil {
		c = &Cell{From: s.From, To: s.To}
		t.matrix[tally][key] = c
	}
	if s.After {
		c.After++
	} else {
		c.Count++
	}
	if s.State == Maybe {
		c.Maybe++
		c.Sure += int64(number(!loosens))
	}
}

// firedRules counts the rules of both sides. If nothing is known about the
// baseline's, nothing is gained.
func (t *sessionTally) firedRules(s Step, base, now sideAnswer) {
	had, has := t.ids(base), t.ids(now)
	for id := range had {
		r := t.rule(id)
		r.Baseline++
		if !has[id] && now.decision != nil {
			r.Lost++
		}
	}
	for id := range has {
		r := t.rule(id)
		r.Candidate++
		if !had[id] && base.decision != nil {
			r.Gained++
		}
	}
	if !s.State.changes() {
		return
	}
	rule, _ := cause(base, now)
	t.rule(rule).add(s.State)
}

func (r *RuleCounts) add(s State) {
	switch s {
	case Tightened:
		r.Tightened++
	case Loosened:
		r.Loosened++
	case Maybe:
		r.Maybe++
	}
}

func (t *sessionTally) rule(id string) *RuleCounts {
	r := t.rules[id]
	if r == nil {
		r = &RuleCounts{ID: id, Pattern: t.patterns[id]}
		t.rules[id] = r
	}
	return r
}

// ids returns the rules that fired, and the patterns that were found, reported or not.
func (t *sessionTally) ids(s sideAnswer) map[string]bool {
	set := map[string]bool{}
	for _, id := range s.rules() {
		set[id] = true
	}
	for _, f := range s.findings {
		if f.Level != "" && s.decision != nil {
			set[f.ID] = true
		}
	}
	return set
}

// cause returns the cause of a difference: a rule of the stricter side that is
// strict enough, preferably one that the other side lacks; or one that asks,
// where nobody could be asked.
func cause(base, now sideAnswer) (rule string, unasked bool) {
	strict, other := stricter(base, now)
	switch {
	case strict.decision == nil:
		return ByOthers, false
	case other.decision != nil && strict.decision.Decision == other.decision.Decision:
		return ByEnforcement, false
	}
	if own, both := leadingRules(strict, other, strict.verdict); own+both != "" {
		return cmp.Or(own, both), false
	}
	if own, _ := leadingRules(strict, other, engine.Modify); own != "" && strict.verdict == engine.Block {
		return own, true
	}
	if made := strict.decision.Intervention; made != nil && made.Issue != "" {
		return made.Issue, false // its rule only warns
	}
	return ByScores, false
}

// leadingRules returns the first rules whose verdict on one side is at least this strict: one
// that the other side does not have, and one that both have; empty: there is none.
func leadingRules(on, other sideAnswer, least engine.Verdict) (own, both string) {
	for _, r := range on.decision.Rules {
		switch {
		case r.Enforcement != "" || r.Decision.Strictness() < least.Strictness():
		case !slices.Contains(other.rules(), r.ID):
			own = cmp.Or(own, r.ID)
		default:
			both = cmp.Or(both, r.ID)
		}
	}
	return own, both
}

func named(groups map[string]*Group, name string) *Group {
	g := groups[name]
	if g == nil {
		g = &Group{Name: name}
		groups[name] = g
	}
	return g
}

func (g *Group) add(s State) {
	g.Total++
	switch s {
	case Tightened:
		g.Tightened++
	case Loosened:
		g.Loosened++
	case Maybe:
		g.Maybe++
	}
}

// call counts a call of a tool.
func (t *sessionTally) call(s Step) {
	t.change.Calls++
	g := named(t.tools, s.Tool)
	g.add(s.State)
	g.Baseline += int64(number(stops(s.From)))
	g.Candidate += int64(number(stops(s.To)))
	if s.Time > 0 {
		t.impact.Work.Baseline += int64(number(stops(s.From)))
		t.impact.Work.Candidate += int64(number(stops(s.To)))
	}
}

// countWork records the time of an event, which may be unknown.
func (t *sessionTally) countWork(at int64) {
	if gap := at - t.last; t.last > 0 && gap > 0 && gap < pause.Milliseconds() {
		t.impact.Work.Milliseconds += gap
	}
	t.last = at
}

// stops reports whether a call does not simply run.
func stops(v engine.Verdict) bool { return v == engine.Ask || v == engine.Block }

// intervention counts the decisions that ask for one.
func (t *sessionTally) intervention(s Step, base, now sideAnswer) {
	was, is := base.intervention(), now.intervention()
	for _, kind := range slices.Compact([]string{was, is}) {
		if kind != "" {
			named(t.interventions, kind).add(s.State)
		}
	}
	if was != "" {
		t.interventions[was].Baseline++
	}
	if is != "" {
		t.interventions[is].Candidate++
	}
}

func (s sideAnswer) intervention() string {
	if s.decision == nil || s.decision.Intervention == nil {
		return ""
	}
	return s.decision.Intervention.Kind
}

// errors notes the decisions that failed.
func (t *sessionTally) errors(tally *Tally, s Step, base, now sideAnswer) {
	if base.failed != nil || now.failed != nil {
		tally.Failed++
	}
	for _, f := range []StepError{base.error(s.ID, "baseline"), now.error(s.ID, "candidate")} {
		if f.Error != "" {
			t.impact.Errors = joined(t.impact.Errors, []StepError{f}, StepError.compare, (*StepError).plus, maxErrors)
		}
	}
}

func (s sideAnswer) error(id, side string) StepError {
	if s.failed == nil {
		return StepError{}
	}
	return StepError{ID: id, Side: side, Error: clip(s.failed.Error())}
}

// changed records a changed answer.
func (t *sessionTally) changed(s Step, base, now sideAnswer) {
	rule, unasked := cause(base, now)
	key := kindKey{s.Phase, s.State, s.From, s.To, rule, s.Due, unasked}
	k := t.kinds[key]
	if k == nil {
		k = &Kind{Phase: s.Phase, State: s.State, From: s.From, To: s.To, Rule: rule, Due: s.Due, Unasked: unasked, Example: s}
		t.kinds[key] = k
	}
	if s.Due != "" {
		t.cause(s.Due).add(s)
	}
	if s.After {
		k.After++
	} else {
		k.Count++
	}
	if smaller(s, k.Example) < 0 {
		k.Example = s
	}
	if c := &t.change; !t.differs {
		t.differs, c.First = true, s
	}
	// Where both let the call run, what follows has happened under either.
	t.diverged = t.diverged || s.From != s.To && (stops(s.From) || stops(s.To))
	switch c := &t.change; s.State {
	case Tightened:
		c.Tightened++
	case Loosened:
		c.Loosened++
	default:
		c.Maybe++
	}
}

// smaller orders examples: the simplest comes first.
func smaller(a, b Step) int {
	return cmp.Or(
		cmp.Compare(number(a.After), number(b.After)), cmp.Compare(len(a.Resource), len(b.Resource)), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Session, b.Session), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Time, b.Time), cmp.Compare(a.ID, b.ID),
	)
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// keep adds a step to the session's time line if it shows anything.
func (t *sessionTally) keep(s Step) {
	if !s.State.changes() && (s.From == "" || s.From == engine.Allow) && (s.To == "" || s.To == engine.Allow) {
		return
	}
	if len(t.change.Steps) < maxSteps {
		t.change.Steps = append(t.change.Steps, s)
	} else {
		t.change.More++
	}
}

// sum returns the session's result.
func (t *sessionTally) sum(a answers) *Impact {
	m := t.impact
	for tally, cells := range t.matrix {
		tally.Matrix = sorted(cells, Cell.compare)
		if open := sorted(t.open[tally], OpenCell.compare); len(open) > 0 {
			tally.Open = open
		}
	}
	m.Kinds, m.Rules = sorted(t.kinds, Kind.compare), sorted(t.rules, RuleCounts.compare)
	m.Interventions, m.Tools = sorted(t.interventions, Group.compare), sorted(t.tools, Group.compare)
	m.Duties = sorted(t.duties, SessionDuty.compare)
	t.impact.Causes = joined(t.impact.Causes, sorted(t.causes, Cause.compare), Cause.compare, (*Cause).plus, maxCauses)
	if m.Files != nil {
		slices.SortFunc(m.Files.Steps, FileStep.compare)
	}
	m.Alarms = t.alarms.sum(a)
	if m.Calls.Total+m.Events.Total > 0 {
		m.Sessions.Total = 1
		m.Sessions.Unattended = int64(number(t.unattended))
		m.Workspaces = []Group{t.workspace()}
	}
	t.people.sum(m)
	if t.differs {
		m.Sessions.Changed = 1
		m.Changed = []SessionChange{t.change}
	}
	return m
}

// workspace returns the sum of the session's calls.
func (t *sessionTally) workspace() Group {
	g := Group{Name: t.change.Workspace}
	for _, tool := range t.tools {
		g.Plus(*tool)
	}
	return g
}

// sorted lists the values of a map in order.
func sorted[K comparable, V any](m map[K]*V, compare func(a, b V) int) []V {
	list := make([]V, 0, len(m))
	for _, v := range m {
		list = append(list, *v)
	}
	slices.SortFunc(list, compare)
	return list
}
