package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

// policyTest is the flags of `policy test`.
type policyTest struct {
	out         term.Outputs
	policy      string
	run         string
	rule        string
	parallel    int
	timeout     time.Duration
	failOnEmpty bool
	verbose     bool
	explain     bool
	coverage    bool
	threshold   float64
	watch       bool
	mutate      policyMutate
}

func policyTestCommand(a *cli.App) *cobra.Command {
	var t policyTest
	cmd := &cobra.Command{
		Use:   "test [PATH…]",
		Short: "Run the tests of a policy (Rego tests, cases, examples) and measure their coverage",
		Long: "A PATH is a policy folder, whose tests are its *_test.rego files, the cases in\n" +
			"cases/, and the examples of its rules and detectors; or a file or folder of cases,\n" +
			"which run against the policy folder that contains them, or that of --policy, or\n" +
			"the active one.\n" + withoutPath + "\n\n" +
			"Every test has a name for --run, such as cases/files/files.yaml/deletions/3,\n" +
			"data.reviewer.risk_test.test_x/case or\n" +
			"rules/containers/containers.yaml/containers_all/match/1. A case\n" +
			"marked todo runs, but counts neither as failed nor as passed; if it passes, that is reported.\n\n" +
			"With --rule, one rule is checked in a fraction of the time: problems in its row and in what\n" +
			"names it, its tests (examples, cases and Rego tests that name it), and small changes to it\n" +
			"that none of these tests detects.\n\n" +
			"Exit codes: 0 all passed, 1 could not run, 2 a test failed, --rule found a problem, or coverage or\n" +
			"the share of detected changes (--mutate-threshold) is too low, 3 usage error.",
		Example: "  reviewer policy test ./policy\n" +
			"  reviewer policy test ./policy --coverage --threshold 90 -f text -f junit=junit.xml -f html=coverage.html\n" +
			"  reviewer policy test ./policy --run deletions/3 --explain\n" +
			"  reviewer policy test ./policy --rule shop.kubectl --watch\n" +
			"  reviewer policy test ./policy --mutate --mutate-threshold 90",
		RunE: func(cmd *cobra.Command, paths []string) error { return testPolicy(a, cmd, paths, &t) },
	}
	t.flags(cmd)
	return cmd
}

func (t *policyTest) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	cli.PolicyVar(f, &t.policy, "policy", "",
		cli.PolicyFlag+"; cases run against it (default: the one that contains them, else the active one), "+
			"and the tests of a layer over it")
	f.StringVarP(&t.run, "run", "r", "", "run only tests whose name matches this regular expression")
	f.StringVar(&t.rule, "rule", "", "check only the rule with this id: problems, tests, and changes that no test detects")
	f.IntVarP(&t.parallel, "parallel", "p", 0, "number of tests to run at a time (default: the number of processors)")
	f.DurationVar(&t.timeout, "timeout", 5*time.Second, "CPU time limit for each test")
	f.BoolVar(&t.failOnEmpty, "fail-on-empty", true, "fail if there are no tests")
	f.BoolVarP(&t.verbose, "verbose", "v", false, "also list passed tests")
	f.BoolVar(&t.explain, "explain", false, "explain failed tests in full")
	f.BoolVarP(&t.coverage, "coverage", "c", false, "measure how much of the policy the tests cover")
	f.Float64Var(&t.threshold, "threshold", 0, "minimum coverage of each kind in percent (implies --coverage)")
	f.BoolVarP(&t.watch, "watch", "w", false, "run again whenever a file changes")
	t.mutate.flags(cmd)
	t.out.Flags(cmd, append(report.Formats(), "lcov", "html")...)
}

func testPolicy(a *cli.App, cmd *cobra.Command, paths []string, t *policyTest) error {
	if err := t.out.Read(); err != nil {
		return err
	}
	if _, err := regexp.Compile(t.run); err != nil {
		return cli.Usage("--run: %w", err)
	}
	t.coverage = t.coverage || cmd.Flags().Changed("threshold") || slices.ContainsFunc(t.out.List, onlyCoverage)
	if !(t.threshold >= 0 && t.threshold <= 100) { // NaN is neither
		return cli.Usage("--threshold %v: expected a percentage from 0 to 100", t.threshold)
	}
	if t.timeout <= 0 {
		return cli.Usage("--timeout %s: expected a positive duration, such as 5s", t.timeout)
	}
	if t.parallel < 0 {
		return cli.Usage("--parallel %d: expected a number of tests, or 0 for the number of processors", t.parallel)
	}
	if len(paths) == 0 {
		dir, err := policyHere()
		if err != nil {
			return err
		}
		paths = []string{dir}
	}
	if t.rule != "" || cmd.Flags().Changed("rule") {
		return testRule(a, cmd, paths, t)
	}
	if mutate, err := t.mutate.asked(cmd, t.out.List); mutate || err != nil {
		if err != nil {
			return err
		}
		return mutatePolicy(cmd.Context(), a, paths, t)
	}
	if t.watch {
		return watch(cmd.Context(), a, paths, func() error { return testOnce(cmd.Context(), a, paths, t) })
	}
	return testOnce(cmd.Context(), a, paths, t)
}

