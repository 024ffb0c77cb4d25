package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// story is one case of testdata/requests.txt, which describes the form.
type story struct {
	t      *testing.T
	d      *Deliverer
	began  time.Time
	now    time.Time
	events []event
	mu     sync.Mutex
	got    []gift
}

// gift is what a channel got after which time.
type gift struct {
	after    time.Duration
	to, what string
}

type event struct {
	at   time.Duration
	what []string
}

// teller is a channel that notes what it gets, and fails as its case says.
type teller struct {
	name, fails string
	s           *story
	n           int
}

func (c *teller) Name() string { return c.name }

func (c *teller) Send(ctx context.Context, e Entry) error {
	c.s.mu.Lock()
	c.n++
	n := c.n
	c.s.got = append(c.s.got, gift{c.s.now.Sub(c.s.began), c.name, about(e)})
	c.s.mu.Unlock()
	if times, err := strconv.Atoi(c.fails); c.fails == "" || err == nil && n > times {
		return nil
	}
	if wait, ok := strings.CutPrefix(c.fails, "busy:"); ok && n == 1 {
		return &Later{errors.New("busy"), seconds(c.s.t, wait)}
	}
	if c.fails == "gone" {
		return &Permanent{errors.New("gone")}
	}
	if c.fails == "hangs" {
		<-ctx.Done()
	}
	if strings.HasPrefix(c.fails, "busy:") {
		return nil
	}
	return errors.New("no")
}

// about names what an entry is about: a request, or those of a digest.
func about(e Entry) string {
	if e.Digest == nil {
		return strings.TrimPrefix(e.ID, "approval-")
	}
	var ids []string
	for _, r := range e.Digest.Requests {
		ids = append(ids, r.ID)
	}
	list := strings.Join(ids, "+")
	if len(ids) > 4 {
		list = ids[0] + "…" + ids[len(ids)-1]
	}
	if e.Digest.More > 0 {
		list += fmt.Sprintf(" and %d more", e.Digest.More)
	}
	return list
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pass moves the clock, and lets happen what is due.
func (s *story) pass(_ context.Context, wait time.Duration) {
	s.mu.Lock()
	s.now = s.now.Add(wait)
	s.mu.Unlock()
	s.happen()
}

func (s *story) happen() {
	for len(s.events) > 0 && s.now.Sub(s.began) >= s.events[0].at {
		e := s.events[0]
		s.events = s.events[1:]
		s.event(e.what)
	}
}

func (s *story) event(what []string) {
	var err error
	switch what[0] {
	case "ask":
		for _, id := range ids(what[1]) {
			r := Request{ID: id, Action: "rm -rf build", Deadline: s.now.Add(seconds(s.t, what[3])).UTC().Format(time.RFC3339)}
			err = errors.Join(err, s.d.Spool.Put(Ask(r, s.now, "claude-code", "s1", "/srv/shop")))
		}
	case "answer":
		err = Resolve(s.d.Spool.Dir, what[1])
	case "stop":
		err = s.d.Spool.Put(Entry{ID: what[1], Kind: KindStop})
	case "back":
		wait := seconds(s.t, what[1])
		s.now, s.began = s.now.Add(-wait), s.began.Add(-wait)
	case "retry":
		s.d.Retry = true
	default:
		err = fmt.Errorf("unknown event %q", what)
	}
	if err != nil {
		s.t.Error(err)
	}
}

// ids expands r1..r3.
func ids(word string) (list []string) {
	from, to, several := strings.Cut(word, "..")
	if !several {
		return []string{word}
	}
	first, _ := strconv.Atoi(from[1:])
	last, _ := strconv.Atoi(to[1:])
	for n := first; n <= last; n++ {
		list = append(list, fmt.Sprintf("%s%03d", from[:1], n))
	}
	return list
}

func (s *story) channel(words []string) {
	c := &teller{name: words[0], s: s}
	when := Schedule{About: []string{AboutStops, AboutApprovals}}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "about":
			when.About = strings.Split(value, ",")
		case "after":
			when.After = seconds(s.t, value)
		case "digest":
			when.Digest = seconds(s.t, value)
		case "hour":
			when.PerHour, _ = strconv.Atoi(value)
		case "quiet":
			var h1, m1, h2, m2 int
			fmt.Sscanf(value, "%d:%d-%d:%d", &h1, &m1, &h2, &m2)
			when.Quiet = Quiet{From: h1*60 + m1, To: h2*60 + m2, Zone: time.UTC}
		case "fails":
			c.fails = value
		default:
			s.t.Errorf("unknown word %q", word)
		}
	}
	s.d.Channels = append(s.d.Channels, c)
	s.d.When[c.name] = when
}

// run lets everything happen, and returns what each channel got and the outcome of each delivery.
func (s *story) run() []string {
	s.happen()
	for {
		if err := s.d.Run(context.Background()); err != nil {
			s.t.Fatal(err)
		}
		if len(s.events) == 0 {
			break
		}
		s.pass(context.Background(), s.events[0].at-s.now.Sub(s.began))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.got, func(a, b gift) int { return cmp.Or(cmp.Compare(a.after, b.after), strings.Compare(a.to, b.to)) })
	var got []string
	for _, g := range s.got {
		got = append(got, fmt.Sprintf("%s gets %s after %s", g.to, g.what, g.after))
	}
	for _, i := range sorted(s.t, s.d.Spool) {
		for _, to := range i.Deliveries {
			if to.Status != Delivered {
				got = append(got, strings.TrimSuffix(fmt.Sprintf("%s of %s: %s", about(i.Entry), to.Channel, attempts(to)+string(to.Status)+", "+to.Why), ", "))
			}
		}
		if i.Unseen {
			got = append(got, about(i.Entry)+": shown to nobody")
		}
	}
	return got
}

func attempts(to Delivery) string {
	if len(to.Attempts) == 0 {
		return ""
	}
	return fmt.Sprintf("%d attempts, ", len(to.Attempts))
}

func sorted(t *testing.T, s Spool) []Item {
	t.Helper()
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b Item) int { return strings.Compare(a.Entry.ID, b.Entry.ID) })
	return list
}

func TestRequests(t *testing.T) {
	raw, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for n, text := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		name, body, _ := strings.Cut(text, "\n")
		if n == 0 {
			continue // describes the form
		}
		t.Run(strings.TrimPrefix(name, "# "), func(t *testing.T) {
			t.Parallel()
			tell(t, strings.Split(body, "\n"))
		})
	}
}

func tell(t *testing.T, lines []string) {
	s := &story{t: t, began: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	s.d = &Deliverer{Spool: Spool{filepath.Join(t.TempDir(), "notify")}, Plan: plan(), When: map[string]Schedule{},
		Now: func() time.Time { return s.now }, Sleep: s.pass}
	s.d.Plan.Longest = time.Minute
	s.d.Plan.Timeout = 300 * time.Millisecond
	var want []string
	for _, line := range lines {
		words := strings.Fields(line)
		switch {
		case words[0] == "clock":
			clock, err := time.Parse("15:04", words[1])
			if err != nil {
				t.Fatal(err)
			}
			s.began = time.Date(2026, 11, 24, clock.Hour(), clock.Minute(), 0, 0, time.UTC)
		case words[0] == "channel":
			s.channel(words[1:])
		case words[0] == "=":
			want = append(want, strings.TrimPrefix(line, "= "))
		default:
			s.events = append(s.events, event{seconds(t, words[0]), words[1:]})
		}
	}
	s.now = s.began
	if got := s.run(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
