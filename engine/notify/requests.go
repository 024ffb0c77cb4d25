package notify

import (
	"cmp"
	"context"
	"errors"
	"slices"
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

// split separates requests from other items.
func split(items []Item) (requests []*Item, others []Item) {
	for n := range items {
		if items[n].Entry.Approval != nil {
			requests = append(requests, &items[n])
		} else {
			others = append(others, items[n])
		}
	}
	return requests, others
}

// requests sends the requests that are due; those of a channel are one message. As with other
// items, the start of an attempt is on disk before it begins.
func (d *Deliverer) requests(ctx context.Context, items []*Item) error {
	messages := map[string]*message{}
	var changed, sent []*Item
	for _, i := range items {
		to, different := d.examine(i)
		for _, c := range to {
			messages[c.Name()] = messages[c.Name()].with(c, i)
		}
		if len(to) > 0 {
			sent = append(sent, i)
		}
		if different || len(to) > 0 || i.ended() {
			changed = append(changed, i)
		}
	}
	for _, m := range messages {
		m.begin(d)
	}
	if err := each(changed, d.keep); err != nil || len(sent) == 0 {
		return err
	}
	var group sync.WaitGroup
	for _, m := range messages {
		group.Go(func() { m.send(ctx, d.Plan.Timeout) })
	}
	group.Wait()
	var errs []error
	for _, m := range messages {
		errs = append(errs, m.end(d))
	}
	return errors.Join(append(errs, each(sent, d.keep))...)
}

// keep writes an item, and finishes it if nothing is left to be done.
func (d *Deliverer) keep(i *Item) error {
	if i.ended() {
		return d.settle(i)
	}
	return d.Spool.save(*i)
}

// each calls a function for several items at once.
func each(items []*Item, f func(*Item) error) error {
	errs := make([]error, len(items))
	room := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for n, i := range items {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			errs[n] = f(i)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// examine returns the channels to which a request is to be sent now, and whether the state of
// any other delivery changed. Channels that are told first come first: whether a later one is told
// depends on them.
func (d *Deliverer) examine(i *Item) (due []Channel, changed bool) {
	channels := d.channels(i.Entry)
	slices.SortStableFunc(channels, func(a, b Channel) int { return cmp.Compare(d.When[a.Name()].After, d.When[b.Name()].After) })
	for _, c := range channels {
		to := i.delivery(c.Name())
		if to.Status != Pending {
			continue
		}
		status, why := to.Status, to.Why
		until := d.hold(i, to)
		if to.Status == Pending && !until.After(d.now()) {
			to.Why = ""
			due = append(due, c)
		}
		changed = changed || to.Status != status || to.Why != why
	}
	d.forget(i)
	return due, changed
}

// hold determines how long a pending delivery of a request is held back, and why. It ends the delivery
// if the request needs no more messages, or would be sent after its deadline.
func (d *Deliverer) hold(i *Item, to *Delivery) (until time.Time) {
	until = d.now()
	switch {
	case !d.Spool.unanswered(i.Entry):
		to.end(Skipped, whyAnswered)
		return until
	case len(to.Attempts) >= d.Plan.Attempts:
		to.end(Failed, "")
		return until
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
