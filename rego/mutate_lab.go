package rego

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego/precompiled"
)

// MutationLab compiles a policy and its Rego tests again and again, each time with a
// small change. It is safe for concurrent use.
type MutationLab struct {
	mu       sync.Mutex
	changing map[string]*ast.Module // those that mutants change in place, one at a time
	modules  map[string]*ast.Module // the policy and its tests, as they are written
	caps     *ast.Capabilities
	changes  []*Change
	tests    []string // their names
	whole    func() (*finished, error)
}

// NewLab parses modules and tests (layer/path -> source). Only modules for
// which own returns true are changed.
func NewLab(modules, tests map[string]string, own func(name string) bool) (*MutationLab, error) {
	l := &MutationLab{changing: map[string]*ast.Module{}, caps: Capabilities()}
	var err error
	if l.modules, err = parseModules(modules); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(l.modules)) {
		if own(name) {
			l.changing[name] = l.modules[name].Copy()
			l.changes = append(l.changes, changes(name, l.changing[name])...)
		}
	}
	tested, err := parseModules(tests)
	if err != nil {
		return nil, err
	}
	uniqueNames(tested)
	for _, r := range testRules(tested) {
		if !slices.Contains(l.tests, r.name) && !strings.Contains(r.name, "."+tester.SkipTestPrefix) {
			l.tests = append(l.tests, r.name)
		}
	}
	maps.Copy(l.modules, tested)
	l.whole = sync.OnceValues(l.finish)
	return l, nil
}

// uniqueNames renames tests with duplicate names: otherwise one that passes would hide
// one that fails.
func uniqueNames(tests map[string]*ast.Module) {
	seen := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		m := tests[name]
		for _, r := range m.Rules {
			if !testName(string(r.Head.Name)) || r.Head.DocKind() != ast.CompleteDoc {
				continue
			}
			path := m.Package.Path.String() + "." + string(r.Head.Name)
			if seen[path]++; seen[path] > 1 {
				r.Head.SetRef(ast.Ref{ast.VarTerm(fmt.Sprintf("%s_%d", r.Head.Name, seen[path]))})
			}
		}
	}
}

// Changes lists the changes that can be made, by file and place.
func (l *MutationLab) Changes() []*Change { return l.changes }

// Tests lists the Rego tests, without those that are marked as todo.
func (l *MutationLab) Tests() []string { return l.tests }

// leftOut are the stages of the compiler that only find errors. A mutant has no such
// errors, since it has the same rules, names and types as the original policy.
var leftOut = []ast.StageID{ast.StageCheckRecursion, ast.StageCheckRuleConflicts, ast.StageCheckTypes, ast.StageCheckUnusedImports}

// Changed is the policy with a change.
type Changed struct {
	compiler *ast.Compiler
	stale    []ast.Ref // the documents that the change can affect; nil: all
}

// finished is the policy and its tests, compiled without a change.
type finished struct {
	compiler   *ast.Compiler
	dependents map[string][]ast.Ref // of a rule, by its path
	refer      *references
}

func (l *MutationLab) finish() (*finished, error) {
	c := completed(ast.NewCompiler().WithCapabilities(l.caps).WithSkipStages(leftOut...))
	if c.Compile(l.modules); c.Failed() {
		return nil, c.Errors
	}
	return &finished{c, dependents(c), newReferences(l.modules)}, nil
}

