package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// caseRunner takes cases through a policy. It compiles a policy once for all
// cases with the same settings and layers; it may run cases at the same time.
type caseRunner struct {
	layers []*bundles.Bundle // the policy under test, base first; a case adds layers of its own

	mu       sync.Mutex
	policies map[string]func() (*casePolicy, error) // by the digest of what a case adds
}

// casePolicy is a policy under which cases run.
type casePolicy struct {
	*engine.Policy
	rules []string // ids of the rows of all layers
	open  bool     // layers above base have Rego, which may find what no row names
}

// caseResult is what came of one case.
type caseResult struct {
	Case     cases.Case
	Failures []caseFailure
	Seen     []caseSeen
}

// caseFailure is an event that went otherwise than expected.
type caseFailure struct {
	Place string // file:line
	What  string // the event's number and the event in a few words
	Wrong []string
	Why   []string // what policy said, for the person who expected something else
}

// caseSeen is what was decided where a case expects something.
type caseSeen struct {
	Expect *cases.Expect
	Record *engine.Record
}

func newCaseRunner(layers ...*bundles.Bundle) *caseRunner {
	return &caseRunner{layers: layers, policies: map[string]func() (*casePolicy, error){}}
}

// loadCases reads the cases of a bundle; none where it has no folder for them.
func loadCases(bundle fs.FS) ([]cases.Case, error) {
	if _, err := fs.Stat(bundle, "cases"); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	sub, err := fs.Sub(bundle, "cases")
	if err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	return cases.Load(sub)
}

// run takes one case through the policy. An error means that it could not be
// run at all: its layers are no policy, or it names a rule that there is not.
func (r *caseRunner) run(ctx context.Context, c cases.Case) (caseResult, error) {
	result := caseResult{Case: c}
	policy, err := r.policy(ctx, c)
	if err != nil {
		return result, fmt.Errorf("%s:%d: %w", c.File, c.Line, err)
	}
	steps, err := c.Steps()
	if err != nil {
		return result, err
	}
	s := newStory(c, policy)
	for _, step := range steps {
		if err := policy.knows(step.Expect); err != nil {
			return result, fmt.Errorf("%s:%d: %w", c.File, step.Line, err)
		}
		s.step(ctx, step, &result)
	}
	return result, ctx.Err()
}

// policy compiles the policy of a case, or returns the one that another case
// with the same layers has compiled.
func (r *caseRunner) policy(ctx context.Context, c cases.Case) (*casePolicy, error) {
	key, err := engine.Digest([]any{c.Settings, c.Layers})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	compiled, there := r.policies[key]
	if !there {
		compiled = sync.OnceValues(func() (*casePolicy, error) { return r.compile(ctx, c) })
		r.policies[key] = compiled
	}
	r.mu.Unlock()
	return compiled()
}

func (r *caseRunner) compile(ctx context.Context, c cases.Case) (*casePolicy, error) {
	layers := slices.Clone(r.layers)
	for _, layer := range bundles.Layers() {
		files, err := layerOfCase(c, layer)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			continue
		}
		b, err := bundles.FromFiles(files, layer)
		if err != nil {
			return nil, fmt.Errorf("%s layer of the case: %w", layer, err)
		}
		layers = append(layers, b)
	}
	for layer := range c.Layers {
		if !slices.Contains(bundles.Layers(), layer) {
			return nil, fmt.Errorf("layers: unknown layer %q; expected one of %s", layer, strings.Join(bundles.Layers()[1:], ", "))
		}
	}
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return nil, err
	}
	return policyOfCases(ctx, e)
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

func policyOfCases(ctx context.Context, e *bundles.Effective) (*casePolicy, error) {
	p, err := wiring.Compile(ctx, e)
	if err != nil {
		return nil, err
	}
	known := &casePolicy{Policy: p}
	for _, r := range e.Rules() {
		known.rules = append(known.rules, r.ID)
	}
	for _, l := range e.Access() {
		for _, r := range append(l.Rules, bundles.AccessRule{ID: "default"}) {
			known.rules = append(known.rules, l.FindingID(r.ID))
		}
	}
	for _, l := range e.Layers[1:] {
		known.open = known.open || len(l.Modules) > 0
	}
	return known, nil
}

