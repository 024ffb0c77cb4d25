package uicmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/incidentcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/pages"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sessioncmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/timeline"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// entriesOnPage is how many entries of a timeline one page has.
const entriesOnPage = 300

// found returns a session by its folder, as the log has it now.
func (b *book) found(folder string) (pages.Listed, audit.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, known := b.known[folder]
	if !known {
		return pages.Listed{}, s, notFound{"No such session is recorded. Retention may have deleted it."}
	}
	for key, of := range b.folders {
		if of == folder {
			return b.listed(b.index.Session(key)), s, nil
		}
	}
	return pages.Listed{}, s, notFound{"No such session is recorded."}
}

// session is the page about a session, with one part of its timeline: the last one if none is named.
func (b *book) session(ctx context.Context, folder, part string) (pages.Page, error) {
	listed, s, err := b.found(folder)
	if err != nil {
		return nil, err
	}
	p := pages.Session{Frame: b.frame("Session "+listed.Name, "sessions.html"), Listed: listed}
	p.Verified = b.verified(ctx, s)
	state, err := b.log.State(s)
	if err != nil {
		p.Damage = cli.Masked(err.Error())
		state = history.New()
	}
	facts := history.NewInput(&engine.Record{}, state, engine.View{}).Session
	p.Said, p.Labels, p.Scope = statements(state), joined(facts.Labels), strings.Join(facts.Scope, ", ")
	if s.Stopped != nil {
		p.StopReason = strings.TrimSpace("by " + s.Stopped.By + ", " + s.Stopped.Reason)
	}
	line, err := b.timeline(s, state)
	if err != nil {
		p.Damage = cli.Masked(err.Error())
	}
	return b.withEntries(p, folder, part, line)
}

// timeline reads all entries of a session, as far as its log can be read.
func (b *book) timeline(s audit.Session, state *history.State) ([]*timeline.Entry, error) {
	line := timeline.New(s.First, state)
	for r, err := range b.log.Records(s.Key, 0) {
		if err != nil {
			return line.Entries, err
		}
		line.Add(r)
	}
	return line.Entries, nil
}

// withEntries adds a part of the timeline, and the incidents of the session.
func (b *book) withEntries(p pages.Session, folder, part string, line []*timeline.Entry) (pages.Page, error) {
	parts := max(1, (len(line)+entriesOnPage-1)/entriesOnPage)
	at := parts
	if part != "" {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > parts {
			return nil, notFound{"This session has no such part."}
		}
		at = n
	}
	for i := 1; parts > 1 && i <= parts; i++ {
		p.Pages = append(p.Pages, pages.Link{Name: fmt.Sprint(i), Href: partHref(folder, i, parts), Here: i == at})
	}
	shown := line[(at-1)*entriesOnPage : min(at*entriesOnPage, len(line))]
	for _, m := range shown {
		p.Entries = append(p.Entries, b.entry(m, folder, at, parts))
	}
	incidents, err := b.incidents(p.Key)
	if err != nil && p.Damage == "" {
		p.Damage = cli.Masked(err.Error())
	}
	p.Incidents = incidents
	return p, nil
}

func partHref(folder string, at, parts int) string {
	if at == parts {
		return sessionHref(folder)
	}
	return fmt.Sprintf("session-%s-p%d.html", folder, at)
}

// entry shows an entry of a timeline. It links to the page about its record; in files, only events have one.
func (b *book) entry(m *timeline.Entry, folder string, at, parts int) pages.Entry {
	e := pages.Entry{ID: m.ID, Href: pages.RecordHref(m.ID), T: m.T, Kind: string(m.Kind), Badge: m.Label(), Label: m.Label(), Who: m.Who(),
		Outcome: string(m.Outcome)}
	if !b.live && !b.hasPage(m.ID) {
		e.Href = partHref(folder, at, parts) + "#" + m.ID
	}
	if m.Prompt == nil && m.Control == nil && m.Act == nil && m.Tool != "" {
		e.Tool, e.Code = m.Tool, m.What
	} else {
		e.Words = m.Text()
	}
	for _, d := range m.Details() {
		e.Details = append(e.Details, pages.Detail{Text: d.Text, Strong: d.Strong()})
	}
	return e
}

