package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// SinceTime returns a time that a person names, as Unix milliseconds: a span
// before now, a day, or a time. An empty string means from the beginning.
func SinceTime(text string, now time.Time) (int64, error) { return FlagTime("--since", text, now) }

// FlagTime is SinceTime for another flag.
func FlagTime(flag, text string, now time.Time) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if span, ok := TimeSpan(text); ok {
		return now.Add(-span).UnixMilli(), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04",
		"2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return max(t.UnixMilli(), 0), nil
		}
	}
	return 0, Usage("%s %s: expected %s", flag, text, TimeForms)
}

// TimeForms describes what FlagTime accepts.
const TimeForms = "an age such as 30m, 12h or 7d, or a date such as 2026-01-31 or 2026-01-31T15:04:05"

// SinceFlag is --since: a duration before now, or a time. Empty: from the beginning.
type SinceFlag struct{ text string }

// Flags adds --since to a command.
func (s *SinceFlag) Flags(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&s.text, "since", "", what+": "+TimeForms)
}

// MS returns the time as Unix milliseconds, 0 if none is given.
func (s *SinceFlag) MS(now time.Time) (int64, error) { return SinceTime(s.text, now) }

// TimeSpan reads a duration, which may be in days.
func TimeSpan(text string) (time.Duration, bool) {
	if number, days := strings.CutSuffix(text, "d"); days {
		n, err := strconv.Atoi(number)
		return time.Duration(n) * 24 * time.Hour, err == nil && n >= 0 && n < 36500
	}
	span, err := time.ParseDuration(text)
	return span, err == nil && span >= 0
}

// SpanVar adds a flag with a duration, which may be in days.
func SpanVar(f *pflag.FlagSet, span *time.Duration, name string, value time.Duration, what string) {
	*span = value
	f.Var((*spanValue)(span), name, what)
}

type spanValue time.Duration

// String implements pflag.Value.
func (s *spanValue) String() string { return time.Duration(*s).String() }

// Type implements pflag.Value.
func (*spanValue) Type() string { return "span" }

// Set implements pflag.Value.
func (s *spanValue) Set(text string) error {
	span, ok := TimeSpan(text)
	if !ok {
		return errors.New("expected a time such as 90m, 12h or 2d")
	}
	*s = spanValue(span)
	return nil
}
