package simulatecmd

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

func simulateMergeCommand(a *cli.App) *cobra.Command {
	var s simulation
	cmd := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Merge the reports of all shards that --shard i/n wrote",
		Long: "Each FILE is the output of `policy simulate --shard i/n -f json -o FILE`. The result is\n" +
			"the report of all sessions, byte for byte what a single run would have written. Shards\n" +
			"that are missing, duplicate, interrupted, or of another comparison are refused.\n\n" +
			"The exit codes are those of `policy simulate`.",
		Example: "  reviewer policy simulate merge part-*.json -f github -f json=simulation.json --fail-on 'loosened>0'",
		Args:    cli.AtLeast(cli.Argument{Name: "FILE", What: "the output of `policy simulate --shard i/n -f json -o FILE`, one FILE per shard"}),
		RunE: func(_ *cobra.Command, files []string) error {
			if err := errors.Join(s.out.Read(), s.readBudgets()); err != nil {
				return err
			}
			return mergeImpacts(a, files, &s)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&s.failOn, "fail-on", nil, failOnUsage)
	f.BoolVarP(&s.verbose, "verbose", "v", false, "list everything")
	s.out.Flags(cmd, impact.Formats()...)
	return cmd
}

func mergeImpacts(a *cli.App, files []string, s *simulation) error {
	var parts []impact.Document
	for _, name := range files {
		d, err := readImpact(a, name)
		if err != nil {
			return writeFailed(a, &s.out, "policy simulate merge", &cli.PathError{Path: name, Err: fmt.Errorf("%s: %w", name, err)})
		}
		parts = append(parts, d)
	}
	d, sums, err := merged(parts)
	if err != nil {
		return writeFailed(a, &s.out, "policy simulate merge", err)
	}
	if d.Sweep != nil && len(s.budgets) > 0 {
		return cli.Usage("--fail-on: these are shards of a sweep, but a budget applies to a single candidate")
	}
	if err := writeDocument(a, &s.out, d, "", s.verbose); err != nil {
		return err
	}
	return verdictOf(a, s.budgets, sums)
}

// readImpact reads a file; - is standard input.
func readImpact(a *cli.App, name string) (impact.Document, error) {
	if name == "-" {
		return impact.Read(a.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return impact.Document{}, err
	}
	defer f.Close()
	return impact.Read(f)
}

// merged merges reports of one candidate, or sweeps row by row.
func merged(parts []impact.Document) (impact.Document, []*simulate.Impact, error) {
	if parts[0].Sweep == nil {
		m, err := mergedRow(parts, func(d impact.Document) *simulate.Impact { return d.Impact })
		return impact.Document{Impact: m}, []*simulate.Impact{m}, err
	}
	sweep := &simulate.Sweep{V: simulate.ImpactVersion, Version: simulate.ImpactVersion, Key: parts[0].Sweep.Key}
	var sums []*simulate.Impact
	for i, row := range parts[0].Sweep.Rows {
		m, err := mergedRow(parts, func(d impact.Document) *simulate.Impact {
			if d.Sweep == nil || !slices.Equal(valuesOf(d.Sweep), valuesOf(parts[0].Sweep)) || d.Sweep.Key != sweep.Key {
				return nil
			}
			return d.Sweep.Rows[i].Impact
		})
		if err != nil {
			return impact.Document{}, nil, err
		}
		sweep.Rows = append(sweep.Rows, simulate.SweepRow{Value: row.Value, Impact: m})
		sums = append(sums, m)
	}
	return impact.Document{Sweep: sweep}, sums, nil
}

func mergedRow(parts []impact.Document, of func(impact.Document) *simulate.Impact) (*simulate.Impact, error) {
	var list []*simulate.Impact
	for i, d := range parts {
		m := of(d)
		if m == nil {
			return nil, fmt.Errorf("shard %d of %d is from another comparison: it is not a sweep, or it sweeps other values", i+1, len(parts))
		}
		list = append(list, m)
	}
	return simulate.Merge(list)
}

func valuesOf(s *simulate.Sweep) []float64 {
	var values []float64
	for _, row := range s.Rows {
		values = append(values, row.Value)
	}
	return values
}
