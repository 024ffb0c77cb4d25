package simulatecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// writeImpacts writes the report of one candidate, or of a sweep, in every
// format that was asked for.
func writeImpacts(a *cli.App, s *simulation, sums []*simulate.Impact, speed string) error {
	if s.verbose && !slices.ContainsFunc(s.out.List, func(o term.Output) bool { return o.Format == "text" }) && speed != "" {
		fmt.Fprintf(a.Stderr, "reviewer: %s\n", speed)
	}
	d := impact.Document{Impact: sums[0]}
	if s.key != "" {
		d = impact.Document{Sweep: s.swept(sums)}
	}
	return writeDocument(a, &s.out, d, impact.Options{Latency: speed, Verbose: s.verbose, Show: s.show, Exceeded: over(s.budgets, sums[0])})
}

// swept combines the values of a sweep with their results.
func (s *simulation) swept(sums []*simulate.Impact) *simulate.Sweep {
	sweep := &simulate.Sweep{V: simulate.ImpactVersion, Version: simulate.ImpactVersion, Key: s.key, Skipped: s.skipped}
	for i, m := range sums {
		row := s.rows[i]
		row.Impact = m
		sweep.Rows = append(sweep.Rows, row)
	}
	return sweep
}

func writeDocument(a *cli.App, out *term.Outputs, d impact.Document, base impact.Options) error {
	write := func(w io.Writer, o *term.Output) error {
		opts := base
		opts.Colour, opts.Version, opts.Width = a.Paint(o).On, cli.BuildVersion(), a.Columns(o)
		if d.Sweep != nil {
			return impact.WriteSweep(w, o.Format, d.Sweep, opts)
		}
		return impact.Write(w, o.Format, d.Impact, opts)
	}
	return errors.Join(out.Write(a.Stdout, write), a.Summary(out, write))
}

// keepCases writes cases of the changes, if requested.
func keepCases(ctx context.Context, a *cli.App, s *simulation, r *comparing) error {
	if s.saveCases == "" {
		return nil
	}
	open := func(session string) (simulate.RecordedSession, error) { return r.open(ctx, session) }
	files, err := saveCases(ctx, a, s.saveCases, r.sums[0], open, r.baseline, r.candidate)
	if err == nil {
		fmt.Fprintf(a.Stderr, "reviewer: %s in %s\n", term.Counted(len(files), "case", "cases"), cli.Masked(s.saveCases))
		if len(files) > 0 && !s.show {
			fmt.Fprintln(a.Stderr, "reviewer: unlike the report, they contain commands, paths and people's words as they were recorded, "+
				"except secrets; read them before you share them")
		}
	}
	return err
}

// maxTold bounds how many files are listed on standard error; the report has more.
const maxTold = 10

// verdictOf is the error that the command exits with. Findings take precedence over
// files that could not be read.
func verdictOf(a *cli.App, budgets []simulate.Budget, sums []*simulate.Impact) error {
	m := sums[0] // all candidates read the same
	found := exceeded(budgets, m)
	found = append(found, unfaithful(m)...)
	missing := incomplete(a, m)
	if len(found) > 0 {
		return &cli.ExitError{Code: cli.ExitFindings, Err: errors.Join(append(found, missing)...)}
	}
	return missing
}

// over describes by how much budgets are exceeded, or may be.
func over(budgets []simulate.Budget, m *simulate.Impact) (list []string) {
	for _, b := range budgets {
		if text := b.Exceeded(m); text != "" {
			list = append(list, "--fail-on "+text)
		}
	}
	return list
}

func exceeded(budgets []simulate.Budget, m *simulate.Impact) []error {
	var list []error
	for _, text := range over(budgets, m) {
		list = append(list, errors.New(text))
	}
	if why := unclear(m); len(list) > 0 && why != "" {
		list = append(list, fmt.Errorf("%s; compare transcripts, which contain everything that detectors and rows look at, "+
			"or leave out old records with --since (docs/ci.md)", why))
	}
	return list
}

// unclear describes why decisions could not be compared; empty: all were.
func unclear(m *simulate.Impact) string {
	most := ""
	for _, fact := range slices.Sorted(maps.Keys(m.Missing)) {
		if m.Missing[fact] > m.Missing[most] {
			most = fact
		}
	}
	old := m.Calls.Count(simulate.Incomparable) + m.Events.Count(simulate.Incomparable)
	switch {
	case most != "":
		return fmt.Sprintf("%s could not be compared for lack of one fact: %s", term.Counted(int(m.Missing[most]), "decision", "decisions"), most)
	case old > 0:
		return term.Counted(int(old), "decision was", "decisions were") + " recorded by another version of reviewer, and could not be compared"
	}
	return ""
}

// unfaithful describes which logs were tampered with or do not reproduce.
func unfaithful(m *simulate.Impact) (list []error) {
	if m.Fidelity != nil {
		if err := m.Fidelity.Divergence(); err != nil {
			list = append(list, fmt.Errorf("recorded decisions do not reproduce: %w (run `reviewer audit replay` for details)", err))
		}
	}
	if m.Sources.Damaged > 0 {
		list = append(list, errors.New("a log was tampered with or damaged (run `reviewer audit verify` for details)"))
	}
	return list
}

// incomplete returns an error if not everything was compared; files are listed one by
// one.
func incomplete(a *cli.App, m *simulate.Impact) error {
	var errs []error
	if failed := m.Sources.Failed; failed > 0 {
		tellTroubles(a, m.Sources.Troubles)
		errs = append(errs, fmt.Errorf("%s could not be read, or only in part: the report covers the others",
			term.Counted(int(failed), "file", "files")))
	}
	if m.Partial != "" {
		errs = append(errs, fmt.Errorf("the report is incomplete: %s", m.Partial))
	}
	return errors.Join(errs...)
}

func tellTroubles(a *cli.App, all []simulate.Trouble) {
	failed := slices.DeleteFunc(slices.Clone(all), func(t simulate.Trouble) bool { return !t.Failed })
	for _, t := range failed[:min(len(failed), maxTold)] {
		where := t.Path
		if t.Line > 0 {
			where += fmt.Sprint(":", t.Line)
		}
		fmt.Fprintf(a.Stderr, "reviewer: %s: %s\n", cli.Masked(where), cli.Masked(t.Why))
	}
	if more := len(failed) - maxTold; more > 0 {
		fmt.Fprintf(a.Stderr, "reviewer: and %d more; the report lists them\n", more)
	}
}

// sortedOnce returns masked names in order, each once, so that reports are
// reproducible.
func sortedOnce(names []string, mask func(string) string) []string {
	list := []string{}
	for _, n := range names {
		list = append(list, mask(n))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
