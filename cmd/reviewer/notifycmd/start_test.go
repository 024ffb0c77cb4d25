package notifycmd

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/notify/channel"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

var key = engine.SessionKey{Harness: "claude-code", Session: "shop-1"}

// stopped records calls of a session with these decisions, and returns their ids.
func stopped(t *testing.T, store *audit.Store, at time.Time, interventions ...*engine.Intervention) []string {
	t.Helper()
	var ids []string
	err := store.Update(context.Background(), key, func(tail history.Tail) error {
		err := tail.Append(&engine.Record{Kind: engine.KindOpen, T: at.UnixMilli(), Session: key.Session, Harness: key.Harness,
			Open: &engine.Open{Workspace: "/srv/shop"}})
		for _, i := range interventions {
			r := &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, T: at.UnixMilli(), Session: key.Session, Harness: key.Harness,
				Event: &engine.EventFacts{Tool: "Bash"}, Action: &engine.Action{Resource: "rm -rf /"},
				Decision: &engine.Decision{Decision: engine.Block, Enforced: engine.Block, Intervention: i},
				Answer:   &engine.AnswerFacts{Effect: engine.Block, Mode: engine.ModeEnforced}}
			if err == nil {
				err = tail.Append(r)
			}
			ids = append(ids, r.ID())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestStart(t *testing.T) {
	store := &audit.Store{Dir: filepath.Join(t.TempDir(), "home")}
	stop, again := &engine.Intervention{Kind: engine.EmergencyStop, Issue: "disk_write"}, &engine.Intervention{Kind: engine.EmergencyStop}
	ids := stopped(t, store, time.Now(), nil, stop, again)
	started, p := 0, notifying(settings.Channel{})
	a := &cli.App{Detach: func(args ...string) error {
		if started++; strings.Join(args[2:], " ") != "notify deliver --once" {
			t.Errorf("started %s", args)
		}
		return nil
	}}
	lock := filepath.Join(store.Dir, "notify", "lock")
	try := func(what string, want int, id string, stop bool, age time.Duration) {
		t.Helper()
		if age > 0 {
			if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(lock, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(lock, time.Now().Add(-age), time.Now().Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		started = 0
		if Start(a, store, p, key, engine.Answer{ID: id, Stop: stop}); started != want {
			t.Errorf("%s: %d processes were started, want %d", what, started, want)
		}
	}
	try("a call that does not stop", 0, ids[0], false, 0)
	try("a stop that nothing could record", 0, "", true, 0)
	try("a stop", 1, ids[1], true, 0)
	try("a stop shortly after another process", 1, ids[1], true, time.Second)
	try("a call after the stop", 0, ids[2], true, time.Second)
	try("one long after the last process", 1, ids[2], true, 2*time.Minute)
	try("an odd id", 0, "odd", true, time.Second)
	p = &review.Policy{}
	try("no channel", 0, ids[1], true, 2*time.Minute)
	p, a.Detach = notifying(settings.Channel{}), nil
	try("in a test", 0, ids[1], true, 2*time.Minute)
}

// A stop that a review after its answer decides on is told as well, once.
func TestStartLate(t *testing.T) {
	store := &audit.Store{Dir: filepath.Join(t.TempDir(), "home")}
	started := 0
	a := &cli.App{Detach: func(...string) error { started++; return nil }}
	late := func(i *engine.Intervention) *engine.Record {
		return &engine.Record{Kind: engine.KindAct, T: time.Now().UnixMilli(), Session: key.Session, Harness: key.Harness, Act: &engine.Act{
			Kind: engine.ActLateReview, Result: "block", Late: &engine.LateReview{Call: "rm -rf /", Decision: &engine.Decision{
				Decision: engine.Block, Enforced: engine.Block, Reason: "a mistake", Intervention: i}}}}
	}
	StartLate(a, store, notifying(settings.Channel{}), late(nil))
	StartLate(a, store, notifying(settings.Channel{}), &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActLateReview, Late: &engine.LateReview{Failure: "x"}}})
	if started != 0 {
		t.Errorf("%d processes were started for nothing", started)
	}
	stop := late(&engine.Intervention{Kind: engine.EmergencyStop, Issue: "disk_write", Reason: "enough"})
	if StartLate(a, store, notifying(settings.Channel{}), stop); started != 1 {
		t.Error("no process was started")
	}
	ids := stopped(t, store, time.Now(), nil)
	if err := store.Update(context.Background(), key, func(tail history.Tail) error {
		stop.Act.Of = ids[0]
		return tail.Append(stop)
	}); err != nil {
		t.Fatal(err)
	}
	if err := putStops(store, spoolOf(store), time.Now()); err != nil {
		t.Fatal(err)
	}
	items, err := spoolOf(store).List()
	if err != nil || len(items) != 1 || items[0].Entry.Issue != "disk_write" {
		t.Errorf("%d notifications, %v", len(items), err)
	}
}

// What the spool gets follows from the log, and not for stops that are long past.
func TestStopsOfTheLog(t *testing.T) {
	for age, want := range map[time.Duration]int{time.Hour: 1, 25 * time.Hour: 0} {
		store := &audit.Store{Dir: filepath.Join(t.TempDir(), "home")}
		now := time.Now()
		ids := stopped(t, store, now.Add(-age), &engine.Intervention{Kind: engine.EmergencyStop, Issue: "disk_write", Reason: "enough"})
		spool := spoolOf(store)
		for range 2 {
			if err := putStops(store, spool, now); err != nil {
				t.Fatal(err)
			}
		}
		items, err := spool.List()
		if err != nil || len(items) != want {
			t.Fatalf("%s: %d notifications, %v", age, len(items), err)
		}
		if want == 1 && (items[0].Entry.ID != "stop-"+ids[0] || items[0].Entry.Workspace != "/srv/shop") {
			t.Errorf("%+v", items[0].Entry)
		}
	}
}

// notifying is a policy with one channel.
func notifying(c settings.Channel) *review.Policy {
	p := &review.Policy{}
	p.Settings.Interventions.NotificationChannels = []settings.Channel{c}
	return p
}

func TestStartForOwnKinds(t *testing.T) {
	paging := &review.Policy{}
	paging.Settings.Interventions.Kinds = map[string]settings.Kind{"page": {WebhookEnv: "X"}, "slow_down": {Does: []string{"limit"}}}
	store := &audit.Store{Dir: filepath.Join(t.TempDir(), "home")}
	started := 0
	a := &cli.App{Detach: func(...string) error { started++; return nil }}
	for _, answer := range []engine.Answer{{ID: "x-1"}, {ID: "x-5", Intervention: "slow_down"}, {ID: "x-2", Intervention: engine.SoftCorrection}, {Intervention: "page"},
		{ID: "x-3", Intervention: "page", Mode: engine.ModeDuplicate}} {
		Start(a, store, paging, key, answer)
	}
	if started != 0 {
		t.Error("a process was started for nothing")
	}
	if Start(a, store, paging, key, engine.Answer{ID: "x-4", Intervention: "page"}); started != 1 {
		t.Error("no process was started")
	}
}

// Each intervention of an own kind is in the spool once, whatever was recorded around it.
func TestOwnKindsOfTheLog(t *testing.T) {
	for age, want := range map[time.Duration]int{time.Hour: 2, 25 * time.Hour: 0} {
		store := &audit.Store{Dir: filepath.Join(t.TempDir(), "home")}
		now := time.Now()
		page := &engine.Intervention{Kind: "page", Issue: "loop"}
		ids := stopped(t, store, now.Add(-age), &engine.Intervention{Kind: engine.SoftCorrection, Issue: "loop"}, page, nil, page, &engine.Intervention{Kind: "quiet", Issue: "loop"})
		d := &notify.Deliverer{Spool: spoolOf(store), Own: channel.Own(map[string]settings.Kind{"page": {Command: []string{"/bin/page"}}, "other": {Command: []string{"/bin/page"}}, "quiet": {}}, channel.Sources{})}
		for range 2 {
			if err := putAll(store, d, now); err != nil {
				t.Fatal(err)
			}
		}
		items, err := d.Spool.List()
		if err != nil || len(items) != want {
			t.Fatalf("%s: %d entries, %v", age, len(items), err)
		}
		if want == 2 && (items[0].Entry.ID != "own-"+ids[1] || items[0].Entry.Own != "page" || items[0].Entry.Next != "reviewer audit why "+ids[1]) {
			t.Errorf("%+v", items[0].Entry)
		}
	}
}

// A request is written, and a process is started for it unless one delivers already.
func TestAsk(t *testing.T) {
	store := &audit.Store{Dir: filepath.Join(t.TempDir(), "home")}
	started := 0
	a := &cli.App{Detach: func(...string) error { started++; return nil }}
	ask := func(id string) {
		t.Helper()
		r := notify.Request{ID: id, Action: "ls", Deadline: time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}
		if err := Ask(a, store, notify.Ask(r, time.Now(), "claude-code", "s1", "/srv/shop")); err != nil {
			t.Fatal(err)
		}
	}
	ask("a")
	if started != 1 || !spoolOf(store).Waiting() {
		t.Errorf("%d processes were started", started)
	}
	hold := make(chan struct{})
	d := &notify.Deliverer{Spool: spoolOf(store), Channels: []notify.Channel{waiting{hold}}, Plan: notify.Plan{Attempts: 1, Timeout: time.Minute},
		When: map[string]notify.Schedule{"waiting": {About: []string{notify.AboutApprovals}}}}
	done := make(chan error)
	go func() { done <- d.Run(context.Background()) }()
	hold <- struct{}{} // it delivers
	ask("b")
	if started != 1 {
		t.Errorf("%d processes were started while one delivers", started)
	}
	hold <- struct{}{} // the first is delivered, and
	hold <- struct{}{} // the second one found
	hold <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		list, err := notify.Deliveries(Dir(store), id)
		if err != nil || len(list) != 1 || list[0].Status != notify.Delivered {
			t.Errorf("%s: %+v, %v", id, list, err)
		}
	}
	ask("c")
	if started != 2 {
		t.Errorf("%d processes were started", started)
	}
}

// waiting is a channel that waits for the test at the beginning and the end of a message.
type waiting struct{ hold chan struct{} }

func (waiting) Name() string { return "waiting" }

func (w waiting) Send(context.Context, notify.Entry) error {
	<-w.hold
	<-w.hold
	return nil
}

// TestAlerts: the channels for stops get what people are told about the installation, through the spool, or without it if the
// state directory is gone; that is not made again.
func TestAlerts(t *testing.T) {
	got := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- r.URL.Path + " " + string(body)
	}))
	defer server.Close()
	dir := t.TempDir()
	store := &audit.Store{Dir: filepath.Join(dir, "state")}
	file := filepath.Join(store.Dir, "policy", "settings.yaml")
	text := "interventions:\n  notification_channels:\n" +
		"    - {name: team, kind: webhook, url: '" + server.URL + "/team'}\n" +
		"    - {name: phone, kind: webhook, url: '" + server.URL + "/phone', about: [approvals]}\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	started := 0
	a := &cli.App{Home: store.Dir, Detach: func(...string) error { started++; return nil }}
	a.Env = func(name string) string { return map[string]string{"HOME": dir}[name] }
	alerts, err := AlertsOf(a, store.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := alerts.Send(a, store, "settings", "codex", "the hooks were removed", true); err != nil || started != 1 || !Waiting(store) || len(got) > 0 {
		t.Errorf("with a state directory: %v, %d processes started, waiting: %v, %d sent", err, started, Waiting(store), len(got))
	}
	if err := os.RemoveAll(store.Dir); err != nil {
		t.Fatal(err)
	}
	if err := alerts.Send(a, store, "state", "", "the state directory is gone", false); err != nil || started != 1 {
		t.Errorf("without a state directory: %v, %d processes started", err, started)
	}
	if message := <-got; !strings.HasPrefix(message, "/team ") || !strings.Contains(message, "the state directory is gone") {
		t.Errorf("sent %s", message)
	}
	if _, err := os.Lstat(store.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state directory is there again: %v", err)
	}
}
