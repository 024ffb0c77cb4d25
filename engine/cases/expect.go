package cases

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// Expect lists what policy is expected to decide about an event. Omitted keys are not
// checked; an empty list expects that there are none.
type Expect struct {
	Decision engine.Verdict `json:"decision,omitempty"` // decision of the policy
	// What the agent is told to do: milder than the decision where the policy only observes.
	Answer       engine.Verdict    `json:"answer,omitempty"`
	Rule         string            `json:"rule,omitempty"`          // first rule that fired
	Harm         string            `json:"harm,omitempty"`          // harm that the first rule names
	Rules        []string          `json:"rules,omitempty"`         // rules that fired; others may have fired too
	RulesExactly []string          `json:"rules_exactly,omitempty"` // rules that fired and no others, in any order
	NotRules     []string          `json:"not_rules,omitempty"`     // rules that did not fire
	Findings     []string          `json:"findings,omitempty"`      // conditions that were true
	NotFindings  []string          `json:"not_findings,omitempty"`  // conditions that were not true
	Levels       map[string]string `json:"levels,omitempty"`        // level of conditions, by id; empty: none
	Reason       string            `json:"reason,omitempty"`        // text that the primary reason contains
	Reasons      []string          `json:"reasons,omitempty"`       // texts, each of which some reason contains
	Text         string            `json:"text,omitempty"`          // text that the message to the agent contains
	Alternative  string            `json:"alternative,omitempty"`   // text that one of the alternatives contains
	Risk         *Score            `json:"risk,omitempty"`          // risk score
	Rationality  *Score            `json:"rationality,omitempty"`   // rationality score
	SideEffects  string            `json:"side_effects,omitempty"`  // worst severity of the effects
	Rewritten    *Form             `json:"rewritten,omitempty"`     // form in which the call runs: its command, or some arguments
	Obligations  []string          `json:"obligations,omitempty"`   // everything that must be done before the call runs
	Changes      []string          `json:"changes,omitempty"`       // paths that the action writes or deletes, such as ./src/cart.go
	NotChanges   []string          `json:"not_changes,omitempty"`   // paths that it neither writes nor deletes
	Intervention string            `json:"intervention,omitempty"`  // kind of intervention; none: there is none
	Source       string            `json:"source,omitempty"`        // prefilter: decided before any score was computed
	Granted      string            `json:"granted,omitempty"`       // proof with which the call is granted: reads, undo, approved; no: the agent asks
	Failure      string            `json:"failure,omitempty"`       // text in the reason why no decision was made
}

// Score is an expected score.
type Score struct {
	Level   string   `json:"level,omitempty"`   // level of the score
	Above   *float64 `json:"above,omitempty"`   // the score is greater
	Below   *float64 `json:"below,omitempty"`   // the score is less
	Factors []string `json:"factors,omitempty"` // factors that changed the risk, or issues of rationality
}

// Form is the modified form of a call: its main argument, or some of its arguments.
type Form struct {
	Text string         `json:"text,omitempty"` // the command, or another main argument
	Args map[string]any `json:"args,omitempty"` // some arguments
}

// form decodes a string or arguments.
func (f *Form) form(d *decoder, n *yaml.Node, name string) {
	if n.Kind == yaml.ScalarNode {
		d.plain(reflect.ValueOf(&f.Text).Elem(), n, name)
		return
	}
	d.plain(reflect.ValueOf(&f.Args).Elem(), n, name)
}

// form decodes the object, and rejects one without expectations.
func (e *Expect) form(d *decoder, n *yaml.Node, name string) {
	d.plain(reflect.ValueOf(e).Elem(), n, name)
	for _, p := range slices.Concat(e.Changes, e.NotChanges) {
		if p != "" && !strings.ContainsAny(p[:1], "./~") && !strings.Contains(p, ":") {
			d.wrong(n, "%s: %q: paths of changes begin with ./, ~/ or /, so nothing is ever equal to this; write ./%s", name, p, p)
		}
	}
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		d.wrong(n, "%s has no expectations: expected one of %s", name, strings.Join(expectations(), ", "))
	}
}

// expectations lists the keys of Expect.
func expectations() []string {
	var keys []string
	for _, f := range engine.JSONFields(reflect.TypeFor[Expect]()) {
		keys = append(keys, f.Name)
	}
	return keys
}

