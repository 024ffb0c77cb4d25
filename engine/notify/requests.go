package notify

import (
	"cmp"
	"errors"
	"sync"
	"time"
)

// Why a request is held back from a channel, or was never sent to it.
const (
	whyAnswered = "it was answered before"
	whyLate     = "its deadline passed"
	whyAfter    = "other channels come first"
	whyQuiet    = "quiet hours"
	whyDigest   = "it waits for the next digest"
	whyHour     = "the limit per hour is reached"
	whyAgain    = "it waits for the next attempt"
)

// keep writes items, at most eight at once, and finishes those for which nothing is left to be done.
func (d *Deliverer) keep(items []*Item) error {
	errs := make([]error, len(items))
	room := make(chan struct{}, 8)
	var group sync.WaitGroup
	for n, i := range items {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			if i.ended() {
				errs[n] = d.settle(i)
			} else {
				errs[n] = d.Spool.save(*i)
			}
		})
	}
	group.Wait()
	for n, i := range items {
		if errs[n] == nil && i.Finished > 0 {
			delete(d.items, i.Entry.ID)
		}
	}
	return errors.Join(errs...)
}

// hold determines how long a pending delivery is held back, and, for a request, why. It ends the delivery after the last
// attempt, and if a request needs no more messages, or would be sent after its deadline.
func (d *Deliverer) hold(i *Item, to *Delivery) (until time.Time) {
	until = d.now()
	switch {
	case i.Entry.Approval != nil && !d.Spool.unanswered(i.Entry):
		to.end(Skipped, whyAnswered)
		return until
	case len(to.Attempts) >= d.Plan.Attempts:
		to.end(Failed, "")
		return until
	case i.Entry.Approval == nil:
		return d.bounded(time.UnixMilli(to.Next), d.Plan.Longest)
	}
	for _, h := range d.holds(i, to) {
		if h.until.After(until) {
			until, to.Why = h.until, h.why
		}
	}
	deadline := i.Entry.deadline()
	hopeless := !until.Before(deadline) && to.Why != whyAfter // the channels that come first can still fail
	if d.now().Before(deadline) && !hopeless {
		return until
	}
	if len(to.Attempts) > 0 {
		to.end(Failed, whyLate)
	} else {
		to.end(Skipped, cmp.Or(to.Why, whyLate))
	}
	return until
}

// held is a reason to hold a message back.
type held struct {
	until time.Time
	why   string
}

// holds returns the reasons to hold back a request from a channel.
func (d *Deliverer) holds(i *Item, to *Delivery) []held {
	when, now := d.When[to.Channel], d.now()
	list := []held{{d.bounded(time.UnixMilli(to.Next), d.Plan.Longest), whyAgain}}
	if asked, err := time.Parse(time.RFC3339, i.Entry.Time); err == nil && !d.othersFailed(i, when.After) {
		list = append(list, held{d.bounded(asked.Add(when.After), when.After), whyAfter})
	}
	if end, quiet := when.Quiet.Until(now); quiet {
		list = append(list, held{end, whyQuiet})
	}
	last := d.log.last(to.Channel, now)
	if n := len(last); n > 0 {
		list = append(list, held{time.UnixMilli(last[n-1]).Add(when.Digest), whyDigest})
	}
	if n := len(last); when.PerHour > 0 && n >= when.PerHour {
		list = append(list, held{time.UnixMilli(last[n-when.PerHour]).Add(time.Hour), whyHour})
	}
	return list
}

// bounded limits how far a time is in the future: after the clock was set back, nothing
// waits for longer.
func (d *Deliverer) bounded(at time.Time, most time.Duration) time.Time {
	if at.Sub(d.now()) > most {
		return time.Time{}
	}
	return at
}

// othersFailed reports whether no channel that comes before one with this delay can still be
// told.
func (d *Deliverer) othersFailed(i *Item, after time.Duration) bool {
	for _, to := range i.Deliveries {
		if d.When[to.Channel].After < after && (to.Status == Pending || to.Status == Delivered) {
			return false
		}
	}
	return true
}

// end ends a delivery.
func (to *Delivery) end(s Status, why string) { to.Status, to.Next, to.Why = s, 0, why }
