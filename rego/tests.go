package rego

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// TestSuite is the Rego tests of a policy, compiled with it under the same
// restrictions and over the same data as for decisions.
type TestSuite struct {
	compiler *ast.Compiler
	modules  map[string]*ast.Module
	store    storage.Store
	rules    []testRule // in the order of files, and as they are written
}

// testRule is a rule whose name begins with test_ or todo_test_. Several with
// one name are told apart by the tester, and selected together.
type testRule struct {
	name    string // data.package.test_x
	text    string
	partial bool     // each of its members is a case
	cases   []string // their names; nil: unknown before they have run
}

// TestOptions control how tests are run.
type TestOptions struct {
	Timeout  time.Duration          // of a test; 0: five seconds
	Limit    Limit                  // applies Timeout; nil: it is wall-clock time
	Parallel int                    // tests at a time; 0: as many as there are processors
	Selected func(name string) bool // by the full name; nil: all
	Whole    bool                   // Selected does not select cases, only tests with all their cases
	Coverage *Coverage              // nil: not asked for
	Trace    bool                   // results of failed tests contain a trace
}

// Limit returns a context that ends when a test has taken too much time.
type Limit func(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc)

// within applies the limit on a test.
func (o TestOptions) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Limit == nil {
		o.Limit = context.WithTimeout
	}
	return o.Limit(ctx, cmp.Or(o.Timeout, usualTimeout))
}

// TestResult is the result of a test, or of one case of a test that has several.
type TestResult struct {
	Name     string // data.package.test_x, or data.package.test_x/case
	File     string // layer/path
	Line     int
	Failed   bool
	Todo     bool        // is not run
	Err      error       // it could not be evaluated to the end
	At       *Expression // of one that failed: what was false
	Output   string      // what it printed
	Trace    []string    // of one that failed
	Duration time.Duration
}

// Expression is an expression of a test that was false.
type Expression struct {
	File      string
	Line, Col int
	Text      string
	Values    []string // lines that show the expression and the values of its variables
}

// usualTimeout stops a test that loops.
const usualTimeout = 5 * time.Second

// CompileTests compiles tests (layer/path -> source) together with the modules
// that they test, over a data document. All errors are returned at once.
func CompileTests(modules, tests map[string]string, data map[string]any) (*TestSuite, error) {
	guardBuiltins()
	parsed, err := parseModules(modules)
	beside, wrong := parseModules(tests)
	if err := errors.Join(err, wrong); err != nil {
		return nil, err
	}
	s := &TestSuite{modules: parsed, rules: testRules(beside)}
	maps.Copy(s.modules, beside)
	s.store = inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true))
	return s, nil
}

// testCompiler returns a compiler for a suite.
func testCompiler(leaveOut ...ast.StageID) *ast.Compiler {
	c := ast.NewCompiler().WithCapabilities(Capabilities()).WithStrict(true).WithEnablePrintStatements(true).SetErrorLimit(0)
	return dispatched(completed(c.WithSkipStages(leaveOut...)))
}

func testRules(modules map[string]*ast.Module) []testRule {
	var all []testRule
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := modules[name]
		for _, r := range m.Rules {
			ref := r.Head.Ref().GroundPrefix()
			i := slices.IndexFunc(ref, func(t *ast.Term) bool { return testName(nameOf(t)) })
			if i < 0 {
				continue
			}
			full := m.Package.Path.Extend(ref[:i+1]).String()
			all = append(all, testRule{full, string(r.Location.Text), r.Head.DocKind() == ast.PartialObjectDoc, casesIn(r, ref[:i+1])})
		}
	}
	return all
}

// casesIn returns the names of a test's cases if they are written in the rule: `some name, case in {"first": …}`.
func casesIn(r *ast.Rule, test ast.Ref) []string {
	ref := r.Head.Ref()
	if len(ref) != len(test)+1 {
		return nil
	}
	for _, expr := range r.Body {
		some, ok := expr.Terms.(*ast.SomeDecl)
		if !ok || len(some.Symbols) != 1 {
			continue
		}
		in, ok := some.Symbols[0].Value.(ast.Call) // a function, name, case, {…}
		if !ok || len(in) != 4 || !in[1].Equal(ref[len(test)]) {
			continue
		}
		cases, ok := in[3].Value.(ast.Object)
		if !ok {
			return nil
		}
		var names []string
		for _, key := range cases.Keys() {
			name, ok := key.Value.(ast.String)
			if !ok {
				return nil
			}
			names = append(names, string(name))
		}
		return names
	}
	return nil
}

// SelectTests returns the full names of the tests (layer/path -> source) whose text is wanted, and the files
// with them and with what they use.
func SelectTests(tests map[string]string, wanted func(text string) bool) (files map[string]string, names map[string]bool, err error) {
	names = map[string]bool{}
	some := map[string]bool{}
	parsed, err := parseModules(tests)
	for file, m := range parsed {
		for _, r := range testRules(map[string]*ast.Module{file: m}) {
			if wanted(r.text) {
				names[r.name], some[tests[file]] = true, true
			}
		}
	}
	return Needed(tests, func(text string) bool { return some[text] }), names, err
}