// Difference is an expectation that was not met.
type Difference struct{ Key, Want, Got string }

func (d Difference) String() string {
	return fmt.Sprintf("%s: want %s, got %s", d.Key, d.Want, d.Got)
}

// Compare returns the expectations that a record does not meet. A record without a decision
// is about a call that could not be reviewed, or an event that policy does not review.
func (e *Expect) Compare(r *engine.Record) []Difference {
	d := r.Decision
	if d == nil {
		d = &engine.Decision{}
	}
	c := &comparison{}
	c.same("decision", string(e.Decision), string(d.Decision))
	c.same("answer", string(e.Answer), answer(r))
	c.rules(e, d)
	c.findings(e, r.Findings)
	c.holds("reason", e.Reason, d.Reason)
	for _, text := range e.Reasons {
		c.holds("reasons", text, strings.Join(d.Reasons, "; "))
	}
	c.holds("text", e.Text, engine.AnswerOf(r).Text)
	c.holds("alternative", e.Alternative, strings.Join(d.Alternatives, "; "))
	c.same("granted", e.Granted, granted(r))
	c.scores(e, d)
	c.form(e.Rewritten, r)
	c.outcome(e, r, d)
	return c.found
}

// GrantedNo is the expectation that the agent asks.
const GrantedNo = "no"

func granted(r *engine.Record) string {
	if r.Answer == nil || r.Answer.Granted == nil {
		return GrantedNo
	}
	return r.Answer.Granted.By
}

func answer(r *engine.Record) string {
	if r.Answer == nil {
		return ""
	}
	return string(r.Answer.Effect)
}

// comparison collects the differences.
type comparison struct{ found []Difference }

func (c *comparison) differs(key, want, got string) {
	if got == "" {
		got = "nothing"
	}
	c.found = append(c.found, Difference{key, want, got})
}

func (c *comparison) same(key, want, got string) {
	if want != "" && want != got {
		c.differs(key, want, got)
	}
}

func (c *comparison) holds(key, want, got string) {
	if !strings.Contains(got, want) {
		c.differs(key, strconv.Quote(want)+" in it", quoted(got))
	}
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}

func (c *comparison) rules(e *Expect, d *engine.Decision) {
	ids := d.RuleIDs()
	if e.Rule != "" && (len(ids) == 0 || ids[0] != e.Rule) {
		c.differs("rule", e.Rule+" first", strings.Join(ids, ", "))
	}
	var first engine.RuleResult
	if len(d.Rules) > 0 {
		first = d.Rules[0]
	}
	c.same("harm", e.Harm, first.Harm)
	c.among("rules", e.Rules, ids)
	c.none("not_rules", e.NotRules, ids)
	c.exactly("rules_exactly", e.RulesExactly, ids)
}

func (c *comparison) findings(e *Expect, findings []engine.Finding) {
	var ids []string
	levels := map[string]string{}
	for _, f := range findings {
		ids = append(ids, f.ID)
		levels[f.ID] = f.Level
	}
	c.among("findings", e.Findings, ids)
	c.none("not_findings", e.NotFindings, ids)
	for _, id := range slices.Sorted(maps.Keys(e.Levels)) {
		if level, holds := levels[id]; !holds || level != e.Levels[id] {
			c.differs("levels."+id, cmp.Or(e.Levels[id], "no level"), level)
		}
	}
}

// Found lists the conditions that are expected to be true.
func (e *Expect) Found() []string {
	return slices.Concat(e.Findings, slices.Sorted(maps.Keys(e.Levels)))
}

// among expects each of some words in a list; an empty expectation requires an empty list.
func (c *comparison) among(key string, want, got []string) {
	missing := slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(got, w) })
	if missing || want != nil && len(want) == 0 && len(got) > 0 {
		c.differs(key, orNone(want), strings.Join(got, ", "))
	}
}

func (c *comparison) none(key string, unwanted, got []string) {
	for _, w := range unwanted {
		if slices.Contains(got, w) {
			c.differs(key, "no "+w, strings.Join(got, ", "))
		}
	}
}

