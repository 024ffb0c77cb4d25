package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Channel sends entries somewhere. Send must end soon after ctx does.
type Channel interface {
	Name() string
	Send(ctx context.Context, e Entry) error
}

// Program is a channel that runs a program, and so returns more than an error.
type Program interface {
	Channel
	// Run is like Send, and also returns the program's output and its exit code; nil: it has none.
	Run(ctx context.Context, e Entry) (output string, exit *int, err error)
}

// Deliverer delivers the entries of a spool.
type Deliverer struct {
	Spool    Spool
	Channels []Channel
	Own      map[string]Channel // kind of intervention -> the channel that gets its entries, and no others
	Plan     Plan
	When     map[string]Schedule // name of a channel -> what it gets, and when; absent: Schedule{}
	Mask     func(string) string // masks secrets in errors and outputs; nil: nothing is masked
	// Ended is called once for each delivery that succeeded or failed permanently, so that it can
	// be logged; if the process is killed during the call, it is called again. nil: nothing is
	// called.
	Ended func(Entry, Delivery)
	Now   func() time.Time                           // nil: the clock
	Sleep func(ctx context.Context, d time.Duration) // nil: a timer
	// Retry makes failed deliveries start again, with as many attempts as planned.
	Retry bool

	log   messageLog
	items map[string]*Item // what waits, by id
	busy  map[string]bool  // channels that are sending
}

// ErrBusy means that another process delivers.
var ErrBusy = errors.New("another process is delivering notifications")

// Run delivers all entries until none waits, or ctx ends. Entries that come while it
// runs are delivered as well. If another process delivers, Run returns ErrBusy: that
// process looks for new entries after it has released the lock.
func (d *Deliverer) Run(ctx context.Context) error {
	if err := osfile.MkdirPrivate(d.Spool.queue()); err != nil {
		return fmt.Errorf("create the folder of notifications: %w", err)
	}
	for {
		err := d.locked(ctx)
		if err != nil || ctx.Err() != nil || !d.Spool.Waiting() {
			return errors.Join(err, ctx.Err())
		}
	}
}

func (d *Deliverer) locked(ctx context.Context) error {
	lock, err := osfile.OpenFile(d.Spool.lock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock the notifications: %w", err)
	}
	defer lock.Close()
	if err := osfile.TryLock(lock, osfile.Exclusive); err != nil {
		return ErrBusy
	}
	if err := osfile.SetTime(lock, time.Now()); err != nil {
		return fmt.Errorf("lock the notifications: %w", err)
	}
	d.sweep()
	d.log = d.Spool.messageLog()
	if d.Retry {
		if err := d.requeue(); err != nil {
			return err
		}
		d.Retry = false
	}
	return d.rounds(ctx)
}

// rounds sends what is due until nothing waits. Each channel sends one message at a time, in a goroutine of its own, so
// that a receiver that hangs delays no other channel. Only this function and what it calls change items.
func (d *Deliverer) rounds(ctx context.Context) error {
	d.items, d.busy = map[string]*Item{}, map[string]bool{}
	sent := make(chan *message)
	var failed error
	for {
		unread := d.look() // what cannot be read does not keep the others from being sent
		var messages []*message
		next := d.now()
		if failed == nil && ctx.Err() == nil {
			messages, next, failed = d.begin()
		}
		for _, m := range messages {
			d.busy[m.to.Name()] = true
			go func() {
				m.send(ctx, d.Plan.Timeout)
				sent <- m
			}()
		}
		switch {
		case len(d.busy) > 0:
			failed = errors.Join(failed, d.await(ctx, sent))
		case failed != nil || ctx.Err() != nil || len(d.items) == 0:
			return errors.Join(failed, unread, ctx.Err())
		default:
			d.sleep(ctx, min(next.Sub(d.now()), poll)) // new entries are looked for in between
		}
	}
}

// poll is how often new entries are looked for.
const poll = time.Second

// await waits until a message was sent, or until it is time to look for other entries.
func (d *Deliverer) await(ctx context.Context, sent <-chan *message) error {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case m := <-sent:
		delete(d.busy, m.to.Name())
		return m.end(d)
	case <-timer.C:
	}
	return nil
}

