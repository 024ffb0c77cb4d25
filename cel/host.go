package cel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/agent-reviewer/reviewer/engine"
)

// Host evaluates the conditions of a policy. It is an engine.Matcher and safe
// for concurrent use.
type Host struct {
	conditions []condition // those of a list are consecutive and in its order
	index      index
	language   func() (*language, error) // made on first use: see the package comment

	names       *Names
	definitions map[string]*expression

	known func() map[precompiledKey]precompiled // expressions that were compiled before; nil: none
	watch func(id string) (end func())          // nil: not asked for
}

var _ engine.Matcher = (*Host)(nil)

// condition is a Condition with its programs, compiled on first use.
type condition struct {
	Condition
	when, measure       *expression // nil: not given
	confidence, details *expression
}

// place is the position of a condition.
type place struct {
	list  string
	order int
}

// Compile builds a host. It checks ids, match lists and levels, but not expressions:
// Check compiles them all.
func Compile(conditions []Condition) (*Host, error) {
	h := &Host{}
	h.language = sync.OnceValues(func() (*language, error) { return newLanguage(h.names, h.texts()) })
	h.define(sharedNames(conditions))
	problems := h.names.validate(newSchema()["engine.Input"].names)
	seen := map[string]bool{}
	places := map[place]string{}
	for _, c := range conditions {
		problems = append(problems, c.validate()...)
		at := place{c.List, c.Order}
		if other, taken := places[at]; taken && c.List != "" {
			problems = append(problems, &Error{ID: c.ID, Part: "order", Code: "row.meaning",
				Message: fmt.Sprintf("%d of list %s is also that of %s; give each its own number", c.Order, c.List, other)})
		}
		places[at] = c.ID
		if seen[c.ID] && c.ID != "" {
			problems = append(problems, &Error{ID: c.ID, Part: "id", Code: "row.id",
				Message: "duplicate id"})
		}
		seen[c.ID] = true
		h.conditions = append(h.conditions, h.prepare(c))
	}
	if len(problems) > 0 {
		return nil, join(problems)
	}
	slices.SortFunc(h.conditions, func(a, b condition) int {
		return cmp.Or(strings.Compare(a.List, b.List), cmp.Compare(a.Order, b.Order), strings.Compare(a.ID, b.ID))
	})
	h.index = newIndex(h.conditions)
	return h, nil
}

// Reworded returns a host in which the condition with an id has other expressions. It shares everything else,
// compiled or not.
func (h *Host) Reworded(id, when, measure string) *Host {
	other := *h
	other.conditions = slices.Clone(h.conditions)
	for i, c := range h.conditions {
		if c.ID == id {
			c.When, c.Measure = when, measure
			other.conditions[i] = h.prepare(c.Condition)
		}
	}
	other.index = newIndex(other.conditions)
	return &other
}

func (h *Host) prepare(c Condition) condition {
	c.Levels = slices.Clone(c.Levels)
	slices.SortFunc(c.Levels, func(a, b Level) int { return cmp.Compare(b.At, a.At) })
	p := condition{Condition: c}
	if c.When != "" {
		p.when = h.expression(c.ID, "when", c.When, boolean...)
		p.when.open, p.when.match = c.Match.empty() && c.Measure == "", c.Match
	}
	if c.Measure != "" {
		p.measure = h.expression(c.ID, "measure", c.Measure, numeric...)
		p.measure.match = c.Match
	}
	if c.Confidence != "" {
		p.confidence = h.expression(c.ID, "confidence", c.Confidence, numeric...)
	}
	if c.Details != "" {
		p.details = h.expression(c.ID, "details", c.Details, text...)
	}
	return p
}

// Watch makes the host call a function before it evaluates a condition, and what that returns afterwards. It must be
// called before the first evaluation.
func (h *Host) Watch(begin func(id string) (end func())) { h.watch = begin }

// Check compiles every expression and returns all errors.
func (h *Host) Check() []*Error {
	var problems []*Error
	for _, e := range h.expressions() {
		if _, errs := e.compile(); len(errs) > 0 {
			problems = append(problems, errs...)
		}
	}
	return problems
}

// Validate returns why a condition cannot be evaluated, nil if it can.
func Validate(when string) error {
	host, err := Compile([]Condition{{ID: "condition", When: when}})
	if err != nil {
		return err
	}
	for _, problem := range host.Check() {
		return errors.New(problem.Message)
	}
	return nil
}

// Cost is the upper bound of an expression's cost, in CEL's units of about 50 ns.
type Cost struct {
	ID, Part string
	Max      uint64 // math.MaxUint64: no bound is known before it runs
	Limited  bool   // it is stopped at EvalLimit, with an error
}

// Costs compiles every expression and returns their bounds, by id; those that
// do not compile are left out.
func (h *Host) Costs() []Cost {
	var costs []Cost
	for _, e := range h.expressions() {
		if p, errs := e.compile(); len(errs) == 0 {
			costs = append(costs, Cost{ID: e.id, Part: e.part, Max: p.max, Limited: p.limited})
		}
	}
	return costs
}

func (h *Host) expressions() []*expression {
	var list []*expression
	if h.names != nil {
		for _, d := range h.names.Definitions {
			list = append(list, h.definitions[d.ID])
		}
	}
	for i := range h.conditions {
		c := &h.conditions[i]
		for _, e := range []*expression{c.when, c.measure, c.confidence, c.details} {
			if e != nil {
				list = append(list, e)
			}
		}
	}
	return list
}

