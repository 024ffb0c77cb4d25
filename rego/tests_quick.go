package rego

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/cache"
)

// quick evaluates tests once without OPA's runner, which notes the values of all
// variables at each step of a test that has cases: that takes longer than the
// tests. It returns results for those that certainly pass and for those that
// could not be evaluated; it leaves everything else to OPA's runner.
type quick struct {
	*TestSuite
	TestOptions
	txn    storage.Transaction
	data   *fixedData
	values cache.InterQueryValueCache
}

// quickly runs tests by their names, and returns the names that are left.
func (s *TestSuite) quickly(ctx context.Context, names []string, o TestOptions) (all []*tester.Result, left []string, err error) {
	txn, err := s.store.NewTransaction(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("open data: %w", err)
	}
	defer s.store.Abort(ctx, txn)
	q := &quick{TestSuite: s, TestOptions: o, txn: txn, values: newValueCache(ctx)}
	if q.data, err = readData(ctx, s.store, txn); err != nil {
		return nil, nil, err
	}
	tests := s.compiled(names)
	results := make([]*tester.Result, len(tests))
	each(cmp.Or(o.Parallel, runtime.NumCPU()), len(tests), func(i int) { results[i] = q.test(ctx, tests[i]) })
	for i, r := range results {
		if r == nil {
			left = append(left, tests[i].name())
		} else {
			all = append(all, r)
		}
	}
	return all, left, ctx.Err()
}

// each calls fn for the numbers below n, several at a time.
func each(parallel, n int, fn func(int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range next {
				fn(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// compiledTest is a rule that OPA's runner would run: of several with one
// name, all but the first got another one when they were compiled.
type compiledTest struct {
	rule *ast.Rule
	ref  ast.Ref // test_x
}

func (c compiledTest) path() ast.Ref { return c.rule.Module.Package.Path.Extend(c.ref) }

func (c compiledTest) name() string {
	return fullName(&tester.Result{Package: c.rule.Module.Package.Path.String(), Name: c.ref.String()})
}

// several reports whether each member is a case.
func (c compiledTest) several() bool { return c.rule.Head.DocKind() == ast.PartialObjectDoc }

// compiled lists the tests that are written under names, except for those that are
// not to be run at all.
func (s *TestSuite) compiled(names []string) []compiledTest {
	chosen := map[string]bool{}
	for _, n := range names {
		chosen[n] = true
	}
	var all []compiledTest
	for _, m := range s.compiler.Modules {
		for _, r := range m.Rules {
			ref := r.Head.Ref().GroundPrefix()
			i := slices.IndexFunc(ref, func(t *ast.Term) bool { return testName(nameOf(t)) })
			if i < 0 {
				continue
			}
			if c := (compiledTest{r, ref[:i+1]}); chosen[written(c.name())] {
				all = append(all, c)
			}
		}
	}
	return all
}

// test evaluates a test; nil: OPA's runner has to decide.
func (q *quick) test(ctx context.Context, c compiledTest) *tester.Result {
	var printed bytes.Buffer
	r := &tester.Result{Location: c.rule.Loc(), Package: c.rule.Module.Package.Path.String(), Name: c.ref.String()}
	if r.Skip = strings.HasPrefix(nameOf(c.ref[len(c.ref)-1]), tester.SkipTestPrefix); r.Skip {
		return r
	}
	names, took := q.casesOf(c), metrics.New()
	var begun *caseNames // nil: the names of the cases are written in the test
	if c.several() && names == nil {
		begun = &caseNames{}
	}
	value, err := q.value(ctx, c, &printed, q.options(begun, took))
	r.Duration, r.Output, r.Error = time.Duration(took.Timer(metrics.RegoQueryEval).Int64()), printed.Bytes(), err
	if err != nil {
		return r
	}
	ok := value == true
	if found, several := value.(map[string]any); several && c.several() {
		r.SubResults, ok = held(found)
		if begun != nil {
			ok = ok && begun.amongst(found)
		}
		for _, name := range names {
			_, passed := found[name]
			ok = ok && passed
		}
	}
	if !ok {
		return nil
	}
	return r
}

// value returns the result of evaluating a test; nil: it is undefined.
func (q *quick) value(ctx context.Context, c compiledTest, printed *bytes.Buffer, options []opa.EvalOption) (any, error) {
	ctx, cancel := q.within(ctx)
	defer cancel()
	var failed []topdown.Error
	query, err := opa.New(
		opa.Query(c.path().String()), opa.Compiler(q.compiler), opa.Store(q.store), opa.Transaction(q.txn),
		opa.PrintHook(topdown.NewPrintHook(printed)), opa.BuiltinErrorList(&failed),
	).PrepareForEval(ctx)
	if err != nil {
		return nil, err
	}
	rs, err := query.Eval(ctx, options...)
	for _, e := range failed {
		err = errors.Join(err, &e)
	}
	if err != nil || len(rs) == 0 {
		return nil, err
	}
	return rs[0].Expressions[0].Value, nil
}

// casesOf returns the names of a test's cases; nil: they are not all written in it.
func (q *quick) casesOf(c compiledTest) []string {
	var all []string
	for _, r := range q.rules {
		if r.name != written(c.name()) {
			continue
		}
		if r.cases == nil {
			return nil
		}
		all = append(all, r.cases...)
	}
	return all
}

func (q *quick) options(begun *caseNames, took metrics.Metrics) []opa.EvalOption {
	options := []opa.EvalOption{
		opa.EvalTransaction(q.txn), opa.EvalBaseCache(q.data), opa.EvalInterQueryBuiltinValueCache(q.values), opa.EvalMetrics(took),
	}
	if begun != nil {
		options = append(options, opa.EvalQueryTracer(begun))
	}
	if q.Coverage != nil {
		options = append(options, opa.EvalQueryTracer(q.Coverage))
	}
	return options
}

// held makes results of cases that all pass; ok is false if one does not.
func held(found map[string]any) (tester.SubResultMap, bool) {
	all := tester.SubResultMap{}
	for name, value := range found {
		sub := &tester.SubResult{Name: name}
		if inner, nested := value.(map[string]any); nested {
			var ok bool
			if sub.SubResults, ok = held(inner); !ok {
				return nil, false
			}
		} else if value != true {
			return nil, false
		}
		all[name] = sub
	}
	return all, true
}

// caseNames notes the cases that a test began with. A case that fails is not
// among the members of the test's result.
type caseNames struct{ begun []*ast.Array }

var _ topdown.QueryTracer = (*caseNames)(nil)

// Enabled implements topdown.QueryTracer.
func (n *caseNames) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (n *caseNames) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (n *caseNames) TraceEvent(e topdown.Event) {
	if e.Op != topdown.TestCaseOp {
		return
	}
	if expr, ok := e.Node.(*ast.Expr); ok {
		if names, ok := expr.Operand(0).Value.(*ast.Array); ok {
			n.begun = append(n.begun, names)
		}
	}
}

// amongst reports whether every case that has begun is a member of the findings. If the name of one is not text, this is
// unknown.
func (n *caseNames) amongst(found map[string]any) bool {
	return !slices.ContainsFunc(n.begun, func(names *ast.Array) bool {
		var at any = found
		names.Foreach(func(t *ast.Term) {
			name, _ := t.Value.(ast.String)
			inner, _ := at.(map[string]any)
			at = inner[string(name)]
		})
		return at != true
	})
}
