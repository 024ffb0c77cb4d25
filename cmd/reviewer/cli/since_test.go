package cli

import (
	"testing"
	"time"
)

func TestFlagTime(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.FixedZone("here", 3600))
	for text, want := range map[string]time.Time{
		"30m": now.Add(-30 * time.Minute), "1h30m": now.Add(-90 * time.Minute), "12h": now.Add(-12 * time.Hour), "7d": now.AddDate(0, 0, -7), "0s": now,
		"2026-03-01":           time.Date(2026, 3, 1, 0, 0, 0, 0, now.Location()),
		"2026-03-01 15:04":     time.Date(2026, 3, 1, 15, 4, 0, 0, now.Location()),
		"2026-03-01T15:04:05":  time.Date(2026, 3, 1, 15, 4, 5, 0, now.Location()),
		"2026-03-01T15:04:05Z": time.Date(2026, 3, 1, 15, 4, 5, 0, time.UTC),
	} {
		if got, err := FlagTime("--until", text, now); err != nil || got != want.UnixMilli() {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want.UnixMilli())
		}
	}
	for _, text := range []string{"yesterday", "-5m", "-1d", "d", "1.5d", "1w", "99999d", "99999999999d", "2026-13-01", "10"} {
		got, err := FlagTime("--until", text, now)
		if want := "--until " + text + ": expected " + TimeForms; err == nil || err.Error() != want {
			t.Errorf("%s is taken for %d: %v, want %s", text, got, err, want)
		}
	}
	if got, err := FlagTime("--until", "", now); got != 0 || err != nil {
		t.Errorf("without a time: %d, %v", got, err)
	}
}
