package notify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func asked(change func(*Request)) Entry {
	r := Request{ID: "a", Action: "rm -rf build", Deadline: "2026-11-24T12:03:00Z"}
	change(&r)
	return Ask(r, time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), "claude-code", "s1", "/home/ann/shop")
}

// What is put into the spool is short, and shows what a person could not see.
func TestRequestsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		action, want string
		notes        []string
	}{
		"plain":           {"rm -rf build\n\tnext", "rm -rf build\n\tnext", nil},
		"letters":         {"touch Ünï 日本", "touch Ünï 日本", nil},
		"right to left":   {"rm \u202e txt", `rm \u202e txt`, []string{`action: invisible characters are escaped (\u…)`}},
		"isolates":        {"rm \u2066x\u2069", `rm \u2066x\u2069`, []string{`action: invisible characters are escaped (\u…)`}},
		"zero width":      {"r\u200bm \u200d\ufeff", `r\u200bm \u200d\ufeff`, []string{`action: invisible characters are escaped (\u…)`}},
		"tags":            {"ls \U000e0041", `ls \U000e0041`, []string{`action: invisible characters are escaped (\u…)`}},
		"fillers":         {"ls \u3164\u2800\u00a0", `ls \u3164\u2800\u00a0`, []string{`action: invisible characters are escaped (\u…)`}},
		"variants":        {"ls a\ufe00", `ls a\ufe00`, []string{`action: invisible characters are escaped (\u…)`}},
		"controls":        {"ls \x1b[2K\rdone\x00", `ls \x1b[2K\rdone\x00`, []string{`action: invisible characters are escaped (\u…)`}},
		"DOS line ends":   {"dir\r\ndel x", "dir\ndel x", nil},
		"hebrew":          {"rm אב", "rm אב", []string{"action: it has right-to-left letters: a screen may show its parts in another order"}},
		"a megabyte":      {strings.Repeat("x", 1<<20), strings.Repeat("x", 4000) + "…", []string{"action: the first characters: 4000 of 1048576"}},
		"a hidden one":    {strings.Repeat("\u200b", 1<<20), strings.Repeat(`\u200b`, 666) + "…", []string{`action: invisible characters are escaped (\u…)`, "action: the first characters: 666 of 1048576"}},
		"broken encoding": {"ls \xff", "ls \ufffd", nil},
	} {
		s := Spool{t.TempDir()}
		if err := s.Put(asked(func(r *Request) { r.Action = tt.action })); err != nil {
			t.Fatal(err)
		}
		got := items(t, s)["approval-a"].Entry.Approval
		if got == nil || got.Action != tt.want || strings.Join(got.Notes, "\n") != strings.Join(tt.notes, "\n") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// All that a request has fits into the file of an item.
func TestALargeRequestIsRead(t *testing.T) {
	s := Spool{t.TempDir()}
	long := strings.Repeat("\u202e", 1<<20)
	var list []string
	for range 500 {
		list = append(list, long[:4000])
	}
	e := asked(func(r *Request) {
		r.Action, r.Effects, r.Reasons, r.Notes, r.Undo, r.Level = long, list, list, list, long, long
	})
	e.Session, e.Harness, e.Title = long, long, long
	if err := s.Put(e); err != nil {
		t.Fatal(err)
	}
	got := items(t, s)["approval-a"].Entry
	if got.Approval == nil || len(got.Approval.Effects) != 20 || !strings.Contains(strings.Join(got.Approval.Notes, "\n"), "effects: the first 20 of 500") {
		t.Errorf("%+v", got.Approval)
	}
	if info, err := os.Stat(file(s.queue(), e.ID)); err != nil || info.Size() > 100<<10 {
		t.Errorf("its file: %+v, %v", info, err)
	}
}

// The name of a workspace is told, not its path, and each text of a request is masked before it leaves the machine.
func TestWhatLeaves(t *testing.T) {
	for path, want := range map[string]string{"/home/ann/shop": "shop", `C:\Users\ann\shop`: "shop", "": ""} {
		if e := Ask(Request{}, time.Now(), "", "", path); e.Workspace != want {
			t.Errorf("%q: the workspace is %q", path, e.Workspace)
		}
	}
	c := &keeping{}
	d, now := deliverer(t, c)
	*now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	d.When = map[string]Schedule{"keeping": {About: []string{AboutApprovals}, Digest: time.Second}}
	d.Mask = func(text string) string { return strings.ReplaceAll(text, "SECRET", "***") }
	for _, id := range []string{"a", "b", "c"} {
		e := asked(func(r *Request) {
			r.ID, r.Action, r.Undo = id, "echo SECRET", "SECRET"
			r.Effects, r.Reasons, r.Notes = []string{"SECRET"}, []string{"SECRET"}, []string{"SECRET"}
		})
		e.Title, e.Text = "SECRET", "SECRET"
		if err := d.Spool.Put(e); err != nil {
			t.Fatal(err)
		}
		if id != "b" {
			mustRun(t, d)
		}
	}
	for _, e := range c.got {
		if raw := string(marshal(t, e)); strings.Contains(raw, "SECRET") || !strings.Contains(raw, "***") {
			t.Errorf("sent %s", raw)
		}
	}
	if len(c.got) != 2 || c.got[1].Digest == nil {
		t.Errorf("%d messages", len(c.got))
	}
}

func TestTold(t *testing.T) {
	c := &counting{name: "c"}
	d, now := deliverer(t, c)
	*now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	d.When = map[string]Schedule{"c": {About: []string{AboutApprovals}}}
	dir := d.Spool.Dir
	if _, known, err := Told(dir, "a"); known || err != nil {
		t.Errorf("before: %t, %v", known, err)
	}
	if err := d.Spool.Put(asked(func(*Request) {})); err != nil {
		t.Fatal(err)
	}
	if i, known, err := Told(dir, "a"); !known || err != nil || i.Finished != 0 {
		t.Errorf("while it waits: %+v, %t, %v", i, known, err)
	}
	mustRun(t, d)
	list, err := Deliveries(dir, "a")
	if err != nil || len(list) != 1 || list[0].Status != Delivered || list[0].Attempts[0].Time != "2026-11-24T12:00:00Z" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, id := range []string{"../x", "", "A", "a/b"} {
		if _, _, err := Told(dir, id); err == nil && id != "" {
			t.Errorf("%q was taken as an id", id)
		}
		if err := Resolve(dir, id); err == nil && id != "" {
			t.Errorf("%q was taken as an id", id)
		}
	}
	for range 2 { // an answer can be given before anything is known, and twice
		if err := Resolve(dir, "a"); err != nil {
			t.Error(err)
		}
	}
}

// Of many requests, those that a message has no room for are only counted in it, which is recorded.
func TestCounted(t *testing.T) {
	d, now := deliverer(t, &counting{name: "c"})
	*now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	d.When = map[string]Schedule{"c": {About: []string{AboutApprovals}}}
	for n := range 30 {
		if err := d.Spool.Put(asked(func(r *Request) { r.ID = fmt.Sprint("r", n) })); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, d)
	counted := 0
	for _, i := range items(t, d.Spool) {
		if a := i.Deliveries[0].Attempts[0]; a.Counted {
			counted++
		} else if a.Digest == "" {
			t.Errorf("%+v", a)
		}
	}
	if counted != 10 {
		t.Errorf("%d of 30 were only counted", counted)
	}
}

func TestOddRequests(t *testing.T) {
	s := Spool{t.TempDir()}
	for name, e := range map[string]Entry{
		"without a request": {ID: "approval-a", Kind: KindApproval},
		"of another kind":   {ID: "approval-a", Kind: KindStop, Approval: &Request{ID: "a"}},
		"another id":        {ID: "approval-b", Kind: KindApproval, Approval: &Request{ID: "a", Deadline: "2026-11-24T12:03:00Z"}},
		"no deadline":       asked(func(r *Request) { r.Deadline = "" }),
		"a bad deadline":    asked(func(r *Request) { r.Deadline = "soon" }),
		"a bad id":          asked(func(r *Request) { r.ID = "../../x" }),
	} {
		if err := s.Put(e); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// A file with the times of messages that cannot be read, or that somebody wrote, stops nothing.
func TestOddMessageLogs(t *testing.T) {
	for _, text := range []string{"", "{", "null", `{"c": null}`, `{"c": "x"}`, `{"c": [99999999999999]}`} {
		s := Spool{t.TempDir()}
		if err := os.WriteFile(filepath.Join(s.Dir, "sent.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		if err := s.addMessage(s.messageLog(), "c", now); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := s.messageLog().last("c", now); len(got) != 1 || got[0] != now.UnixMilli() {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Files of requests without an answer go with their entries.
func TestOpenFilesGo(t *testing.T) {
	s := Spool{t.TempDir()}
	for _, id := range []string{"a", "b"} {
		if err := s.Put(asked(func(r *Request) { r.ID = id })); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(file(s.queue(), "approval-b")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{time.Minute, 2}, {2 * time.Hour, 1}} {
		s.sweepOpen(time.Now().Add(tt.after))
		if left, err := os.ReadDir(s.opened()); err != nil || len(left) != tt.want {
			t.Errorf("after %s: %v, %v", tt.after, left, err)
		}
	}
}
