package rego

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/profiler"
	opa "github.com/open-policy-agent/opa/v1/rego"

	"github.com/agent-reviewer/reviewer/engine"
)

// Result is one way in which a query is true.
type Result struct {
	Values    []any          `json:"values"`              // of the query's expressions
	Variables map[string]any `json:"variables,omitempty"` // those that the query assigns
}

// Query evaluates a query over the policy and an input, such as input.action.types or data.reviewer.decision; values
// are as JSON decodes them (numbers are json.Number). Without a result the query is undefined.
func (h *Host) Query(ctx context.Context, in *engine.Input, findings []engine.Finding, query string) ([]Result, error) {
	rs, err := h.ask(ctx, in, findings, query, nil)
	var wrong ast.Errors
	var several opa.Errors
	if errors.As(err, &several) && len(several) > 0 && errors.As(several[0], &wrong) || errors.As(err, &wrong) {
		return nil, queryError(wrong)
	}
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(rs))
	for i, r := range rs {
		for _, e := range r.Expressions {
			results[i].Values = append(results[i].Values, e.Value)
		}
		results[i].Variables = r.Bindings
	}
	return results, nil
}

// Undefined returns the part of a query's references that makes the query undefined, and the known name that it may have
// been meant to be. Empty: every reference has a value, or none is known to be meant.
func (h *Host) Undefined(ctx context.Context, in *engine.Input, findings []engine.Finding, query string) (part, near string) {
	body, err := ast.ParseBodyWithOpts(query, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		return "", ""
	}
	value := func(ref ast.Ref) (any, bool) {
		results, err := h.Query(ctx, in, findings, ref.String())
		if err != nil || len(results) == 0 {
			return nil, err != nil // such as a function without arguments
		}
		return results[0].Values[0], true
	}
	ast.WalkRefs(body, func(ref ast.Ref) bool {
		ref = ref.GroundPrefix()
		if part != "" || !ref.HasPrefix(ast.InputRootRef) && !ref.HasPrefix(ast.DefaultRootRef) {
			return false
		}
		whole := len(ref)
		for n := whole; n > 1; n-- {
			if _, defined := value(ref[:n]); defined {
				break
			}
			whole = n - 1
		}
		if whole == len(ref) {
			return false
		}
		part = ref[:whole+1].String()
		if word, ok := ref[whole].Value.(ast.String); ok {
			above, _ := value(ref[:whole])
			if name := engine.Nearest(string(word), h.namesIn(ref[:whole], above)); name != "" && name != string(word) {
				near = ref[:whole].Append(ast.StringTerm(name)).String()
			}
		}
		return false
	})
	return part, near
}

// namesIn lists the names that a reference to an object may be followed by: the object's own, those of the input's schema,
// and those of rules and packages.
func (h *Host) namesIn(ref ast.Ref, value any) []string {
	names := map[string]bool{}
	if o, ok := value.(map[string]any); ok {
		for name := range o {
			names[name] = true
		}
	}
	if ref.HasPrefix(ast.InputRootRef) {
		s := shapeOfSchema(engine.PolicySchema(engine.Vocabulary{}))
		for _, step := range ref[1:] {
			key, _ := step.Value.(ast.String)
			if s != nil && s.fields[string(key)] != nil {
				s = s.fields[string(key)]
			} else {
				s = s.each()
			}
		}
		if s != nil {
			for name := range s.fields {
				names[name] = true
			}
		}
	}
	for _, m := range h.compiler.Modules {
		for _, r := range m.Rules {
			if rest, below := strings.CutPrefix(pathOf(r), slashed(ref)+"/"); below {
				name, _, _ := strings.Cut(rest, "/")
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// queryError lists what is wrong with a query, by line and column.
func queryError(errs ast.Errors) error {
	_ = explained(errs) // completes the messages
	lines := make([]string, len(errs))
	for i, e := range errs {
		lines[i] = fmt.Sprintf("%d:%d: %s", e.Location.Row, e.Location.Col, e.Message)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Spent is the time that the decisions of a profiled host spent on a rule of Rego: on its own expressions, without
// those of the rules that they refer to.
type Spent struct {
	Name  string // the id for which it fires, or else its name
	File  string // layer/path
	Line  int
	Count int64 // evaluations of its expressions
	Time  time.Duration
}

// Profile adds up what the decisions of a host spend on each rule. It serves one goroutine at a time.
type Profile struct {
	modules map[string]*ast.Module
	spent   map[*ast.Rule]*Spent
}

// Profile makes the host measure its decisions, which then take longer. It must be called before the first of them.
func (h *Host) Profile() *Profile {
	h.profile = &Profile{modules: h.compiler.Modules, spent: map[*ast.Rule]*Spent{}}
	return h.profile
}

// add adds what a profiler measured, line by line.
func (p *Profile) add(of *profiler.Profiler) {
	for file, report := range of.ReportByFile().Files {
		m := p.modules[file]
		if m == nil {
			continue // the query itself
		}
		for _, at := range report.Result {
			if r := ruleAt(m, at.Location.Row); r != nil {
				if p.spent[r] == nil {
					p.spent[r] = &Spent{Name: profiledName(r), File: file, Line: r.Location.Row}
				}
				p.spent[r].Count += int64(at.NumEval)
				p.spent[r].Time += time.Duration(at.ExprTimeNs)
			}
		}
	}
}

// ruleAt returns the last rule of a module that begins on a line or before it.
func ruleAt(m *ast.Module, row int) (at *ast.Rule) {
	for _, r := range m.Rules {
		if r.Location.Row <= row && (at == nil || at.Location.Row < r.Location.Row) {
			at = r
		}
	}
	return at
}

func profiledName(r *ast.Rule) string {
	if id := memberOf(r); id != "" && decides(r) {
		return id
	}
	return strings.ReplaceAll(strings.TrimPrefix(pathOf(r), "data/"), "/", ".")
}

// Spent lists what was spent, the most first.
func (p *Profile) Spent() []Spent {
	list := make([]Spent, 0, len(p.spent))
	for s := range maps.Values(p.spent) {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Spent) int {
		if a.Time != b.Time {
			return int(b.Time - a.Time)
		}
		return strings.Compare(fmt.Sprint(a.File, a.Line), fmt.Sprint(b.File, b.Line))
	})
	return list
}
