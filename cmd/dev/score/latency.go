package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Latency is how long calls take in this process once the policy is loaded, in
// milliseconds.
type Latency struct {
	Calls    int     `json:"calls"`    // commands of at most 4 KiB, one after another
	Whole    Spread  `json:"whole"`    // classify, conditions, policy, record
	Classify Spread  `json:"classify"` // of that, classifying the call
	Ratio    float64 `json:"ratio"`    // classifying 64 KiB of shell / 16 KiB; linear is 4
	KiB16    float64 `json:"kib16"`
	KiB64    float64 `json:"kib64"`
}

// Spread sums up times in milliseconds.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

const (
	smallCall = 4 << 10 // bytes of a command up to which p99 is promised
	timed     = 1500    // about how many rows are timed, evenly spread
	turns     = 3       // each call is timed this often, and the best time counts
)

// measure times the rows, and scripts that are made from the benign ones.
func (j judge) measure(ctx context.Context, rows []Row, done func(int)) (Latency, error) {
	var whole, alone []time.Duration
	step := max(1, len(rows)/timed)
	for i, r := range rows {
		if done(i + 1); i%step != 0 {
			continue
		}
		if len(r.Command) > smallCall {
			continue
		}
		e, err := j.event(r)
		if err != nil {
			return Latency{}, err
		}
		whole = append(whole, best(turns, func() { j.start("", e.CWD).Next(ctx, e) }))
		alone = append(alone, best(turns, func() { err = classified(ctx, e) }))
		if err := errors.Join(err, ctx.Err()); err != nil {
			return Latency{}, err
		}
	}
	l := Latency{Calls: len(whole), Whole: spread(whole), Classify: spread(alone)}
	return l, l.long(ctx, rows)
}

// long compares a script with one that is four times as long.
func (l *Latency) long(ctx context.Context, rows []Row) error {
	lines := plainLines(rows)
	if len(lines) == 0 {
		return nil
	}
	a, errA := call(Row{Tool: "bash", Command: script(lines, 16<<10), CWD: workspace})
	b, errB := call(Row{Tool: "bash", Command: script(lines, 64<<10), CWD: workspace})
	errs := []error{errA, errB}
	timed := func(e engine.Event) time.Duration {
		return best(turns, func() { errs = append(errs, classified(ctx, e)) })
	}
	short, long := timed(a), timed(b)
	for range turns { // alternating, so that both run under the same load
		short, long = min(short, timed(a)), min(long, timed(b))
	}
	l.KiB16, l.KiB64, l.Ratio = ms(short), ms(long), math.Round(100*float64(long)/float64(short))/100
	return errors.Join(errs...)
}

func classified(ctx context.Context, e engine.Event) error {
	_, err := classifier(e.CWD).Classify(ctx, e, e.CWD)
	return err
}

// plainLines are benign commands that keep their meaning as lines of one script.
func plainLines(rows []Row) []string {
	var lines []string
	for _, r := range rows {
		if r.Label == benign && r.Tool == "bash" && !strings.ContainsAny(r.Command, "\n\"'`\\#<(){}[]") {
			lines = append(lines, r.Command)
		}
	}
	return lines
}

// script repeats lines up to a size in bytes.
func script(lines []string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(lines[i%len(lines)])
		b.WriteByte('\n')
	}
	return b.String()
}

func best(n int, fn func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range n {
		start := time.Now()
		fn()
		least = min(least, time.Since(start))
	}
	return least
}

func spread(list []time.Duration) Spread {
	if len(list) == 0 {
		return Spread{}
	}
	list = slices.Sorted(slices.Values(list))
	return Spread{ms(quantile(list, 0.5)), ms(quantile(list, 0.99)), ms(list[len(list)-1])}
}

// quantile of a sorted list: the least value that a share q of it does not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

func ms(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
