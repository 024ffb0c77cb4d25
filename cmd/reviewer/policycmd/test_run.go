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

// policyTest is what the flags of `policy test` say.
type policyTest struct {
	out         term.Outputs
	policy      string
	run         string
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
		Short: "Run the tests of a policy: Rego tests, cases, examples; and say what they cover",
		Long: "A PATH is the folder of a policy, whose tests are its *_test.rego files, what is\n" +
			"below cases/, and the examples of its rules and detectors; or a file or folder of\n" +
			"cases, which run against the policy in whose folder they lie, or that of --policy,\n" +
			"or the active one. Without a PATH it is this folder.\n\n" +
			"Every test has a name for --run, such as cases/files/files.yaml/deletions/3,\n" +
			"data.reviewer.risk_test.test_x/case or rules/git.yaml/git_force_push/match/1. A case\n" +
			"with todo: runs, and counts neither as failed nor as passed; when it holds, that is said.\n\n" +
			"Exit codes: 0 all passed, 1 could not run, 2 a test failed or too little is covered.",
		Example: "  reviewer policy test ./policy\n" +
			"  reviewer policy test ./policy --coverage --threshold 90 -f pretty -f junit=junit.xml -f html=coverage.html\n" +
			"  reviewer policy test ./policy --run deletions/3 --explain\n" +
			"  reviewer policy test ./policy --mutate --mutate-threshold 90",
		RunE: func(cmd *cobra.Command, paths []string) error { return testPolicy(a, cmd, paths, &t) },
	}
	t.flags(cmd)
	return cmd
}

func (t *policyTest) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&t.policy, "policy", "",
		"folder of the policy that cases run against (default: the one that they lie in, else the active one)")
	f.StringVarP(&t.run, "run", "r", "", "run only tests whose name matches this regular expression")
	f.IntVarP(&t.parallel, "parallel", "p", 0, "tests at a time (default: as many as there are processors)")
	f.DurationVar(&t.timeout, "timeout", 5*time.Second, "a test that takes longer fails")
	f.BoolVar(&t.failOnEmpty, "fail-on-empty", true, "no tests are an error")
	f.BoolVarP(&t.verbose, "verbose", "v", false, "list what passed too")
	f.BoolVar(&t.explain, "explain", false, "say of failed tests in full how they came out")
	f.BoolVarP(&t.coverage, "coverage", "c", false, "say what of the policy the tests reach")
	f.Float64Var(&t.threshold, "threshold", 0, "least coverage of each kind in percent (implies --coverage)")
	f.BoolVarP(&t.watch, "watch", "w", false, "run again whenever a file changes")
	t.mutate.flags(cmd)
	t.out.Flags(cmd, append(report.Formats(), "lcov", "html")...)
}

func testPolicy(a *cli.App, cmd *cobra.Command, paths []string, t *policyTest) error {
	if err := t.out.Read(); err != nil {
		return err
	}
	t.coverage = t.coverage || cmd.Flags().Changed("threshold") || slices.ContainsFunc(t.out.List, onlyCoverage)
	if !(t.threshold >= 0 && t.threshold <= 100) { // NaN is neither
		return fmt.Errorf("--threshold %v: expected percent, from 0 to 100", t.threshold)
	}
	if t.timeout <= 0 {
		return fmt.Errorf("--timeout %s: expected more than nothing, such as 5s", t.timeout)
	}
	if t.parallel < 0 {
		return fmt.Errorf("--parallel %d: expected a number of tests, or 0 for as many as there are processors", t.parallel)
	}
	if len(paths) == 0 {
		paths = []string{"."}
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

// onlyCoverage says that the format shows coverage and no tests.
func onlyCoverage(o term.Output) bool { return o.Format == "lcov" || o.Format == "html" }

func testOnce(ctx context.Context, a *cli.App, paths []string, t *policyTest) error {
	r, err := tested(ctx, a, paths, t)
	if err != nil {
		return err
	}
	if err := t.out.Write(a.Stdout, func(w io.Writer, o *term.Output) error { return writeTests(a, w, o, t.verbose, r) }); err != nil {
		return err
	}
	tellTodo(a, r)
	return errors.Join(a.JobSummary(&t.out, r), verdict(r))
}

// tellTodo says which cases hold that were marked as not holding yet.
func tellTodo(a *cli.App, r *report.Report) {
	for _, s := range r.Suites {
		for _, t := range s.Tests {
			if t.Status == report.Todo && strings.HasPrefix(t.Message, trial.HoldsNow) {
				fmt.Fprintf(a.Stderr, "reviewer: %s:%d: %s %s\n", t.File, t.Line, t.Name, t.Message)
			}
		}
	}
}

// tested runs the tests of all paths and puts what came of them together.
func tested(ctx context.Context, a *cli.App, paths []string, t *policyTest) (*report.Report, error) {
	subjects, err := subjects(a, paths, t.policy)
	if err != nil {
		return nil, err
	}
	o := trial.Options{
		Env: cli.Environment(), Parallel: t.parallel, Timeout: t.timeout, Coverage: t.coverage, Explain: t.explain,
		Done: Progress(a),
	}
	if o.Run, err = regexp.Compile(t.run); err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	start := time.Now()
	all := &report.Report{Command: "policy test", Suites: []report.Suite{}}
	for _, s := range subjects {
		one, err := trial.Run(ctx, s, o)
		if err != nil {
			return nil, err
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

// empty refuses a run that tested nothing: it would stay green for ever.
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
		return errors.New("there are no tests: expected *_test.rego, cases/**.yaml, or examples of rules (--fail-on-empty=false lets that pass)")
	case t.run == "":
		return nil
	}
	return fmt.Errorf("no test matches --run %q; %d tests are there, such as\n  %s", t.run, len(names),
		strings.Join(nearby(t.run, names), "\n  "))
}

// nearby lists a few names: those that share most words with what was looked
// for, or have words that are nearly the same.
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

// verdict is an error where something failed or too little is covered.
func verdict(r *report.Report) error {
	n := r.Totals()
	switch {
	case n.Fail+n.Error > 0:
		return cli.Findings("%d of %d tests failed", n.Fail+n.Error, n.Pass+n.Fail+n.Error+n.Skip+n.Todo)
	case r.Failed():
		u := r.Coverage.Under[0]
		return cli.Findings("coverage of %s is %.1f %%, below the threshold of %v %%", u.Kind, u.Percent, u.Threshold)
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

// Progress tells on a terminal how far a long run is.
func Progress(a *cli.App) func(done, all int) {
	if !term.IsTerminal(a.Stderr) {
		return nil
	}
	return func(done, all int) {
		if done%20 == 0 || done == all {
			fmt.Fprintf(a.Stderr, "\r\x1b[K%d of %d tests", done, all)
		}
		if done == all {
			fmt.Fprint(a.Stderr, "\r\x1b[K")
		}
	}
}
