package uicmd

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/pages"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/overview"
)

const (
	mostFound  = 200
	searchTime = 10 * time.Second
)

// search finds calls. One for a text reads the log, the latest sessions first; others know the events of the index.
func (b *book) search(ctx context.Context, q pages.Query) (pages.Page, error) {
	p := pages.Search{Frame: b.frame("Search", "search.html"), Query: q, Harms: engine.Harms(), Answers: engine.Verdicts(),
		Persons: overview.AnswersOfPeople(), Asked: q != pages.Query{}}
	b.mu.Lock()
	for _, r := range b.index.Rules() {
		p.Rules = append(p.Rules, r.ID)
	}
	b.mu.Unlock()
	if !p.Asked {
		return p, nil
	}
	from, err := b.date(q.From, 0)
	to, err2 := b.date(q.To, 1)
	switch {
	case err != nil || err2 != nil:
		p.Problem, p.Asked = "A time is a day, such as 2026-01-31.", false
		return p, nil
	case !slices.Contains(append(engine.Harms(), ""), q.Harm), !slices.Contains(append(engine.Verdicts(), ""), q.Answer),
		!slices.Contains(append(overview.AnswersOfPeople(), ""), q.Person):
		p.Problem, p.Asked = "One of the words is not among those that the form offers.", false
		return p, nil
	}
	wanted := func(e *overview.Event) bool {
		return (q.Rule == "" || e.Rule == q.Rule) && (q.Harm == "" || e.Harm == q.Harm) &&
			(q.Answer == "" || e.Answer == engine.Verdict(q.Answer)) && (q.Person == "" || string(e.Person) == q.Person) &&
			e.T >= from && (to == 0 || e.T < to)
	}
	if q.Q != "" {
		b.searchText(ctx, &p, q, wanted)
		return p, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.index.Between(0, 0) {
		if wanted(e) {
			p.List = append(p.List, overview.Notable{Event: e, Times: 1})
		}
	}
	p.More = len(p.List) > mostFound
	p.List = p.List[:min(len(p.List), mostFound)]
	return p, nil
}

// date returns when a day begins, some days later; 0: none is given.
func (b *book) date(day string, later int) (int64, error) {
	if day == "" {
		return 0, nil
	}
	at, err := time.ParseInLocation(time.DateOnly, day, b.zone)
	return at.AddDate(0, 0, later).UnixMilli(), err
}

// searchText reads the log for calls that contain a text, in capitals or not.
func (b *book) searchText(ctx context.Context, p *pages.Search, q pages.Query, wanted func(*overview.Event) bool) {
	ctx, stop := context.WithTimeout(ctx, searchTime)
	defer stop()
	text := strings.ToLower(q.Q)
	needle := []byte(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }) {
		needle = nil // a line may have it in another form
	}
	b.mu.Lock()
	var sessions []audit.Session
	for _, s := range b.index.Sessions() {
		sessions = append(sessions, b.known[b.folders[s.Key]])
	}
	b.mu.Unlock()
	for _, s := range sessions {
		if !b.searchSession(ctx, p, s, needle, text, wanted) {
			p.More = true
			break
		}
	}
	slices.SortStableFunc(p.List, func(a, c overview.Notable) int { return int(min(1, max(-1, c.T-a.T))) })
	if ctx.Err() != nil {
		p.Problem = "The search took too long and was ended. Search for a time, a rule or a harm as well."
	}
}

// searchSession adds the calls of a session that contain a text; false: there are too many, or it takes too long. A session that
// is damaged is searched up to the damage.
func (b *book) searchSession(ctx context.Context, p *pages.Search, s audit.Session, needle []byte, text string,
	wanted func(*overview.Event) bool) bool {
	for line, err := range b.log.Lines(s.Key, 0) {
		if err != nil {
			return true
		}
		if line.N%1024 == 0 && ctx.Err() != nil {
			return false
		}
		if !bytes.Contains(line.Raw, []byte(`"kind":"pre"`)) || !bytes.Contains(bytes.ToLower(line.Raw), needle) {
			continue
		}
		var r engine.Record
		if err := json.Unmarshal(line.Raw, &r); err != nil || !contains(&r, text) {
			continue
		}
		e := b.eventOf(s, &r)
		if !wanted(e) {
			continue
		}
		p.List = append(p.List, overview.Notable{Event: e, Times: 1})
		if len(p.List) >= mostFound {
			return false
		}
	}
	return true
}

// eventOf returns the event of a call: what the index has, which knows what followed, or else what the record says.
func (b *book) eventOf(s audit.Session, r *engine.Record) *overview.Event {
	b.mu.Lock()
	e := b.index.Session(s.Key).Find(r.ID())
	b.mu.Unlock()
	if e == nil {
		e = overview.EventOf(r, s.Key, s.Workspace)
	}
	return e
}

// contains reports whether what a person would search for contains a text, which is in lower case.
func contains(r *engine.Record, text string) bool {
	var texts []string
	if a := r.Action; a != nil {
		texts = slices.Concat([]string{a.Resource}, a.Paths, a.Hosts)
	}
	if r.Event != nil {
		texts = append(texts, r.Event.Tool, r.Event.CWD)
		texts = valuesIn(texts, r.Event.Args)
	}
	if r.Decision != nil {
		for _, rule := range r.Decision.Rules {
			texts = append(texts, rule.ID, rule.Message)
		}
	}
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), text) })
}

// valuesIn adds the texts in a value of JSON.
func valuesIn(texts []string, value any) []string {
	switch v := value.(type) {
	case string:
		return append(texts, v)
	case []any:
		for _, one := range v {
			texts = valuesIn(texts, one)
		}
	case map[string]any:
		for _, one := range v {
			texts = valuesIn(texts, one)
		}
	}
	return texts
}
