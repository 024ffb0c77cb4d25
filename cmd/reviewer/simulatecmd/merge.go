package simulatecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

func simulateMergeCommand(a *cli.App) *cobra.Command {
	var s simulation
	s.inputs.store = &objects.Access{Cloud: a.Cloud}
	var how merging
	cmd := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Merge the reports of all shards that --shard i/n wrote",
		Long: "Each FILE is the output of `policy simulate --shard i/n -f json -o FILE`. The result is\n" +
			"the report of all sessions, byte for byte what a single run would have written. Shards\n" +
			"that are missing, duplicate, interrupted, or of another comparison are refused. A FILE may\n" +
			"be an object, or a prefix such as s3://bucket/parts: each object with this prefix is a shard.\n\n" +
			"The exit codes are those of `policy simulate`.",
		Example: "  reviewer policy simulate merge part-*.json -f github -f json=simulation.json --fail-on 'loosened>0'",
		Args:    cli.AtLeast(cli.Argument{Name: "FILE", What: "the output of `policy simulate --shard i/n -f json -o FILE`, one FILE per shard"}),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := errors.Join(s.out.Read(), s.readBudgets(), how.check(&s)); err != nil {
				return err
			}
			if err := s.inputs.prepare(cmd.Context(), &s); err != nil {
				return writeFailed(a, &s.out, "policy simulate merge", err)
			}
			return mergeImpacts(cmd.Context(), a, files, &s, how)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.failOn, "fail-on", nil, failOnUsage)
	f.BoolVar(&how.some, "some", false, "merge consecutive shards into a larger one, which can be merged again")
	f.BoolVar(&how.allowMissing, "allow-missing", false,
		"report the shards that are present; if some are missing, the report says so, and the exit code is 1")
	f.BoolVarP(&s.verbose, "verbose", "v", false, "list everything")
	f.BoolVar(&s.show, "show", false, showUsage)
	s.out.Flags(cmd, impact.Formats()...)
	return cmd
}

// merging is what may be missing among the shards.
type merging struct{ some, allowMissing bool }

func (h merging) check(s *simulation) error {
	switch {
	case h.some && h.allowMissing:
		return cli.Usage("--some and --allow-missing: a larger shard has no gaps; keep one of them")
	case h.some && len(s.failOn) > 0:
		return cli.Usage("--some and --fail-on: a budget applies to the whole report; give it when all shards are merged")
	}
	return nil
}

func (h merging) merge(parts []*simulate.Impact) (*simulate.Impact, error) {
	switch {
	case h.some:
		return simulate.MergeSome(parts)
	case h.allowMissing:
		return simulate.MergeFound(parts)
	}
	return simulate.Merge(parts)
}

func mergeImpacts(ctx context.Context, a *cli.App, files []string, s *simulation, how merging) error {
	parts, err := readImpacts(ctx, a, files, s.inputs.store)
	if err != nil {
		return writeFailed(a, &s.out, "policy simulate merge", err)
	}
	d, sums, err := merged(parts, how.merge)
	if err != nil {
		return writeFailed(a, &s.out, "policy simulate merge", err)
	}
	if d.Sweep != nil && len(s.budgets) > 0 {
		return cli.Usage("--fail-on: these are shards of a sweep, but a budget applies to a single candidate")
	}
	if err := writeDocument(a, &s.out, d, impact.Options{Verbose: s.verbose, Show: s.show, Exceeded: over(s.budgets, sums[0])}); err != nil {
		return err
	}
	return verdictOf(a, s.budgets, sums)
}

func readImpacts(ctx context.Context, a *cli.App, files []string, store *objects.Access) ([]impact.Document, error) {
	names, err := expand(ctx, files, store)
	if err != nil {
		return nil, err
	}
	var parts []impact.Document
	for _, name := range names {
		d, err := readImpact(ctx, a, name, store)
		if err != nil {
			return nil, &cli.PathError{Path: name, Err: fmt.Errorf("%s: %w", name, err)}
		}
		parts = append(parts, d)
	}
	return parts, nil
}

// expand replaces prefixes by the objects under them.
func expand(ctx context.Context, files []string, store *objects.Access) (names []string, err error) {
	for _, name := range files {
		if !objects.Is(name) {
			names = append(names, name)
			continue
		}
		l, err := objects.Parse(name)
		if err != nil {
			return nil, err
		}
		list, err := store.List(ctx, l)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("%s: no such object", l)
		}
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			names = append(names, o.URL())
		}
	}
	return names, nil
}

// maxImpact bounds a report in an object, in bytes.
const maxImpact = 1 << 30

// readImpact reads a file or an object; - is standard input.
func readImpact(ctx context.Context, a *cli.App, name string, store *objects.Access) (impact.Document, error) {
	if name == "-" {
		return impact.Read(a.Stdin)
	}
	if objects.Is(name) {
		text, err := store.Read(ctx, name, maxImpact)
		if err != nil {
			return impact.Document{}, err
		}
		return impact.Read(bytes.NewReader(text))
	}
	f, err := os.Open(name)
	if err != nil {
		return impact.Document{}, err
	}
	defer f.Close()
	return impact.Read(f)
}

// summing merges the reports of shards.
type summing func([]*simulate.Impact) (*simulate.Impact, error)

// merged merges reports of one candidate, or sweeps row by row.
func merged(parts []impact.Document, sum summing) (impact.Document, []*simulate.Impact, error) {
	if parts[0].Sweep == nil {
		m, err := mergedRow(parts, sum, func(d impact.Document) *simulate.Impact { return d.Impact })
		return impact.Document{Impact: m}, []*simulate.Impact{m}, err
	}
	sweep := &simulate.Sweep{V: simulate.ImpactVersion, Version: simulate.ImpactVersion, Key: parts[0].Sweep.Key,
		Skipped: parts[0].Sweep.Skipped}
	var sums []*simulate.Impact
	for i, row := range parts[0].Sweep.Rows {
		m, err := mergedRow(parts, sum, func(d impact.Document) *simulate.Impact {
			if d.Sweep == nil || !slices.Equal(valuesOf(d.Sweep), valuesOf(parts[0].Sweep)) || d.Sweep.Key != sweep.Key {
				return nil
			}
			return d.Sweep.Rows[i].Impact
		})
		if err != nil {
			return impact.Document{}, nil, err
		}
		sweep.Rows = append(sweep.Rows, simulate.SweepRow{Value: row.Value, Name: row.Name, Impact: m})
		sums = append(sums, m)
	}
	return impact.Document{Sweep: sweep}, sums, nil
}

func mergedRow(parts []impact.Document, sum summing, of func(impact.Document) *simulate.Impact) (*simulate.Impact, error) {
	var list []*simulate.Impact
	for i, d := range parts {
		m := of(d)
		if m == nil {
			return nil, fmt.Errorf("shard %d of %d is from another comparison: it is not a sweep, or it sweeps other values", i+1, len(parts))
		}
		list = append(list, m)
	}
	return sum(list)
}

func valuesOf(s *simulate.Sweep) []simulate.SweepRow {
	var values []simulate.SweepRow
	for _, row := range s.Rows {
		values = append(values, simulate.SweepRow{Value: row.Value, Name: row.Name})
	}
	return values
}
