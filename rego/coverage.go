package rego

import (
	"maps"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Coverage records which expressions of modules were reached. It is safe for
// concurrent use, and one may serve several hosts and suites: expressions are
// identified by their place.
type Coverage struct {
	seen sync.Map // *ast.Location
}

var _ topdown.QueryTracer = (*Coverage)(nil)

// NewCoverage returns an empty Coverage.
func NewCoverage() *Coverage { return &Coverage{} }

// Cover makes the host record what its decisions reach. It must be called before the
// first of them.
func (h *Host) Cover(c *Coverage) { h.cover = c }

// Enabled implements topdown.QueryTracer.
func (c *Coverage) Enabled() bool { return true }

// Config implements topdown.QueryTracer: values of variables are not requested, since
// they are expensive.
func (c *Coverage) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (c *Coverage) TraceEvent(e topdown.Event) {
	if at := reached(&e); at != nil {
		c.seen.LoadOrStore(at, true)
	}
}

// reached returns the place that an event shows to be reached: a rule that was true,
// or an expression that was evaluated.
func reached(e *topdown.Event) *ast.Location {
	switch e.Op {
	case topdown.ExitOp:
		if rule, ok := e.Node.(*ast.Rule); ok {
			return rule.Head.Location
		}
	case topdown.EvalOp:
		if expr, ok := e.Node.(*ast.Expr); ok && expr != nil {
			return expr.Location
		}
	}
	return nil
}

// Lines are the lines of a module on which an expression or a rule begins, in
// order. A line with several counts as covered when all of them were reached.
type Lines struct {
	Covered, Missed []int
}

// spot is where an expression begins, whichever compilation it is of.
type spot struct {
	file     string
	row, col int
}

func spotOf(at *ast.Location) spot { return spot{at.File, at.Row, at.Col} }

// Lines returns the covered lines of modules (layer/path -> source), by name.
func (c *Coverage) Lines(modules map[string]string) (map[string]Lines, error) {
	parsed, err := parseModules(modules)
	if err != nil {
		return nil, err
	}
	spots := map[spot]bool{}
	c.seen.Range(func(at, _ any) bool {
		spots[spotOf(at.(*ast.Location))] = true
		return true
	})
	all := map[string]Lines{}
	for name, m := range parsed {
		all[name] = lines(m, spots)
	}
	return all, nil
}

func lines(m *ast.Module, spots map[spot]bool) Lines {
	rows := map[int]bool{} // the row -> all of it was reached
	note := func(at *ast.Location) {
		before, there := rows[at.Row]
		rows[at.Row] = spots[spotOf(at)] && (before || !there)
	}
	ast.WalkRules(m, func(r *ast.Rule) bool {
		note(r.Head.Location)
		return false
	})
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		if _, declares := e.Terms.(*ast.SomeDecl); !declares && e.Location != nil {
			note(e.Location)
		}
		return false
	})
	var l Lines
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		if rows[row] {
			l.Covered = append(l.Covered, row)
		} else {
			l.Missed = append(l.Missed, row)
		}
	}
	return l
}
