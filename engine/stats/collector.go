package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Grouping names what the groups of a document are.
type Grouping string

// The groupings.
const (
	ByTool    Grouping = "tool"
	ByRule    Grouping = "rule"
	ByPattern Grouping = "pattern"
	BySession Grouping = "session"
	ByAgent   Grouping = "agent"
	ByDay     Grouping = "day"
)

// Groupings lists every Grouping.
func Groupings() []string {
	return []string{string(ByTool), string(ByRule), string(ByPattern), string(BySession), string(ByAgent), string(ByDay)}
}

// Collector counts. It is not safe for several goroutines.
type Collector struct {
	since    int64
	by       Grouping
	doc      Document
	session  string
	seen     bool                 // the session has a record that is counted
	patterns map[patternKey]int64 // the session's
	kinds    counts[engine.Kind]  // of records
	answers  counts[Decision]     // Count is 0 in keys
	times    *times
	cpu      *times
	tired    *fatigue
	asked    questions
	costs    *costs
	acts     *interventions
	files    *files
	rules    counts[Rule] // Count is 0 in keys
	found    counts[patternKey]
	within   map[patternKey]int64 // sessions with a pattern
	controls counts[string]
	errors   counts[Error] // Count is 0 in keys
	tools    groups
	groups   groups
}

type patternKey struct{ id, level string }

// NewCollector returns a collector that leaves out what happened before since,
// in Unix milliseconds. An empty grouping makes no groups.
func NewCollector(since int64, by Grouping, soon Soon) (*Collector, error) {
	if by != "" && !slices.Contains(Groupings(), string(by)) {
		return nil, fmt.Errorf("cannot group by %q; expected one of %s", by, strings.Join(Groupings(), ", "))
	}
	paid := newCosts()
	return &Collector{
		costs: paid, asked: questions{costs: paid},
		since: since, by: by, kinds: counts[engine.Kind]{}, answers: counts[Decision]{}, times: newTimes(), cpu: newTimes(),
		acts: newInterventions(soon), tired: newFatigue(paid), files: newFiles(), rules: counts[Rule]{}, found: counts[patternKey]{}, within: map[patternKey]int64{},
		controls: counts[string]{}, errors: counts[Error]{}, tools: newGroups(maxNames), groups: newGroups(maxGroups),
	}, nil
}

// Begin starts a session: the records that follow belong to it.
func (c *Collector) Begin(session string) {
	c.session, c.seen, c.patterns = session, false, map[patternKey]int64{}
	c.asked.begin()
	c.costs.begin()
	c.tired.begin()
	c.acts.watched, c.acts.calls = nil, map[string]int64{}
}

// End finishes the session. stopped: it cannot continue.
func (c *Collector) End(stopped bool) {
	c.acts.end()
	for p := range c.patterns {
		if _, known := c.within[p]; known || len(c.within) < maxNames {
			c.within[p]++
		}
	}
	if c.seen {
		c.doc.Sessions.Total++
	}
	if c.seen && stopped {
		c.doc.Sessions.Stopped++
	}
}

// Damaged records that a session's chain does not verify beyond this point. An empty name
// means the ledger.
func (c *Collector) Damaged(session, what string) {
	if session != "" {
		c.doc.Sessions.Damaged++
	}
	if len(c.doc.Damaged) < maxNames {
		c.doc.Damaged = append(c.doc.Damaged, DamagedSession{session, what})
	}
}

// Ledger counts a record of the machine's ledger; only those that concern no session are
// counted.
func (c *Collector) Ledger(r *engine.Record) {
	if r.T >= c.since && r.Note != nil && r.Note.What == string(ErrorUndecodable) {
		c.fail(ErrorUndecodable, "")
	}
}

// Add counts a record of the session. It must not be changed in the meantime.
func (c *Collector) Add(r *engine.Record) {
	if r.T < c.since || r.Kind == engine.KindKeyframe {
		return
	}
	c.seen = true
	if c.doc.First == 0 || r.T < c.doc.First {
		c.doc.First = r.T
	}
	c.doc.Last = max(c.doc.Last, r.T)
	c.kinds.add(r.Kind, Other)
	c.doc.Async.see(r)
	c.tired.see(r)
	if r.Act != nil && r.Act.Late != nil {
		return
	}
	if !c.files.see(r.Act) {
		c.acts.see(r)
	}
	switch {
	case r.Control != nil:
		c.control(r.Control)
	case r.Note != nil && r.Note.What == string(ErrorRecovered):
		c.fail(ErrorRecovered, "")
	case r.Answer != nil && r.Answer.Mode != engine.ModeDuplicate:
		c.answered(r)
	}
}

// control counts what a person did. How a question ended may be nobody's choice, and what a session's log takes over from the
// ledger is none.
func (c *Collector) control(choice *engine.Control) {
	if choice.Do == engine.ControlKey || choice.Do == engine.ControlUsed || choice.Do == engine.ControlExpire {
		return
	}
	c.costs.control(choice)
	if choice.Decided != nil {
		c.asked.control(choice)
	}
	if choice.Decided == nil || choice.Decided.Who == engine.DecidedPerson {
		c.controls.add(choice.Do, Other)
	}
}

// answered counts a record that contains an answer.
func (c *Collector) answered(r *engine.Record) {
	c.times.add(r.Answer.MS)
	c.cpu.add(r.Answer.CPU)
	if r.Answer.Slow {
		c.doc.Slow++
	}
	c.costs.see(r)
	c.asked.see(r)
	c.decision(r)
	if r.Kind == engine.KindPre {
		c.call(r)
	}
	if r.Answer.Mode == engine.ModeDegraded {
		c.fail(ErrorDegraded, "")
	}
	if r.Rewritten != nil && r.Rewritten.Failure != "" {
		c.fail(ErrorRewrite, "")
	}
	c.findings(r)
	c.firedRules(r)
}

