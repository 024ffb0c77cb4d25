package incident

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Limits of the records that are kept for a cause and its factors.
const (
	maxRecords = 8 // ids in a list
	maxSigns   = 2048
	maxRules   = 20
)

// sign is a record that names a rule or pattern.
type sign struct {
	id    string
	at    int64
	agent string
}

// done is an intervention that was made, and how often its issue was found again.
type done struct {
	sign
	kind, issue string
	back        int
}

// signs collects what may have led to a stop.
type signs struct {
	issues   map[string][]sign // rule or pattern -> records that name it
	counts   map[string]int    // the same, in full
	worst    map[string]string // the worst severity of each
	patterns map[string]int    // patterns that reached a level
	warned   map[string]int    // rules that alone led to a warning
	made     []*done
	denied   []sign // in a row, the latest last
	failed   []sign // in a row
	refused  []string
	degraded []string
}

func newSigns() signs {
	return signs{issues: map[string][]sign{}, counts: map[string]int{}, worst: map[string]string{}, patterns: map[string]int{},
		warned: map[string]int{}}
}

func (s *signs) see(rec *engine.Record, answer engine.Verdict) {
	at := sign{rec.ID(), rec.T, agentOf(rec)}
	s.rows(rec, at, answer)
	if rec.Answer != nil {
		s.answered(rec.Answer, at)
	}
	for _, id := range namedIn(rec) {
		s.name(id, at)
	}
	for _, f := range rec.Findings {
		if f.Level != "" {
			s.patterns[f.ID]++
			s.worst[f.ID] = worse(s.worst[f.ID], f.Level)
		}
	}
	d := rec.Decision
	if d == nil {
		return
	}
	for _, rule := range d.Rules {
		s.worst[rule.ID] = worse(s.worst[rule.ID], rule.Severity)
	}
	if d.Enforced == engine.Warn && len(d.Rules) > 0 {
		s.warned[d.Rules[0].ID]++
	}
	if i := d.Intervention; i != nil && d.Enforced != engine.Allow && !d.Stops() {
		s.intervention(i, at)
	}
}

func (s *signs) intervention(i *engine.Intervention, at sign) {
	if i.Issue != "" && i.Kind != engine.EmergencyStop && len(s.made) < maxSigns {
		s.made = append(s.made, &done{sign: at, kind: i.Kind, issue: i.Issue})
	}
}

// rows keeps the denials in a row and the failures in a row.
func (s *signs) rows(rec *engine.Record, at sign, answer engine.Verdict) {
	switch {
	case rec.Kind == engine.KindPre && answer == engine.Block:
		s.denied = last(append(s.denied, at), maxSigns)
	case rec.Kind == engine.KindPost && rec.Event != nil && rec.Event.Result != nil:
		s.denied = nil
		if rec.Event.Result.Outcome == engine.OutcomeFailed {
			s.failed = last(append(s.failed, at), maxSigns)
		} else {
			s.failed = nil
		}
	}
}

func (s *signs) answered(a *engine.AnswerFacts, at sign) {
	if a.Mode == engine.ModeDegraded {
		s.degraded = append(s.degraded, at.id)
	}
	for _, p := range a.Approvals {
		if !p.Approved {
			s.refused = append(s.refused, p.Of)
		}
	}
}

func (s *signs) name(id string, at sign) {
	s.counts[id]++
	for _, m := range s.made {
		if m.issue == id && m.agent == at.agent && m.id != at.id {
			m.back++
		}
	}
	if len(s.issues[id]) < maxSigns {
		s.issues[id] = append(s.issues[id], at)
	}
}

