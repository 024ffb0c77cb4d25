package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// sinceFlag is --since: a stretch of time up to now, or a moment. Empty: from
// the beginning.
type sinceFlag struct{ text string }

func (s *sinceFlag) flags(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&s.text, "since", "", what+": a time such as 30m, 12h or 7d before now, or a date such as 2026-01-31 or 2026-01-31T15:04:05")
}

// ms returns the moment as Unix milliseconds, 0 where none is given.
func (s *sinceFlag) ms(now time.Time) (int64, error) {
	if s.text == "" {
		return 0, nil
	}
	if span, ok := timeSpan(s.text); ok {
		return now.Add(-span).UnixMilli(), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s.text, now.Location()); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("--since %s: expected a time such as 30m, 12h or 7d, or a date such as 2026-01-31 or 2026-01-31T15:04:05", s.text)
}

// timeSpan reads a duration, which may be told in days.
func timeSpan(text string) (time.Duration, bool) {
	if number, days := strings.CutSuffix(text, "d"); days {
		n, err := strconv.Atoi(number)
		return time.Duration(n) * 24 * time.Hour, err == nil && n >= 0 && n < 36500
	}
	span, err := time.ParseDuration(text)
	return span, err == nil && span >= 0
}