// knows refuses an expectation about a rule that there is not: that it does
// not speak would hold for ever.
func (p *casePolicy) knows(e *cases.Expect) error {
	if e == nil || p.open {
		return nil
	}
	for _, ids := range [][]string{one(e.Rule), e.Rules, e.RulesExactly, e.NotRules, e.Findings, e.NotFindings} {
		for _, id := range ids {
			if slices.Contains(p.rules, id) {
				continue
			}
			if near := engine.Nearest(id, p.rules); near != "" {
				return fmt.Errorf("unknown rule %q; did you mean %q?", id, near)
			}
			return fmt.Errorf("unknown rule %q; `reviewer policy show` lists the rules", id)
		}
	}
	return nil
}

func one(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

// story is a case while it runs.
type story struct {
	c         cases.Case
	machine   *cases.Machine
	rehearsal *simulate.Rehearsal
	calls     map[string]*engine.Record // by the call's id
}

func newStory(c cases.Case, p *casePolicy) *story {
	s := &story{c: c, machine: c.Machine(), calls: map[string]*engine.Record{}}
	classifier := &classify.Classifier{World: s.world(), MAC: caseMAC, Program: caseProgram}
	s.rehearsal = simulate.Start("", classifier, p.Policy, environment())
	return s
}

// caseProgram is where reviewer lies on the machines of cases.
const caseProgram = "/usr/local/bin/reviewer"

// caseMAC is a keyed digest whose key everybody knows: a case holds no secrets,
// and comes out the same on every machine.
func caseMAC(b []byte) string {
	h := hmac.New(sha256.New, []byte("cases"))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

func (s *story) world() classify.World {
	w := classify.World{Home: s.c.Home, Guard: []string{s.c.Path("~/.local/state/reviewer")}}
	if m := s.machine; m != nil {
		w.Lstat, w.Readlink, w.ReadDir, w.ReadFile = m.Lstat, m.Readlink, m.ReadDir, m.ReadFile
	}
	if s.c.Git != nil {
		w.Git = func() func(string) string { return s.c.GitState }
	}
	return w
}

func (s *story) step(ctx context.Context, step cases.Step, result *caseResult) {
	wrong := func(problems []string, why ...string) {
		place := fmt.Sprintf("%s:%d", s.c.File, step.Line)
		result.Failures = append(result.Failures, caseFailure{place, fmt.Sprintf("event %d, %s", step.Number, step.Title), problems, why})
	}
	if step.Control != nil {
		if err := s.choose(step); err != nil {
			wrong([]string{err.Error()})
		}
		return
	}
	action, happened := s.rehearsal.Next(ctx, step.Event)
	if happened && s.machine != nil {
		s.machine.Put(step.Files)
	}
	switch {
	case !happened && !step.Loose:
		wrong([]string{"the call was blocked, so it has no result"})
	case action.Record == nil && action.Error != "":
		wrong([]string{"it could not be recorded: " + action.Error})
	case action.Record == nil && step.Expect != nil:
		wrong([]string{"policy is not asked about this event, so nothing can be expected of it"})
	case action.Record != nil:
		s.judge(step, action.Record, result, wrong)
	}
}

// choose records a person's choice.
func (s *story) choose(step cases.Step) error {
	choice := *step.Control
	if step.Of != "" {
		rec := s.calls[step.Of]
		if rec == nil {
			return errors.New("the call that is allowed was not reviewed")
		}
		key, _ := rec.CallKey()
		choice.Record, choice.Print, choice.CWD = rec.ID(), key.Print, key.CWD
	}
	return s.rehearsal.Control(step.Time, choice)
}

func (s *story) judge(step cases.Step, rec *engine.Record, result *caseResult, wrong func([]string, ...string)) {
	if rec.Phase == engine.PhasePre {
		s.calls[rec.Call] = rec
	}
	if step.Expect == nil {
		return
	}
	result.Seen = append(result.Seen, caseSeen{step.Expect, rec})
	var problems []string
	for _, d := range step.Expect.Compare(rec) {
		problems = append(problems, d.String())
	}
	if len(problems) > 0 {
		wrong(problems, cases.Why(rec)...)
	}
}

// String says what went otherwise, in lines for a person.
func (f caseFailure) String() string {
	lines := []string{f.Place + ": " + f.What}
	for _, w := range f.Wrong {
		lines = append(lines, "    "+w)
	}
	for _, w := range f.Why {
		lines = append(lines, "    because "+w)
	}
	return strings.Join(lines, "\n")
}