func (b *book) hasPage(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.index.Find(id) != nil
}

// verified checks the hashes, keyframes and signatures of a session's log. What was checked is not checked again.
func (b *book) verified(ctx context.Context, s audit.Session) []pages.Verified {
	folder := filepath.Base(s.Dir)
	b.mu.Lock()
	before := b.checked[folder]
	b.mu.Unlock()
	if before.n == s.N && s.N > 0 {
		return before.says
	}
	var says []pages.Verified
	report, err := b.log.Verify(ctx, audit.Check{Only: []engine.SessionKey{s.Key}})
	switch {
	case err != nil:
		return []pages.Verified{{Text: "cannot be verified: " + cli.Masked(err.Error())}}
	case len(report.Problems) == 0:
		says = []pages.Verified{{OK: true, Text: engine.Counted(int(report.Lines), "line", "lines") + " verified, all hashes match"}}
	}
	for _, problem := range report.Problems {
		says = append(says, pages.Verified{Text: "does not verify: " + cli.Masked(problem.String())})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checked[folder] = checked{s.N, says}
	return says
}

// incidents lists the incidents of a session.
func (b *book) incidents(key engine.SessionKey) (list []pages.Incident, err error) {
	b.mu.Lock()
	s := b.known[b.folders[key]]
	b.mu.Unlock()
	found, err := incidentcmd.All(b.log, []audit.Session{s})
	for _, i := range found {
		list = append(list, pages.Incident{ID: i.ID, State: string(i.State), Summary: i.Summary, Href: "incident-" + i.ID + ".html"})
	}
	return list, err
}

// statements lists what a person and instruction files said, as far as it holds.
func statements(state *history.State) (list []pages.Statement) {
	for _, said := range state.Goals.Statements() {
		list = append(list, pages.Statement{Kind: string(said.Kind), Text: sessioncmd.SaidLine(said)})
	}
	return list
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// compare shows two sessions next to each other.
func (b *book) compare(one, other string) (pages.Page, error) {
	first, _, err := b.found(one)
	second, _, err2 := b.found(other)
	if err := errors.Join(err, err2); err != nil {
		return nil, notFound{"Two sessions are compared by their folders: choose both in the list of sessions."}
	}
	p := pages.Compare{Frame: b.frame("Two sessions", "sessions.html"), A: first, B: second}
	add := func(name string, of func(l *pages.Listed) string) {
		p.Rows = append(p.Rows, pages.Compared{Name: name, A: of(&first), B: of(&second)})
	}
	add("agent", func(l *pages.Listed) string { return l.Key.Harness })
	add("project", func(l *pages.Listed) string { return l.Workspace })
	for _, n := range []struct {
		name string
		of   func(l *pages.Listed) int64
	}{
		{"prompts", func(l *pages.Listed) int64 { return l.Tally.Prompts }}, {"calls", func(l *pages.Listed) int64 { return l.Tally.Calls }},
		{"saved first", func(l *pages.Listed) int64 { return l.Tally.Saved }}, {"warned", func(l *pages.Listed) int64 { return l.Tally.Warned }},
		{"modified", func(l *pages.Listed) int64 { return l.Tally.Modified }}, {"asked", func(l *pages.Listed) int64 { return l.Tally.Asked }},
		{"denied", func(l *pages.Listed) int64 { return l.Tally.Denied }},
		{"minutes", func(l *pages.Listed) int64 { return (l.Last - l.First) / 60_000 }},
	} {
		add(n.name, func(l *pages.Listed) string { return fmt.Sprint(n.of(l)) })
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a, c := rulesOf(&first), rulesOf(&second)
	var ids []string
	for id := range a {
		ids = append(ids, id)
	}
	for id := range c {
		if a[id] == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		p.Rows = append(p.Rows, pages.Compared{Name: "rule " + id, A: fmt.Sprint(a[id]), B: fmt.Sprint(c[id])})
	}
	return p, nil
}

// rulesOf counts the events of a session by the rule that decided.
func rulesOf(l *pages.Listed) map[string]int {
	counts := map[string]int{}
	for _, e := range l.Events() {
		if e.Rule != "" {
			counts[e.Rule]++
		}
	}
	return counts
}