// onlyCoverage reports whether the format shows coverage and no tests.
func onlyCoverage(o term.Output) bool { return o.Format == "lcov" || o.Format == "html" }

func testOnce(ctx context.Context, a *cli.App, paths []string, t *policyTest) error {
	r, err := tested(ctx, a, paths, t)
	if err != nil {
		return writeFailed(a, &t.out, "policy test", err)
	}
	if err := t.out.Write(a.Stdout, func(w io.Writer, o *term.Output) error { return writeTests(a, w, o, t.verbose, r) }); err != nil {
		return err
	}
	reportTodo(a, r)
	return errors.Join(a.JobSummary(&t.out, r), verdict(r))
}

// reportTodo reports the todo cases that pass now.
func reportTodo(a *cli.App, r *report.Report) {
	for _, s := range r.Suites {
		for _, t := range s.Tests {
			if t.Status == report.Todo && strings.HasPrefix(t.Message, trial.PassesNow) {
				fmt.Fprintf(a.Stderr, "reviewer: %s:%d: %s %s\n", t.File, t.Line, t.Name, t.Message)
			}
		}
	}
}

// tested runs the tests of all paths and merges their results.
func tested(ctx context.Context, a *cli.App, paths []string, t *policyTest) (*report.Report, error) {
	subjects, err := subjects(ctx, a, paths, t.policy)
	if err != nil {
		return nil, err
	}
	o := trial.Options{
		Env: cli.Environment(), Parallel: t.parallel, Timeout: t.timeout, Coverage: t.coverage, Explain: t.explain,
		Done: Progress(a), Run: regexp.MustCompile(t.run),
	}
	start := time.Now()
	all := &report.Report{Command: "policy test", Suites: []report.Suite{}}
	for _, s := range subjects {
		one, err := trial.Run(ctx, s, o)
		if err != nil {
			return nil, &cli.PathError{Path: s.At, Err: err}
		}
		trial.Join(all, one)
	}
	all.Sort()
	all.Duration = time.Since(start)
	if all.Coverage != nil {
		all.Coverage.Under = trial.Under(all.Coverage, t.threshold)
	}
	return all, t.empty(all, subjects)
}

// empty refuses a run without tests, which would always pass.
func (t *policyTest) empty(r *report.Report, subjects []trial.Subject) error {
	if len(r.Suites) > 0 || !t.failOnEmpty && t.run == "" {
		return nil
	}
	names := []string{}
	for _, s := range subjects {
		names = append(names, trial.Names(s)...)
	}
	switch {
	case len(names) == 0:
		return errors.New("there are no tests: expected *_test.rego, cases/**.yaml, or examples of rules (--fail-on-empty=false accepts that)")
	case t.run == "":
		return nil
	}
	return fmt.Errorf("no test matches --run %q; of %s, some are\n  %s", t.run, engine.Counted(len(names), "test", "tests"),
		strings.Join(nearby(t.run, names), "\n  "))
}

// nearby lists a few similar names: those that share most words with the pattern, or
// have similar words.
func nearby(pattern string, names []string) []string {
	const few = 5
	wanted := words(pattern)
	score := map[string]int{}
	for _, name := range names {
		there := words(name)
		for _, w := range wanted {
			if strings.Contains(name, w) || engine.Nearest(w, there) != "" {
				score[name]++
			}
		}
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return score[b] - score[a] })
	return names[:min(few, len(names))]
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(`/._- \^$()|*+?[]`, r) })
}

// verdict returns an error if a test failed or coverage is too low.
func verdict(r *report.Report) error {
	n := r.Totals()
	switch {
	case n.Fail+n.Error > 0:
		return cli.Findings("%d of %s failed", n.Fail+n.Error, engine.Counted(n.Pass+n.Fail+n.Error+n.Skip+n.Todo, "test", "tests"))
	case r.Failed():
		u := r.Coverage.Under[0]
		return cli.Findings("coverage of %s is %s %%, below the threshold of %s %%", u.Kind, report.Cut(u.Percent), report.Cut(u.Threshold))
	}
	return nil
}

func writeTests(a *cli.App, w io.Writer, out *term.Output, verbose bool, r *report.Report) error {
	o := a.ReportOptions(out, verbose)
	if onlyCoverage(*out) {
		return report.WriteCoverage(w, out.Format, r.Coverage, o.Sources)
	}
	return report.Write(w, out.Format, r, o)
}

// Progress shows the progress of a long run on a terminal.
func Progress(a *cli.App) func(done, all int) {
	if !term.IsTerminal(a.Stderr) {
		return nil
	}
	return func(done, all int) {
		if done%20 == 0 || done == all {
			fmt.Fprintf(a.Stderr, "\r\x1b[K%d of %s", done, engine.Counted(all, "test", "tests"))
		}
		if done == all {
			fmt.Fprint(a.Stderr, "\r\x1b[K")
		}
	}
}
