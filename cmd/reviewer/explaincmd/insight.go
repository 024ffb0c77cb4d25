package explaincmd

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/rego"
)

// explanation is everything that led to a decision.
type explanation struct {
	ID       string           `json:"id"`
	Input    *engine.Input    `json:"input"`
	Findings []finding        `json:"findings"`
	Fired    []firedRule      `json:"fired"`
	Excepted []exceptedRule   `json:"excepted,omitempty"`
	Nearly   []firedRule      `json:"nearly"` // nearest first
	Safer    []string         `json:"safer,omitempty"`
	Risk     *explainedScore  `json:"risk,omitempty"`
	Reason   *explainedScore  `json:"rationality,omitempty"`
	Matrix   *matrixResult    `json:"matrix,omitempty"`
	Decision *engine.Decision `json:"decision"`
	Answer   engine.Verdict   `json:"answer"`
	Form     string           `json:"form,omitempty"`    // the other form in which the call runs
	Rows     []matchedRow     `json:"rows,omitempty"`    // by which the programs of the call are interpreted
	Missing  string           `json:"missing,omitempty"` // what this policy examines and the record of another one lacks
}

// finding is a condition that is true.
type finding struct {
	engine.Finding
	Layer string `json:"layer,omitempty"`
	Place string `json:"place,omitempty"`
	Note  string `json:"note,omitempty"` // why no rule fires for it
}

// firedRule is a rule that fired or narrowly missed.
type firedRule struct {
	ID          string         `json:"id"`
	Decision    string         `json:"decision,omitempty"`
	Severity    string         `json:"severity,omitempty"`
	Enforcement string         `json:"enforcement,omitempty"`
	Layer       string         `json:"layer,omitempty"`
	Place       string         `json:"place,omitempty"`
	Message     string         `json:"message,omitempty"`
	CEL         *cel.Answer    `json:"cel,omitempty"`
	Rego        *rego.NotFired `json:"rego,omitempty"`
}

// explainedScore is a score, its components, and the distance to other levels.
type explainedScore struct {
	Score float64     `json:"score"`
	Level string      `json:"level"`
	Parts []scorePart `json:"parts,omitempty"`
	Up    *boundary   `json:"up,omitempty"`
	Down  *boundary   `json:"down,omitempty"`
}

// scorePart is a number that went into a score.
type scorePart struct {
	Name    string  `json:"name"`
	Number  float64 `json:"number"`
	Weight  float64 `json:"weight,omitempty"`
	Setting string  `json:"setting,omitempty"`
	Layer   string  `json:"layer,omitempty"`
}

// boundary is the value at which another level begins.
type boundary struct {
	Level    string  `json:"level"`
	By       float64 `json:"by"` // how much the score would have to change
	At       float64 `json:"at"`
	Setting  string  `json:"setting"`
	Layer    string  `json:"layer"`
	Decision string  `json:"decision"` // the verdict of the matrix there
}

// matrixResult is the verdict of the scores alone.
type matrixResult struct {
	Risk        string `json:"risk"`
	Rationality string `json:"rationality"`
	Cell        string `json:"cell"`
	Layer       string `json:"layer"`
	Own         string `json:"own"`           // after its corrections
	Why         string `json:"why,omitempty"` // why it differs from the matrix
}

// evaluator evaluates a policy for one input.
type evaluator struct {
	ctx       context.Context
	effective *bundles.Effective
	rego      *rego.Host
	cel       *cel.Host
	in        *engine.Input
	findings  []engine.Finding
	settings  map[string]bundles.Setting
	rows      map[string]firedRule
}

// explanationOf collects the explanation of a decided record.
func explanationOf(ctx context.Context, a *cli.App, d *decided, t *toExplain) (*explanation, error) {
	e, p, rec, in := d.effective, d.policy, d.record, d.input
	q := &evaluator{ctx: ctx, effective: e, in: in, findings: rec.Findings,
		settings: map[string]bundles.Setting{}, rows: map[string]firedRule{}}
	var err error
	if q.rego, q.cel, err = d.hosts(); err != nil {
		return nil, err
	}
	settings, err := e.Explain()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		q.settings[s.Key] = s
	}
	at := active.PlacesOf(t.policy)
	q.catalogue(at)
	x := &explanation{ID: rec.ID(), Missing: d.missing, Input: in, Decision: rec.Decision, Answer: engine.AnswerOf(rec).Effect,
		Findings: []finding{}, Fired: []firedRule{}}
	if rec.Rewritten != nil && rec.Rewritten.Action != nil {
		x.Form = rec.Rewritten.Action.Resource
	}
	set, _ := p.Rows.(*rows.Set)
	x.Rows = rowsOf(set, in.Event.Tool, &in.Action, at)
	if x.Excepted, err = q.excepted(at); err != nil {
		return nil, err
	}
	q.fired(x)
	x.Safer = q.saferThan(x.Decision)
	if x.Nearly, err = q.nearMisses(x, t.all); err != nil {
		return nil, err
	}
	return x, q.scores(x)
}

