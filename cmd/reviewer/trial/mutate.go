package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/mutant"
	"github.com/agent-reviewer/reviewer/rego"
)

// The outcomes of a mutant.
const (
	Killed    = "killed"    // some test failed
	Survived  = "survived"  // tests reach the place, but none detected the change
	Unreached = "unreached" // no test reaches the place
)

// Mutation is the outcome of all mutants of a policy.
type Mutation struct {
	Mutants  []mutant.Mutant `json:"mutants"` // by file and place
	Duration time.Duration   `json:"-"`
}

// MutateOptions controls which mutants are tried, and how.
type MutateOptions struct {
	Options
	Only  string              // path of a file or folder, or id of a rule; empty: all
	Tried func(done, all int) // called as mutants are tried; may be nil
}

// FailingError is returned if tests fail before anything is changed.
type FailingError struct{ Tests []report.Test }

func (e *FailingError) Error() string {
	first := e.Tests[0]
	return fmt.Sprintf("%s failed before any change, and cannot detect one; fix that first, such as %s:%d: %s",
		engine.Counted(len(e.Tests), "test", "tests"),
		first.File, first.Line, first.Name)
}

// Mutate makes small changes to a policy, one at a time, and returns those that no
// test detects. Only tests that reach a change run, and only until the change is
// detected.
func Mutate(ctx context.Context, s Subject, o MutateOptions) (*Mutation, error) {
	if s.OnlyCases || s.bundle() == nil {
		return nil, errors.New("--mutate needs a policy: give its folder, which contains its tests")
	}
	start := time.Now()
	t, err := newTrial(ctx, s, o.forMutants())
	if err != nil {
		return nil, err
	}
	b, suites, err := t.bench(ctx)
	if err != nil {
		return nil, err
	}
	if failed := failed(suites); len(failed) > 0 {
		return nil, &FailingError{failed}
	}
	if len(b.jobs)+len(b.names) == 0 {
		return nil, errors.New("no tests run, so nothing could be detected: expected *_test.rego, cases/**.yaml, or examples of " +
			"rules (and that --run matches one)")
	}
	trials, err := b.trials(o.Only)
	if err != nil {
		return nil, err
	}
	m, err := b.run(ctx, trials, o.Tried)
	m.Duration = time.Since(start)
	return m, err
}

// forMutants are the options for a trial whose policy is changed.
func (o MutateOptions) forMutants() Options {
	o.Parallel = cmp.Or(max(0, o.Parallel), runtime.NumCPU())
	o.Timeout = cmp.Or(o.Timeout, usualTimeout)
	o.Coverage, o.Explain = false, false
	return o.Options
}

// mutationBench is the tests and their decisions, against which mutants are tried.
type mutationBench struct {
	*trial
	jobs  []job
	books []*decisionLog // of each job
	cases rego.Reach     // which jobs reach what
	lab   *rego.MutationLab
	whole *rego.Changed // policy and Rego tests without a change
	names []string      // of the Rego tests that run
	notes []*rego.Note  // of each
	tests rego.Reach

	mu         sync.Mutex
	conditions map[string]func() (*cel.Host, error) // of a row, by its file and id

	killers map[string][]int // by the rule of a mutant: the jobs that killed mutants, the latest first
}

// slower is the factor on a test's timeout while its decisions are recorded.
const slower = 20

// failed lists the tests that did not pass.
func failed(suites []report.Suite) []report.Test {
	var all []report.Test
	for _, suite := range suites {
		for _, test := range suite.Tests {
			if test.Status == report.Fail || test.Status == report.Error {
				all = append(all, test)
			}
		}
	}
	return all
}

// bench runs all tests, and records their decisions if all pass.
func (t *trial) bench(ctx context.Context) (*mutationBench, []report.Suite, error) {
	b := &mutationBench{trial: t, jobs: t.jobs(), killers: map[string][]int{}, conditions: map[string]func() (*cel.Host, error){}}
	b.books = make([]*decisionLog, len(b.jobs))
	t.runner.timeout = slower * t.Timeout
	counted := slices.Clone(b.jobs)
	for i := range counted {
		b.books[i] = &decisionLog{}
		run := counted[i].run
		counted[i].run = func(ctx context.Context, t *trial) report.Test {
			test := run(context.WithValue(ctx, bookKey{}, b.books[i]), t)
			if test.Status == report.Todo {
				b.books[i] = &decisionLog{} // its result is irrelevant
			}
			for _, a := range b.books[i].asked {
				b.cases.Add(i, a.note)
			}
			return test
		}
	}
	suites, err := t.rego(ctx)
	if err != nil {
		return nil, nil, err
	}
	more, err := t.run(ctx, counted)
	if err != nil {
		return nil, nil, err
	}
	suites = append(suites, more...)
	if len(failed(suites)) == 0 {
		err = b.regoTests(ctx)
	}
	return b, suites, err
}