func testName(name string) bool {
	return strings.HasPrefix(name, tester.TestPrefix) || strings.HasPrefix(name, tester.SkipTestPrefix)
}

func nameOf(t *ast.Term) string {
	switch v := t.Value.(type) {
	case ast.Var:
		return string(v)
	case ast.String:
		return string(v)
	}
	return ""
}

// Names lists the tests by their full names, without the cases of those that have
// several: these are known only after a run.
func (s *TestSuite) Names() []string {
	var all []string
	for _, r := range s.rules {
		all = append(all, r.name)
	}
	return all
}

// Run runs the tests. The results are sorted by file, line and name, regardless of the order in
// which they arrived. An error means that nothing could be run.
func (s *TestSuite) Run(ctx context.Context, o TestOptions) ([]TestResult, error) {
	chosen := s.chosen(o)
	if len(chosen) == 0 {
		return nil, nil
	}
	if err := s.compile(ctx); err != nil {
		return nil, err
	}
	first, left, err := s.quickly(ctx, chosen, o)
	if err != nil {
		return nil, err
	}
	more, err := s.run(ctx, left, o, false)
	if err != nil {
		return nil, err
	}
	first = append(first, more...)
	// Only failed tests are run once more with a trace, which is slow, and is
	// not available together with coverage.
	again, err := s.run(ctx, failedNames(first), o, true)
	if err != nil {
		return nil, err
	}
	traced := map[string]*tester.Result{}
	for _, r := range again {
		traced[fullName(r)] = r
	}
	var all []TestResult
	for _, r := range first {
		all = append(all, results(r, traced[fullName(r)], o)...)
	}
	slices.SortStableFunc(all, func(a, b TestResult) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

// chosen lists the rules to run. One whose cases may be selected is run too.
func (s *TestSuite) chosen(o TestOptions) []string {
	var names []string
	for _, r := range s.rules {
		if o.Selected == nil || o.Selected(r.name) || r.partial && !o.Whole && r.mayBe(o.Selected) {
			names = append(names, r.name)
		}
	}
	return names
}

// mayBe reports whether a case may be selected. Those that are not written in the rule are known only after a run.
func (r testRule) mayBe(selected func(string) bool) bool {
	return r.cases == nil || slices.ContainsFunc(r.cases, func(name string) bool { return selected(r.name + "/" + name) })
}

func failedNames(list []*tester.Result) []string {
	var names []string
	for _, r := range list {
		if r.Fail && r.Error == nil {
			names = append(names, fullName(r))
		}
	}
	return names
}

// fullName is data.package.test_x. The second test of one name is test_x#01,
// which OPA writes in quotes.
func fullName(r *tester.Result) string {
	name := r.Name
	if before, quoted, ok := strings.Cut(name, `["`); ok {
		name = before + "." + strings.TrimSuffix(quoted, `"]`)
	}
	return r.Package + "." + name
}

// written is the name that a test has in its file.
func written(name string) string {
	if i := strings.LastIndexByte(name, '#'); i > strings.LastIndexByte(name, '.') {
		return name[:i]
	}
	return name
}

// compile compiles the suite, in OPA's runner: it gives tests with the same
// name different names, and makes those with cases report each case that they
// begin.
func (s *TestSuite) compile(ctx context.Context) error {
	s.compiler = testCompiler(ast.StageCheckRecursion) // see compileQuickly
	if err := s.compileOnce(ctx); err == nil && ordered(s.compiler.Graph) || ctx.Err() != nil {
		return ctx.Err()
	}
	s.compiler = testCompiler()
	return s.compileOnce(ctx)
}

func (s *TestSuite) compileOnce(ctx context.Context) error {
	r := tester.NewRunner().SetCompiler(s.compiler).SetStore(s.store).SetModules(s.modules).Filter(noTest)
	ch, err := r.RunTests(ctx, nil)
	if err != nil {
		return apart(err)
	}
	for range ch {
	}
	return ctx.Err()
}

// noTest matches no name.
const noTest = `[^\s\S]`

// run runs tests of a compiled suite by their names in OPA's runner.
func (s *TestSuite) run(ctx context.Context, names []string, o TestOptions, trace bool) ([]*tester.Result, error) {
	if len(names) == 0 {
		return nil, nil
	}
	txn, err := s.store.NewTransaction(ctx)
	if err != nil {
		return nil, fmt.Errorf("open data: %w", err)
	}
	defer s.store.Abort(ctx, txn)
	timeout := cmp.Or(o.Timeout, usualTimeout)
	if o.Limit != nil {
		timeout = 24 * time.Hour // these ended within the limit before (see quickly)
	}
	r := tester.NewRunner().SetCompiler(s.compiler).SetStore(s.store).
		RaiseBuiltinErrors(true).SetTimeout(timeout).
		SetParallel(cmp.Or(o.Parallel, runtime.NumCPU())).Filter(filter(names))
	if trace {
		r.EnableTracing(true)
	} else if o.Coverage != nil {
		r.SetCoverageQueryTracer(o.Coverage)
	}
	ch, err := r.RunTests(ctx, txn)
	if err != nil {
		return nil, apart(err)
	}
	var all []*tester.Result
	for result := range ch {
		all = append(all, result)
	}
	return all, ctx.Err()
}

// apart gives each error of a compilation a line of its own.
func apart(err error) error {
	var list ast.Errors
	if !errors.As(err, &list) {
		return err
	}
	_ = explained(list) // in place
	errs := make([]error, len(list))
	for i, e := range list {
		errs[i] = e
	}
	return errors.Join(errs...)
}

// filter matches the tests of these names.
func filter(names []string) string {
	var patterns []string
	for _, n := range names {
		i := strings.LastIndexByte(n, '.')
		last := "." + n[i+1:]
		if written(n) != n {
			last = `["` + n[i+1:] + `"]`
		}
		patterns = append(patterns, regexp.QuoteMeta(n[:i]+last))
	}
	return "^(?:" + strings.Join(patterns, "|") + ")$"
}

// results makes a result from a test, or one of each of its cases that is
// selected. What was printed cannot be told apart by cases: each has all of it.
func results(r, traced *tester.Result, o TestOptions) []TestResult {
	base := TestResult{
		Name: fullName(r), File: r.Location.File, Line: r.Location.Row,
		Todo: r.Skip, Err: timedOut(r.Error, o), Failed: r.Fail, Duration: r.Duration, Output: string(r.Output),
	}
	var all []TestResult
	if len(r.SubResults) == 0 || r.Error != nil {
		if traced != nil {
			base.explain(traced.Trace, o)
		}
		all = []TestResult{base}
	} else {
		all = casesOf(base, r, traced, o)
	}
	return slices.DeleteFunc(all, func(t TestResult) bool {
		return o.Selected != nil && !o.Selected(t.Name) && !o.Selected(written(base.Name))
	})
}

// casesOf makes a result from each case of a test.
func casesOf(base TestResult, r, traced *tester.Result, o TestOptions) []TestResult {
	traces := map[string][]*topdown.Event{}
	if traced != nil {
		for path, sub := range traced.SubResults.Iter {
			traces[strings.Join(path, "/")] = sub.Trace
		}
	}
	var all []TestResult
	for path, sub := range r.SubResults.Iter {
		if len(sub.SubResults) > 0 {
			continue // it is its cases
		}
		one, name := base, strings.Join(path, "/")
		one.Name, one.Failed = base.Name+"/"+name, sub.Fail
		if one.Failed {
			one.explain(traces[name], o)
		}
		all = append(all, one)
	}
	return all
}

// timedOut explains that a test was stopped, and why.
func timedOut(err error, o TestOptions) error {
	if topdown.IsCancel(err) {
		return fmt.Errorf("stopped after %s: it does not terminate, or needs more time (--timeout)", cmp.Or(o.Timeout, usualTimeout))
	}
	return err
}

// explain finds the expression at which a test failed: the last one that did,
// since those that call others fail after them.
func (t *TestResult) explain(trace []*topdown.Event, o TestOptions) {
	if o.Trace {
		var b bytes.Buffer
		topdown.PrettyTraceWithOpts(&b, trace, topdown.PrettyTraceOptions{Locations: true, ExprVariables: true})
		t.Trace = nonEmpty(b.String())
	}
	for _, e := range slices.Backward(trace) {
		expr, ok := e.Node.(*ast.Expr)
		if e.Op != topdown.FailOp || e.Location == nil || e.QueryID == 0 || !ok {
			continue
		}
		if _, every := expr.Terms.(*ast.Every); every {
			continue // what failed inside is more informative
		}
		t.At = expressionOf(e)
		return
	}
}

func expressionOf(e *topdown.Event) *Expression {
	at := e.Location
	x := &Expression{File: at.File, Line: at.Row, Col: at.Col, Text: strings.Join(strings.Fields(string(at.Text)), " ")}
	var b bytes.Buffer
	if err := topdown.PrettyEvent(&b, e, topdown.PrettyEventOpts{PrettyVars: true}); err == nil {
		x.Values = nonEmpty(b.String())
	}
	return x
}

func nonEmpty(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \t\n"); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// guardBuiltins makes a panic of a built-in an error of the test that calls it.
// OPA's runner has tests in goroutines of its own, where nobody else could catch
// it. It changes OPA's table, so it must be called before anything is evaluated.
var guardBuiltins = sync.OnceFunc(func() {
	for _, b := range ast.Builtins {
		if f := topdown.GetBuiltin(b.Name); f != nil {
			topdown.RegisterBuiltinFunc(b.Name, guarded(b.Name, f))
		}
	}
})

func guarded(name string, f topdown.BuiltinFunc) topdown.BuiltinFunc {
	return func(c topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &topdown.Error{Code: topdown.InternalErr, Message: fmt.Sprintf("%s panicked: %v", name, p), Location: c.Location}
			}
		}()
		return f(c, operands, iter)
	}
}
