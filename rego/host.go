// Package rego evaluates policy written in Rego with an embedded OPA: it
// restricts the language to what is deterministic, compiles the modules of all
// layers, and evaluates data.reviewer.decision. It is the only package that
// imports OPA.
//
// Out of scope: where bundles come from and how settings merge (bundles),
// CEL conditions (cel), and what a decision means (engine).
package rego

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego/reuse"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/profiler"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/cache"
	"github.com/open-policy-agent/opa/v1/version"
)

// Entry is the query that policy answers.
const Entry = "data.reviewer.decision"

// cacheEntries bounds the compiled patterns that are kept between queries.
// OPA's own caches hold 100 and compile again beyond that.
const cacheEntries = 100_000

// Host is a compiled policy. It is safe for concurrent use.
type Host struct {
	strict   opa.PreparedEvalQuery
	store    storage.Store
	txn      storage.Transaction
	data     topdown.BaseCache
	values   cache.InterQueryValueCache
	encode   *encoder
	compiler *ast.Compiler
	verdicts map[string]engine.RuleResult
	memory   *reuse.Memory // nil: nothing is kept between decisions
	cover    *Coverage     // nil: not asked for
	profile  *Profile      // nil: not asked for
	thorough bool          // without OPA's shortcuts (see Thorough)
	stale    []ast.Ref     // of a host with a change (see Changed): the documents that it can matter to
}

// Compile compiles the modules of all layers (layer/path -> source) over a data
// document. All errors are returned at once, each with file:line:col.
func Compile(ctx context.Context, modules map[string]string, data map[string]any) (*Host, error) {
	compiler, err := compileModules(modules)
	if err != nil {
		return nil, err
	}
	return open(ctx, compiler, data)
}

// CompileKnown is Compile for modules that are known to compile, since they are
// built in: it omits what can only fail, and what no decision reads.
func CompileKnown(ctx context.Context, modules map[string]string, data map[string]any) (*Host, error) {
	compiler, err := compileModules(modules, onlyChecks...)
	if err != nil {
		return nil, err
	}
	return open(ctx, compiler, data)
}

// onlyChecks are the stages of a compilation that change nothing in the compiled rules.
var onlyChecks = []ast.StageID{
	ast.StageCheckUnusedImports, ast.StageCheckKeywordOverrides, ast.StageCheckDuplicateImports, ast.StageCheckVoidCalls,
	ast.StageParseMetadataBlocks, ast.StageSetAnnotationSet, ast.StageCheckRuleConflicts,
	ast.StageCheckRecursion, ast.StageCheckTypes, ast.StageCheckUnsafeBuiltins,
	ast.StageCheckDeprecatedBuiltins, ast.StageBuildRequiredCapabilities,
}

// Reopen returns a host of the same modules over another data document.
func (h *Host) Reopen(ctx context.Context, data map[string]any) (*Host, error) {
	return open(ctx, h.compiler, data)
}

// open makes a host of compiled modules and a data document.
func open(ctx context.Context, compiler *ast.Compiler, data map[string]any) (*Host, error) {
	var err error
	h := &Host{compiler: compiler, encode: newEncoder(), verdicts: verdicts(data)}
	h.store = inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true))
	// The store is never written again, so one transaction serves all queries.
	if h.txn, err = h.store.NewTransaction(ctx); err != nil {
		return nil, fmt.Errorf("open data: %w", err)
	}
	if h.data, err = readData(ctx, h.store, h.txn); err != nil {
		return nil, err
	}
	h.values = newValueCache(ctx)
	if h.strict, err = h.prepare(ctx, true); err != nil {
		return nil, err
	}
	return h, nil
}

// newValueCache keeps compiled patterns between queries.
func newValueCache(ctx context.Context) cache.InterQueryValueCache {
	entries := cacheEntries
	return cache.NewInterQueryValueCache(ctx, &cache.Config{
		InterQueryBuiltinValueCache: cache.InterQueryBuiltinValueCacheConfig{MaxNumEntries: &entries},
	})
}