// Compile compiles the policy, together with its tests, with a change (nil: none). An error means that the
// change does not compile. Only the changed module is compiled: the others are the same as without the change.
func (l *MutationLab) Compile(m *Change) (*Changed, error) {
	whole, err := l.whole()
	if err != nil {
		return nil, err
	}
	if m == nil {
		return &Changed{compiler: whole.compiler}, nil
	}
	module := l.apply(m)
	modules := map[string]*ast.Module{m.File: module}
	for _, name := range whole.refer.of(module) {
		if name != m.File {
			modules[name] = stub(l.modules[name])
		}
	}
	c := ast.NewCompiler().WithCapabilities(l.caps).WithSkipStages(append(leftOut[:len(leftOut):len(leftOut)],
		ast.StageBuildRuleIndices, ast.StageBuildComprehensionIndices)...)
	c.WithStageAfterID(ast.StageResolveRefs, ast.CompilerStageDefinition{Name: "CompleteFindings", Stage: func(c *ast.Compiler) *ast.Error {
		complete(m.File, c.Modules[m.File])
		return nil
	}})
	if c.Compile(modules); c.Failed() {
		return nil, c.Errors
	}
	p := precompiled.Policy{Modules: maps.Clone(whole.compiler.Modules), Rewritten: maps.Clone(whole.compiler.RewrittenVars)}
	p.Modules[m.File] = c.Modules[m.File]
	maps.Copy(p.Rewritten, c.RewrittenVars)
	all := compilerOf(p, stagesAfter)
	if all.Failed() {
		return nil, all.Errors
	}
	return &Changed{compiler: all, stale: whole.dependents[m.path]}, nil
}

// stub returns a module that compiles quickly and defines the same names.
func stub(m *ast.Module) *ast.Module {
	short := m.Copy()
	short.Imports = nil
	for _, r := range short.Rules {
		if r.Default {
			r.Head.Value = ast.BooleanTerm(true)
			continue
		}
		r.Else, r.Body = nil, ast.NewBody(literal(ast.Boolean(true), r.Loc()))
		for _, t := range []**ast.Term{&r.Head.Key, &r.Head.Value} {
			if *t != nil {
				*t = ast.BooleanTerm(true)
			}
		}
		for i := 1; i < len(r.Head.Reference); i++ {
			if !isText(r.Head.Reference[i]) {
				r.Head.Reference[i] = ast.BooleanTerm(true)
			}
		}
	}
	return short
}

func (l *MutationLab) apply(m *Change) *ast.Module {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.do()
	defer m.undo()
	return l.changing[m.File].Copy()
}

// Host returns a host that decides by the changed modules over the data of one.
func (c *Changed) Host(ctx context.Context, h *Host) (*Host, error) {
	other := *h
	other.compiler, other.stale = c.compiler, c.stale
	var err error
	other.strict, err = other.prepare(ctx, true)
	return &other, err
}

// Note is something that was evaluated: its result, and what was reached.
type Note struct {
	reads  map[string]bool // paths of data, each with / before its names
	seen   map[reachedAt]bool
	input  func(*Host) ast.Value // nil: of a Rego test
	test   string
	answer ast.Value // nil: it could not be evaluated

	known []cachedResult // intermediate results

	mu    sync.Mutex
	plain map[Relevance]ast.Value // the answer without irrelevant parts
}

// reachedAt is a spotKind that is cheap to record.
type reachedAt struct {
	at   *ast.Location
	kind byte
}

// Note evaluates a decision again, slowly, and records what was evaluated. OPA's index
// is not used, because a change may make a rule true that the index skips.
func (h *Host) Note(ctx context.Context, in *engine.Input, findings []engine.Finding) (*Note, error) {
	n := &Note{seen: map[reachedAt]bool{}, input: func(h *Host) ast.Value { return h.encode.input(in, findings) }}
	return n, n.take(ctx, Entry, h.compiler, h, n.input(h))
}

// Test evaluates a Rego test over the data of a host, and records what was evaluated.
func (c *Changed) Test(ctx context.Context, h *Host, test string) (*Note, error) {
	n := &Note{seen: map[reachedAt]bool{}, test: test}
	return n, n.take(ctx, test, c.compiler, h, nil)
}