// saferThan lists the alternatives that belong to the decision, without those of rules
// with a milder verdict.
func (q *evaluator) saferThan(d *engine.Decision) []string {
	milder := map[string]bool{}
	for _, l := range catalogue.Of(q.effective) {
		for _, r := range d.Rules {
			if r.ID == l.ID && r.Decision != d.Decision && (d.Intervention == nil || d.Intervention.Issue != r.ID) {
				milder[l.Remediation] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(d.Alternatives), func(s string) bool { return milder[s] })
}

// decides returns the rule that the decision comes from, or that of the intervention that made it stricter; nil: the
// scores.
func (x *explanation) decides() *firedRule {
	for i, r := range x.Fired {
		if r.Decision == string(x.Decision.Decision) && r.Decision != string(engine.Allow) {
			return &x.Fired[i]
		}
	}
	if made := x.Decision.Intervention; made != nil && x.Decision.Decision.Strictness() > engine.Warn.Strictness() {
		for i, r := range x.Fired {
			if r.ID == made.Issue {
				return &x.Fired[i]
			}
		}
	}
	return nil
}

// catalogue notes all rules, with the place where each is evaluated.
func (q *evaluator) catalogue(at func(layer, place string) string) {
	for _, l := range q.effective.Layers {
		for _, r := range l.Rules {
			q.rows[r.ID] = firedRule{ID: r.ID, Decision: r.Decision, Severity: r.Severity, Layer: l.Layer, Place: at(l.Layer, r.Place("id", 0))}
		}
		for _, list := range l.Access {
			for _, r := range list.Rules {
				q.rows[list.FindingID(r.ID)] = firedRule{ID: list.FindingID(r.ID), Decision: r.Effect, Layer: l.Layer,
					Place: at(l.Layer, r.Place("id", 0))}
			}
		}
	}
	for id, place := range q.rego.Places() {
		layer, file, _ := strings.Cut(place, "/")
		row := q.rows[id]
		row.ID, row.Layer, row.Place = id, layer, at(layer, file)
		q.rows[id] = row
	}
}

// fired lists the conditions that are true and the rules that fired.
func (q *evaluator) fired(x *explanation) {
	said := map[string]bool{}
	for _, r := range x.Decision.Rules {
		said[r.ID] = true
		row := q.rows[r.ID]
		row.ID, row.Decision, row.Severity, row.Message, row.Enforcement = r.ID, string(r.Decision), r.Severity, r.Message, r.Enforcement
		x.Fired = append(x.Fired, row)
	}
	for _, f := range q.findings {
		row := q.rows[f.ID]
		seen := finding{Finding: f, Layer: row.Layer, Place: row.Place}
		switch {
		case said[f.ID]:
		case row.Decision == "":
			seen.Note = "a finding: it decides nothing on its own"
		case x.Decision.Source == engine.SourcePrefilter:
			seen.Note = "not evaluated: the prefilter allowed the call"
		case slices.ContainsFunc(x.Excepted, func(r exceptedRule) bool { return r.ID == f.ID && !r.Ended }):
			seen.Note = "an exception applies"
		default:
			seen.Note = "the rule is disabled, or has ended"
		}
		x.Findings = append(x.Findings, seen)
	}
}

// nearMisses lists the rules that would have fired with one difference; with all, every
// rule that was evaluated.
func (q *evaluator) nearMisses(x *explanation, all bool) ([]firedRule, error) {
	said := map[string]bool{}
	for _, r := range x.Fired {
		said[r.ID] = true
	}
	list := []firedRule{}
	for _, answer := range q.cel.Answers(q.in) {
		row := q.rows[answer.ID]
		if answer.Holds || said[answer.ID] || !all && !near(&answer) {
			continue
		}
		row.CEL = &answer
		list = append(list, row)
	}
	silent, err := q.rego.NotFired(q.ctx, q.in, q.findings)
	if err != nil {
		return nil, err
	}
	for _, s := range silent {
		row := q.rows[s.ID]
		absent := len(s.At.Absent) > 0 && row.Layer != bundles.Base // a person wrote the rule, and the field may have another name
		if !said[s.ID] && (all || (s.Left == 0 || absent) && s.About > 0) {
			row.Rego = &s
			list = append(list, row)
		}
	}
	slices.SortStableFunc(list, func(a, b firedRule) int { return cmp.Or(a.distance()-b.distance(), a.depth()-b.depth()) })
	return list, nil
}

// distance counts what would have to be different.
func (r firedRule) distance() int {
	if r.CEL != nil {
		return r.CEL.Missing()
	}
	return r.Rego.Left + 1
}

// depth orders rules of the upper layers first, since the user usually wrote those.
func (r firedRule) depth() int { return -slices.Index(bundles.Layers(), r.Layer) }

// near reports whether only one part of a condition is false, and a part that is
// specific to the rule is true: the phase does not count.
func near(a *cel.Answer) bool {
	if a.Missing() != 1 {
		return false
	}
	if a.Measure != nil && *a.Measure < a.Threshold {
		return a.Specific() // everything else is true
	}
	held, about := 0, 0
	for _, p := range a.Parts {
		switch {
		case p.Holds:
			held++
		case len(p.Within) > 0 && !nearWithin(p.Within):
			return false
		case len(p.Within) > 0:
			held++
		}
		if slices.ContainsFunc(append(p.Within, p), aboutCall) {
			about++
		}
	}
	if len(a.Match) > 0 {
		return held == len(a.Parts) && about > 0 && a.Match[0].List != "phases" && len(a.Match[0].Got) > 0
	}
	return a.Specific() && (about > 0 || len(a.Parts) == 1 && len(a.Parts[0].Within) == 0)
}

// aboutCall reports whether a question is specific to this call: that it has a certain
// word. Negations and kinds of effects are true of most calls.
func aboutCall(q cel.Question) bool {
	return q.Holds && len(q.Within) == 0 && strings.Contains(q.Text, `"`) &&
		!strings.HasPrefix(q.Text, "!") && !strings.Contains(q.Text, ".kind ")
}

// nearWithin reports whether all questions about an item except one were true of some
// item. Kinds of effects do not count: most calls have the common ones.
func nearWithin(list []cel.Question) bool {
	failed, held := 0, 0
	for _, q := range list {
		switch {
		case !q.Holds:
			failed++
		case !strings.Contains(q.Text, ".kind "):
			held++
		}
	}
	return failed <= 1 && held > 0
}

// scores evaluates the components of the scores. It returns nothing for a policy that
// computes none.
func (q *evaluator) scores(x *explanation) error {
	d := x.Decision
	if d.Risk == nil || d.Rationality == nil {
		return nil
	}
	parts, err := q.modifiers()
	if err != nil {
		return err
	}
	x.Risk = &explainedScore{Score: d.Risk.Score, Level: d.Risk.Level, Parts: parts}
	x.Reason = &explainedScore{Score: d.Rationality.Score, Level: d.Rationality.Level, Parts: q.components(d.Rationality)}
	q.boundaries(x.Risk, "risk", []string{"minimal", "low", "medium", "high", "critical"}, func(level string) string {
		return verdictOf(q.effective.Document, level, x.Reason.Level)
	})
	q.boundaries(x.Reason, "rationality", []string{"low", "medium", "high"}, func(level string) string {
		return verdictOf(q.effective.Document, x.Risk.Level, level)
	})
	x.Matrix = &matrixResult{Risk: x.Risk.Level, Rationality: x.Reason.Level,
		Cell: verdictOf(q.effective.Document, x.Risk.Level, x.Reason.Level)}
	x.Matrix.Layer = q.settings["matrix."+x.Risk.Level+"."+x.Reason.Level].Layer
	return q.corrections(x)
}

// modifiers returns the numbers whose sum is the risk.
func (q *evaluator) modifiers() ([]scorePart, error) {
	v, ok, err := q.rego.Ask(q.ctx, q.in, q.findings, "data.reviewer.scores._modifiers")
	numbers, isMap := v.(map[string]any)
	if err != nil || !ok || !isMap {
		return nil, err
	}
	var parts []scorePart
	for name, n := range numbers {
		number, ok := n.(json.Number)
		f, err := number.Float64()
		if !ok || err != nil {
			continue
		}
		parts = append(parts, q.part(name, f))
	}
	slices.SortFunc(parts, func(a, b scorePart) int {
		if a.base() != b.base() {
			return map[bool]int{true: -1, false: 1}[a.base()]
		}
		return strings.Compare(a.Name, b.Name)
	})
	return parts, nil
}

func (p scorePart) base() bool { return strings.HasPrefix(p.Setting, "risk.base.") }

// part finds the setting that a modifier of the risk comes from: the one in its
// section with this number; if there are several, the one that applies to this
// call.
func (q *evaluator) part(name string, number float64) scorePart {
	section := cmp.Or(map[string]string{"failed_before": "risk.failed_similar", "reads_only": "risk.reversibility"}[name], "risk."+name)
	p := scorePart{Name: name, Number: number}
	for _, key := range sortedTexts(keysOf(q.settings)) {
		s := q.settings[key]
		if key != section && !strings.HasPrefix(key, section+".") || !holdsNumber(s.Value, number) {
			continue
		}
		word := key[strings.LastIndexByte(key, '.')+1:]
		if p.Setting == "" || q.about(word) {
			p.Setting, p.Layer = key, s.Layer
		}
		if q.about(word) {
			break
		}
	}
	return p
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// about reports whether a word describes this call: a type, a reversibility, the level
// of a finding.
func (q *evaluator) about(word string) bool {
	return slices.Contains(q.in.Action.Types, engine.Type(word)) ||
		slices.ContainsFunc(q.in.Action.Effects, func(e engine.Effect) bool { return string(e.Reversibility) == word }) ||
		slices.ContainsFunc(q.findings, func(f engine.Finding) bool { return f.Level == word })
}

func holdsNumber(v any, number float64) bool {
	switch v := v.(type) {
	case float64:
		return v == number
	case int:
		return float64(v) == number
	case json.Number:
		f, err := v.Float64()
		return err == nil && f == number
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return holdsNumber(one, number) })
	}
	return false
}

func (q *evaluator) components(r *engine.Rationality) []scorePart {
	var parts []scorePart
	for _, name := range sortedTexts(keysOf(r.Components)) {
		key := "rationality.weights." + name
		weight, _ := numeric(q.settings[key].Value)
		parts = append(parts, scorePart{Name: name, Number: r.Components[name], Weight: weight, Setting: key, Layer: q.settings[key].Layer})
	}
	return parts
}

// boundaries returns the distance to the levels above and below.
func (q *evaluator) boundaries(s *explainedScore, section string, levels []string, says func(level string) string) {
	at := slices.Index(levels, s.Level)
	if at < 0 {
		return
	}
	begin := func(level string) (float64, string, bool) {
		key := section + "." + level + "_threshold"
		v, ok := numeric(q.settings[key].Value)
		return v, key, ok
	}
	if at+1 < len(levels) {
		if v, key, ok := begin(levels[at+1]); ok {
			s.Up = &boundary{levels[at+1], engine.Round6(v - s.Score), v, key, q.settings[key].Layer, says(levels[at+1])}
		}
	}
	if at > 0 {
		if v, key, ok := begin(levels[at]); ok {
			s.Down = &boundary{levels[at-1], engine.Round6(s.Score - v), v, key, q.settings[key].Layer, says(levels[at-1])}
		}
	}
}

func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v)
	case int:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// corrections describes the result of the scores, and why it differs from the matrix.