// compilations are the newest ones of this process, the newest last. Often the same modules are
// opened over several data documents: by a comparison of two policies that differ in their
// settings, or for each case that has its own. Nothing changes a compiler after its compilation.
var compilations struct {
	mu   sync.Mutex
	kept []compilation
}

type compilation struct {
	digest   [sha256.Size]byte // of the modules
	complete bool              // no stage was left out
	compiler *ast.Compiler
}

// maxCompilations limits how many are kept.
const maxCompilations = 4

func compileModules(modules map[string]string, leaveOut ...ast.StageID) (*ast.Compiler, error) {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		fmt.Fprintf(h, "%q%q", name, modules[name])
	}
	one := compilation{digest: [sha256.Size]byte(h.Sum(nil)), complete: len(leaveOut) == 0}
	if one.compiler = compiledBefore(one); one.compiler != nil {
		return one.compiler, nil
	}
	var err error
	if one.compiler, err = compileNew(modules, leaveOut...); err != nil {
		return nil, err
	}
	compilations.mu.Lock()
	defer compilations.mu.Unlock()
	compilations.kept = append(compilations.kept, one)
	if len(compilations.kept) > maxCompilations {
		compilations.kept = slices.Delete(compilations.kept, 0, 1)
	}
	return one.compiler, nil
}

// compiledBefore returns the compiler of the same modules, with at least the same stages; nil: none is kept.
func compiledBefore(one compilation) *ast.Compiler {
	compilations.mu.Lock()
	defer compilations.mu.Unlock()
	i := slices.IndexFunc(compilations.kept, func(c compilation) bool { return c.digest == one.digest && (c.complete || !one.complete) })
	if i < 0 {
		return nil
	}
	found := compilations.kept[i]
	compilations.kept = append(slices.Delete(compilations.kept, i, i+1), found)
	return found.compiler
}