func (n *Note) take(ctx context.Context, query string, c *ast.Compiler, h *Host, input ast.Value) error {
	read := &reader{Store: h.store, paths: map[string]bool{}}
	q, err := opa.New(
		opa.Query(query), opa.Compiler(c), opa.Store(read), opa.Transaction(h.txn), opa.StrictBuiltinErrors(true),
	).PrepareForEval(ctx)
	if err != nil {
		return fmt.Errorf("prepare %s: %w", query, err)
	}
	cache := topdown.NewVirtualCache()
	n.answer, err = evaluate(ctx, q, h.txn, input, opa.EvalQueryTracer(n), opa.EvalRuleIndexing(false), opa.EvalEarlyExit(false),
		opa.EvalVirtualCache(cache))
	if input != nil && n.answer != nil {
		n.known = documents(cache)
	}
	n.reads = read.paths
	return err
}

// evaluate returns the result of a query; nil: undefined, or an error.
func evaluate(ctx context.Context, q opa.PreparedEvalQuery, txn storage.Transaction, input ast.Value,
	more ...opa.EvalOption) (ast.Value, error) {
	cancel := topdown.NewCancel()
	defer context.AfterFunc(ctx, cancel.Cancel)()
	options := append([]opa.EvalOption{
		opa.EvalTransaction(txn), opa.EvalExternalCancel(cancel), opa.EvalGenerateJSON(keepTerm),
	}, more...)
	if input != nil {
		options = append(options, opa.EvalParsedInput(input))
	}
	rs, err := q.Eval(ctx, options...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil || len(rs) != 1 {
		return nil, nil
	}
	return rs[0].Expressions[0].Value.(*ast.Term).Value, nil
}

// reader records the paths that are read from a store.
type reader struct {
	storage.Store
	paths map[string]bool
}

// Read implements storage.Store.
func (r *reader) Read(ctx context.Context, txn storage.Transaction, p storage.Path) (any, error) {
	r.paths["/"+strings.Join(p, "/")] = true
	return r.Store.Read(ctx, txn, p)
}

// Enabled implements topdown.QueryTracer.
func (n *Note) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (n *Note) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (n *Note) TraceEvent(e topdown.Event) {
	switch node := e.Node.(type) {
	case *ast.Rule:
		switch e.Op {
		case topdown.EnterOp:
			n.seen[reachedAt{node.Location, 'e'}] = true
		case topdown.ExitOp:
			n.seen[reachedAt{node.Head.Location, 'x'}] = true
		}
	case *ast.Expr:
		if e.Op == topdown.EvalOp && node.Location != nil {
			n.seen[reachedAt{node.Location, 'v'}] = true
		}
	}
}

// Relevance describes which parts of a decision matter, in addition to the verdict and
// the rules.
type Relevance struct {
	Texts  bool // reasons, messages, what the agent is told
	Scores bool // risk, rationality, side effects
}

// Same reports whether the relevant parts of a decision are reproduced on another
// host. Other parts may differ, but the result must be a decision.
func (n *Note) Same(ctx context.Context, h *Host, what Relevance) bool {
	var more []opa.EvalOption
	if h.stale != nil {
		more = append(more, opa.EvalVirtualCache(fresh(n.known, h.stale)))
	}
	t, err := h.eval(ctx, h.strict, n.input(h), more...)
	if err != nil || n.answer == nil {
		return false
	}
	if t.Value.Compare(n.answer) == 0 {
		return true
	}
	_, err = decode(t)
	return err == nil && what.of(t.Value).Compare(n.as(what)) == 0
}

func (n *Note) as(what Relevance) ast.Value {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.plain == nil {
		n.plain = map[Relevance]ast.Value{}
	}
	if n.plain[what] == nil {
		n.plain[what] = what.of(n.answer)
	}
	return n.plain[what]
}

// of returns a decision without its irrelevant parts.
func (what Relevance) of(decision ast.Value) ast.Value {
	var gone []string
	if !what.Texts {
		gone = append(gone, "reason", "reasons", "explanation", "text", "notice", "alternatives", "confidence", "message", "remediation")
	}
	if !what.Scores {
		gone = append(gone, "risk", "rationality", "side_effects")
	}
	return without(decision, gone)
}

// without removes keys from objects, including those in lists and below "otherwise".
func without(v ast.Value, gone []string) ast.Value {
	switch v := v.(type) {
	case *ast.Array:
		var list []*ast.Term
		v.Foreach(func(t *ast.Term) { list = append(list, ast.NewTerm(without(t.Value, gone))) })
		return ast.NewArray(list...)
	case ast.Object:
		kept := ast.NewObject()
		v.Foreach(func(key, value *ast.Term) {
			switch name := nameOf(key); {
			case slices.Contains(gone, name):
			case name == "rules", name == "otherwise":
				kept.Insert(key, ast.NewTerm(without(value.Value, gone)))
			default:
				kept.Insert(key, value)
			}
		})
		return kept
	}
	return v
}

// Holds reports whether a Rego test is reproduced by changed modules, over
// the data of a host.
func (n *Note) Holds(ctx context.Context, c *Changed, h *Host) (bool, error) {
	q, err := opa.New(
		opa.Query(n.test), opa.Compiler(c.compiler), opa.Store(h.store), opa.Transaction(h.txn), opa.StrictBuiltinErrors(true),
	).PrepareForEval(ctx)
	if err != nil {
		return false, nil // with the change it is no longer a test
	}
	v, err := evaluate(ctx, q, h.txn, nil)
	return v != nil && n.answer != nil && v.Compare(n.answer) == 0, err
}

// Reach determines which evaluations a change can affect. It is safe for concurrent
// use.
type Reach struct {
	mu   sync.Mutex
	of   map[spotKind][]int
	read map[string][]int // by the path of data
}

// Add records what was reached under a number, such as that of a test, and removes it
// from the note.
func (r *Reach) Add(number int, n *Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of, r.read = map[spotKind][]int{}, map[string][]int{}
	}
	for path := range n.reads {
		r.read[path] = once(r.read[path], number)
	}
	for one := range n.seen {
		s := spotKind{spotOf(one.at), one.kind}
		r.of[s] = once(r.of[s], number)
	}
	n.seen, n.reads = nil, nil
}

