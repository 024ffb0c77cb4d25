package rego

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego/reuse"
	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
)

// Sharing lets hosts that decide about the same events use what the others computed. Their
// decisions stay the same. It is safe for concurrent use.
type Sharing struct {
	mu    sync.Mutex
	plans map[*Host]*planned
	pairs map[[2]*Host]*reuse.Pair
}

// planned is a host with what its documents depend on.
type planned struct {
	host    *Host
	plan    *reuse.Plan
	mu      sync.Mutex
	queries map[string]opa.PreparedEvalQuery
}

// Add lets a host take part.
func (s *Sharing) Add(h *Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plans == nil {
		s.plans, s.pairs = map[*Host]*planned{}, map[[2]*Host]*reuse.Pair{}
	}
	if h.cover == nil && !h.thorough && s.plans[h] == nil {
		s.plans[h] = &planned{host: h, queries: map[string]opa.PreparedEvalQuery{}}
	}
}

// of returns what the documents of a host depend on; nil: the host takes no part.
func (s *Sharing) of(h *Host) *planned {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.plans[h]
	if p != nil && p.plan == nil {
		graphOf(h.compiler)
		p.plan = reuse.NewPlan(withGraph(h.compiler), h.data.(*fixedData).root)
	}
	return p
}

func (s *Sharing) pair(from, to *planned) *reuse.Pair {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]*Host{from.host, to.host}
	if s.pairs[key] == nil {
		s.pairs[key] = reuse.NewPair(from.plan, to.plan)
	}
	return s.pairs[key]
}

// Event returns a context for the decisions about one event. It is for one goroutine.
func (s *Sharing) Event(ctx context.Context) context.Context {
	s.mu.Lock()
	several := len(s.plans) > 1
	s.mu.Unlock()
	if !several {
		return ctx
	}
	return context.WithValue(ctx, eventKey{}, &event{sharing: s})
}

type eventKey struct{}

// event is the evaluations of one event.
type event struct {
	sharing *Sharing
	done    []*evaluation
}

// evaluation is an evaluation that has succeeded.
type evaluation struct {
	by       *planned
	in       engine.Input
	findings []engine.Finding
	value    ast.Value
	values   *reuse.Values
	term     *ast.Term
}

// maxEvaluations bounds what an event keeps.
const maxEvaluations = 8

// decide is Host.Decide with what was computed for the same event. false: it has to be
// decided without that.
func (e *event) decide(ctx context.Context, h *Host, in *engine.Input, findings []engine.Finding) (engine.Decision, bool) {
	by := e.sharing.of(h)
	if by == nil {
		return engine.Decision{}, false
	}
	now := &evaluation{by: by, in: *in, findings: findings}
	from := e.like(now)
	if now.value == nil {
		now.value = h.encode.input(in, findings)
	}
	if err := e.evaluate(ctx, now, from); err != nil {
		return engine.Decision{}, false
	}
	if len(e.done) < maxEvaluations {
		e.done = append(e.done, now)
	}
	d, err := decode(now.term)
	return withFailedConditions(d, findings), err == nil
}

// like returns an evaluation by another host: of an equal input, or else of the same action.
func (e *event) like(now *evaluation) *evaluation {
	var similar *evaluation
	for _, d := range e.done {
		if d.by == now.by || !reflect.DeepEqual(d.in.Action, now.in.Action) {
			continue
		}
		if slices.Equal(d.findings, now.findings) && reflect.DeepEqual(d.in, now.in) {
			now.value = d.value
			return d
		}
		if similar == nil {
			similar = d
		}
	}
	return similar
}

func (e *event) evaluate(ctx context.Context, now, from *evaluation) (err error) {
	h := now.by.host
	if from == nil {
		now.values = now.by.plan.Begin(now.value)
	} else {
		pair := e.sharing.pair(from.by, now.by)
		now.values = pair.Begin(from.values, now.value, from.by.compute(ctx, from.value), now.by.compute(ctx, now.value))
		if now.values.Same(Entry) {
			now.term = from.term
			return nil
		}
	}
	now.term, err = h.eval(ctx, h.strict, now.value, opa.EvalVirtualCache(now.values))
	return err
}

// compute returns a function that evaluates single documents.
func (p *planned) compute(ctx context.Context, value ast.Value) reuse.Compute {
	return func(path string, values *reuse.Values) (*ast.Term, error) {
		q, err := p.query(ctx, path)
		if err != nil {
			return nil, err
		}
		term, err := p.host.eval(ctx, q, value, opa.EvalVirtualCache(values))
		if errors.Is(err, errUndefined) {
			return nil, nil
		}
		return term, err
	}
}

func (p *planned) query(ctx context.Context, path string) (opa.PreparedEvalQuery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q, known := p.queries[path]; known {
		return q, nil
	}
	q, err := p.host.queryOf(ctx, path)
	if err == nil {
		p.queries[path] = q
	}
	return q, err
}

// MemoryLimits bound what a host keeps between decisions.
type MemoryLimits = reuse.Limits

// MemoryCounts are how often documents were found there, for any number of hosts.
type MemoryCounts = reuse.Counts

// Remember returns a host that decides as h does, and keeps what it computes for later
// decisions (see reuse.Memory).
func (h *Host) Remember(l MemoryLimits, c *MemoryCounts) *Host {
	own := *h
	own.memory = reuse.NewMemory(reuse.NewPlan(withGraph(h.compiler), h.data.(*fixedData).root), l, c)
	return &own
}

// remembered is the option for an evaluation that uses the memory of the host, if it has one.
func (h *Host) remembered(value ast.Value) []opa.EvalOption {
	if h.memory == nil || h.thorough || h.cover != nil {
		return nil
	}
	return []opa.EvalOption{opa.EvalVirtualCache(h.memory.Begin(value))}
}
