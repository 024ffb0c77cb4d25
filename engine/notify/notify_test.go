package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// counting is a channel that counts what it gets, and answers with fail.
type counting struct {
	name string
	fail func(e Entry, n int) error
	mu   sync.Mutex
	got  map[string]int
}

func (c *counting) Name() string { return c.name }

func (c *counting) Send(_ context.Context, e Entry) error {
	c.mu.Lock()
	if c.got == nil {
		c.got = map[string]int{}
	}
	c.got[e.ID]++
	n := c.got[e.ID]
	c.mu.Unlock()
	if c.fail == nil {
		return nil
	}
	return c.fail(e, n)
}

func plan() Plan {
	return Plan{Attempts: 4, First: 2 * time.Second, Factor: 2, Longest: 5 * time.Second, Timeout: time.Second, Keep: 24 * time.Hour}
}

// deliverer has a clock that moves when it sleeps.
func deliverer(t *testing.T, channels ...Channel) (*Deliverer, *time.Time) {
	t.Helper()
	now := time.Unix(1_795_442_000, 0)
	d := &Deliverer{Spool: Spool{filepath.Join(t.TempDir(), "notify")}, Channels: channels, Plan: plan(),
		Now:   func() time.Time { return now },
		Sleep: func(_ context.Context, wait time.Duration) { now = now.Add(wait) }}
	return d, &now
}

func put(t *testing.T, s Spool, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := s.Put(Entry{ID: id, Kind: KindTest, Title: "title of " + id}); err != nil {
			t.Fatal(err)
		}
	}
}

func items(t *testing.T, s Spool) map[string]Item {
	t.Helper()
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Item{}
	for _, i := range list {
		all[i.Entry.ID] = i
	}
	if len(all) != len(list) {
		t.Errorf("%d files of %d entries", len(list), len(all))
	}
	return all
}