// once adds a number unless it is the last one already.
func once(list []int, number int) []int {
	if len(list) > 0 && list[len(list)-1] == number {
		return list
	}
	return append(list, number)
}

// Reading lists the numbers under which data at a path, or below or above it,
// was read, in order.
func (r *Reach) Reading(path string) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []int
	for read, numbers := range r.read {
		if related(path, []string{read}) {
			all = append(all, numbers...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Of lists the numbers that a mutant can affect, in order.
func (r *Reach) Of(m *Change) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.any(m.reach); len(found) > 0 {
		return found
	}
	return r.any(m.otherwise)
}

func (r *Reach) any(spots []spotKind) []int {
	var all []int
	for _, s := range spots {
		all = append(all, r.of[s]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Data reports whether a module reads data at a path such as /reviewer/risk, or below
// or above it.
func (c *Changed) Data() func(path string) bool {
	asked := map[string]bool{}
	for name, m := range c.compiler.Modules {
		if strings.HasSuffix(name, "_test.rego") {
			continue
		}
		for _, rule := range m.Rules { // the package's own name is not a reference
			ast.WalkRefs(rule, func(r ast.Ref) bool {
				if ground := r.ConstantPrefix(); len(ground) > 1 && r[0].Equal(ast.DefaultRootDocument) {
					asked[pathOfRef(ground)] = true
				}
				return false
			})
		}
	}
	paths := slices.Sorted(maps.Keys(asked))
	return func(path string) bool { return related(path, paths) }
}

func pathOfRef(r ast.Ref) string {
	var b strings.Builder
	for _, t := range r[1:] {
		if s, ok := t.Value.(ast.String); ok {
			b.WriteString("/" + string(s))
		}
	}
	return b.String()
}

// related reports whether one of some paths is the path, or is above or below
// it.
func related(path string, others []string) bool {
	return slices.ContainsFunc(others, func(o string) bool {
		return strings.HasPrefix(path+"/", o+"/") || strings.HasPrefix(o+"/", path+"/")
	})
}