// look reads the entries that are new in the queue.
func (d *Deliverer) look() error {
	ids, err := names(d.Spool.queue())
	errs := []error{err}
	for _, id := range ids {
		if d.items[id] != nil {
			continue
		}
		i, err := read(file(d.Spool.queue(), id))
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			errs = append(errs, err)
		case !d.twice(i):
			d.items[id] = &i
		}
	}
	return errors.Join(errs...)
}

// begin returns the messages that are due, at most one for each channel, and when the next is due. As the start of an
// attempt is on disk before it is made, the number of attempts is bounded even if this process is killed.
func (d *Deliverer) begin() (list []*message, next time.Time, err error) {
	next = d.now().Add(poll)
	messages := map[string]*message{}
	var changed []*Item
	for _, i := range slices.SortedFunc(maps.Values(d.items), earlier) {
		due, different, at := d.due(i)
		if at.Before(next) {
			next = at
		}
		for _, c := range due {
			m := messages[c.Name()]
			if m != nil && (i.Entry.Approval == nil || m.items[0].Entry.Approval == nil) {
				next = d.now()
				continue // only requests share a message
			}
			messages[c.Name()], different = m.with(c, i), true
		}
		if different || i.ended() {
			changed = append(changed, i)
		}
	}
	for _, m := range messages {
		m.begin(d)
		list = append(list, m)
	}
	if err := d.keep(changed); err != nil {
		return nil, next, err // the disk is full: nothing is sent that could not be counted
	}
	return list, next, nil
}

// earlier orders items by the time of what happened.
func earlier(a, b *Item) int {
	return cmp.Or(strings.Compare(a.Entry.Time, b.Entry.Time), strings.Compare(a.Entry.ID, b.Entry.ID))
}

// Takes reports whether any channel gets entries of a kind.
func (d *Deliverer) Takes(kind string) bool { return len(d.channels(Entry{Kind: kind})) > 0 }

// channels returns where an entry is sent to.
func (d *Deliverer) channels(e Entry) []Channel {
	if e.Own == "" {
		return slices.DeleteFunc(slices.Clone(d.Channels), func(c Channel) bool { return !d.When[c.Name()].Takes(e.Kind) })
	}
	if c := d.Own[e.Own]; c != nil {
		return []Channel{c}
	}
	return nil
}

// due returns the channels to which an item is to be sent now, whether another of its deliveries changed, and when the
// next attempt is due. Attempts that were begun and not ended count.
func (d *Deliverer) due(i *Item) (due []Channel, changed bool, next time.Time) {
	next = d.now().Add(time.Hour)
	channels := d.channels(i.Entry)
	// Whether a channel that is told later is told at all depends on those that are told first.
	slices.SortStableFunc(channels, func(a, b Channel) int { return cmp.Compare(d.When[a.Name()].After, d.When[b.Name()].After) })
	for _, c := range channels {
		to := i.delivery(c.Name())
		if to.Status != Pending || d.busy[c.Name()] {
			continue
		}
		status, why := to.Status, to.Why
		until := d.hold(i, to)
		switch {
		case to.Status != Pending:
		case !until.After(d.now()):
			to.Why = ""
			due = append(due, c)
		case until.Before(next):
			next = until
		}
		changed = changed || to.Status != status || to.Why != why
	}
	d.forget(i)
	return due, changed, next
}

// forget ends deliveries to channels that are no longer configured.
func (d *Deliverer) forget(i *Item) {
	for n := range i.Deliveries {
		to := &i.Deliveries[n]
		known := d.busy[to.Channel] || slices.ContainsFunc(d.channels(i.Entry), func(c Channel) bool { return c.Name() == to.Channel })
		if !known && to.Status == Pending {
			to.Status, to.Next = Failed, 0
		}
	}
}

// Send sends an entry within the time of one attempt, even if the channel hangs.
func Send(ctx context.Context, c Channel, e Entry, limit time.Duration) error {
	return send(ctx, c, e, limit).err
}

// result is the result of an attempt.
type result struct {
	err    error
	took   int64 // milliseconds
	output string
	exit   *int
}

