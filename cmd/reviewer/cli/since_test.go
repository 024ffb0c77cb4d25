package cli

import (
	"testing"
	"time"
)

func TestSinceTime(t *testing.T) {
	zone := time.FixedZone("east", 2*3600)
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"90m": now.Add(-90 * time.Minute), "7d": now.AddDate(0, 0, -7), "1h30m": now.Add(-90 * time.Minute),
		"2026-01-30": time.Date(2026, 1, 30, 0, 0, 0, 0, zone), "2026-01-30T10:00:00Z": time.Date(2026, 1, 30, 10, 0, 0, 0, time.UTC),
	} {
		if got, err := SinceTime(text, now); err != nil || got != want.UnixMilli() {
			t.Errorf("%s: %v, %v, want %v", text, time.UnixMilli(got), err, want)
		}
	}
	if got, err := SinceTime("", now); got != 0 || err != nil {
		t.Errorf("without a time: %d, %v", got, err)
	}
	for _, text := range []string{"yesterday", "-5m", "0s", "d", "-1d", "99999999999d", "2026-13-01", "7", "1w"} {
		if got, err := SinceTime(text, now); err == nil {
			t.Errorf("%s is taken for %v", text, time.UnixMilli(got))
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.FixedZone("here", 3600))
	for text, want := range map[string]time.Time{
		"30m": now.Add(-30 * time.Minute), "12h": now.Add(-12 * time.Hour), "7d": now.AddDate(0, 0, -7), "0s": now,
		"2026-03-01":           time.Date(2026, 3, 1, 0, 0, 0, 0, now.Location()),
		"2026-03-01 15:04":     time.Date(2026, 3, 1, 15, 4, 0, 0, now.Location()),
		"2026-03-01T15:04:05":  time.Date(2026, 3, 1, 15, 4, 5, 0, now.Location()),
		"2026-03-01T15:04:05Z": time.Date(2026, 3, 1, 15, 4, 5, 0, time.UTC),
	} {
		s := SinceFlag{text}
		if got, err := s.MS(now); err != nil || got != want.UnixMilli() {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want.UnixMilli())
		}
	}
	for _, text := range []string{"soon", "-5m", "-1d", "d", "1.5d", "99999d", "2026-13-01", "10"} {
		s := SinceFlag{text}
		if got, err := s.MS(now); err == nil {
			t.Errorf("%s is taken for %d", text, got)
		}
	}
}
