package uicmd

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/pages"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/overview"
)

// book makes the pages about a log. It reads each record once: what was added since, when a page is asked for.
type book struct {
	app   *cli.App
	log   *audit.Store
	queue queue.Queue
	live  bool
	zone  *time.Location
	now   func() time.Time

	reading sync.Mutex // held by whoever reads the log
	mu      sync.Mutex // of what follows
	index   *overview.Index
	known   map[string]audit.Session // by folder
	folders map[engine.SessionKey]string
	looked  time.Time // when the log was read last
	left    int       // sessions that were not read yet
	changes int64     // how often something was added
	checked map[string]checked
}

// checked is a session's log that was verified up to a record.
type checked struct {
	n    int64
	says []pages.Verified
}

func newBook(a *cli.App, log *audit.Store, live bool) *book {
	return &book{app: a, log: log, queue: queue.Queue{Log: log}, live: live, zone: time.Local, now: time.Now, index: overview.NewIndex(),
		known: map[string]audit.Session{}, folders: map[engine.SessionKey]string{}, checked: map[string]checked{}}
}

// readMargin is how much earlier than the last look the newest record of a session may be that was not seen then: a record has the
// time at which its event was received, and is written when the review is done.
const readMargin = 2 * time.Minute

// refresh reads what was added to the log, the latest sessions first. Another reader's work counts.
func (b *book) refresh() error {
	b.reading.Lock()
	defer b.reading.Unlock()
	began := b.now()
	since := int64(0)
	if !b.looked.IsZero() {
		since = b.looked.Add(-readMargin).UnixMilli()
	}
	sessions, err := b.log.Written(since)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.left = len(sessions)
	b.mu.Unlock()
	for _, s := range sessions {
		b.add(s)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked, b.left = began, 0
	b.index.Keep(func(key engine.SessionKey) bool {
		folder := b.folders[key]
		_, err := os.Stat(filepath.Join(b.log.SessionsDir(), folder))
		if err != nil {
			delete(b.known, folder)
			delete(b.folders, key)
		}
		return err == nil
	})
	return nil
}

// batch is how many records are read before the pages see them.
const batch = 512

// add reads what is new in a session.
func (b *book) add(s audit.Session) {
	folder := filepath.Base(s.Dir)
	key := s.Key
	if key.Session == "" { // nothing of it can be read
		key = engine.SessionKey{Harness: "unknown", Session: folder}
	}
	b.mu.Lock()
	b.left--
	b.known[folder], b.folders[key] = s, folder
	one := b.index.Session(key)
	from := one.N + 1
	one.Workspace, one.First, one.Last = cmp.Or(s.Workspace, one.Workspace), cmp.Or(s.First, one.First), max(one.Last, s.Last)
	one.Damage = ""
	if s.Err != nil {
		one.Damage = cli.Masked(s.Err.Error())
	}
	b.mu.Unlock()
	if s.N < from || s.Key.Session == "" {
		return
	}
	var records []*engine.Record
	flush := func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, r := range records {
			one.Add(r)
		}
		b.changes += int64(len(records))
		records = records[:0]
	}
	for r, err := range b.log.Records(s.Key, from) {
		if err != nil {
			b.mu.Lock()
			one.Damage = cli.Masked(err.Error())
			b.mu.Unlock()
			break
		}
		if records = append(records, r); len(records) == batch {
			flush()
		}
	}
	flush()
	b.mu.Lock()
	one.Stopped = s.Stopped != nil
	b.mu.Unlock()
}

// Changes counts what was added to the log and to the questions: a page that was made with another number is old.
func (b *book) Changes() (string, error) {
	err := b.refresh()
	waiting, err2 := b.queue.Waiting()
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprint(b.changes, " ", len(waiting), " ", len(b.known)), cmp.Or(err, err2)
}

// notFound is an address that no page has.
type notFound struct{ what string }

func (e notFound) Error() string { return e.what }

var (
	sessionName = engine.Regexp(`^session-([0-9a-f]{32})(?:-p([0-9]{1,6}))?$`)
	recordName  = engine.Regexp(`^record-([0-9a-f]{8}-[0-9]{1,15})$`)
)

// page makes the page with a name, which is its address without .html.
func (b *book) page(ctx context.Context, name string, q url.Values) (pages.Page, error) {
	for _, span := range pages.Spans() {
		if name == span.Name {
			return b.day(span)
		}
		if kind, is := strings.CutPrefix(name, span.Name+"-"); is {
			return b.events(span, kind)
		}
	}
	switch name {
	case "sessions":
		return b.sessions()
	case "compare":
		return b.compare(q.Get("a"), q.Get("b"))
	case "questions":
		return b.questions()
	case "policy":
		return b.policy(ctx)
	case "search":
		return b.search(ctx, pages.Query{Q: q.Get("q"), Rule: q.Get("rule"), Harm: q.Get("harm"), Answer: q.Get("answer"),
			Person: q.Get("person"), From: q.Get("from"), To: q.Get("to")})
	}
	if m := sessionName().FindStringSubmatch(name); m != nil {
		return b.session(ctx, m[1], m[2])
	}
	if m := recordName().FindStringSubmatch(name); m != nil {
		return b.record(ctx, m[1], b.live)
	}
	return nil, notFound{"No page has this address."}
}

// frame is what all pages have. here is the address of the page that is marked in the navigation.
func (b *book) frame(title, here string) pages.Frame {
	waiting, err := b.queue.IDs()
	f := pages.Frame{Title: title, Live: b.live, Made: b.now().UnixMilli()}
	if err != nil {
		f.Notes = append(f.Notes, "The questions cannot be read: "+cli.Masked(err.Error()))
	}
	links := [][2]string{{"Today", "index.html"}, {"Sessions", "sessions.html"}, {"Questions", "questions.html"}, {"Policy", "policy.html"}}
	if b.live {
		links = append(links, [2]string{"Search", "search.html"})
	}
	for _, l := range links {
		link := pages.Link{Name: l[0], Href: l[1], Here: l[1] == here}
		if l[0] == "Questions" {
			link.Count = len(waiting)
		}
		f.Nav = append(f.Nav, link)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left > 0 {
		f.Partial = fmt.Sprintf("still reading: %s left", engine.Counted(b.left, "session", "sessions"))
	}
	return f
}

func sessionHref(folder string) string { return "session-" + folder + ".html" }