func send(ctx context.Context, c Channel, e Entry, limit time.Duration) result {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- result{err: fmt.Errorf("the channel failed: %v", p)}
			}
		}()
		done <- sent(ctx, c, e)
	}()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
	}
	late := result{err: fmt.Errorf("no answer within %s", limit)}
	if _, ok := c.(Program); !ok {
		return late
	}
	select { // until the program and its children have been ended
	case r := <-done:
		r.err = late.err
		return r
	case <-time.After(ending):
		return late
	}
}

// ending limits how long ending a program may take.
const ending = 5 * time.Second

func sent(ctx context.Context, c Channel, e Entry) result {
	p, ok := c.(Program)
	if !ok {
		return result{err: c.Send(ctx, e)}
	}
	output, exit, err := p.Run(ctx, e)
	return result{output: output, exit: exit, err: err}
}

func (d *Deliverer) record(to *Delivery, r result) {
	last := &to.Attempts[len(to.Attempts)-1]
	last.Done, last.MS, last.Exit, last.Output = true, r.took, r.exit, clip(d.masked(r.output))
	err := r.err
	if err == nil {
		to.Status, to.Next = Delivered, 0
		return
	}
	last.Error = clip(d.masked(err.Error()))
	if later := (*Later)(nil); errors.As(err, &later) {
		to.Next = max(to.Next, d.now().Add(min(later.Wait, d.Plan.Longest)).UnixMilli())
	}
	if permanent(err) || len(to.Attempts) >= d.Plan.Attempts {
		to.Status, to.Next = Failed, 0
	}
}

// settle finishes an item: its result is reported, and then it is moved.
func (d *Deliverer) settle(i *Item) error {
	d.forget(i)
	i.Finished, i.Unseen = d.now().UnixMilli(), i.Entry.Own == "" && !i.seen()
	if d.Ended != nil {
		for _, to := range i.Deliveries {
			d.Ended(i.Entry, to)
		}
	}
	return d.Spool.finish(*i)
}

// twice reports whether an item waits although it is finished, and removes it from the
// queue: it was put there while it was finished, or its process was killed in between.
func (d *Deliverer) twice(i Item) bool {
	_, err := os.Lstat(file(d.Spool.done(), i.Entry.ID))
	return err == nil && os.Remove(file(d.Spool.queue(), i.Entry.ID)) == nil
}

// sweep removes what killed processes left, and items that were finished long ago.
func (d *Deliverer) sweep() {
	d.Spool.sweepOpen(d.now())
	for _, dir := range []string{d.Spool.queue(), d.Spool.done()} {
		left, _ := filepath.Glob(filepath.Join(dir, ".new-*"))
		for _, path := range left {
			if info, err := os.Lstat(path); err == nil && d.now().Sub(info.ModTime()) > time.Minute {
				os.Remove(path)
			}
		}
	}
	items, _ := readAll(d.Spool.done()) // what cannot be read stays
	for _, i := range items {
		if d.now().Sub(time.UnixMilli(i.Finished)) > d.Plan.Keep {
			os.Remove(file(d.Spool.done(), i.Entry.ID))
		}
	}
}

// requeue makes deliveries that failed wait again.
func (d *Deliverer) requeue() error {
	items, err := readAll(d.Spool.done())
	if err != nil {
		return err
	}
	for _, i := range items {
		again := false
		for n := range i.Deliveries {
			if to := &i.Deliveries[n]; to.Status == Failed {
				*to, again = Delivery{Channel: to.Channel, Status: Pending, Attempts: []Attempt{}}, true
			}
		}
		if !again || i.Entry.Approval != nil && (!d.Spool.unanswered(i.Entry) || !d.now().Before(i.Entry.deadline())) {
			continue
		}
		i.Finished, i.Unseen = 0, false
		if err := d.Spool.save(i); err != nil {
			return err
		}
		if err := os.Remove(file(d.Spool.done(), i.Entry.ID)); err != nil {
			return err
		}
	}
	return nil
}

func (d *Deliverer) masked(text string) string {
	if d.Mask == nil {
		return text
	}
	return d.Mask(text)
}

func (d *Deliverer) now() time.Time {
	if d.Now == nil {
		return time.Now()
	}
	return d.Now()
}

func (d *Deliverer) sleep(ctx context.Context, wait time.Duration) {
	if d.Sleep != nil {
		d.Sleep(ctx, wait)
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// clip limits the text of an error: it can quote what a server answered.
func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return text
}