func (q *evaluator) corrections(x *explanation) error {
	v, _, err := q.rego.Ask(q.ctx, q.in, q.findings, "data.reviewer.outcome.own")
	if err != nil {
		return err
	}
	x.Matrix.Own, _ = v.(string)
	if x.Matrix.Own == "" || x.Matrix.Own == x.Matrix.Cell {
		return nil
	}
	pardon, _, err := q.rego.Ask(q.ctx, q.in, q.findings, "data.reviewer.outcome.first_time_pardon")
	switch {
	case err != nil:
		return err
	case x.Input.Phase != engine.PhasePre:
		x.Matrix.Why = "applies only to calls that have not run"
	case x.Decision.SideEffects != nil && x.Decision.SideEffects.Severity == "critical":
		x.Matrix.Why = "the side effects are critical"
	case pardon == true:
		x.Matrix.Why = "nothing similar happened before in this session"
	case x.Matrix.Own == string(engine.Modify):
		x.Matrix.Why = "a dangerous pattern is active"
	default:
		x.Matrix.Why = "the settings switch it off"
		limited, _, err := q.rego.Ask(q.ctx, q.in, q.findings, "data.reviewer.outcome.limited")
		if err != nil {
			return err
		}
		if limited == true {
			x.Matrix.Why = "no rule names a harm"
		}
	}
	return nil
}
