package stats

import (
	"cmp"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Cost describes what a rule costs people: the calls about which it asked them, and those that it denied. A call counts for each
// of the strictest rules that fired for it.
type Cost struct {
	Rule      string  `json:"rule"` // scores: no rule asked or denied
	Asked     int64   `json:"asked"`
	Approved  int64   `json:"approved"`
	Refused   int64   `json:"refused"`
	Ended     int64   `json:"ended"` // without an answer
	Open      int64   `json:"open"`
	WaitedS   float64 `json:"waited_s"` // seconds from the questions to the answers, as far as their times are known
	Blocked   int64   `json:"blocked"`
	Overruled int64   `json:"overruled"` // denials after which a person allowed the call
}

// costs counts what rules cost people.
type costs struct {
	of    map[string]*Cost
	rules map[string][]string // of the session's latest questions and denials, by record
}

func newCosts() *costs { return &costs{of: map[string]*Cost{}} }

// begin drops the previous session.
func (c *costs) begin() { c.rules = map[string][]string{} }

// see counts a question, or a denial.
func (c *costs) see(r *engine.Record) {
	if r.Kind != engine.KindPre || r.Decision == nil || r.Answer.Effect.Strictness() < engine.Ask.Strictness() {
		return
	}
	if len(c.rules) < maxQuestions {
		c.rules[r.ID()] = strictest(r.Decision)
	}
	c.each(r.ID(), func(k *Cost) {
		if r.Answer.Effect == engine.Ask {
			k.Asked++
			k.Open++
		} else {
			k.Blocked++
		}
	})
}

// each calls a function for the cost of each rule that asked about a recorded call, or denied it.
func (c *costs) each(record string, do func(*Cost)) {
	for _, id := range c.rules[record] {
		if c.of[id] == nil && len(c.of) >= maxNames {
			id = Other
		}
		if c.of[id] == nil {
			c.of[id] = &Cost{Rule: id}
		}
		do(c.of[id])
	}
}

// strictest lists the rules that asked or denied: those with the strictest decision.
func strictest(d *engine.Decision) []string {
	var ids []string
	least := engine.Ask.Strictness()
	for _, r := range d.Rules {
		if n := r.Decision.Strictness(); r.Enforcement == "" && n >= least {
			if n > least {
				ids, least = nil, n
			}
			ids = append(ids, r.ID)
		}
	}
	switch {
	case len(ids) > 0:
		return ids
	case d.Intervention != nil && d.Intervention.Issue != "":
		return []string{d.Intervention.Issue}
	}
	return []string{byScores}
}

// answered counts another answer to a question.
func (c *costs) answered(record string, before, now answer) {
	c.each(record, func(k *Cost) {
		counts := [...]*int64{&k.Open, &k.Approved, &k.Refused, &k.Ended}
		*counts[before]--
		*counts[now]++
	})
}

// waited counts the time until a question was answered, in milliseconds.
func (c *costs) waited(record string, ms float64) {
	if ms > 0 {
		c.each(record, func(k *Cost) { k.WaitedS += min(ms, maxTime) / 1000 })
	}
}

// control counts a denial after which a person allowed the call.
func (c *costs) control(choice *engine.Control) {
	if choice.Do != engine.ControlAllowOnce && choice.Do != engine.ControlAllowSession {
		return
	}
	c.each(choice.Record, func(k *Cost) { k.Overruled++ })
	delete(c.rules, choice.Record) // it is overruled once
}

// list returns the costs, those with most questions first.
func (c *costs) list() []Cost {
	list := []Cost{}
	for _, k := range c.of {
		one := *k
		one.WaitedS = places(one.WaitedS, 1)
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(a.Rule, b.Rule))
	})
	return list
}
