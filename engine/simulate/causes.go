package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Cause is a change of policy, with its effect on the examined decisions. The decisions that
// are due to the Causes of an Impact add up to those that changed.
type Cause struct {
	Kind      string   `json:"kind"`            // as in policy diff: setting, rule, pattern, access, detector, row, rego; several: no single one
	Name      string   `json:"name"`            // such as risk.high_threshold
	Did       string   `json:"did"`             // added, removed, changed, reordered
	Direction string   `json:"direction"`       // as in policy diff: loosened, tightened, mixed, undecided
	Was       string   `json:"was,omitempty"`   // of a setting, as JSON
	Is        string   `json:"is,omitempty"`    // of a setting, as JSON
	Parts     []string `json:"parts,omitempty"` // of a row: the parts that differ, such as when

	Loosened  int64 `json:"loosened"` // decisions
	Tightened int64 `json:"tightened"`
	Maybe     int64 `json:"maybe"`
	After     int64 `json:"after"` // of these, those after the first difference in their session
	Met       int64 `json:"met"`   // decisions that the change concerns: a rule fired, the program of a row was called, or anything differs because of it
}

// The kinds of causes that policy diff does not have.
const (
	CauseSeveral = "several" // no single change makes the difference
	CauseRego    = "rego"    // Rego and its data, which change together
)

// Key names a cause in steps and kinds of change.
func (c Cause) Key() string { return strings.TrimSpace(c.Kind + " " + c.Name) }

// Changes returns the number of decisions that are due to it.
func (c Cause) Changes() int64 { return c.Loosened + c.Tightened + c.Maybe }

func (c Cause) compare(o Cause) int {
	return cmp.Or(cmp.Compare(c.Kind, o.Kind), cmp.Compare(c.Name, o.Name))
}

func (c *Cause) plus(o Cause) {
	c.Loosened, c.Tightened, c.Maybe = c.Loosened+o.Loosened, c.Tightened+o.Tightened, c.Maybe+o.Maybe
	c.After, c.Met = c.After+o.After, c.Met+o.Met
}

func (c *Cause) add(s Step) {
	switch s.State {
	case Loosened:
		c.Loosened++
	case Tightened:
		c.Tightened++
	default:
		c.Maybe++
	}
	if s.After {
		c.After++
	}
}

// maxCauses limits the changes of policy that are listed.
const maxCauses = 10_000

// causesOf returns the differences of a side, without results.
func causesOf(s *Side) []Cause {
	list := append([]Cause{}, s.Causes...)
	slices.SortFunc(list, Cause.compare)
	return list
}

// due returns the change of policy that a difference is due to; empty if the baseline is not a
// policy. If there are several changes, the candidate is evaluated without one of them, or
// without some: the change whose removal restores the baseline's answer is the cause.
func (r *sessionRun) due(ctx context.Context, c *candidate, m RecordedEvent, base, now sideAnswer) string {
	causes := c.Causes
	switch len(causes) {
	case 0:
		return ""
	case 1:
		return causes[0].Key()
	}
	ask := asking{ctx: ctx, r: r, c: c, m: m, base: base, now: now}
	likely, sure := c.likely(m.Record, base, now)
	for _, i := range likely[:min(len(likely), maxLikely)] {
		if ask.without([]int{i}) == restores {
			return causes[i].Key()
		}
	}
	if i, found := ask.among(seq(len(causes))); found {
		return causes[i].Key()
	}
	if sure {
		return causes[likely[0]].Key() // the others would have the same result
	}
	return Cause{Kind: CauseSeveral}.Key()
}

// maxLikely limits how many changes are tried one by one.
const maxLikely = 4

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// asking evaluates a candidate again without some of its changes.
type asking struct {
	ctx       context.Context
	r         *sessionRun
	c         *candidate
	m         RecordedEvent
	base, now sideAnswer
}

// effect is the effect on an answer of removing some of the policy's changes.
type effect int

const (
	keeps    effect = iota // the same, or unknown
	restores               // it is the baseline's
)

func (a *asking) without(set []int) effect {
	if a.c.Without == nil {
		return keeps
	}
	p, err := a.c.Without(a.ctx, set)
	if err != nil || p == nil {
		return keeps
	}
	side := &Side{Named: a.c.Named, Policy: p}
	l := sideState{Side: side, env: a.c.env, noticed: a.c.noticed, own: a.c.own, rec: a.c.rec, audit: a.c.audit}
	m := a.m
	sameRows := digestOf(p.Rows) == digestOf(a.c.Policy.Rows)
	switch {
	case m.Under != nil && !sameRows:
		m.Record = m.Under(a.ctx, p.Rows)
		l.rec = m.Record
	case a.c.audit && sameRows:
		l.missing.Action = a.c.missing.Action
	case a.c.audit && a.c.Reread != nil:
		l.missing.Action = a.c.Reread(m.Record, a.r.replay.history.Workspace, p.Rows)
	}
	s, err := l.answer(a.ctx, m, a.r.replay)
	if err == nil && s.failed == nil && s.verdict == a.base.verdict {
		return restores
	}
	return keeps
}

// among finds the change that makes the difference among several, by bisection.
func (a *asking) among(set []int) (int, bool) {
	if a.without(set) != restores {
		return 0, false
	}
	for len(set) > 1 {
		half := len(set) / 2
		switch {
		case a.without(set[:half]) == restores:
			set = set[:half]
		case a.without(set[half:]) == restores:
			set = set[half:]
		default:
			return 0, false // the difference needs changes of both halves
		}
	}
	return set[0], true
}

