package uicmd

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/approvalscmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/pages"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/overview"
)

const (
	mostNotable  = 10  // of a day
	mostEvents   = 500 // of a list
	mostSessions = 500
)

// bounds returns when a span begins and ends, in Unix milliseconds; to 0: now.
func (b *book) bounds(s pages.Span) (from, to int64) {
	now := b.now().In(b.zone)
	midnight := func(back int) int64 {
		return time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, b.zone).UnixMilli()
	}
	if s.Back > 0 {
		to = midnight(s.Back - 1)
	}
	return midnight(s.Back + s.Days - 1), to
}

func (b *book) day(span pages.Span) (pages.Page, error) {
	from, to := b.bounds(span)
	p := pages.Day{Frame: b.frame(span.Title, "index.html"), Span: span, All: span.Name + "-all.html"}
	questions, err := b.queue.Waiting()
	if err != nil {
		p.Notes = append(p.Notes, "The questions cannot be read: "+cli.Masked(err.Error()))
	}
	for _, r := range questions {
		p.Waiting = append(p.Waiting, pages.Waiting{Href: "questions.html#q-" + r.ID, Tool: r.Tool, Action: r.Action,
			Why: firstOf(r.Reasons), Where: r.Harness + " in " + r.Workspace, Until: r.Until})
	}
	for _, s := range pages.Spans() {
		p.Spans = append(p.Spans, pages.Link{Name: s.Title, Href: s.Name + ".html", Here: s == span})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.Day = b.index.Day(from, to, mostNotable)
	for _, s := range p.Day.Damaged {
		p.Notes = append(p.Notes, "The log of session "+s.Key.Session+" cannot be read to its end, and the counts stop there: "+s.Damage)
	}
	d := &p.Day
	ran := d.Calls - d.Denied
	for _, f := range []pages.Figure{
		{Name: "ran", Word: "ran", N: ran}, {Name: "saved first", Word: "saved", N: d.Saved}, {Name: "warned", Word: "warned", N: d.Warned},
		{Name: "modified", Word: "modified", N: d.Modified}, {Name: "asked", Word: "asked", N: d.Asked},
		{Name: "denied", Word: "denied", N: d.Denied},
		{Name: "sessions stopped", Word: "stopped", N: d.Stopped}, {Name: "only observed", Word: "observed", N: d.Observed},
	} {
		f.Href = span.Name + "-" + f.Word + ".html"
		switch {
		case f.Word == "ran":
			f.Href = "sessions.html"
		case f.Word == "observed" && f.N == 0:
			continue
		}
		p.Figures = append(p.Figures, f)
	}
	return p, nil
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func (b *book) events(span pages.Span, kind string) (pages.Page, error) {
	kinds := pages.Kinds()
	at := slices.IndexFunc(kinds, func(k [2]string) bool { return k[0] == kind })
	if at < 0 {
		return nil, notFound{"No page has this address."}
	}
	from, to := b.bounds(span)
	p := pages.Events{Frame: b.frame(kinds[at][1], "index.html"), Span: span, Back: span.Name + ".html"}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.index.Between(from, to) {
		switch {
		case !pages.Is(e, kind):
		case len(p.List) == mostEvents:
			p.More++
		default:
			p.List = append(p.List, overview.Notable{Event: e, Times: 1})
		}
	}
	return p, nil
}

// listed describes a session in lists. The lock is held.
func (b *book) listed(s *overview.Session) pages.Listed {
	folder := b.folders[s.Key]
	return pages.Listed{Session: s, Name: s.Key.Session, Folder: folder, Href: sessionHref(folder), Tally: s.Total()}
}

func (b *book) sessions() (pages.Page, error) {
	p := pages.Sessions{Frame: b.frame("Sessions", "sessions.html")}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, s := range b.index.Sessions() {
		if i >= mostSessions {
			p.More++
			continue
		}
		p.List = append(p.List, b.listed(s))
	}
	missing, err := b.log.Missing()
	for _, key := range missing {
		p.Notes = append(p.Notes, "The log of session "+key.Session+" of "+key.Harness+" is gone, and nothing says that it was deleted.")
	}
	if err != nil {
		p.Notes = append(p.Notes, "The ledger cannot be read: "+cli.Masked(err.Error()))
	}
	return p, nil
}

func (b *book) questions() (pages.Page, error) {
	p := pages.Questions{Frame: b.frame("Questions", "questions.html")}
	list, err := b.queue.Waiting()
	if err != nil {
		return nil, err
	}
	for i := range list {
		p.List = append(p.List, b.question(&list[i]))
	}
	return p, nil
}

// question shows what `reviewer approvals show` does.
func (b *book) question(r *approval.Request) pages.Question {
	q := pages.Question{ID: r.ID, Tool: r.Tool, Action: r.Action, Until: r.Until, Reversible: r.Reversible,
		Where: r.Harness + " in " + r.Workspace + term.After(", working in ", r.CWD), Hidden: hidden(r.Action),
		Answer: "reviewer approvals approve " + r.ID + " --digest " + r.Digest[:min(16, len(r.Digest))] + "\nreviewer approvals deny " + r.ID}
	if r.Risk != nil {
		q.Risk = r.Risk.Level
	}
	q.Lists = callLists(r)
	if r.Goal != "" {
		q.Lists = append(q.Lists, pages.List{Title: "What you asked for", Items: []pages.Item{{Text: r.Goal}}})
	}
	if said := b.saidIn(engine.SessionKey{Harness: r.Harness, Session: r.Session}); len(said) > 0 {
		q.Lists = append(q.Lists, pages.List{Title: "What you said that holds", Items: said})
	}
	q.Lists = append(q.Lists, texts("What the session did before", r.Before)...)
	q.Lists = append(q.Lists, texts("Not shown here", r.Unseen)...)
	q.Changes = changes(approvalscmd.ChangesOf(b.log, r))
	return q
}

// saidIn lists the statements that hold in a session.
func (b *book) saidIn(key engine.SessionKey) (items []pages.Item) {
	b.mu.Lock()
	s, known := b.known[b.folders[key]]
	b.mu.Unlock()
	if !known {
		return nil
	}
	state, err := b.log.State(s)
	if err != nil {
		return nil // the page of the session says why
	}
	for _, said := range statements(state) {
		items = append(items, pages.Item{Word: said.Kind, Text: said.Text})
	}
	return items
}

func texts(title string, list []string) []pages.List {
	if len(list) == 0 {
		return nil
	}
	l := pages.List{Title: title}
	for _, text := range list {
		l.Items = append(l.Items, pages.Item{Text: text})
	}
	return []pages.List{l}
}

func changes(list []approvalscmd.Change) (shown []pages.Change) {
	for _, c := range list {
		shown = append(shown, pages.Change{Name: filepath.ToSlash(c.Name), Note: c.Note, Lines: pages.DiffLines(c.Text, c.Diff)})
	}
	return shown
}
