package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/detect"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/rego"
)

// Options control how tests are run.
type Options struct {
	Env      engine.Env
	Run      *regexp.Regexp // of the names of tests; nil: all
	Parallel int            // tests at a time; 0: as many as there are processors
	Timeout  time.Duration  // CPU time of a test; 0: five seconds
	Coverage bool
	Explain  bool                // explain failed tests in full
	Done     func(done, all int) // called as tests end; may be nil
}

// The kinds of suites.
const (
	kindRego     = "rego"
	kindCase     = "case"
	kindExample  = "example"
	kindDetector = "detector"
	kindRow      = "row"
)

// usualTimeout stops a test that does not end.
const usualTimeout = 5 * time.Second

// limit returns a context that ends when a test has used so much CPU time. Tests that run at a
// time share that of the process.
func (o *Options) limit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return osfile.WithCPUTime(ctx, timeout*time.Duration(max(o.Parallel, 1)))
}

// job is one test that has not run yet.
type job struct {
	file, kind, name string
	about            string // id of the row that it is an example of
	line             int
	run              func(context.Context, *trial) report.Test // under a trial's policy
}

// Run runs the tests of a subject. The suites are sorted, and their tests are in
// the order of the files, regardless of the order in which they ended. An error means
// that nothing could be run: the policy or a Rego test does not compile.
func Run(ctx context.Context, s Subject, o Options) (*report.Report, error) {
	o.Parallel = cmp.Or(max(0, o.Parallel), runtime.NumCPU())
	o.Timeout = cmp.Or(o.Timeout, usualTimeout)
	t, err := newTrial(ctx, s, o)
	if err != nil {
		return nil, err
	}
	r := &report.Report{Policy: t.effective.Digest}
	tests, err := t.rego(ctx)
	if err != nil {
		return nil, err
	}
	suites, err := t.run(ctx, t.jobs())
	if err != nil {
		return nil, err
	}
	r.Suites = append(tests, suites...)
	slices.SortStableFunc(r.Suites, func(a, b report.Suite) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
	})
	r.Rules = t.about(r.Suites)
	if o.Coverage {
		if r.Coverage, err = t.coverage(); err != nil {
			return nil, err
		}
	}
	return r, ctx.Err()
}

// trial is a subject while its tests run.
type trial struct {
	Subject
	Options
	runner    *Runner
	effective *bundles.Effective
	policy    *policy // without additions by cases
	reached   reached
	finders   func() (*detect.Set, error)
}

func newTrial(ctx context.Context, s Subject, o Options) (*trial, error) {
	t := &trial{Subject: s, Options: o, runner: NewRunner(o.Env, s.Layers...)}
	t.runner.timeout, t.runner.limit, t.runner.explain = o.Timeout, o.limit, o.Explain
	if o.Coverage {
		t.runner.cover = &covering{rego.NewCoverage(), cel.NewCoverage()}
	}
	var err error
	if t.effective, err = bundles.Assemble(s.Layers...); err != nil {
		return nil, errors.New(t.below(err.Error()))
	}
	t.runner.layers = bundles.RowsChecked(s.Layers)
	if t.policy, err = t.runner.policy(ctx, plain()); err != nil {
		return nil, errors.New(t.below(err.Error()))
	}
	if err := t.conditions(); err != nil {
		return nil, err
	}
	t.finders = sync.OnceValues(func() (*detect.Set, error) { return wiring.Detectors(t.effective) })
	return t, nil
}

// selected reports whether a test of this name is to run.
func (t *trial) selected(name string) bool {
	return t.Options.Run == nil || t.Options.Run.MatchString(name)
}

// selectedRego is selected for a Rego test.
func (t *trial) selectedRego(name string) bool {
	return t.selected(name) && (t.Rule == "" || t.regoTests[name])
}

// jobs lists all tests but those in Rego, in order; duplicate names are numbered.
func (t *trial) jobs() []job {
	all := t.caseJobs()
	switch {
	case t.OnlyCases:
	case t.Rule != "":
		all = append(all, slices.DeleteFunc(t.exampleJobs(), func(j job) bool { return j.about != t.Rule })...)
	default:
		all = slices.Concat(all, t.exampleJobs(), t.detectorJobs(), t.rowJobs())
	}
	seen := map[string]int{}
	for i := range all {
		name := all[i].name
		if seen[name]++; seen[name] > 1 {
			all[i].name = fmt.Sprintf("%s#%d", name, seen[name])
		}
	}
	return slices.DeleteFunc(all, func(j job) bool { return !t.selected(j.name) })
}

