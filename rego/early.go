package rego

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// The documents by which a policy answers calls before their review.
const (
	earlyEntry     = "data.reviewer.early.decision"
	earlyAvailable = "data.reviewer.early.available"
)

// Early decides which calls are answered before their review. It is safe for concurrent use.
type Early struct {
	host  *Host
	query opa.PreparedEvalQuery
}

// Early returns what decides which calls are answered before their review; nil: with this
// policy, none is.
func (h *Host) Early(ctx context.Context) (*Early, error) {
	available, err := h.queryOf(ctx, earlyAvailable)
	if err != nil {
		return nil, err
	}
	term, err := h.eval(ctx, available, ast.NewObject())
	if err != nil || term.Value.Compare(ast.Boolean(true)) != 0 {
		return nil, nil // a policy without the document, or one that says no: every call waits
	}
	query, err := h.queryOf(ctx, earlyEntry)
	return &Early{h, query}, err
}

// queryOf prepares a query that the first built-in that fails ends.
func (h *Host) queryOf(ctx context.Context, path string) (opa.PreparedEvalQuery, error) {
	q, err := opa.New(opa.Query(path), opa.Compiler(h.compiler), opa.Store(h.store), opa.Transaction(h.txn),
		opa.StrictBuiltinErrors(true), opa.Capabilities(Capabilities())).PrepareForEval(ctx)
	if err != nil {
		return q, fmt.Errorf("prepare %s: %w", path, err)
	}
	return q, nil
}

// DecideEarly implements engine.EarlyDecider. Whatever goes wrong, the call waits. The document
// of the input is made once; nothing of it changes when the history goes on.
func (e *Early) DecideEarly(ctx context.Context, in *engine.Input, findings []engine.Finding) (*engine.Decision,
	func(context.Context) (engine.Decision, error)) {
	value := e.host.encode.input(in, findings)
	review := func(ctx context.Context) (engine.Decision, error) { return e.host.decideValue(ctx, value, findings) }
	term, err := e.host.eval(ctx, e.query, value)
	if err != nil || term.Value.Compare(ast.Null{}) == 0 {
		return nil, review
	}
	d, err := decode(term)
	if err != nil {
		return nil, review
	}
	return &d, review
}

// decideValue decides about a document.
func (h *Host) decideValue(ctx context.Context, value ast.Value, findings []engine.Finding) (engine.Decision, error) {
	term, err := h.eval(ctx, h.strict, value)
	if err == nil {
		d, err := decode(term)
		return withFailedConditions(d, findings), err
	}
	var failed *topdown.Error
	if !errors.As(err, &failed) || failed.Code != topdown.BuiltinErr {
		return engine.Decision{}, err
	}
	d, err := h.decideDespite(ctx, value)
	return withFailedConditions(d, findings), err
}
