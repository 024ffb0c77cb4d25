package trial

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/rego"
)

// Runner runs cases against a policy. It compiles a policy once for all cases
// with the same settings and layers; it may run cases at the same time.
type Runner struct {
	layers  []*bundles.Bundle // the policy under test, base first; a case adds layers of its own
	env     engine.Env
	timeout time.Duration // of a case; 0: none
	limit   rego.Limit    // applies timeout
	explain bool          // say why rules that were expected did not fire
	cover   *covering     // nil: not asked for

	mu       sync.Mutex
	policies map[string]func() (*policy, error) // by the digest of what a case adds
	hosts    *hosts
	source   func(context.Context, cases.Case) (*policy, error) // where policies come from instead; nil: they are compiled
}

// hosts are compiled modules, shared by runners.
type hosts struct {
	mu   sync.Mutex
	made map[string]func() (*rego.Host, error) // by the digest of all modules
}

// NewRunner returns a runner for the policy that layers make up, base first.
func NewRunner(env engine.Env, layers ...*bundles.Bundle) *Runner {
	return &Runner{
		layers: layers, env: env,
		policies: map[string]func() (*policy, error){}, hosts: &hosts{made: map[string]func() (*rego.Host, error){}},
	}
}

// Layers returns the layers of the policy under test.
func (r *Runner) Layers() []*bundles.Bundle { return r.layers }

// policy is a policy under which cases run.
type policy struct {
	*review.Policy
	rules []string // ids of the rows of all layers
	open  bool     // layers above base have Rego, whose findings may have other ids
	alone bool     // the organisation's layer is not there
}

// having returns the policy with other parts.
func (p *policy) having(parts *review.Policy) *policy {
	other := *p
	other.Policy = parts
	return &other
}

// Run runs one case against the policy. An error means that it could not be run at
// all: its layers are not a valid policy, or it names an unknown rule.
func (r *Runner) Run(ctx context.Context, c cases.Case) (Result, error) {
	result := Result{Case: c}
	p, err := r.policy(ctx, c)
	if err != nil {
		return result, fmt.Errorf("%s:%d: %w", c.File, c.Line, err)
	}
	steps, err := c.Steps()
	if err != nil {
		return result, err
	}
	var why *reasons
	if r.explain {
		p, why = p.explained()
	}
	if book := bookOf(ctx); book != nil {
		p = book.watch(c, p)
	}
	if t := twiceOf(ctx); t != nil {
		both := &watchingTwice{t, p.Decider, fmt.Sprintf("case %s (%s:%d)", c.ID(), c.File, c.Line)}
		early := p.Early
		if p = p.with(both); early != nil {
			p.Early = &decideAnyway{earlyBefore{early, both}}
		}
	}
	if r.timeout > 0 { // from here on: compiling does not count
		var cancel context.CancelFunc
		ctx, cancel = r.limit(ctx, r.timeout)
		defer cancel()
	}
	s := newStory(c, p, r.env)
	s.whyNot = func(ids []string) []string { return why.of(ctx, ids) }
	for _, step := range steps {
		if why := wiring.UnknownTool(p.Rows, step.Event.Tool); why != nil {
			return result, fmt.Errorf("%s:%d: %s", c.File, step.Line, why.Text())
		}
		if err := p.knows(step.Expect); err != nil {
			return result, fmt.Errorf("%s:%d: %w", c.File, step.Line, err)
		}
		s.step(ctx, step, &result)
	}
	s.end(stepping{steps[len(steps)-1], c.File, &result})
	result.Chain = s.rehearsal.Records()
	if context.Cause(ctx) == context.DeadlineExceeded && r.timeout > 0 {
		return result, fmt.Errorf("%s:%d: stopped after %s; it does not terminate, or needs more time (--timeout)", c.File, c.Line, r.timeout)
	}
	return result, ctx.Err()
}

// once returns the cached value for a key, or creates it; concurrent callers wait.
func once[T any](mu *sync.Mutex, made map[string]func() (T, error), key string, make func() (T, error)) (T, error) {
	mu.Lock()
	get, there := made[key]
	if !there {
		get = sync.OnceValues(make)
		made[key] = get
	}
	mu.Unlock()
	return get()
}

// policy compiles the policy of a case, or returns the one that another case
// with the same layers has compiled.
func (r *Runner) policy(ctx context.Context, c cases.Case) (*policy, error) {
	if r.source != nil {
		return r.source(ctx, c)
	}
	key, err := engine.Digest([]any{c.Settings, c.Layers})
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // it outlives the case
	return once(&r.mu, r.policies, key, func() (*policy, error) {
		e, err := r.assemble(c)
		if err != nil {
			return nil, err
		}
		return r.compile(ctx, e)
	})
}