func (c *comparison) exactly(key string, want, got []string) {
	a, b := slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	if want != nil && !slices.Equal(a, b) {
		c.differs(key, orNone(want), strings.Join(got, ", "))
	}
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

func (c *comparison) scores(e *Expect, d *engine.Decision) {
	if r := d.Risk; r != nil {
		c.score("risk", e.Risk, r.Score, r.Level, r.Factors)
	} else if e.Risk != nil {
		c.differs("risk", "a score", "")
	}
	if r := d.Rationality; r != nil {
		c.score("rationality", e.Rationality, r.Score, r.Level, r.Issues)
	} else if e.Rationality != nil {
		c.differs("rationality", "a score", "")
	}
	var severity string
	if d.SideEffects != nil {
		severity = d.SideEffects.Severity
	}
	c.same("side_effects", e.SideEffects, severity)
}

func (c *comparison) score(key string, want *Score, score float64, level string, factors []string) {
	if want == nil {
		return
	}
	c.same(key+".level", want.Level, level)
	if want.Above != nil && score <= *want.Above {
		c.differs(key+".above", fmt.Sprint("more than ", *want.Above), fmt.Sprint(score))
	}
	if want.Below != nil && score >= *want.Below {
		c.differs(key+".below", fmt.Sprint("less than ", *want.Below), fmt.Sprint(score))
	}
	c.among(key+".factors", want.Factors, factors)
}

// form compares the form in which a call runs with the expected one.
func (c *comparison) form(want *Form, r *engine.Record) {
	if want == nil {
		return
	}
	if r.Rewritten == nil || r.Rewritten.Action == nil || answer(r) != string(engine.Modify) {
		c.differs("rewritten", want.String(), failure(r))
		return
	}
	if got := r.Rewritten.Action.Resource; want.Text != "" && want.Text != got {
		c.differs("rewritten", want.Text, got)
	}
	for _, key := range sortedKeys(want.Args) {
		if w, g := fmt.Sprint(want.Args[key]), fmt.Sprint(r.Rewritten.Args[key]); w != g {
			c.differs("rewritten."+key, w, g)
		}
	}
}

func (f *Form) String() string {
	if f.Text != "" {
		return f.Text
	}
	return fmt.Sprint(f.Args)
}

func (c *comparison) outcome(e *Expect, r *engine.Record, d *engine.Decision) {
	c.exactly("obligations", e.Obligations, d.Obligations)
	c.changes(e, r.Action)
	intervention := "none"
	if d.Intervention != nil {
		intervention = d.Intervention.Kind
	}
	c.same("intervention", e.Intervention, intervention)
	c.same("source", e.Source, r.Source)
	c.failure(e.Failure, r)
}

// failure reports that a call could not be reviewed, unless the case expects that.
func (c *comparison) failure(want string, r *engine.Record) {
	got := failure(r)
	if want == "" && r.Answer != nil && r.Answer.Mode == engine.ModeDegraded {
		c.differs("failure", "none", got)
	}
	c.holds("failure", want, got)
}

// failure returns why a call could not be reviewed, or could not be modified.
func failure(r *engine.Record) string {
	switch {
	case r.Answer != nil && r.Answer.Failure != "":
		return r.Answer.Failure
	case r.Rewritten != nil:
		return r.Rewritten.Failure
	}
	return ""
}

// Why explains a decision in a few lines, for people who expected another one.
func Why(r *engine.Record) []string {
	d := r.Decision
	if d == nil {
		return []string{"no decision: " + cmp.Or(failure(r), "policy does not review this event")}
	}
	var why []string
	if d.Risk != nil && d.Rationality != nil {
		why = append(why, fmt.Sprintf("risk %v %s %v, rationality %v %s, side effects %s",
			d.Risk.Score, d.Risk.Level, d.Risk.Factors, d.Rationality.Score, d.Rationality.Level, severityOf(d)))
	}
	for _, rule := range d.Rules {
		why = append(why, fmt.Sprintf("rule %s says %s: %s", rule.ID, rule.Decision, rule.Message))
	}
	if len(d.Rules) == 0 {
		why = append(why, "no rule fired; reason: "+d.Reason)
	}
	if f := failure(r); f != "" {
		why = append(why, "it cannot be modified: "+f)
	}
	return why
}

func severityOf(d *engine.Decision) string {
	if d.SideEffects == nil {
		return "not computed"
	}
	return d.SideEffects.Severity
}
