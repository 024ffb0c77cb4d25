package notify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// message is the message that one channel gets at one moment: one entry, or a digest of
// several requests.
type message struct {
	to     Channel
	items  []*Item
	entry  Entry
	result result
}

// with returns a message, a new one if there is none yet, with one more item.
func (m *message) with(c Channel, i *Item) *message {
	if m == nil {
		m = &message{to: c}
	}
	m.items = append(m.items, i)
	return m
}

// begin composes the message, and counts the attempt.
func (m *message) begin(d *Deliverer) {
	m.entry = m.items[0].Entry
	if len(m.items) > 1 {
		m.entry = digestOf(m.items, d.now())
	}
	if m.items[0].Entry.Approval != nil {
		m.entry = m.entry.mapped(d.masked) // again: nothing leaves the machine that only its writer masked
	}
	for _, i := range m.items {
		to := i.delivery(m.to.Name())
		to.Attempts = append(to.Attempts, m.attempt(i, d.now()))
		to.Next = d.now().Add(d.Plan.Wait(len(to.Attempts))).UnixMilli()
	}
}

func (m *message) attempt(i *Item, now time.Time) Attempt {
	a := Attempt{Time: now.UTC().Format(time.RFC3339)}
	if digest := m.entry.Digest; digest != nil {
		a.Digest = m.entry.ID
		a.Counted = !slices.ContainsFunc(digest.Requests, func(r Request) bool { return r.ID == i.Entry.Approval.ID })
	}
	return a
}

func (m *message) send(ctx context.Context, limit time.Duration) {
	start := time.Now()
	m.result = send(ctx, m.to, m.entry, limit)
	m.result.took = time.Since(start).Milliseconds()
}

// end records the result for each item.
func (m *message) end(d *Deliverer) error {
	for _, i := range m.items {
		d.record(i.delivery(m.to.Name()), m.result)
	}
	var err error
	if m.result.err == nil && m.items[0].Entry.Approval != nil {
		err = d.Spool.addMessage(d.log, m.to.Name(), d.now())
	}
	return errors.Join(err, d.keep(m.items))
}

// digestOf is one entry about several requests, those with the earliest deadlines first. Its id depends
// on them alone, so that a receiver can drop one that it has.
func digestOf(items []*Item, now time.Time) Entry {
	items = slices.SortedFunc(slices.Values(items), func(a, b *Item) int {
		return cmp.Or(a.Entry.deadline().Compare(b.Entry.deadline()), strings.Compare(a.Entry.ID, b.Entry.ID))
	})
	sum := sha256.New()
	digest := &Digest{More: max(0, len(items)-maxList)}
	for n, i := range items {
		fmt.Fprintln(sum, i.Entry.ID)
		if n < maxList {
			digest.Requests = append(digest.Requests, i.Entry.Approval.brief())
		}
	}
	return Entry{
		V: EntryVersion, ID: KindDigest + "-" + hex.EncodeToString(sum.Sum(nil))[:32], Kind: KindDigest,
		Time: now.UTC().Format(time.RFC3339), Title: "reviewer: " + engine.Counted(len(items), "action waits", "actions wait") + " for approval",
		Text: "An action that nobody answers by its deadline is denied. Replying to this message, or opening a link in it, decides nothing.",
		Next: "reviewer approvals list", Digest: digest,
	}
}

// mapped returns the entry with each text about requests replaced.
func (e Entry) mapped(f func(string) string) Entry {
	for _, text := range []*string{&e.Title, &e.Text, &e.Session, &e.Workspace} {
		*text = f(*text)
	}
	if e.Approval != nil {
		r := e.Approval.mapped(f)
		e.Approval = &r
	}
	if e.Digest != nil {
		d := Digest{More: e.Digest.More}
		for _, r := range e.Digest.Requests {
			d.Requests = append(d.Requests, r.mapped(f))
		}
		e.Digest = &d
	}
	return e
}

func (r Request) mapped(f func(string) string) Request {
	r.Action, r.Undo = f(r.Action), f(r.Undo)
	for _, list := range []*[]string{&r.Effects, &r.Reasons, &r.Notes} {
		*list = slices.Clone(*list)
		for n := range *list {
			(*list)[n] = f((*list)[n])
		}
	}
	return r
}
