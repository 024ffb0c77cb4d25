package uicmd

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
)

const hostile = `<script>alert(1)</script>`

// filled returns a book of a log with some sessions. now is when their calls were made.
func filled(t *testing.T, live bool, sessions ...string) *book {
	t.Helper()
	home := filepath.Join(t.TempDir(), "state")
	log := &audit.Store{Dir: home}
	b := newBook(&cli.App{Home: home, Streams: term.Streams{Env: func(string) string { return "" }}}, log, live)
	b.zone = time.UTC
	b.now = func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }
	for _, id := range sessions {
		write(t, b, id, call("1", "ls", engine.Allow), call("2", "rm "+hostile, engine.Block), saved("3", "rm b.txt"), stored())
	}
	return b
}

func write(t *testing.T, b *book, session string, records ...*engine.Record) {
	t.Helper()
	key := engine.SessionKey{Harness: "claude-code", Session: session}
	err := b.log.Update(t.Context(), key, func(tail history.Tail) error {
		if tail.History.Empty() {
			open := &engine.Record{Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/srv/shop"}}
			records = append([]*engine.Record{open}, records...)
		}
		for _, r := range records {
			r.Session, r.Harness, r.T = key.Session, key.Harness, b.now().UnixMilli()-60_000
			if r.Act != nil {
				r.Act.Of = fmt.Sprintf("%.8s-%d", tail.History.Chain, tail.History.N)
			}
			if err := tail.Append(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func call(id, what string, effect engine.Verdict) *engine.Record {
	return &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: id, Event: &engine.EventFacts{Tool: "Bash", CWD: "/srv/shop"},
		Action: &engine.Action{Name: "code.exec", Resource: what}, Answer: &engine.AnswerFacts{Effect: effect, Mode: engine.ModeEnforced},
		Decision: &engine.Decision{Decision: effect, Enforced: effect, Reason: "because",
			Rules: []engine.RuleResult{{ID: "some_rule", Decision: effect, Severity: "high", Harm: engine.HarmLoss, Message: "it deletes " + what}}}}
}

func saved(id, what string) *engine.Record {
	r := call(id, what, engine.Allow)
	r.Decision.Obligations = []string{engine.ObligationSave}
	return r
}

func stored() *engine.Record {
	return &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActCheckpoint, Result: engine.CheckpointTaken,
		Checkpoint: &engine.CheckpointFacts{ID: "0badcafe-1", Saved: &engine.Saved{Files: 2, Bytes: 10, Until: 1_900_000_000_000}}}}
}

func (b *book) get(t *testing.T, address string) (int, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	status, page := b.serve(t.Context(), strings.TrimSuffix(u.Path, ".html"), u.Query())
	return status, string(page)
}

var link = regexp.MustCompile(`href="([^"#]+\.html)`)

// From the first page, what was stopped and why is one click away, and the line that restores a saved file is two: running it is the
// third step.
func TestClicks(t *testing.T) {
	b := filled(t, true, "a")
	status, today := b.get(t, "index.html")
	if status != http.StatusOK || !strings.Contains(today, "it deletes rm &lt;script") || !strings.Contains(today, "Worth a look") {
		t.Fatalf("%d %s", status, today)
	}
	if _, denied := b.get(t, "index-denied.html"); !strings.Contains(today, `href="index-denied.html"`) || !strings.Contains(denied, "it deletes rm") {
		t.Errorf("what was denied is not one click away: %s", denied)
	}
	_, list := b.get(t, "index-saved.html")
	record := link.FindAllStringSubmatch(list[strings.Index(list, "<ol"):], -1)[0][1]
	if _, page := b.get(t, record); !strings.Contains(today, `href="index-saved.html"`) || !strings.Contains(page, "reviewer checkpoint restore "+
		strings.TrimSuffix(strings.TrimPrefix(record, "record-"), ".html")) {
		t.Errorf("the saved file's page has no line that restores it: %s", page)
	}
}

// Each link of each page leads to a page, live and in files.
func TestLinks(t *testing.T) {
	b := filled(t, true, "a", "b")
	seen, todo := map[string]bool{}, []string{"index.html"}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		status, page := b.get(t, at)
		if status != http.StatusOK || strings.Contains(page, hostile) {
			t.Errorf("%s: %d", at, status)
		}
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			todo = append(todo, m[1])
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d pages were found", len(seen))
	}
	dir := filepath.Join(t.TempDir(), "out")
	files := newBook(b.app, b.log, false)
	files.now, files.zone = b.now, b.zone
	n, err := files.export(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != n {
		t.Errorf("%d files, %d written, %v", len(entries), n, err)
	}
	for _, e := range entries {
		page, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(page), -1) {
			if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
				t.Errorf("%s links to %s, which was not written", e.Name(), m[1])
			}
		}
	}
	if _, err := files.export(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("into the same folder: %v", err)
	}
}

// What is recorded while the pages are open is on the next page, and a page that follows is told.
func TestPagesFollowTheLog(t *testing.T) {
	b := filled(t, true, "a")
	before, err := b.Changes()
	if err != nil {
		t.Fatal(err)
	}
	write(t, b, "a", call("9", "git push", engine.Ask))
	write(t, b, "new", call("1", "make", engine.Block))
	after, err := b.Changes()
	if err != nil || before == after {
		t.Errorf("%q, then %q, %v", before, after, err)
	}
	if _, page := b.get(t, "index-all.html"); !strings.Contains(page, "git push") || !strings.Contains(page, "make") {
		t.Errorf("the page has %s", page)
	}
}

// A log that cannot be read to its end is shown up to there, with the reason; so is one that a newer version wrote.
func TestDamagedLogs(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"a damaged line":    func(s string) string { return strings.Replace(s, `"rm b.txt"`, `"rm c.txt"`, 1) },
		"a broken line":     func(s string) string { return strings.Replace(s, `{"v":1,"prev":"`, `{"v":1,"pr`, 3) },
		"another version":   func(s string) string { return strings.ReplaceAll(s, `{"v":1,`, `{"v":2,`) },
		"nothing of a line": func(string) string { return "\x00\n" },
	} {
		t.Run(name, func(t *testing.T) {
			b := filled(t, true, "a", "b")
			dirs, err := filepath.Glob(filepath.Join(b.log.SessionsDir(), "*", "000001.jsonl"))
			if err != nil || len(dirs) != 2 {
				t.Fatal(dirs, err)
			}
			raw, err := os.ReadFile(dirs[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dirs[0], []byte(change(string(raw))), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(filepath.Dir(dirs[0]), "snapshot.json")); err != nil {
				t.Fatal(err)
			}
			status, page := b.get(t, "session-"+filepath.Base(filepath.Dir(dirs[0]))+".html")
			if status != http.StatusOK || !strings.Contains(page, `class="bad"`) && !strings.Contains(page, "cannot be read") {
				t.Errorf("%d %s", status, page)
			}
			if status, page := b.get(t, "index.html"); status != http.StatusOK || !strings.Contains(page, "Worth a look") {
				t.Errorf("the other session is not shown: %d %s", status, page)
			}
			if status, _ := b.get(t, "sessions.html"); status != http.StatusOK {
				t.Errorf("the list: %d", status)
			}
		})
	}
}

// What does not exist, or was deleted meanwhile, is said, and a name leads nowhere else.
func TestUnknownPages(t *testing.T) {
	b := filled(t, true, "a")
	for _, name := range []string{"record-00000000-1.html", "session-00000000000000000000000000000000.html", "../key", "..%2fkey", "index-nothing.html", "x",
		"incident-00000000-1.html", "compare.html?a=1&b=2", "session-0-p2.html"} {
		if status, page := b.get(t, name); status != http.StatusNotFound || !strings.Contains(page, "<h1>") {
			t.Errorf("%s: %d %s", name, status, page)
		}
	}
	_, list := b.get(t, "sessions.html")
	session := regexp.MustCompile(`session-[0-9a-f]{32}\.html`).FindString(list)
	if status, _ := b.get(t, session); status != http.StatusOK {
		t.Fatal(status)
	}
	if err := os.RemoveAll(filepath.Join(b.log.SessionsDir(), strings.TrimSuffix(strings.TrimPrefix(session, "session-"), ".html"))); err != nil {
		t.Fatal(err)
	}
	if status, _ := b.get(t, session); status != http.StatusNotFound {
		t.Errorf("a page of a session that was deleted: %d", status)
	}
}

func TestSearch(t *testing.T) {
	b := filled(t, true, "a")
	for query, want := range map[string]string{
		"q=B.TXT": "rm b.txt", "q=%3Cscript": "rm &lt;script", "rule=some_rule": "rm b.txt", "harm=loss&answer=block": "rm &lt;script", "q=ls&answer=allow": "<code>ls",
		"q=rm&from=2026-11-20&to=2026-11-20": "rm b.txt",
	} {
		if status, page := b.get(t, "search.html?"+query); status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%s: %d, without %s", query, status, want)
		}
	}
	for query, without := range map[string]string{"q=nothing-like-it": "<li", "harm=guard": "<code>rm", "q=rm&to=2026-11-19": "<code>rm", "answer=block": "b.txt", "person=approved": "<code>rm"} {
		if _, page := b.get(t, "search.html?"+query); strings.Contains(page, without) {
			t.Errorf("%s finds %s", query, without)
		}
	}
	for _, query := range []string{"from=yesterday", "harm=everything", "answer=x", "person=x"} {
		if _, page := b.get(t, "search.html?"+query); !strings.Contains(page, `role="alert"`) {
			t.Errorf("%s is not refused", query)
		}
	}
}

// An empty log, and a state directory that is not there yet, are quiet.
func TestNothingRecorded(t *testing.T) {
	b := filled(t, true)
	if status, page := b.get(t, "index.html"); status != http.StatusOK || !strings.Contains(page, "Nothing happened.") {
		t.Errorf("%d %s", status, page)
	}
	for _, name := range []string{"sessions.html", "questions.html", "policy.html", "search.html"} {
		if status, _ := b.get(t, name); status != http.StatusOK {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// The pages are not served to a process that no person started.
func TestServingNeedsAPerson(t *testing.T) {
	b := filled(t, true)
	if err := serveLive(context.Background(), b.app, b, 0); err == nil || !strings.Contains(err.Error(), "--export DIR") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(b.log.Dir, "ui.address")); err == nil {
		t.Error("an address was recorded")
	}
}
