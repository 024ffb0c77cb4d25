package policycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/mutant"
	"github.com/spf13/cobra"
)

// policyMutate is the flags of `policy test --mutate`.
type policyMutate struct {
	on        bool
	threshold float64
	only      string
}

func (m *policyMutate) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.on, "mutate", false, "change the policy in small ways, and list the changes that no test detects (see docs/ci.md)")
	f.Float64Var(&m.threshold, "mutate-threshold", 0, "minimum percentage of changes that tests must detect (implies --mutate)")
	f.StringVar(&m.only, "mutate-only", "", "change only this file or folder of the policy, or this rule (implies --mutate)")
}

// asked reports whether any flag requests mutants, and returns an error for invalid
// ones.
func (m *policyMutate) asked(cmd *cobra.Command, out []term.Output) (bool, error) {
	f := cmd.Flags()
	m.on = m.on || f.Changed("mutate-threshold") || f.Changed("mutate-only")
	if !m.on {
		return false, nil
	}
	if m.threshold < 0 || m.threshold > 100 {
		return true, cli.Usage("--mutate-threshold %v: expected a percentage from 0 to 100", m.threshold)
	}
	for _, other := range []string{"coverage", "threshold", "watch"} {
		if f.Changed(other) {
			return true, cli.Usage("--mutate and --%s cannot be combined: one changes the policy, the other measures it as it is; run "+
				"one after the other", other)
		}
	}
	for _, o := range out {
		if !slices.Contains([]string{"text", "json"}, o.Format) {
			return true, cli.Usage("-f %s: --mutate writes text or json", o.Format)
		}
	}
	return true, nil
}

// mutatePolicy tries the mutants of the policies that paths name.
func mutatePolicy(ctx context.Context, a *cli.App, paths []string, t *policyTest) error {
	subjects, err := subjects(ctx, a, paths, t.policy)
	if err != nil {
		return writeFailed(a, &t.out, "policy test", err)
	}
	o := trial.MutateOptions{Only: t.mutate.only, Tried: mutationProgress(a), Options: trial.Options{
		Env: cli.Environment(), Parallel: t.parallel, Timeout: t.timeout, Done: Progress(a),
		Run: regexp.MustCompile(t.run),
	}}
	all := &trial.Mutation{Mutants: []mutant.Mutant{}}
	for _, s := range subjects {
		one, err := trial.Mutate(ctx, s, o)
		if failing := (*trial.FailingError)(nil); errors.As(err, &failing) {
			return cli.Findings("%s", err)
		}
		if err != nil {
			return writeFailed(a, &t.out, "policy test", &cli.PathError{Path: s.At, Err: err})
		}
		all.Mutants, all.Duration = append(all.Mutants, one.Mutants...), all.Duration+one.Duration
	}
	if len(all.Mutants) == 0 {
		return errors.New("nothing to mutate: the policy has no rules, no modules, and no data that they read")
	}
	err = t.out.Write(a.Stdout, func(w io.Writer, o *term.Output) error { return writeMutation(a, w, o, t.verbose, all) })
	return errors.Join(err, t.mutate.verdict(all))
}

// verdict returns an error if tests detect too few changes.
func (m *policyMutate) verdict(all *trial.Mutation) error {
	if total := all.Total(); total.Percent < m.threshold {
		return cli.Findings("tests detect %.1f %% of the changes, below the threshold of %v %%", total.Percent, m.threshold)
	}
	return nil
}

// mutationProgress shows on a terminal how many mutants are left.
func mutationProgress(a *cli.App) func(done, all int) {
	if !term.IsTerminal(a.Stderr) {
		return nil
	}
	var start time.Time
	return func(done, all int) {
		switch {
		case done == all:
			fmt.Fprint(a.Stderr, "\r\x1b[K")
		case done == 0:
			start = time.Now()
		case done%10 == 0:
			fmt.Fprintf(a.Stderr, "\r\x1b[K%d of %s, %s left", done, engine.Counted(all, "change", "changes"), remaining(start, done, all))
		}
	}
}

func remaining(start time.Time, done, all int) time.Duration {
	return (time.Since(start) / time.Duration(done) * time.Duration(all-done)).Round(time.Second)
}

// mutationReport is a mutation in JSON.
type mutationReport struct {
	Total   trial.Score     `json:"total"`
	Kinds   []trial.Score   `json:"kinds"`
	Rules   []trial.Score   `json:"rules"`
	Mutants []mutant.Mutant `json:"mutants"` // those that no test killed; with -v all
}

func writeMutation(a *cli.App, w io.Writer, out *term.Output, verbose bool, m *trial.Mutation) error {
	if out.Format == "text" {
		return prettyMutation(a, w, out, verbose, m)
	}
	r := mutationReport{m.Total(), m.Kinds(), m.Rules(), m.Alive()}
	if verbose {
		r.Mutants = m.Mutants
	}
	return term.WriteDocument(w, r)
}

func prettyMutation(a *cli.App, w io.Writer, out *term.Output, verbose bool, m *trial.Mutation) error {
	p := a.Paint(out)
	writeMutants(p, w, verbose, m)
	fmt.Fprintf(w, "%s\n", p.Colour("1", "detected     killed   mutants       %"))
	for _, s := range append(m.Kinds(), m.Total()) {
		fmt.Fprintf(w, "  %-12s%5d%10d%8.1f\n", s.Name, s.Killed, s.Mutants, s.Percent)
	}
	_, err := fmt.Fprintf(w, "\n%s in %.1f s, %.0f ms each\n", engine.Counted(len(m.Mutants), "mutant", "mutants"), m.Duration.Seconds(),
		m.Duration.Seconds()*1000/float64(len(m.Mutants)))
	return err
}

// writeMutants lists the mutants that no test killed, or all.
func writeMutants(p term.Paint, w io.Writer, verbose bool, m *trial.Mutation) {
	shown := m.Alive()
	if verbose {
		shown = m.Mutants
	}
	file := ""
	for _, one := range shown {
		if one.File != file {
			file = one.File
			fmt.Fprintf(w, "%s\n", p.Colour("1", file))
		}
		fmt.Fprintf(w, "  %d:%d  %s  %s  %s\n      %s\n    → %s\n", one.Line, one.Col, outcome(p, one.Outcome), one.Operator, p.Faint(one.Rule),
			short(one.Before), short(one.After))
	}
	if len(shown) > 0 {
		fmt.Fprintln(w)
	}
}

func outcome(p term.Paint, what string) string {
	if what == trial.Killed {
		return p.Colour("32", what)
	}
	return p.Colour("31", what)
}

// short bounds what is shown of a change to a line.
func short(text string) string {
	const most = 110
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
