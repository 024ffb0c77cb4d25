// Package notify notifies people of events that need their attention, through one spool in the
// state directory. A process that has a message writes an entry; another process delivers it to each
// channel, tries again with increasing delays, and finally gives up. An entry that was written
// is not lost, and each channel gets it at least once; with its id a receiver can drop
// duplicates.
//
// Out of scope: the channels themselves (package channel), which entries there are, and
// starting the process.
package notify

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Kinds of entries.
const (
	KindStop         = "stop"         // policy stopped a session
	KindTest         = "test"         // a person tests the channels
	KindIntervention = "intervention" // the policy made a custom intervention of the organisation
	KindApproval     = "approval"     // an action waits for a person's answer
	KindInstallation = "installation" // the installation has changed
	KindDigest       = "digest"       // several actions wait: one message for all; it is never in the spool
)

// Entry is a message to people. Every text in it is masked as in the log.
type Entry struct {
	V         int    `json:"v"`
	ID        string `json:"id"`   // the idempotency key: the same for every attempt and channel
	Kind      string `json:"kind"` // stop, test, intervention, approval, installation, digest
	Time      string `json:"time"` // of what happened, RFC 3339 in UTC
	Title     string `json:"title"`
	Text      string `json:"text"`
	Session   string `json:"session,omitempty"`
	Harness   string `json:"harness,omitempty"`
	Workspace string `json:"workspace,omitempty"`
	Issue     string `json:"issue,omitempty"`    // rule or pattern
	Incident  string `json:"incident,omitempty"` // its id
	Next      string `json:"next,omitempty"`     // a command that shows more
	Own       string `json:"own,omitempty"`      // intervention: its kind, which alone gets the entry
	// Approval is the action that waits for an answer; only of the kind approval.
	Approval *Request `json:"approval,omitempty"`
	// Digest is the actions that wait for an answer; only of the kind digest.
	Digest *Digest `json:"digest,omitempty"`
}

// EntryVersion is the "v" of entries.
const EntryVersion = 1

var validID = engine.Regexp(`^[a-z0-9][a-z0-9-]{0,99}$`)

func (e Entry) check() error {
	if !validID().MatchString(e.ID) {
		return fmt.Errorf("%q is not the id of a notification", e.ID)
	}
	if (e.Kind == KindApproval) != (e.Approval != nil) {
		return fmt.Errorf("notification %s: only one of the kind %s is about a request", e.ID, KindApproval)
	}
	if e.Approval == nil {
		return nil
	}
	return e.Approval.check(e.ID)
}

// Status is the state of the delivery to one channel.
type Status string

// The states of a delivery.
const (
	Pending   Status = "pending"   // the delivery is attempted, or retried
	Delivered Status = "delivered" // the channel accepted it
	Failed    Status = "failed"    // the last attempt failed, or the channel refused it permanently
	Skipped   Status = "skipped"   // a request was not sent: answered before, too late, in quiet hours, or over a limit
)

// Statuses lists every Status.
func Statuses() []string {
	return []string{string(Pending), string(Delivered), string(Failed), string(Skipped)}
}

// Delivery is the delivery of an entry to one channel.
type Delivery struct {
	Channel  string    `json:"channel"` // its name
	Status   Status    `json:"status"`
	Attempts []Attempt `json:"attempts"`
	Next     int64     `json:"next,omitempty"` // when the next attempt is due, Unix milliseconds
	Why      string    `json:"why,omitempty"`  // why a request is held back from this channel, or was skipped
}

// Vocabulary returns the values that a delivery's field may have; nil: any.
func (Delivery) Vocabulary(field string) []string {
	if field == "status" {
		return Statuses()
	}
	return nil
}

// Attempt is one attempt. It is recorded before it begins, so that an attempt counts even if
// its process was killed.
type Attempt struct {
	Time   string `json:"time"`
	MS     int64  `json:"ms,omitempty"`     // how long it took
	Error  string `json:"error,omitempty"`  // empty: it succeeded, or its process was killed
	Exit   *int   `json:"exit,omitempty"`   // exit code of a program; absent: it was not a program, or did not end on its own
	Output string `json:"output,omitempty"` // the beginning of the program's output
	Done   bool   `json:"done"`             // its end is recorded
	Digest string `json:"digest,omitempty"` // id of the message, if it was about several requests
	// Counted is true if that message was too short for this request: it gave the number of others
	// that wait.
	Counted bool `json:"counted,omitempty"`
}

// Item is an entry with its deliveries, as the spool keeps it.
type Item struct {
	Entry      Entry      `json:"entry"`
	Deliveries []Delivery `json:"deliveries"`
	Finished   int64      `json:"finished,omitempty"` // when the last delivery ended, Unix milliseconds
	Unseen     bool       `json:"unseen,omitempty"`   // it is finished, and no channel accepted it: nobody was shown it
}

// delivery returns the delivery to a channel; it is added if there is none.
func (i *Item) delivery(channel string) *Delivery {
	for n := range i.Deliveries {
		if i.Deliveries[n].Channel == channel {
			return &i.Deliveries[n]
		}
	}
	i.Deliveries = append(i.Deliveries, Delivery{Channel: channel, Status: Pending, Attempts: []Attempt{}})
	return &i.Deliveries[len(i.Deliveries)-1]
}

// seen reports whether a channel accepted the item.
func (i *Item) seen() bool {
	return slices.ContainsFunc(i.Deliveries, func(d Delivery) bool { return d.Status == Delivered })
}

// ended reports whether no delivery is pending.
func (i *Item) ended() bool {
	for _, d := range i.Deliveries {
		if d.Status == Pending {
			return false
		}
	}
	return true
}

// Permanent is an error that another attempt would not change.
type Permanent struct{ Err error }

func (p *Permanent) Error() string { return p.Err.Error() }

// Unwrap returns the cause.
func (p *Permanent) Unwrap() error { return p.Err }

// Later is an error of a receiver that asks for a delay before the next attempt.
type Later struct {
	Err  error
	Wait time.Duration
}

func (l *Later) Error() string { return l.Err.Error() }

// Unwrap returns the cause.
func (l *Later) Unwrap() error { return l.Err }

func permanent(err error) bool {
	var p *Permanent
	return errors.As(err, &p)
}

// Plan defines how often and for how long delivery is attempted. Its numbers are settings.
type Plan struct {
	Attempts int           // for each channel
	First    time.Duration // between the first and the second attempt
	Factor   float64       // by which each wait is longer than the previous one
	Longest  time.Duration // wait
	Timeout  time.Duration // of one attempt
	Keep     time.Duration // of what is finished
}

// Wait returns how long to wait after the attempt number n, from 1.
func (p Plan) Wait(n int) time.Duration {
	wait := float64(p.First)
	for range n - 1 {
		if wait *= p.Factor; wait >= float64(p.Longest) {
			break
		}
	}
	return min(time.Duration(wait), p.Longest)
}