func compileNew(modules map[string]string, leaveOut ...ast.StageID) (*ast.Compiler, error) {
	parsed, err := parseModules(modules)
	errs := []error{err}
	for _, name := range slices.Sorted(maps.Keys(parsed)) {
		errs = append(errs, checkPackage(name, parsed[name]))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	compile := func(leaveOut ...ast.StageID) *ast.Compiler {
		return compileQuickly(parsed, leaveOut, func(c *ast.Compiler) *ast.Compiler {
			return dispatched(completed(c.WithCapabilities(Capabilities()).WithStrict(true).SetErrorLimit(0)))
		})
	}
	c := compile(leaveOut...)
	if c.Failed() && !slices.ContainsFunc(c.Errors, func(e *ast.Error) bool { return !readsEmptyDefault(e, parsed) }) {
		c = compile(append(slices.Clone(leaveOut), ast.StageCheckTypes)...)
	}
	if c.Failed() {
		return nil, explained(c.Errors)
	}
	return c, nil
}

// compileQuickly compiles modules without some stages, as [ast.Compiler.Compile] does, in half the time.
// OPA searches the whole graph of the rules for a cycle from each rule, although one search for an order shows if
// there is one; and it looks in all modules for rules that others replace, again for each rule, until it has found one.
func compileQuickly(modules map[string]*ast.Module, leaveOut []ast.StageID, prepare func(*ast.Compiler) *ast.Compiler) *ast.Compiler {
	with := modules
	if !slices.Contains(leaveOut, ast.StageCheckTypes) {
		with = maps.Clone(modules)
		with[replacingFile] = replacing()
	}
	c := prepare(ast.NewCompiler().WithSkipStages(append(slices.Clone(leaveOut), ast.StageCheckRecursion)...))
	c.Compile(with)
	delete(c.Modules, replacingFile)
	if c.Failed() || !slices.Contains(leaveOut, ast.StageCheckRecursion) && !ordered(c.Graph) {
		c = prepare(ast.NewCompiler().WithSkipStages(leaveOut...)) // every error is reported, in OPA's words
		c.Compile(modules)
	}
	return c
}

// ordered reports whether the rules of a graph have an order: none depends on itself.
func ordered(g *ast.Graph) bool {
	_, is := g.Sort()
	return is
}

// replacingFile and its package have names that no policy has.
const replacingFile = "\x00replacing.rego"

// replacing returns a module in which one rule replaces another.
var replacing = sync.OnceValue(func() *ast.Module {
	return ast.MustParseModule("package __replacing\n\none := 1\n\ntwo if one == 2 with data.__replacing.one as 2\n")
})

// readsEmptyDefault reports whether an error is that a key is read of a rule whose only value is a
// default of {}. Such a rule may be for tests to replace: OPA's type checker accepts it with them,
// and policies are compiled without them. Check reports it where no test replaces the rule.
func readsEmptyDefault(e *ast.Error, modules map[string]*ast.Module) bool {
	detail, is := e.Details.(*ast.RefErrInvalidDetail)
	if e.Code != ast.TypeErr || !is {
		return false
	}
	path, empty := slashed(detail.Ref[:detail.Pos]), false
	for _, m := range modules {
		for _, r := range m.Rules {
			if pathOf(r) != path {
				continue
			}
			o, isObject := objectOf(r.Head.Value)
			if !r.Default || !isObject || o.Len() > 0 {
				return false
			}
			empty = true
		}
	}
	return empty
}

// parseModules parses modules, all at the same time: a hook waits for it. With an error it
// returns those that could be parsed.
func parseModules(modules map[string]string) (map[string]*ast.Module, error) {
	names := slices.Sorted(maps.Keys(modules))
	parsed, errs := make([]*ast.Module, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { parsed[i], errs[i] = parseModule(name, modules[name]) })
	}
	all.Wait()
	byName := make(map[string]*ast.Module, len(names))
	for i, name := range names {
		if errs[i] == nil {
			byName[name] = parsed[i]
		}
	}
	return byName, errors.Join(errs...)
}