func (c *Collector) decision(r *engine.Record) {
	key := Decision{Phase: r.Phase, Effect: r.Answer.Effect, Mode: r.Answer.Mode}
	if r.Decision != nil {
		key.Decision = r.Decision.Decision
	}
	c.answers.add(key, Decision{Phase: engine.PhaseOther, Effect: r.Answer.Effect, Mode: r.Answer.Mode})
}

// call counts a tool call before it ran.
func (c *Collector) call(r *engine.Record) {
	effect := r.Answer.Effect
	said := effect
	if r.Decision != nil {
		said = r.Decision.Decision
	}
	c.doc.Calls.add(effect)
	c.doc.Policy.add(said)
	if r.Source == engine.SourcePrefilter {
		c.doc.Prefiltered++
	}
	tool := ""
	if r.Event != nil {
		tool = r.Event.Tool
	}
	c.tools.at(tool).add(effect)
	switch c.by {
	case BySession:
		c.groups.at(c.session).add(effect)
	case ByAgent:
		c.groups.at(agentOf(r)).add(effect)
	case ByDay:
		c.groups.at(time.UnixMilli(r.T).UTC().Format(time.DateOnly)).add(effect)
	}
}

// findings counts the patterns that were found, and the conditions that failed.
func (c *Collector) findings(r *engine.Record) {
	for _, f := range r.Findings {
		switch {
		case f.Error != "":
			c.fail(ErrorCondition, f.ID)
		case f.Level != "":
			key := patternKey{f.ID, f.Level}
			c.found.add(key, patternKey{Other, Other})
			if len(c.patterns) < maxNames {
				c.patterns[key]++
			}
			if c.by == ByPattern {
				c.groups.at(f.ID).add(r.Answer.Effect)
			}
		}
	}
}

// firedRules counts the rules that fired, and those that failed.
func (c *Collector) firedRules(r *engine.Record) {
	if r.Decision == nil {
		return
	}
	for _, rule := range r.Decision.Rules {
		c.rules.add(Rule{Rule: rule.ID, Decision: rule.Decision}, Rule{Rule: Other, Decision: rule.Decision})
		if c.by == ByRule {
			c.groups.at(rule.ID).add(r.Answer.Effect)
		}
	}
	for _, e := range r.Decision.Errors {
		c.fail(ErrorRule, e.Rule)
	}
}

func (c *Collector) fail(what ErrorKind, id string) {
	c.errors.add(Error{What: what, ID: id}, Error{What: what, ID: Other})
}

// Document returns the counts.
func (c *Collector) Document() Document {
	d := c.doc
	d.Since, d.By = c.since, string(c.by)
	d.ReviewTime, d.Questions, d.Fatigue, d.Tools = c.times.document(), c.asked.document(), c.tired.document(), c.tools.list()
	d.CPUTime = c.cpu.document()
	d.Checkpoints, d.Observed = c.files.checkpoints(), c.files.list()
	d.Damaged = append([]DamagedSession{}, d.Damaged...)
	d.Records = rows(c.kinds, func(k engine.Kind) string { return string(k) }, func(k engine.Kind, n int64) Kind { return Kind{k, n} })
	d.Decisions = rows(c.answers, Decision.name, func(k Decision, n int64) Decision { k.Count = n; return k })
	d.Rules = rows(c.rules, Rule.name, func(k Rule, n int64) Rule { k.Count = n; return k })
	d.Patterns = rows(c.found, patternKey.name, func(k patternKey, n int64) Pattern { return Pattern{k.id, k.level, n, c.within[k]} })
	d.Interventions = rows(c.acts.counts, Intervention.name, func(k Intervention, n int64) Intervention { k.Count = n; return k })
	d.Escalations = rows(c.acts.escalations, itself, func(k string, n int64) Escalation { return Escalation{k, n} })
	d.Controls = rows(c.controls, itself, func(k string, n int64) Control { return Control{k, n} })
	d.Errors = rows(c.errors, Error.name, func(k Error, n int64) Error { k.Count = n; return k })
	if d.Groups = c.grouped(d); c.by == ByRule {
		d.Costs = c.costs.list()
	}
	return d
}

func (c *Collector) grouped(d Document) []Group {
	switch c.by {
	case "":
		return nil
	case ByTool:
		return d.Tools
	case ByDay:
		return slices.SortedFunc(slices.Values(c.groups.list()), func(a, b Group) int { return cmp.Compare(a.Key, b.Key) })
	}
	return c.groups.list()
}

// rows makes a sorted list of counts.
func rows[K comparable, R any](c counts[K], name func(K) string, row func(K, int64) R) []R {
	list := []R{}
	for _, k := range c.sorted(name) {
		list = append(list, row(k, c[k]))
	}
	return list
}

func itself(s string) string { return s }

func joined(words ...string) string { return strings.Join(words, "\x00") }

func (d Decision) name() string {
	return joined(string(d.Phase), string(d.Decision), string(d.Effect), string(d.Mode))
}
func (r Rule) name() string         { return joined(r.Rule, string(r.Decision)) }
func (p patternKey) name() string   { return joined(p.id, p.level) }
func (i Intervention) name() string { return joined(i.Issue, i.Type, string(i.Outcome)) }
func (e Error) name() string        { return joined(string(e.What), e.ID) }

// Vocabulary returns the values that an error's field may have; nil: any.
func (Error) Vocabulary(field string) []string {
	if field != "what" {
		return nil
	}
	return []string{
		string(ErrorRule), string(ErrorCondition), string(ErrorDegraded),
		string(ErrorRewrite), string(ErrorUndecodable), string(ErrorRecovered),
	}
}