// likely orders the changes that a decision points to; sure means that the first is about a
// rule that fires on one side only, or decides on it.
func (c *candidate) likely(rec *engine.Record, base, now sideAnswer) (order []int, sure bool) {
	fired := onlyOne(base, now)
	rule, _ := cause(base, now)
	best := 0
	weight := make([]int, len(c.Causes))
	for i, x := range c.Causes {
		switch {
		case x.of(rule):
			weight[i] = 4
		case slices.ContainsFunc(fired, x.of):
			weight[i] = 3
		case rule == ByEnforcement && strings.Contains(x.Name, "enforcement"), x.met(rec):
			weight[i] = 2
		case x.Kind == "setting":
			weight[i] = 1
		default:
			continue
		}
		order, best = append(order, i), max(best, weight[i])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	return order, best >= 3
}

// onlyOne returns the rules that fire on one side only.
func onlyOne(base, now sideAnswer) []string {
	var ids []string
	for _, x := range [][2]sideAnswer{{base, now}, {now, base}} {
		for _, id := range x[0].rules() {
			if !slices.Contains(x[1].rules(), id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// of reports whether a change is about a rule: its row, its access list, or a setting about it.
func (c Cause) of(rule string) bool {
	inList := strings.HasPrefix(c.Name, "access.") && strings.HasPrefix(rule, c.Name+".")
	return c.Name == rule || inList || c.Kind == "setting" && strings.HasSuffix(c.Name, "."+rule)
}

// met reports whether a call is of the program or the tool whose row changed, or contains what
// a detector searches for.
func (c Cause) met(rec *engine.Record) bool {
	folder, name, _ := strings.Cut(c.Name, "/")
	switch {
	case rec.Action == nil:
		return false
	case c.Kind == "detector":
		return rec.Action.Detected[c.Name] > 0
	case c.Kind == "row" && folder == "tools":
		return rec.Event != nil && fits(name, rec.Event.Tool)
	case c.Kind == "row" && folder == "programs":
		name = strings.TrimPrefix(name, "converted/")
		return slices.ContainsFunc(rec.Action.Commands, func(x engine.Command) bool {
			return fits(name, x.Name) || slices.ContainsFunc(x.Wrappers, func(w string) bool { return fits(name, w) })
		})
	}
	return false
}

// fits compares a name with one that may end in a star.
func fits(pattern, name string) bool {
	begin, open := strings.CutSuffix(pattern, "*")
	return pattern == name || open && strings.HasPrefix(name, begin)
}

// met counts the decisions that concern a row or a detector; if there is a single change,
// those in which anything differs.
func (t *sessionTally) met(rec *engine.Record, causes []Cause, base, now sideAnswer) {
	for _, c := range causes {
		if (c.Kind == "row" || c.Kind == "detector") && c.met(rec) || len(causes) == 1 && !c.rule() && differ(base, now) {
			t.cause(c.Key()).Met++
		}
	}
}

// rule reports whether the decisions in which something of this kind fires are counted.
func (c Cause) rule() bool { return c.Kind == "rule" || c.Kind == "pattern" || c.Kind == "access" }

// differ reports whether two decisions differ, even if their verdicts are the same.
func differ(base, now sideAnswer) bool {
	return base.decision != nil && now.decision != nil && !reflect.DeepEqual(base.decision, now.decision)
}

// cause returns the sum for a change of policy in this session.
func (t *sessionTally) cause(key string) *Cause {
	c := t.causes[key]
	if c == nil {
		kind, name, _ := strings.Cut(key, " ")
		c = &Cause{Kind: kind, Name: name}
		t.causes[key] = c
	}
	return c
}

// settleCauses fills in how often the rules that changed fired.
func (m *Impact) settleCauses() {
	fired := map[string]int64{}
	for _, r := range m.Rules {
		n := max(r.Baseline, r.Candidate)
		fired[r.ID] = n
		if list := r.ID[:max(0, strings.LastIndexByte(r.ID, '.'))]; strings.HasPrefix(list, "access.") {
			fired[list] += n
		}
	}
	for i := range m.Causes {
		switch c := &m.Causes[i]; {
		case c.rule():
			c.Met = fired[c.Name]
		case c.Kind == "setting" && (strings.HasPrefix(c.Name, "rules.") || strings.HasPrefix(c.Name, "patterns.")):
			c.Met = c.ofRules(fired)
		}
	}
}

// ofRules returns how often the rules that a setting names fired: the last part of its path,
// or what was added to its list or removed from it.
func (c Cause) ofRules(fired map[string]int64) int64 {
	var was, is []string
	_ = json.Unmarshal([]byte(c.Was), &was) // otherwise it is not a list
	_ = json.Unmarshal([]byte(c.Is), &is)
	var n int64
	for id, times := range fired {
		if c.of(id) || slices.Contains(was, id) != slices.Contains(is, id) {
			n += times
		}
	}
	return n
}

// WithoutSome returns a policy without some changes, by their indexes in Side.Causes; nil:
// there is none.
type WithoutSome func(ctx context.Context, changes []int) (*review.Policy, error)

// unmet returns causes without results.
func unmet(list []Cause) []Cause {
	own := append([]Cause{}, list...)
	for i := range own {
		c := &own[i]
		c.Loosened, c.Tightened, c.Maybe, c.After, c.Met = 0, 0, 0, 0, 0
	}
	return own
}
