package safeclaw

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
	"github.com/agent-reviewer/reviewer/engine"
)

// window reads when a rule speaks: its schedule and its date go to the rule,
// what they leave open is returned.
func (m *importer) window(r *bundles.AccessRule, o foreign.Object) reading {
	return m.schedule(r, o.Get("schedule")).and(m.expiry(r, o.Get("expiresAt")))
}

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
	all := m.hours(r.ID, s, o.Get("hoursUtc")).and(m.days(r.ID, s, o.Get("daysOfWeek")))
	if s.Hours != nil || s.Weekdays != nil {
		r.Schedule = s
	}
	return all
}

// hours finds the hours of the day that are in [start, end), whatever numbers
// these are.
func (m *importer) hours(rule string, s *bundles.AccessSchedule, v foreign.Value) reading {
	if !truthy(v) {
		return exactly(always)
	}
	items, _ := v.List()
	if len(items) != 2 {
		return doubtful(fmt.Sprintf("hoursUtc is %s: expected [start, end], such as [9, 17]", v.JSON()))
	}
	start, okStart := number(items[0])
	end, okEnd := number(items[1])
	if !okStart || !okEnd {
		return doubtful(fmt.Sprintf("hoursUtc is %s: expected two numbers", v.JSON()))
	}
	var in [24]bool
	n := 0
	for h := range in {
		at := float64(h)
		if in[h] = at >= start && at < end; start > end {
			in[h] = at >= start || at < end
		}
		if in[h] {
			n++
		}
	}
	switch n {
	case 0:
		m.policy.Note(rule, v.Line, "hoursUtc %s holds no hour, so the rule never speaks, as in SafeClaw: leave hoursUtc out to mean the whole day", v.JSON())
		return exactly(never)
	case 24:
		return exactly(always)
	}
	s.Hours = stretchOf(in)
	return exactly(always)
}

// stretchOf returns [start, end) of hours that are one stretch of the day's
// circle, neither none nor all.
func stretchOf(in [24]bool) []int64 {
	var out [2]int64
	for h := range in {
		before := in[(h+23)%24]
		if in[h] && !before {
			out[0] = int64(h)
		}
		if !in[h] && before {
			out[1] = int64(h)
		}
	}
	return out[:]
}

func number(v foreign.Value) (float64, bool) {
	n, ok := v.Data.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func (m *importer) days(rule string, s *bundles.AccessSchedule, v foreign.Value) reading {
	if !truthy(v) {
		return exactly(always)
	}
	items, ok := v.List()
	if !ok || len(items) == 0 {
		return doubtful(fmt.Sprintf("daysOfWeek is %s: expected a list of numbers, 0 (Sunday) to 6", v.JSON()))
	}
	var in [7]bool
	for _, item := range items {
		f, ok := number(item)
		if !ok {
			return doubtful(fmt.Sprintf("daysOfWeek holds %s: expected numbers, 0 (Sunday) to 6", item.JSON()))
		}
		if f != math.Trunc(f) || f < 0 || f > 6 {
			m.policy.Note(rule, item.Line, "daysOfWeek holds %s, which is no day, as in SafeClaw: expected 0 (Sunday) to 6", item.JSON())
			continue
		}
		in[int(f)] = true
	}
	for d, holds := range in {
		if holds {
			s.Weekdays = append(s.Weekdays, engine.Weekdays()[d])
		}
	}
	if len(s.Weekdays) == 0 {
		return exactly(never)
	}
	if len(s.Weekdays) == len(in) {
		s.Weekdays = nil
	}
	return exactly(always)
}

// expiry reads a date as JavaScript does. What depends on the machine (a time
// without a zone, forms of its own) is not read.
func (m *importer) expiry(r *bundles.AccessRule, v foreign.Value) reading {
	if !truthy(v) {
		if _, isNumber := number(v); isNumber {
			return doubtful("expiresAt is 0: give it a date, or leave it out")
		}
		return exactly(always)
	}
	text, ok := v.Text()
	if n, isNumber := number(v); isNumber {
		return m.until(r, v, time.UnixMilli(int64(math.Max(-1, math.Min(n, lastMS)))).UTC(), n <= lastMS)
	}
	if !ok {
		return doubtful(fmt.Sprintf("expiresAt is %s: expected a date such as \"2027-01-31T00:00:00Z\"", v.Kind()))
	}
	t, is := parseISO(text)
	switch is {
	case noDate:
		m.policy.Note(r.ID, v.Line, "expiresAt %q is no date, so the rule never expires, as in SafeClaw: write one such as 2027-01-31T00:00:00Z", text)
		return exactly(always)
	case unclear:
		return doubtful(fmt.Sprintf("expiresAt %q means different instants on different machines: write it as 2027-01-31T00:00:00Z", text))
	}
	return m.until(r, v, t, true)
}

// lastMS is the last instant that a date of JavaScript can hold.
const lastMS = 8.64e15

// until gives the rule its end.
func (m *importer) until(r *bundles.AccessRule, v foreign.Value, t time.Time, ends bool) reading {
	switch {
	case !ends || t.Year() > 9999: // no instant of a log
		return exactly(always)
	case t.UnixMilli() <= 0:
		m.policy.Note(r.ID, v.Line, "expired in %d and never speaks: leave it out", t.Year())
		return exactly(never)
	}
	r.ExpiresAt = t.Format("2006-01-02T15:04:05.999Z07:00")
	return exactly(always)
}

// What a text is as a date of JavaScript.
const (
	noDate  = iota // surely none
	isDate         // an instant, on every machine the same
	unclear        // depends on the machine
)

var (
	iso    = regexp.MustCompile(`^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T(\d\d:\d\d)(?::(\d\d)(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$`)
	digits = regexp.MustCompile(`\d`)
)

// parseISO reads a date, or a date with a time and a zone. A date without a time
// is midnight UTC.
func parseISO(text string) (time.Time, int) {
	if !digits.MatchString(text) {
		return time.Time{}, noDate
	}
	p := iso.FindStringSubmatch(text)
	if p == nil {
		return time.Time{}, unclear
	}
	for i, empty := range []string{2: "01", 3: "01", 4: "00:00", 5: "00", 6: "", 7: "Z"} {
		if i > 1 && p[i] == "" {
			p[i] = empty
		}
	}
	if len(p[6]) > 4 {
		p[6] = p[6][:4] // milliseconds
	}
	t, err := time.Parse(time.RFC3339, p[1]+"-"+p[2]+"-"+p[3]+"T"+p[4]+":"+p[5]+p[6]+p[7])
	switch {
	case err == nil:
		return t.UTC(), isDate
	case p[2] > "12" || p[2] == "00" || p[3] > "31" || p[3] == "00":
		return time.Time{}, noDate
	}
	return time.Time{}, unclear // February 30 is March 2 to some
}