// regoTests evaluates the Rego tests and records what they reach.
func (b *mutationBench) regoTests(ctx context.Context) (err error) {
	own, naming := b.modules(), cases.Naming(b.Rule)
	b.lab, err = rego.NewLab(b.effective.Modules(), b.Tests, func(name string) bool { return own[name] != "" && naming(own[name]) })
	if err != nil {
		return b.uncompiled("tests", err)
	}
	if b.Rule != "" && len(b.lab.Tests())+len(b.lab.Changes()) == 0 {
		return nil // a rule without Rego
	}
	if b.whole, err = b.lab.Compile(nil); err != nil {
		return b.uncompiled("tests", err)
	}
	host, ok := b.policy.Decider.(*rego.Host)
	if !ok {
		return nil
	}
	for _, name := range b.lab.Tests() {
		if !b.selectedRego(name) {
			continue
		}
		note, err := b.whole.Test(ctx, host, name)
		if err != nil {
			return err
		}
		b.tests.Add(len(b.names), note)
		b.names, b.notes = append(b.names, name), append(b.notes, note)
	}
	return nil
}

// attempt is a mutant and how it is tried.
type attempt struct {
	mutant.Mutant
	kill func(context.Context) (outcome string, valid bool)
}

// trials lists the mutants to try: those of modules, then those of rows and data.
func (b *mutationBench) trials(only string) ([]attempt, error) {
	list := b.regoAttempts()
	more, err := b.rowAttempts()
	if err != nil {
		return nil, err
	}
	list = append(list, more...)
	chosen := slices.DeleteFunc(slices.Clone(list), func(a attempt) bool { return only != "" && !b.about(a.Mutant, only) })
	if len(chosen) == 0 && only != "" && b.Rule == "" {
		return nil, b.nothingLike(only, list)
	}
	slices.SortStableFunc(chosen, func(x, y attempt) int { return x.Compare(y.Mutant) })
	return chosen, nil
}

// run tries mutants, several at a time. Those that are not valid policies are left
// out.
func (b *mutationBench) run(ctx context.Context, list []attempt, tried func(done, all int)) (*Mutation, error) {
	outcomes := make([]string, len(list))
	name := func(i int) string {
		m := list[i].Mutant
		return fmt.Sprintf("%s:%d: %s -> %s", m.File, m.Line, m.Before, m.After)
	}
	err := each(b.Parallel, len(list), tried, name, func(i int) {
		if outcome, valid := list[i].kill(ctx); valid {
			outcomes[i] = outcome
		}
	})
	m := &Mutation{Mutants: []mutant.Mutant{}}
	for i, a := range list {
		if a.Outcome = outcomes[i]; a.Outcome != "" {
			m.Mutants = append(m.Mutants, a.Mutant)
		}
	}
	return m, errors.Join(err, ctx.Err())
}

// attemptOn is what one attempt does to the jobs: whether a job's policy decides
// anything differently, and the trial in which it then runs.
type attemptOn struct {
	rule   string
	differ func(ctx context.Context, book *decisionLog) bool
	trial  *trial
}

// anyFails reports whether one of some jobs fails. Those that have failed for other
// changes of the same rule come first.
func (b *mutationBench) anyFails(ctx context.Context, on *attemptOn, jobs []int) bool {
	for _, i := range b.likely(on.rule, jobs) {
		if b.fails(ctx, on, i) {
			b.remember(on.rule, i)
			return true
		}
	}
	return false
}

// fails reports whether a job fails under a change. It runs only if the change affects
// one of its decisions.
func (b *mutationBench) fails(ctx context.Context, on *attemptOn, i int) bool {
	short, cancel := b.limit(ctx, b.Timeout)
	defer cancel()
	if j, asked := b.jobs[i], b.books[i].asked; j.kind != kindDetector && (len(asked) == 0 || !on.differ(short, b.books[i])) {
		return false
	}
	return b.jobs[i].try(ctx, on.trial).Status != report.Pass
}

// mostKillers is the number of killers that are remembered for a rule.
const mostKillers = 20

func (b *mutationBench) likely(rule string, jobs []int) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var first []int
	for _, i := range b.killers[rule] {
		if _, there := slices.BinarySearch(jobs, i); there {
			first = append(first, i)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(jobs), func(i int) bool { return slices.Contains(first, i) })
	slices.SortStableFunc(rest, func(x, y int) int { return cmp.Compare(b.weight(x), b.weight(y)) })
	return append(first, rest...)
}

// weight is higher for more expensive jobs: those with a policy of their own, and
// those with many events.
func (b *mutationBench) weight(i int) int {
	own := 0
	if book := b.books[i]; book.policy != b.policy {
		own = 100
	}
	return own + len(b.books[i].asked)
}

