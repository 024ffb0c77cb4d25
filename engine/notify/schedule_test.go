package notify

import (
	"context"
	"encoding/json"
	"testing"
	"time"
	_ "time/tzdata"
)

// keeping is a channel that keeps what it gets.
type keeping struct{ got []Entry }

func (*keeping) Name() string { return "keeping" }

func (k *keeping) Send(_ context.Context, e Entry) error {
	k.got = append(k.got, e)
	return nil
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestQuiet(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	night := Quiet{From: 22 * 60, To: 7 * 60, Zone: berlin}
	noon := Quiet{From: 12 * 60, To: 13*60 + 30, Zone: berlin}
	weekend := Quiet{From: 22 * 60, To: 7 * 60, Zone: berlin, Days: []time.Weekday{time.Friday, time.Saturday}}
	for _, tt := range []struct {
		q          Quiet
		now, until string // in Berlin; empty: not quiet
	}{
		{night, "2026-11-24 21:59", ""},
		{night, "2026-11-24 22:00", "2026-11-25 07:00"},
		{night, "2026-11-25 00:00", "2026-11-25 07:00"},
		{night, "2026-11-25 06:59", "2026-11-25 07:00"},
		{night, "2026-11-25 07:00", ""},
		{noon, "2026-11-24 11:59", ""},
		{noon, "2026-11-24 12:00", "2026-11-24 13:30"},
		{noon, "2026-11-24 13:30", ""},
		{weekend, "2026-11-27 23:00", "2026-11-28 07:00"}, // a Friday
		{weekend, "2026-11-28 03:00", "2026-11-28 07:00"}, // the night that began on Friday
		{weekend, "2026-11-27 03:00", ""},                 // the night that began on Thursday
		{weekend, "2026-11-29 03:00", "2026-11-29 07:00"}, // that of Saturday
		{weekend, "2026-11-29 23:00", ""},                 // a Sunday
		{night, "2026-03-29 01:30", "2026-03-29 07:00"},   // summer time begins at 02:00
		{night, "2026-10-25 01:30", "2026-10-25 07:00"},   // and ends at 03:00
		{night, "2026-12-31 23:00", "2027-01-01 07:00"},
		{Quiet{}, "2026-11-24 00:00", ""},
		{Quiet{From: 60, To: 60}, "2026-11-24 01:00", ""},
	} {
		now, err := time.ParseInLocation("2006-01-02 15:04", tt.now, berlin)
		if err != nil {
			t.Fatal(err)
		}
		until, quiet := tt.q.Until(now.UTC())
		if got := until.In(berlin).Format("2006-01-02 15:04"); quiet != (tt.until != "") || quiet && got != tt.until {
			t.Errorf("%s: %t until %s, want %q", tt.now, quiet, got, tt.until)
		}
	}
	if _, quiet := (Quiet{From: 0, To: 24*60 - 1}).Until(time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)); !quiet {
		t.Error("without a zone, it is that of the machine")
	}
}