func parseModule(name, source string) (*ast.Module, error) {
	m, err := ast.ParseModuleWithOpts(name, source, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err == nil && m == nil {
		err = fmt.Errorf("%s: the file is empty; add content or delete it", name)
	}
	return m, apart(err)
}

// explained explains in errors about missing built-ins why they are not
// available.
func explained(errs ast.Errors) error {
	for _, e := range errs {
		if name, ok := strings.CutPrefix(e.Message, "undefined function "); ok && ast.BuiltinMap[name] != nil {
			e.Message += ": not available, since a decision that uses it could not be recomputed (the event's time is in input.time)"
		}
	}
	return errs
}

// checkPackage keeps the modules of a layer under the layer's own root.
func checkPackage(name string, m *ast.Module) error {
	layer, _, _ := strings.Cut(name, "/")
	root := "data.policies." + layer
	if layer == "base" {
		root = "data.reviewer"
	}
	if p := m.Package.Path.String(); p != root && !strings.HasPrefix(p, root+".") {
		return fmt.Errorf("%s:%d: package %s is outside %s, the root of the %s layer",
			name, m.Package.Location.Row, strings.TrimPrefix(p, "data."), strings.TrimPrefix(root, "data."), layer)
	}
	return nil
}

// prepare makes the query. Strict: the first built-in that fails ends it. Otherwise
// errors of built-ins are collected, with the stack that names the rule.
func (h *Host) prepare(ctx context.Context, strict bool) (opa.PreparedEvalQuery, error) {
	q, err := opa.New(
		opa.Query(Entry), opa.Compiler(h.compiler), opa.Store(h.store), opa.Transaction(h.txn),
		opa.StrictBuiltinErrors(strict), opa.StackTraces(!strict), opa.Capabilities(Capabilities()),
	).PrepareForEval(ctx)
	if err != nil {
		return q, fmt.Errorf("prepare %s: %w", Entry, err)
	}
	return q, nil
}

// Decide implements engine.Decider.
func (h *Host) Decide(ctx context.Context, in *engine.Input, findings []engine.Finding) (engine.Decision, error) {
	if e, is := ctx.Value(eventKey{}).(*event); is {
		if d, decided := e.decide(ctx, h, in, findings); decided {
			return d, nil
		}
	}
	return h.decideValue(ctx, h.encode.input(in, findings), findings)
}

// withFailedConditions lists the conditions that could not be evaluated. Their
// rules have fired already, since their ids are among the findings.
func withFailedConditions(d engine.Decision, findings []engine.Finding) engine.Decision {
	for _, f := range findings {
		if f.Error != "" {
			d.Errors = append(d.Errors, engine.RuleError{Rule: f.ID, Message: f.Error})
		}
	}
	return d
}

// eval runs a query and returns its one result.
func (h *Host) eval(ctx context.Context, q opa.PreparedEvalQuery, value ast.Value, more ...opa.EvalOption) (*ast.Term, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("evaluate %s: %w", Entry, err)
	}
	cancel := topdown.NewCancel()
	defer context.AfterFunc(ctx, cancel.Cancel)()
	options := append([]opa.EvalOption{
		opa.EvalParsedInput(value), opa.EvalTransaction(h.txn), opa.EvalMetrics(metrics.NoOp()),
		opa.EvalExternalCancel(cancel), opa.EvalInterQueryBuiltinValueCache(h.values),
		opa.EvalBaseCache(h.data),
		opa.EvalGenerateJSON(keepTerm),
	}, more...)
	if h.thorough {
		options = append(options, opa.EvalRuleIndexing(false), opa.EvalEarlyExit(false))
	}
	if h.cover != nil {
		options = append(options, opa.EvalQueryTracer(h.cover))
	}
	if h.profile != nil {
		measured := profiler.New()
		options = append(options, opa.EvalQueryTracer(measured))
		defer h.profile.add(measured)
	}
	rs, err := q.Eval(ctx, options...)
	if err != nil {
		return nil, err
	}
	if len(rs) != 1 || len(rs[0].Expressions) != 1 {
		return nil, errUndefined
	}
	return rs[0].Expressions[0].Value.(*ast.Term), nil
}

// errUndefined is the error of a query without a result.
var errUndefined = fmt.Errorf("the policy does not define %s for this input", Entry)

func keepTerm(t *ast.Term, _ *opa.EvalContext) (any, error) { return t, nil }

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

// DecideEarly implements engine.EarlyDecider. If anything goes wrong, the call waits. The
// document of the input is made only once: later history does not change it.
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
	term, err := h.eval(ctx, h.strict, value, h.remembered(value)...)
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

// Version returns the version of the embedded OPA, for engine.Env.
func Version() string { return version.Version }

// Capabilities returns the language that policies may use: OPA's without any
// built-in whose result could differ between two runs over the same input.
// Using one of them is a compile error.
func Capabilities() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(c.Builtins, forbidden)
	c.AllowNet = []string{}
	return c
}

// forbidden lists built-ins with which a decision could not be recomputed: the
// clock, chance, the network, the environment, and the machine's own time zones
// and certificates, used by all functions that take a zone's name or verify. An
// hour, a minute and a weekday in UTC are in the input.
func forbidden(b *ast.Builtin) bool {
	return b.Nondeterministic || slices.Contains([]string{
		"opa.runtime", "rego.parse_module", "trace", "io.jwt.decode_verify",
		"time.clock", "time.date", "time.weekday", "time.format", "time.diff", "time.add_date", "time.parse_ns",
		"crypto.x509.parse_and_verify_certificates", "crypto.x509.parse_and_verify_certificates_with_options",
	}, b.Name)
}