// run runs jobs, several at a time, and returns their results in order.
func (t *trial) run(ctx context.Context, jobs []job) ([]report.Suite, error) {
	tests := make([]report.Test, len(jobs))
	name := func(i int) string { return fmt.Sprintf("%s:%d: %s", jobs[i].file, jobs[i].line, jobs[i].name) }
	err := each(t.Parallel, len(jobs), t.Done, name, func(i int) { tests[i] = jobs[i].try(ctx, t) })
	return suites(jobs, tests), err
}

// each does something for the numbers below n, several at a time. A panic is an internal error,
// not a result: it is returned as an error that names what was being done.
func each(parallel, n int, done func(done, all int), name func(int) string, do func(int)) error {
	if done == nil {
		done = func(int, int) {}
	}
	errs := make([]error, n)
	one := func(i int) {
		defer func() {
			if p := recover(); p != nil {
				errs[i] = fmt.Errorf("internal error in %s; please report it: %v", name(i), p)
			}
		}()
		do(i)
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range next {
				one(i)
			}
		})
	}
	for i := range n {
		done(i, n)
		next <- i
	}
	close(next)
	workers.Wait()
	done(n, n)
	return errors.Join(errs...)
}

// try runs a job.
func (j *job) try(ctx context.Context, under *trial) report.Test {
	start := time.Now()
	t := j.run(ctx, under)
	t.Name, t.Duration = j.name, time.Since(start)
	if t.Line == 0 {
		t.Place = report.Place{File: j.file, Line: j.line}
	}
	return t
}

// suites groups tests by file and kind, in the order in which they come.
func suites(jobs []job, tests []report.Test) []report.Suite {
	at := map[[2]string]int{}
	var all []report.Suite
	for i, j := range jobs {
		key := [2]string{j.file, j.kind}
		n, there := at[key]
		if !there {
			n = len(all)
			at[key] = n
			all = append(all, report.Suite{Name: j.file, Kind: j.kind})
		}
		all[n].Tests = append(all[n].Tests, tests[i])
	}
	return all
}

// Names lists the names of all tests of a subject that are known before they run:
// for the cases of a Rego test, that of the test itself.
func Names(s Subject) []string {
	t := &trial{Subject: s}
	var err error
	if t.effective, err = bundles.Assemble(s.Layers...); err != nil {
		return nil
	}
	var all []string
	if suite, err := rego.CompileTests(nil, s.Tests, nil); err == nil {
		all = suite.Names()
	}
	for _, j := range t.jobs() {
		all = append(all, j.name)
	}
	return all
}

// about collects descriptions of the rules that tests are about, for a report.
func (t *trial) about(suites []report.Suite) []report.Rule {
	named := map[string]bool{}
	for _, s := range suites {
		for _, test := range s.Tests {
			for _, id := range test.Rules {
				named[id] = true
			}
		}
	}
	var all []report.Rule
	for _, l := range t.effective.Layers {
		for _, r := range l.Rules {
			if !named[r.ID] {
				continue
			}
			rule := report.Rule{ID: r.ID, Title: r.Title, Help: r.Remediation, Tags: r.Tags}
			if l.Layer == t.Layer {
				rule.Place = t.place(r, "", 0, 0)
			}
			all = append(all, rule)
		}
	}
	slices.SortFunc(all, func(a, b report.Rule) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Join adds the results of one subject to those of others.
func Join(all, one *report.Report) {
	all.Policy = cmp.Or(all.Policy, one.Policy)
	all.Suites = append(all.Suites, one.Suites...)
	all.Rules = append(all.Rules, one.Rules...)
	slices.SortFunc(all.Rules, func(a, b report.Rule) int { return strings.Compare(a.ID, b.ID) })
	all.Rules = slices.CompactFunc(all.Rules, func(a, b report.Rule) bool { return a.ID == b.ID })
	if one.Coverage == nil {
		return
	}
	if all.Coverage == nil {
		all.Coverage = &report.Coverage{}
	}
	all.Coverage.Files = append(all.Coverage.Files, one.Coverage.Files...)
	all.Coverage.Cells = append(all.Coverage.Cells, one.Coverage.Cells...)
	all.Coverage.Kinds = Kinds(all.Coverage)
}
