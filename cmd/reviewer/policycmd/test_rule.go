package policycmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/lint"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/spf13/cobra"
)

// testRule is `policy test --rule`.
func testRule(a *cli.App, cmd *cobra.Command, paths []string, t *policyTest) error {
	if t.rule == "" {
		return cli.Usage("--rule: expected the id of a rule; `reviewer policy rules` lists them")
	}
	for _, other := range []string{"run", "coverage", "threshold", "explain", "fail-on-empty", "mutate", "mutate-only"} {
		if cmd.Flags().Changed(other) {
			return cli.Usage("--rule and --%s cannot be combined: --rule runs all tests of one rule, and changes it", other)
		}
	}
	if t.out.List[0].Format != "text" || len(t.out.List) > 1 {
		return cli.Usage("-f %s: --rule writes text", t.out.List[len(t.out.List)-1].Format)
	}
	if len(paths) > 1 {
		return cli.Usage("--rule checks a rule of one policy; give one PATH")
	}
	if _, err := t.mutate.asked(cmd, t.out.List); err != nil {
		return err
	}
	once := func() error { return testRuleOnce(cmd.Context(), a, paths[0], t) }
	if t.watch {
		return watch(cmd.Context(), a, paths, once)
	}
	return once()
}

func testRuleOnce(ctx context.Context, a *cli.App, dir string, t *policyTest) error {
	below, dir := splitStack(dir)
	if below != "" && t.policy != "" {
		return cli.Usage("%s names the layers below %s, and so does --policy; leave one of them out", below, dir)
	}
	dir, below = filepath.Clean(dir), cmp.Or(below, t.policy)
	layer, err := folderToCheck(dir)
	if err != nil {
		return &cli.PathError{Path: filepath.ToSlash(dir), Err: err}
	}
	under, err := Under(ctx, a, below, layer)
	if err != nil {
		return err
	}
	found, _ := checkPolicies([][]lint.Layer{OverBase(append(under, layer))}, t.rule)
	tests, mutants := &report.Report{}, &trial.Mutation{}
	if found.Totals().Errors == 0 { // else nothing can run
		if tests, mutants, err = runRule(ctx, a, dir, below, t); err != nil {
			return &cli.PathError{Path: filepath.ToSlash(dir), Err: err}
		}
	}
	err = t.out.Write(a.Stdout, func(w io.Writer, o *term.Output) error {
		if len(found.Problems) > 0 {
			err = report.Write(w, o.Format, found, a.ReportOptions(o, t.verbose))
		}
		n := tests.Totals()
		if n.Fail+n.Error > 0 || t.verbose && len(tests.Suites) > 0 {
			err = errors.Join(err, report.Write(w, o.Format, tests, a.ReportOptions(o, t.verbose)))
		}
		writeMutants(a.Paint(o), w, t.verbose, mutants)
		return errors.Join(err, summary(w, t.rule, found, tests, mutants))
	})
	if problems := found.Totals(); problems.Errors == 0 && problems.Warnings > 0 {
		err = errors.Join(err, cli.Findings("rule %s has %s", t.rule, engine.Counted(problems.Warnings, "warning", "warnings")))
	}
	return errors.Join(err, checkVerdict(found, false), verdict(tests), t.mutate.verdict(mutants))
}

// runRule tests a rule, and changes to it.
func runRule(ctx context.Context, a *cli.App, dir, below string, t *policyTest) (*report.Report, *trial.Mutation, error) {
	layers, err := active.LayersFrom(dir)
	if err != nil {
		return nil, nil, err
	}
	if below != "" {
		e, err := a.PolicyRef(ctx, below)
		if err != nil {
			return nil, nil, err
		}
		if layers, err = active.Below(layers, e.Layers); err != nil {
			return nil, nil, fmt.Errorf("policy %s: %w", dir, err)
		}
	}
	own := layers[len(layers)-1]
	for _, l := range layers[:len(layers)-1] {
		if slices.Contains(trial.RuleIDs(l), t.rule) {
			return nil, nil, fmt.Errorf("rule %s is of the %s layer; give the folder of that layer", t.rule, l.Layer)
		}
	}
	if err := knownRule("--rule: ", t.rule, trial.RuleIDs(own)); err != nil {
		return nil, nil, err
	}
	s, err := trial.LoadRule(os.DirFS(dir), filepath.ToSlash(dir), own.Layer, t.rule, layers...)
	if err != nil {
		return nil, nil, fmt.Errorf("read tests:\n%w", err)
	}
	return trial.TestRule(ctx, s, trial.MutateOptions{Tried: mutationProgress(a), Options: trial.Options{
		Env: cli.Environment(), Parallel: t.parallel, Timeout: t.timeout,
	}})
}

// summary writes a line for each part of the check of a rule.
func summary(w io.Writer, id string, found, tests *report.Report, mutants *trial.Mutation) error {
	problems := found.Totals()
	fmt.Fprintf(w, "rule %s\n  %-9s %s, %s\n", id, "lint", engine.Counted(problems.Errors, "error", "errors"),
		engine.Counted(problems.Warnings, "warning", "warnings"))
	if problems.Errors > 0 {
		_, err := fmt.Fprintln(w, "  nothing ran: correct the errors first")
		return err
	}
	for _, part := range []struct{ name, kind string }{{"examples", "example"}, {"cases", "case"}, {"rego", "rego"}} {
		of := report.Report{Suites: slices.DeleteFunc(slices.Clone(tests.Suites), func(s report.Suite) bool { return s.Kind != part.kind })}
		n := of.Totals()
		fmt.Fprintf(w, "  %-9s %d passed, %d failed", part.name, n.Pass, n.Fail+n.Error)
		if n.Todo > 0 {
			fmt.Fprintf(w, ", %d todo", n.Todo)
		}
		fmt.Fprintln(w)
	}
	if n := tests.Totals(); n.Fail+n.Error > 0 {
		_, err := fmt.Fprintln(w, "  mutants   not tried: tests that fail cannot detect a change")
		return err
	}
	all := mutants.Total()
	_, err := fmt.Fprintf(w, "  %-9s %d of %d detected by these tests\n", "mutants", all.Killed, all.Mutants)
	return err
}