// assemble joins the policy under test and the additions of a case.
func (r *Runner) assemble(c cases.Case) (*bundles.Effective, error) {
	layers := map[string]*bundles.Bundle{}
	for _, l := range r.layers {
		layers[l.Layer] = l
	}
	for layer := range c.Layers {
		if !slices.Contains(bundles.Layers()[1:], layer) {
			return nil, fmt.Errorf("layers: unknown layer %q; expected one of %s", layer, strings.Join(bundles.Layers()[1:], ", "))
		}
	}
	var all []*bundles.Bundle
	for _, name := range bundles.Layers() {
		b, err := withCase(layers[name], c, name)
		if err != nil {
			return nil, err
		}
		if b != nil {
			all = append(all, b)
		}
	}
	return bundles.Assemble(all...)
}

// withCase is a layer with the files that a case adds to it; nil: there is none.
func withCase(b *bundles.Bundle, c cases.Case, layer string) (*bundles.Bundle, error) {
	added, err := layerOfCase(c, layer)
	if err != nil || len(added) == 0 {
		return b, err
	}
	files := map[string][]byte{}
	if b != nil {
		maps.Copy(files, b.Files)
	}
	maps.Copy(files, added)
	if b, err = bundles.FromFiles(files, layer); err != nil {
		return nil, fmt.Errorf("%s layer of the case: %w", layer, err)
	}
	return b, nil
}

// layerOfCase returns the files that a case adds as a layer.
func layerOfCase(c cases.Case, layer string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, text := range c.Layers[layer] {
		files[name] = []byte(text)
	}
	if layer == bundles.User && c.Settings != nil {
		settings, err := yaml.Marshal(c.Settings)
		if err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		files["settings.yaml"] = settings
	}
	return files, nil
}

// compile compiles a policy, with coverage if requested.
func (r *Runner) compile(ctx context.Context, e *bundles.Effective) (*policy, error) {
	p, err := wiring.CompileWith(ctx, e, r.rego(e))
	if err != nil {
		return nil, err
	}
	if r.cover != nil {
		r.cover.of(p)
	}
	known := &policy{Policy: p, alone: e.WithoutOrganisation()}
	for _, row := range e.Rules() {
		known.rules = append(known.rules, row.ID)
	}
	for _, l := range e.Access() {
		known.rules = append(known.rules, l.FindingIDs()...)
	}
	ids, open := rego.Findings(e.Modules())
	known.rules, known.open = append(known.rules, ids...), open
	return known, nil
}

// rego compiles modules once, however many settings there are.
func (r *Runner) rego(e *bundles.Effective) wiring.RegoCompiler {
	compile := rego.Compile
	if e.AllBuiltIn() {
		compile = rego.CompileKnown
	}
	return func(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error) {
		key, err := engine.Digest([]any{e.AllBuiltIn(), modules})
		if err != nil {
			return nil, err
		}
		host, err := once(&r.hosts.mu, r.hosts.made, key, func() (*rego.Host, error) { return compile(ctx, modules, data) })
		if err != nil {
			return nil, err
		}
		return host.Reopen(ctx, data)
	}
}

// compiled uses already compiled modules; nil: none.
func (r *Runner) compiled(host *rego.Host) error {
	if host == nil {
		return nil
	}
	e, err := bundles.Assemble(r.layers...)
	if err != nil {
		return err
	}
	key, err := engine.Digest([]any{e.AllBuiltIn(), e.Modules()})
	r.hosts.made[key] = func() (*rego.Host, error) { return host, nil }
	return err
}

// covering is the coverage that policies record.
type covering struct {
	rego *rego.Coverage
	cel  *cel.Coverage
}

// of makes a policy record what its decisions reach.
func (c *covering) of(p *review.Policy) {
	if host, ok := p.Decider.(*rego.Host); ok {
		host.Cover(c.rego)
	}
	if host, ok := p.Matcher.(*cel.Host); ok {
		host.Cover(c.cel)
	}
}

// knows refuses an expectation about an unknown rule, which would be trivially true
// for not_rules.
func (p *policy) knows(e *cases.Expect) error {
	if e == nil || p.open {
		return nil
	}
	for _, id := range slices.Concat(said(e), e.NotRules, e.Found(), e.NotFindings) {
		if slices.Contains(p.rules, id) {
			continue
		}
		if near := engine.Nearest(id, p.rules); near != "" {
			return fmt.Errorf("unknown rule %q; did you mean %q?", id, near)
		}
		other := ""
		if p.alone {
			other = "; if another layer has it, name both, as in `reviewer policy test ./org+./team`"
		}
		return fmt.Errorf("unknown rule %q; `reviewer policy show` lists the rules%s", id, other)
	}
	return nil
}

// said lists the rules in an expectation.
func said(e *cases.Expect) []string {
	all := slices.Concat(e.Rules, e.RulesExactly)
	if e.Rule != "" {
		all = append(all, e.Rule)
	}
	return all
}
