package approvalscmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// Overrides are the manual overrides that a person can make besides answers to questions.
type Overrides struct {
	// HeldUp reports whether a record is of a call that did not simply run.
	HeldUp func(*engine.Record) bool
	// Denied returns those of a session's calls that were held up which a person can allow, and has not allowed yet.
	Denied func(*audit.Store, audit.Session, []*engine.Record) ([]*engine.Record, error)
	// Allow allows a call once or until the session ends.
	Allow func(ctx context.Context, a *cli.App, log *audit.Store, s audit.Session, r *engine.Record, session bool, act *signed.Act) error
	// Resume resumes a stopped session.
	Resume func(ctx context.Context, log *audit.Store, s audit.Session, act *signed.Act) error
}

// kind is what an item of the board is.
type kind int

const (
	question kind = iota
	denied
	stopped
)

// item is something that a person can decide about.
type item struct {
	kind             kind
	approval.Request               // of a question or a denied call; of a stopped session only where it is, and why
	session          audit.Session // of a denied call, or the stopped one
	record           *engine.Record
}

// is reports whether two items are the same question, call or session.
func (i *item) is(o *item) bool {
	return i.kind == o.kind && i.ID == o.ID && i.Harness == o.Harness
}

// name names an item in a line of text.
func (i *item) name() string {
	return map[kind]string{question: "question ", denied: "call ", stopped: "session "}[i.kind] + i.ID
}

// row draws an item in three lines.
func (i *item) row(p term.Page, mark term.Cell, now time.Time) {
	r := &i.Request
	state := term.Coloured(term.Pad(left(r, now), 12), leftColour(r, now))
	if i.kind != question {
		state = term.Plain(term.Pad(time.UnixMilli(r.Asked).Format("15:04:05"), 12))
	}
	level := term.Coloured(term.Pad(levelOf(r), 9), term.LevelColour(levelOf(r)))
	switch i.kind {
	case question:
		p.Line(mark, term.Plain(term.Pad(r.ID, 13)), state, level, term.Coloured(r.Session+" of "+r.Harness, term.Faint))
	case denied:
		word := string(engine.AnswerOf(i.record).Effect)
		p.Line(mark, term.Plain(term.Pad(r.ID, 13)), state, term.Coloured(term.Pad(word, 8), term.VerdictColour(word)), level,
			term.Coloured(r.Session+" of "+r.Harness, term.Faint))
	case stopped:
		p.Line(mark, term.Plain("session "+r.Session+" of "+r.Harness+" "), term.Coloured("stopped ", term.Bad), state)
		p.Line(term.Plain("    "), term.Plain(r.Workspace))
	}
	if i.kind != stopped {
		p.Line(term.Plain("    "+r.Tool+" "), term.Plain(r.Action))
	}
	note := term.Coloured(strings.Join(r.Reasons[:min(1, len(r.Reasons))], ""), term.Faint)
	if hidden := term.Hidden(r.Action); len(hidden) > 0 {
		note = term.Coloured(hiddenNote(hidden), term.Bad)
	}
	p.Line(term.Plain("    "), note)
}

// print prints all that is known about an item.
func (i *item) print(p term.Page, d *shownDocument, now time.Time) {
	switch i.kind {
	case question:
		printRequest(p, d, now)
	case denied:
		p.Line(term.Plain(i.ID+"  "), term.Plain(string(engine.AnswerOf(i.record).Effect)+"  "), term.Plain(term.Clock(i.Asked)))
		printCall(p, d)
	case stopped:
		p.Line(term.Plain("session "+i.Session+" of "+i.Harness+"  "), term.Coloured("stopped  ", term.Bad), term.Plain(term.Clock(i.Asked)))
		p.Paragraph(term.Faint, "in "+i.Workspace)
		items(p, "Why it was stopped", i.Reasons)
	}
}

// held are the calls of a session that were held up.
type held struct {
	n       int64 // newest record that was read
	records []*engine.Record
	items   []item
}

// listing reads what a person can decide about.
type listing struct {
	queue queue.Queue
	over  Overrides
	calls bool          // only denied calls
	span  time.Duration // how far back; 0: from the beginning

	read   time.Time // when the sessions were read
	held   map[engine.SessionKey]*held
	others []item
}

// sessionsEvery is how often the sessions are read, which costs more than reading the questions.
const sessionsEvery = 2 * time.Second

// items returns what waits for a decision: questions, then calls, the latest last, then stopped sessions.
func (l *listing) items(now time.Time) ([]item, error) {
	var list []item
	if !l.calls {
		questions, err := l.queue.Waiting()
		if err != nil {
			return nil, err
		}
		for _, r := range questions {
			list = append(list, item{kind: question, Request: r})
		}
	}
	if now.Sub(l.read) >= sessionsEvery {
		if err := l.sessions(now); err != nil {
			return nil, err
		}
		l.read = now
	}
	for _, o := range l.others {
		if !slices.ContainsFunc(list, func(i item) bool { return i.ID == o.ID }) { // or it waits
			list = append(list, o)
		}
	}
	return list, nil
}

// sessions reads the denied calls and the stopped sessions.
func (l *listing) sessions(now time.Time) error {
	from := int64(0)
	if l.span > 0 {
		from = now.Add(-l.span).UnixMilli()
	}
	sessions, err := l.queue.Log.Written(from)
	if err != nil {
		return err
	}
	var stops []item
	l.others = nil
	for _, s := range sessions {
		switch {
		case s.Stopped == nil:
			l.others = append(l.others, l.denied(s, from)...)
		case !s.Stopped.Final && !l.calls:
			stops = append(stops, item{kind: stopped, session: s, Request: approval.Request{ID: s.Key.Session, Session: s.Key.Session,
				Harness: s.Key.Harness, Workspace: s.Workspace, Asked: s.Stopped.T, Reasons: []string{s.Stopped.Reason}}})
		}
	}
	byTime := func(a, b item) int { return cmp.Compare(a.Asked, b.Asked) }
	slices.SortStableFunc(l.others, byTime)
	slices.SortStableFunc(stops, byTime)
	l.others = append(l.others, stops...)
	return nil
}

// denied returns the calls of a session that can be allowed. Of a damaged session there are none: no choice can be recorded
// there.
func (l *listing) denied(s audit.Session, from int64) []item {
	h := l.held[s.Key]
	if h == nil {
		h = &held{}
		l.held[s.Key] = h
	}
	if h.n == s.N {
		return h.items
	}
	for r, err := range l.queue.Log.Records(s.Key, h.n+1) {
		if err != nil {
			return nil
		}
		if h.n = r.N; l.over.HeldUp(r) && r.T >= from {
			h.records = append(h.records, r)
		}
		if c := r.Control; c != nil && c.Loosens() { // it was approved or allowed, and perhaps that was used already
			h.records = slices.DeleteFunc(h.records, func(o *engine.Record) bool { return o.ID() == c.Record })
		}
	}
	open, err := l.over.Denied(l.queue.Log, s, h.records)
	if err != nil {
		return nil
	}
	h.items = nil
	seen := map[engine.CallKey]bool{}
	for _, r := range slices.Backward(open) {
		if key, known := r.CallKey(); known && !seen[key] {
			seen[key] = true
			one := item{kind: denied, session: s, record: r, Request: approval.Describe(r, s.Workspace)}
			for _, name := range slices.Sorted(maps.Keys(r.Action.Contents)) {
				one.Unseen = append(one.Unseen, fmt.Sprintf("%s: %d bytes, not kept in the log", name, r.Action.Contents[name].Bytes))
			}
			h.items = append(h.items, one)
		}
	}
	return h.items
}