// namedIn lists the rules and patterns that a record names.
func namedIn(rec *engine.Record) []string {
	var ids []string
	if rec.Decision != nil {
		ids = rec.Decision.RuleIDs()
	}
	for _, f := range rec.Findings {
		if f.Level != "" && f.Error == "" {
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// cause returns the cause of a stop.
func (s *signs) cause(rec *engine.Record) Cause {
	i := rec.Decision.Intervention
	c := Cause{Issue: i.Issue, Reason: i.Reason, Call: subject(rec)}
	for _, rule := range rec.Decision.Rules {
		if rule.ID == i.Issue {
			c.Message, c.Harm = rule.Message, rule.Harm
		}
	}
	for _, f := range rec.Findings {
		if f.ID == i.Issue {
			c.Level, c.Details = f.Level, f.Details
		}
	}
	c.Evidence = ids(s.evidence(i.Issue, rec))
	return c
}

// evidence lists the records that show an issue: those that name it, and the denials
// in a row that end with the stop.
func (s *signs) evidence(issue string, rec *engine.Record) []sign {
	list := slices.Clone(s.issues[issue])
	if n := len(s.denied); n > 1 && s.denied[n-1].id == rec.ID() {
		list = append(list, s.denied...)
	}
	slices.SortStableFunc(list, func(a, b sign) int { return cmp.Compare(a.at, b.at) })
	var own []sign
	for _, a := range list {
		if !slices.ContainsFunc(own, func(b sign) bool { return a.id == b.id }) {
			own = append(own, a)
		}
	}
	if len(own) > maxRecords { // the first one, and the latest
		own = append(own[:1:1], own[len(own)-maxRecords+1:]...)
	}
	return own
}

// began returns when the first sign of a cause was recorded.
func (s *signs) began(c Cause, rec *engine.Record) int64 {
	if list := s.evidence(c.Issue, rec); len(list) > 0 {
		return list[0].at
	}
	return rec.T
}

// factors lists what contributed to a stop.
func (s *signs) factors(rec *engine.Record) []Factor {
	issue := rec.Decision.Intervention.Issue
	list := s.inVain(issue)
	add := func(kind FactorKind, records []string, format string, args ...any) {
		list = append(list, Factor{kind, fmt.Sprintf(format, args...), last(records, maxRecords)})
	}
	if n := len(s.denied); n > 1 {
		add(FactorDenials, ids(s.denied), "%s in a row were denied before the stop.", engine.Counted(n, "call", "calls"))
	}
	if n := len(s.failed); n > 1 {
		add(FactorErrors, ids(s.failed), "%s in a row failed before the stop.", engine.Counted(n, "call", "calls"))
	}
	for _, id := range byCount(s.patterns) {
		if id != issue {
			add(FactorPattern, ids(s.issues[id]), "The pattern %s was found %s.", id, times(s.patterns[id]))
		}
	}
	for _, id := range byCount(s.warned) {
		if s.patterns[id] == 0 {
			add(FactorWarnings, ids(s.issues[id]), "The rule %s warned %s, and the agent went on.", id, times(s.warned[id]))
		}
	}
	if n := len(s.refused); n > 0 {
		add(FactorRefused, s.refused, "A person did not approve %s.", engine.Counted(n, "call", "calls"))
	}
	if n := len(s.degraded); n > 0 {
		add(FactorDegraded, s.degraded, "%s could not be reviewed.", engine.Counted(n, "event", "events"))
	}
	return list
}

// kinds lists the kinds of intervention, mildest first, and then those of the
// organisation's own that were made.
func (s *signs) kinds() []string {
	list := engine.Interventions()
	for _, m := range s.made {
		if !slices.Contains(list, m.kind) {
			list = append(list, m.kind)
		}
	}
	return list
}

// inVain lists the interventions whose issue was found again.
func (s *signs) inVain(issue string) []Factor {
	list := []Factor{}
	for _, kind := range s.kinds() {
		var records []string
		for _, m := range s.made {
			if m.kind == kind && m.issue == issue && m.back > 0 {
				records = append(records, m.id)
			}
		}
		if len(records) > 0 {
			text := fmt.Sprintf("%s about %s was tried %s and did not help.", kind, issue, times(len(records)))
			list = append(list, Factor{FactorIntervention, text, last(records, maxRecords)})
		}
	}
	return list
}

// frequent lists the rules and patterns that fired, the most frequent first.
func (s *signs) frequent() []string {
	list := byCount(s.counts)
	return list[:min(len(list), maxRules)]
}

func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
}

func ids(list []sign) []string {
	out := []string{}
	for _, s := range list {
		out = append(out, s.id)
	}
	return out
}

func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return engine.Counted(n, "time", "times")
}
