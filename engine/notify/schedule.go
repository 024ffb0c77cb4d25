package notify

import (
	"slices"
	"time"
)

// What a channel can be about.
const (
	AboutStops     = "stops"
	AboutApprovals = "approvals"
)

// Schedule says what a channel gets, and when. Everything except About is only for
// requests: a stop is sent at once.
type Schedule struct {
	About   []string      // nil: stops
	After   time.Duration // how long a request must have waited for its answer: a second person is told later
	Digest  time.Duration // the shortest time between two messages; requests in between are sent as one message
	PerHour int           // messages; 0: any number
	Quiet   Quiet
}

// Takes reports whether a channel gets entries of a kind.
func (s Schedule) Takes(kind string) bool {
	switch kind {
	case KindApproval:
		return slices.Contains(s.About, AboutApprovals)
	case KindStop, KindInstallation:
		return s.About == nil || slices.Contains(s.About, AboutStops)
	}
	return true
}

// Quiet is the time of day in which a channel gets no requests. The zero value is never quiet.
type Quiet struct {
	From, To int // minutes after midnight; To before From: on the next day
	Days     []time.Weekday
	Zone     *time.Location // nil: that of the machine
}

// Until returns when the quiet time ends, if a moment is in it. Days are those on which it begins;
// none: all.
func (q Quiet) Until(now time.Time) (end time.Time, quiet bool) {
	if q.From == q.To {
		return time.Time{}, false
	}
	if q.Zone == nil {
		q.Zone = time.Local
	}
	local := now.In(q.Zone)
	minute := local.Hour()*60 + local.Minute()
	begin, last := 0, 0 // days from today to that on which it began, and to that on which it ends
	switch {
	case q.From < q.To:
		quiet = minute >= q.From && minute < q.To
	case minute >= q.From:
		quiet, last = true, 1
	default:
		quiet, begin = minute < q.To, -1
	}
	day := local.AddDate(0, 0, begin).Weekday()
	if !quiet || len(q.Days) > 0 && !slices.Contains(q.Days, day) {
		return time.Time{}, false
	}
	return time.Date(local.Year(), local.Month(), local.Day()+last, q.To/60, q.To%60, 0, 0, q.Zone), true
}