// Match returns the findings of an input, by id. It fails only if the context has
// ended; a condition that fails is a finding. Of a list it returns at most one
// finding, and does not evaluate the conditions after it.
func (h *Host) Match(ctx context.Context, in *engine.Input) ([]engine.Finding, error) {
	var findings []engine.Finding
	vars := &variables{in: in, host: h}
	answered := "" // the list that has its finding
	for _, i := range h.index.candidates(in) {
		c := &h.conditions[i]
		if c.List != "" && c.List == answered || !c.Match.admits(in) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("match condition %s: %w", c.ID, err)
		}
		end := func() {}
		if h.watch != nil {
			end = h.watch(c.ID)
		}
		f, holds := c.find(vars)
		end()
		if holds {
			findings, answered = append(findings, f), c.List
		}
	}
	slices.SortFunc(findings, func(a, b engine.Finding) int { return strings.Compare(a.ID, b.ID) })
	return findings, nil
}

// find reports whether a condition is true. An error counts as true: the caller
// must see it.
func (c *condition) find(vars *variables) (engine.Finding, bool) {
	f := engine.Finding{ID: c.ID}
	if c.when != nil {
		v, err := c.when.eval(vars)
		if err != nil {
			return failed(c.ID, err), true
		}
		if v != types.True {
			return f, false
		}
	}
	if holds, err := c.measured(&f, vars); err != nil {
		return failed(c.ID, err), true
	} else if !holds {
		return f, false
	}
	if err := c.describe(&f, vars); err != nil {
		return failed(c.ID, err), true
	}
	return f, true
}

// measured reports whether the measure reaches the threshold.
func (c *condition) measured(f *engine.Finding, vars *variables) (bool, error) {
	if c.measure == nil {
		return true, nil
	}
	v, err := c.measure.eval(vars)
	if err != nil {
		return false, err
	}
	if f.Measure, err = number(v); err != nil {
		return false, err
	}
	factor := c.factor(vars.in)
	f.Level = c.level(f.Measure, factor)
	return f.Measure >= engine.Round6(c.Threshold*factor), nil
}

// describe fills in the texts and numbers of a finding other than its measure.
func (c *condition) describe(f *engine.Finding, vars *variables) error {
	if c.confidence != nil {
		v, err := c.confidence.eval(vars)
		if err != nil {
			return err
		}
		if f.Confidence, err = number(v); err != nil {
			return err
		}
		f.Confidence = min(max(f.Confidence, 0), 1)
	}
	if c.details != nil {
		v, err := c.details.eval(vars)
		if err != nil {
			return err
		}
		if s, ok := v.(types.String); ok {
			f.Details = clip(string(s), maxDetails)
		}
	}
	return nil
}

// maxDetails bounds the words of a finding, in bytes: findings must fit a
// record's line.
const maxDetails = 160

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// factor is the factor of the threshold and the levels for an input.
func (c *condition) factor(in *engine.Input) float64 {
	if c.Limited == 0 || in.Session.Resumed != engine.ResumeLimits {
		return 1
	}
	return c.Limited
}

func (c *condition) level(measure, factor float64) string {
	for _, l := range c.Levels { // highest first
		if measure >= engine.Round6(l.At*factor) {
			return l.Level
		}
	}
	return ""
}

// number rounds a measure. Values that JSON cannot represent are errors.
func number(v ref.Val) (float64, error) {
	var f float64
	switch v := v.(type) {
	case types.Int:
		f = float64(v)
	case types.Uint:
		f = float64(v)
	case types.Double:
		f = float64(v)
	default:
		return 0, fmt.Errorf("measure: expected a number, got %s", v.Type().TypeName())
	}
	if f = engine.Round6(f); math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("measure: %v cannot be compared (a division by zero?)", f)
	}
	return f, nil
}

// maxMessage bounds an error in a finding: findings must fit a record's line.
const maxMessage = 200

func failed(id string, err error) engine.Finding {
	return engine.Finding{ID: id, Error: clip(err.Error(), maxMessage)}
}

// expression is one CEL text of a condition, compiled on first use.
type expression struct {
	id, part, text string
	want           []*types.Type
	open           bool  // match accepts every input
	match          Match // of the condition, for its when
	compile        func() (*program, []*Error)
	cover          func() *watched // nil: not asked for
}

// The types that expressions may have.
var (
	boolean = []*types.Type{types.BoolType}
	numeric = []*types.Type{types.IntType, types.DoubleType, types.UintType}
	text    = []*types.Type{types.StringType}
)

// program is a compiled expression.
type program struct {
	cel.Program
	checked *cel.Ast // the checked expression, for callers that examine it
	max     uint64
	limited bool
}

func (h *Host) expression(id, part, text string, want ...*types.Type) *expression {
	e := &expression{id: id, part: part, text: text, want: want}
	e.compile = sync.OnceValues(func() (*program, []*Error) {
		l, err := h.language()
		if err != nil {
			return nil, []*Error{{ID: id, Part: part, Code: "cel.type", Message: err.Error()}}
		}
		if h.known != nil {
			if p := l.load(e, h.names, h.known()); p != nil {
				return p, nil
			}
		}
		return l.compile(e)
	})
	return e
}

func (e *expression) eval(vars *variables) (ref.Val, error) {
	p, errs := e.compile()
	if len(errs) > 0 {
		return nil, join(errs[:1])
	}
	if e.cover != nil {
		if w := e.cover(); w.program != nil { // once more, to observe its questions
			_, _, _ = w.program.Eval(vars) // the evaluation that counts has the same error
		}
	}
	v, _, err := p.Eval(vars)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.part, err)
	}
	return v, nil
}
