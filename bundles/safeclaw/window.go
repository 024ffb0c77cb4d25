package safeclaw

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine"
)

func (m *importer) schedule(r *bundles.AccessRule, v foreign.Value) reading {
	if !truthy(v) {
		return exactly(always)
	}
	o, ok := v.Object()
	if !ok {
		return doubtful(fmt.Sprintf("schedule is %s: expected hoursUtc and daysOfWeek", v.Kind()))
	}
	m.ignored(r.ID, o, "hoursUtc", "daysOfWeek")
	s := &bundles.AccessSchedule{}
	all := m.hours(r.ID, s, o.Get("hoursUtc")).and(m.days(s, o.Get("daysOfWeek")))
	if s.Hours != nil || s.Weekdays != nil {
		r.Schedule = s
	}
	return all
}

// hours reads [start, end), over midnight where start is later.
func (m *importer) hours(rule string, s *bundles.AccessSchedule, v foreign.Value) reading {
	if !truthy(v) {
		return exactly(always)
	}
	items, _ := v.List()
	if len(items) != 2 {
		return doubtful(fmt.Sprintf("hoursUtc is %s: expected [start, end], such as [9, 17]", v.JSON()))
	}
	start, okStart := whole(items[0], 23)
	end, okEnd := whole(items[1], 24)
	switch {
	case !okStart || !okEnd:
		return doubtful(fmt.Sprintf("hoursUtc is %s: expected two whole numbers, such as [9, 17]", v.JSON()))
	case start == end:
		m.policy.Note(rule, v.Line,
			"hoursUtc %s contains no hour, so the rule never fires, as in SafeClaw: leave hoursUtc out to mean the whole day", v.JSON())
		return exactly(never)
	case start == 0 && end == 24:
		return exactly(always)
	}
	s.Hours = []int64{start, end % 24}
	return exactly(always)
}

// whole is a whole number from 0 to most.
func whole(v foreign.Value, most float64) (int64, bool) {
	f, ok := number(v)
	return int64(f), ok && f == math.Trunc(f) && f >= 0 && f <= most
}

func number(v foreign.Value) (float64, bool) {
	n, ok := v.Data.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func (m *importer) days(s *bundles.AccessSchedule, v foreign.Value) reading {
	if !truthy(v) {
		return exactly(always)
	}
	items, ok := v.List()
	if !ok || len(items) == 0 {
		return doubtful(fmt.Sprintf("daysOfWeek is %s: expected a list of numbers, 0 (Sunday) to 6", v.JSON()))
	}
	var in [7]bool
	for _, item := range items {
		day, ok := whole(item, 6)
		if !ok {
			return doubtful(fmt.Sprintf("daysOfWeek contains %s: expected numbers, 0 (Sunday) to 6", item.JSON()))
		}
		in[day] = true
	}
	for d, holds := range in {
		if holds {
			s.Weekdays = append(s.Weekdays, engine.Weekdays()[d])
		}
	}
	if len(s.Weekdays) == len(in) {
		s.Weekdays = nil
	}
	return exactly(always)
}

// expiry reads a date, a date with a time and a zone, or milliseconds since 1970.
// Other forms are dates to some machines only, or to none.
func (m *importer) expiry(r *bundles.AccessRule, v foreign.Value) reading {
	if v.Data == nil || v.Data == "" {
		return exactly(always)
	}
	text, _ := v.Text()
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if ms, isNumber := number(v); isNumber && ms != 0 && math.Abs(ms) < lastMS {
		t, err = time.UnixMilli(int64(ms)), nil
	}
	if err != nil {
		return doubtful(fmt.Sprintf("expiresAt is %s: expected a date such as \"2027-01-31T00:00:00Z\"", v.JSON()))
	}
	if t.UnixMilli() <= 0 {
		m.policy.Note(r.ID, v.Line, "expired in %d and never fires: leave it out", t.UTC().Year())
		return exactly(never)
	}
	r.ExpiresAt = t.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
	return exactly(always)
}

// lastMS is the end of the year 9999.
const lastMS = 253402300800000