func (b *mutationBench) remember(rule string, i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.DeleteFunc(b.killers[rule], func(o int) bool { return o == i })
	list = slices.Insert(list, 0, i)
	b.killers[rule] = list[:min(len(list), mostKillers)]
}

// about reports whether a mutant is in a file or folder, or about a rule.
func (b *mutationBench) about(m mutant.Mutant, only string) bool {
	file := path.Clean(strings.TrimSuffix(only, "/"))
	for _, name := range []string{m.File, b.name(m.File)} {
		if name == file || strings.HasPrefix(name, file+"/") {
			return true
		}
	}
	return m.Rule == only || strings.HasSuffix(m.Rule, "."+only)
}

// nothingLike suggests similar names.
func (b *mutationBench) nothingLike(only string, list []attempt) error {
	var known []string
	for _, a := range list {
		known = append(known, a.Rule, b.name(a.File), path.Dir(b.name(a.File)))
	}
	slices.Sort(known)
	text := fmt.Sprintf("--mutate-only %q: no mutable part of the policy is in such a file or folder, or about such a rule", only)
	if near := engine.Nearest(only, slices.Compact(known)); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(text)
}

// regoAttempts makes an attempt of each change of a module.
func (b *mutationBench) regoAttempts() []attempt {
	var all []attempt
	for _, m := range b.lab.Changes() {
		all = append(all, b.attempt(m.Mutant, func(ctx context.Context) (string, bool) { return b.killRego(ctx, m) }))
	}
	return all
}

// attempt names the file of a mutant as the person does.
func (b *mutationBench) attempt(m mutant.Mutant, kill func(context.Context) (outcome string, valid bool)) attempt {
	m.File = b.file(m.File)
	return attempt{m, kill}
}

// early is how many jobs are tried before the Rego tests.
const early = 50

func (b *mutationBench) killRego(ctx context.Context, m *rego.Change) (outcome string, valid bool) {
	changed, err := b.lab.Compile(m)
	if err != nil {
		return "", false
	}
	jobs, tests := b.cases.Of(m), b.tests.Of(m)
	if len(jobs)+len(tests) == 0 {
		return Unreached, true
	}
	host, _ := b.policy.Decider.(*rego.Host)
	on := b.underModules(ctx, m.Rule, changed)
	jobs = b.likely(m.Rule, jobs)
	first := min(early, len(jobs))
	for n, i := range jobs {
		if n == first && b.testsFail(ctx, changed, host, tests) {
			return Killed, true
		}
		if b.fails(ctx, on, i) {
			b.remember(m.Rule, i)
			return Killed, true
		}
	}
	if len(jobs) <= first && b.testsFail(ctx, changed, host, tests) {
		return Killed, true
	}
	return Survived, true
}

// underModules tries jobs with other modules over the data that they have.
func (b *mutationBench) underModules(ctx context.Context, rule string, changed *rego.Changed) *attemptOn {
	made := map[*policy]*policy{}
	under := func(p *policy) (*policy, error) {
		if other := made[p]; other != nil {
			return other, nil
		}
		host, ok := p.Decider.(*rego.Host)
		if !ok {
			return p, nil
		}
		other, err := changed.Host(ctx, host)
		if err != nil {
			return nil, err
		}
		made[p] = p.with(other)
		return made[p], nil
	}
	return &attemptOn{
		rule: rule,
		differ: func(ctx context.Context, book *decisionLog) bool {
			p, err := under(book.policy)
			return err != nil || b.decides(ctx, p, book)
		},
		trial: b.under(func(ctx context.Context, c cases.Case) (*policy, error) {
			p, err := b.runner.policy(ctx, c)
			if err != nil {
				return nil, err
			}
			return under(p)
		}),
	}
}

// decides reports whether a policy decides anything in a job differently.
func (b *mutationBench) decides(ctx context.Context, p *policy, book *decisionLog) bool {
	host, ok := p.Decider.(*rego.Host)
	return !ok || slices.ContainsFunc(book.asked, func(a recordedDecision) bool { return !a.note.Same(ctx, host, book.matters) })
}

// under is a trial whose policies come from elsewhere.
func (b *mutationBench) under(source func(context.Context, cases.Case) (*policy, error)) *trial {
	r := NewRunner(b.Env, b.Layers...)
	r.timeout, r.limit, r.source = b.Timeout, b.limit, source
	return &trial{Subject: b.Subject, Options: b.Options, runner: r, effective: b.effective, policy: b.policy, finders: b.finders}
}

// testsFail reports whether a Rego test fails with a change.
func (b *mutationBench) testsFail(ctx context.Context, changed *rego.Changed, host *rego.Host, tests []int) bool {
	return slices.ContainsFunc(tests, func(i int) bool {
		short, cancel := b.limit(ctx, b.Timeout)
		defer cancel()
		holds, _ := b.notes[i].Holds(short, changed, host)
		return !holds && ctx.Err() == nil
	})
}
