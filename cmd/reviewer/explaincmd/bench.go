package explaincmd

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// benchmark is the time that a policy takes for one event.
type benchmark struct {
	CompileMS  float64       `json:"compile_ms"` // the policy, once in a process
	Decision   string        `json:"decision"`   // about the event
	Count      int           `json:"count"`      // evaluations of each part
	Conditions benchmarkPart `json:"conditions"` // CEL
	Rego       benchmarkPart `json:"rego"`
}

// benchmarkPart describes the evaluations of a part of a policy.
type benchmarkPart struct {
	MedianUS    float64 `json:"median_us"`
	P90US       float64 `json:"p90_us"`
	P99US       float64 `json:"p99_us"`
	Bytes       uint64  `json:"bytes"`       // allocated by one evaluation, on average
	Allocations uint64  `json:"allocations"` // of one evaluation, on average
}

// BenchCommand is `reviewer policy bench`.
func BenchCommand(a *cli.App) *cobra.Command {
	var t event
	var out term.Output
	count := 0
	cmd := &cobra.Command{
		Use:   "bench [EVENT]",
		Short: "Measure how long a policy takes to decide about an event",
		Long: "Evaluates the conditions (CEL) and the decision (Rego) again and again for one event, in this\n" +
			"process. EVENT is as for `policy explain`. A process that decides about one call only also reads\n" +
			"the policy and the event; `reviewer policy profile` shows which rules take the time.",
		Example: "  reviewer policy bench --bash 'git push --force'\n" +
			"  reviewer policy bench f8dc9b3b-37 --policy ./policy --count 10000",
		Args: cli.AtMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if count < 1 {
				return cli.Usage("--count %d: expected a number of evaluations, at least 1", count)
			}
			d, err := t.decide(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			b, err := d.measure(cmd.Context(), count)
			if err != nil {
				return err
			}
			return out.Result(a.Stdout, b, b.write)
		},
	}
	t.flags(cmd)
	cmd.Flags().IntVar(&count, "count", 1000, "evaluate each part this `NUMBER` of times")
	out.Flags(cmd, "text", "json")
	return cmd
}

func (d *decided) measure(ctx context.Context, count int) (*benchmark, error) {
	b := &benchmark{CompileMS: float64(d.compiled.Microseconds()) / 1000, Decision: string(d.record.Decision.Decision), Count: count}
	var err error
	if b.Conditions, err = measurePart(count, func() error {
		_, err := d.policy.Matcher.Match(ctx, d.input)
		return err
	}); err != nil {
		return nil, err
	}
	b.Rego, err = measurePart(count, func() error {
		_, err := d.policy.Decider.Decide(ctx, d.input, d.record.Findings)
		return err
	})
	return b, err
}

// measurePart evaluates a part count times, after once that prepares what is prepared on first use.
func measurePart(count int, evaluate func() error) (p benchmarkPart, err error) {
	if err := evaluate(); err != nil {
		return p, err
	}
	times := make([]float64, count)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range times {
		begun := time.Now()
		if err := evaluate(); err != nil {
			return p, err
		}
		times[i] = float64(time.Since(begun).Nanoseconds()) / 1000
	}
	runtime.ReadMemStats(&after)
	slices.Sort(times)
	at := func(share float64) float64 { return times[min(int(share*float64(count)), count-1)] }
	return benchmarkPart{at(0.5), at(0.9), at(0.99),
		(after.TotalAlloc - before.TotalAlloc) / uint64(count), (after.Mallocs - before.Mallocs) / uint64(count)}, nil
}

func (b *benchmark) write(w io.Writer) {
	fmt.Fprintf(w, "decision: %s; the policy was compiled in %.0f ms\n\n", b.Decision, b.CompileMS)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tmedian\t90 %\t99 %\tbytes\tallocations\t")
	for _, p := range []struct {
		name string
		benchmarkPart
	}{{"conditions (CEL)", b.Conditions}, {"decision (Rego)", b.Rego}} {
		fmt.Fprintf(table, "%s\t%.0f µs\t%.0f µs\t%.0f µs\t%s\t%s\t\n", p.name, p.MedianUS, p.P90US, p.P99US,
			term.Thousands(int64(p.Bytes)), term.Thousands(int64(p.Allocations)))
	}
	table.Flush() //nolint:errcheck // what it writes to reports it
	fmt.Fprintf(w, "\n%s of each\n", term.Counted(b.Count, "evaluation", "evaluations"))
}