func mustRun(t *testing.T, d *Deliverer) {
	t.Helper()
	if err := d.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestBackOff(t *testing.T) {
	c := &counting{name: "c", fail: func(Entry, int) error { return errors.New("no") }}
	d, now := deliverer(t, c)
	var ended []string
	d.Ended = func(e Entry, to Delivery) {
		ended = append(ended, fmt.Sprint(e.ID, " ", to.Channel, " ", to.Status, " ", len(to.Attempts)))
	}
	began := *now
	put(t, d.Spool, "a")
	mustRun(t, d)
	if took := now.Sub(began); took < 11*time.Second || took > 13*time.Second {
		t.Errorf("it took %s: the waits are 2, 4 and 5 s", took)
	}
	if got := strings.Join(ended, "; "); got != "a c failed 4" || c.got["a"] != 4 {
		t.Errorf("%s, sent %v", got, c.got)
	}
	for n, want := range map[int]time.Duration{1: 2 * time.Second, 2: 4 * time.Second, 3: 5 * time.Second, 1000: 5 * time.Second} {
		if got := d.Plan.Wait(n); got != want {
			t.Errorf("after attempt %d the wait is %s, want %s", n, got, want)
		}
	}
	d.Retry = true
	c.fail = nil
	mustRun(t, d)
	if to := items(t, d.Spool)["a"].Deliveries[0]; to.Status != Delivered || len(to.Attempts) != 1 {
		t.Errorf("after a retry: %+v", to)
	}
}

func TestEachChannelIsOnItsOwn(t *testing.T) {
	good := &counting{name: "good"}
	late := &counting{name: "late", fail: func(_ Entry, n int) error {
		if n < 3 {
			return errors.New("busy")
		}
		return nil
	}}
	never := &counting{name: "never", fail: func(Entry, int) error { return &Permanent{errors.New("gone")} }}
	panics := &counting{name: "panics", fail: func(Entry, int) error { panic("oops") }}
	d, _ := deliverer(t, good, late, never, panics)
	put(t, d.Spool, "a", "b", "a")
	mustRun(t, d)
	put(t, d.Spool, "a") // it is known
	mustRun(t, d)
	for _, id := range []string{"a", "b"} {
		if good.got[id] != 1 || late.got[id] != 3 || never.got[id] != 1 || panics.got[id] != 4 {
			t.Errorf("%s was sent %d, %d, %d, %d times", id, good.got[id], late.got[id], never.got[id], panics.got[id])
		}
	}
	for id, i := range items(t, d.Spool) {
		for n, want := range []Status{Delivered, Delivered, Failed, Failed} {
			if i.Deliveries[n].Status != want {
				t.Errorf("%s: %+v", id, i.Deliveries[n])
			}
		}
	}
}

func TestAHangingChannelIsCutOff(t *testing.T) {
	hang := hanging{}
	d, _ := deliverer(t, hang)
	d.Plan.Timeout, d.Plan.Attempts = 20*time.Millisecond, 2
	put(t, d.Spool, "a")
	mustRun(t, d)
	if to := items(t, d.Spool)["a"].Deliveries[0]; to.Status != Failed || !strings.Contains(to.Attempts[1].Error, "no answer within 20ms") {
		t.Errorf("%+v", to)
	}
}

type hanging struct{}

func (hanging) Name() string                      { return "hang" }
func (hanging) Send(context.Context, Entry) error { select {} }

func TestFinishedEntriesGo(t *testing.T) {
	c := &counting{name: "c"}
	d, now := deliverer(t, c)
	put(t, d.Spool, "a")
	mustRun(t, d)
	*now = now.Add(23 * time.Hour)
	mustRun(t, d)
	if !d.Spool.Knows("a") {
		t.Error("it went too early")
	}
	*now = now.Add(2 * time.Hour)
	mustRun(t, d)
	if d.Spool.Knows("a") {
		t.Error("it is still there")
	}
}

// Channels come and go between attempts.
func TestOtherChannels(t *testing.T) {
	d, _ := deliverer(t)
	put(t, d.Spool, "a")
	mustRun(t, d)
	if i := items(t, d.Spool)["a"]; i.Finished == 0 || len(i.Deliveries) != 0 {
		t.Errorf("without channels: %+v", i)
	}
	put(t, d.Spool, "b")
	i := items(t, d.Spool)["b"]
	i.Deliveries = []Delivery{{Channel: "old", Status: Pending, Attempts: []Attempt{{}}}}
	if err := d.Spool.save(i); err != nil {
		t.Fatal(err)
	}
	d.Channels = []Channel{&counting{name: "new"}}
	mustRun(t, d)
	got := items(t, d.Spool)["b"].Deliveries
	if got[0].Status != Failed || got[1].Status != Delivered {
		t.Errorf("%+v", got)
	}
}

// Attempts whose process was killed count, and a clock that was set back delays nothing.
func TestBegunAttemptsCount(t *testing.T) {
	c := &counting{name: "c"}
	d, now := deliverer(t, c)
	put(t, d.Spool, "lost", "late")
	lost, late := items(t, d.Spool)["lost"], items(t, d.Spool)["late"]
	lost.Deliveries = []Delivery{{Channel: "c", Status: Pending, Attempts: make([]Attempt, 4)}}
	late.Deliveries = []Delivery{{Channel: "c", Status: Pending, Attempts: make([]Attempt, 1), Next: now.AddDate(3, 0, 0).UnixMilli()}}
	for _, i := range []Item{lost, late} {
		if err := d.Spool.save(i); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, d)
	if c.got["lost"] != 0 || c.got["late"] != 1 {
		t.Errorf("sent %v", c.got)
	}
	if to := items(t, d.Spool)["lost"].Deliveries[0]; to.Status != Failed {
		t.Errorf("%+v", to)
	}
}

func TestOddFiles(t *testing.T) {
	c := &counting{name: "c"}
	d, _ := deliverer(t, c)
	put(t, d.Spool, "good")
	for name, text := range map[string]string{"broken.json": "{", "null.json": "null", "..json": "{}", "x.txt": "", "UPPER.json": "{}"} {
		if err := os.WriteFile(filepath.Join(d.Spool.queue(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(d.Spool.queue(), "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "broken.json") {
		t.Errorf("the error is %v", err)
	}
	if c.got["good"] != 1 {
		t.Errorf("sent %v", c.got)
	}
	for _, id := range []string{"", "..", "../x", "a/b", "A", strings.Repeat("a", 101)} {
		if err := d.Spool.Put(Entry{ID: id}); err == nil {
			t.Errorf("%q was taken as an id", id)
		}
	}
}

func TestTheSpoolIsBounded(t *testing.T) {
	s := Spool{t.TempDir()}
	put(t, s, "first")
	for n := range maxQueue - 2 {
		if err := os.WriteFile(file(s.queue(), fmt.Sprint("e-", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "last", "first")
	if err := s.Put(Entry{ID: "one-more"}); !errors.Is(err, ErrFull) {
		t.Errorf("the error is %v", err)
	}
}

// Many write, and many deliver: each entry is sent once, and none waits in the end.
func TestManyAtOnce(t *testing.T) {
	c := &counting{name: "c"}
	s := Spool{filepath.Join(t.TempDir(), "notify")}
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for n := range 20 {
				if err := s.Put(Entry{ID: fmt.Sprintf("e-%d-%d", w%4, n)}); err != nil { // each by two writers
					t.Error(err)
				}
				d := &Deliverer{Spool: s, Channels: []Channel{c}, Plan: plan()}
				if err := d.Run(context.Background()); err != nil && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if len(c.got) != 80 || s.Waiting() {
		t.Errorf("%d entries were sent; others wait: %t", len(c.got), s.Waiting())
	}
	for id, n := range c.got {
		if n != 1 {
			t.Errorf("%s was sent %d times", id, n)
		}
	}
}

// running is a program that ends with exit code 3 once, and then with 0.
type running struct{ counting }

func (r *running) Run(ctx context.Context, e Entry) (string, *int, error) {
	r.Send(ctx, e)
	code := 0
	if r.got[e.ID] == 1 {
		code = 3
		return "key SECRET", &code, errors.New("exit code 3, SECRET")
	}
	return "done", &code, nil
}

// blocked is a channel that hangs until it is let go.
type blocked struct{ hangs, free chan struct{} }

func (blocked) Name() string { return "blocked" }

func (b blocked) Send(context.Context, Entry) error {
	close(b.hangs)
	<-b.free
	return nil
}

// passing is a channel that does something with each entry.
type passing func(Entry)

func (passing) Name() string                            { return "passing" }
func (p passing) Send(_ context.Context, e Entry) error { p(e); return nil }

// While one receiver hangs, entries that come later reach the others.
func TestAHangingReceiverDelaysNobody(t *testing.T) {
	hang := blocked{make(chan struct{}), make(chan struct{})}
	s := Spool{filepath.Join(t.TempDir(), "notify")}
	both := passing(func(e Entry) {
		<-hang.hangs
		if e.ID == "first" {
			if err := s.Put(Entry{ID: "later", Kind: KindStop}); err != nil {
				t.Error(err)
			}
			return
		}
		close(hang.free)
	})
	d := &Deliverer{Spool: s, Channels: []Channel{hang, both}, Plan: Plan{Attempts: 1, Timeout: time.Hour, Keep: time.Hour},
		When: map[string]Schedule{"passing": {About: []string{AboutStops}}, "blocked": {About: []string{AboutApprovals}}}}
	if err := s.Put(Entry{ID: "first", Kind: KindStop}); err != nil {
		t.Fatal(err)
	}
	r := Request{ID: "q", Action: "ls", Deadline: time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
	if err := s.Put(Ask(r, time.Now(), "claude-code", "s1", "/srv/shop")); err != nil {
		t.Fatal(err)
	}
	mustRun(t, d)
	if all := items(t, s); len(all) != 3 || s.Waiting() {
		t.Errorf("%+v", all)
	}
}

// An intervention of the organisation's own goes to its kind only, and what its program
// wrote is kept, masked; one whose kind is gone ends.
func TestOwnKinds(t *testing.T) {
	all, own := &counting{name: "all"}, &running{counting{name: "page"}}
	d, _ := deliverer(t, all)
	d.Own = map[string]Channel{"page": own}
	d.Mask = func(text string) string { return strings.ReplaceAll(text, "SECRET", "***") }
	for _, e := range []Entry{{ID: "own-1", Own: "page"}, {ID: "own-2", Own: "gone"}, {ID: "stop-1"}} {
		if err := d.Spool.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(all.got) != 1 || all.got["stop-1"] != 1 || own.got["own-1"] != 2 || len(own.got) != 1 {
		t.Errorf("the channel got %v, the kind %v", all.got, own.got)
	}
	items, err := d.Spool.List()
	if err != nil || len(items) != 3 || len(items[1].Deliveries) != 0 {
		t.Fatalf("%+v, %v", items, err)
	}
	tries := items[0].Deliveries[0].Attempts
	if len(tries) != 2 || *tries[0].Exit != 3 || tries[0].Output != "key ***" || tries[0].Error != "exit code 3, ***" || *tries[1].Exit != 0 {
		t.Errorf("%+v", tries)
	}
}
