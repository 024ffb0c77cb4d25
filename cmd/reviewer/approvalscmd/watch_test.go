package approvalscmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

func TestWindowSetting(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"enforcement: enforce": time.Hour, "overrides: {window: 15}": 15 * time.Minute, "overrides: {window: 0}": 0, "overrides: {window: 480}": 8 * time.Hour,
		"overrides: {window: 481}": 0, "overrides: [": 0, // each act needs the code until the settings are right
	} {
		home := t.TempDir()
		err := os.MkdirAll(filepath.Join(home, "policy"), 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(home, "policy", "settings.yaml"), []byte(text+"\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(t.TempDir())
		a := &cli.App{Home: home, Streams: term.Streams{Stderr: &bytes.Buffer{}, Env: func(string) string { return "" }}}
		if got := windowOf(context.Background(), a); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// watcherWithKey returns a watcher that keeps a key, and its clocks.
func watcherWithKey(t *testing.T) (*watcher, *signed.Moment) {
	t.Helper()
	codes := &code.Store{Log: &audit.Store{Dir: t.TempDir()}, Cheap: true}
	secret, err := codes.Set(context.Background(), "kim", nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := codes.Unlock(context.Background(), secret)
	if err != nil {
		t.Fatal(err)
	}
	now := &signed.Moment{}
	w := &watcher{app: &cli.App{Streams: term.Streams{Stdout: &bytes.Buffer{}}}, board: *newBoard(false, questions(1)...),
		choice: answering{queue: queue.Queue{Log: codes.Log}}, window: signed.Window{Limit: time.Hour, Clock: func() signed.Moment { return *now }}}
	w.window.Open(&signed.Act{Signer: key, By: "kim", Channel: signed.Terminal})
	w.keep()
	if !w.board.open {
		t.Fatal("the key is not kept")
	}
	return w, now
}

// An act that was begun does not go on when the key is gone: the next keys are not a pair any more.
func TestKeyGoesWhileAnActIsTyped(t *testing.T) {
	w, now := watcherWithKey(t)
	pressed(&w.board, "a")
	now.Awake, now.All = time.Hour, time.Hour
	w.keep()
	if w.board.open || w.board.confirming != nil || !strings.Contains(w.board.status, "the key was wiped: its time is over") {
		t.Errorf("open %t, %+v, %q", w.board.open, w.board.confirming, w.board.status)
	}
	if got := pressed(&w.board, "##"); got != "" {
		t.Errorf("it goes on: %s", got)
	}
}

// Between two looks at the clock, an act looks itself.
func TestActLooksAtTheClock(t *testing.T) {
	w, now := watcherWithKey(t)
	o := w.board.orderOf('a', w.board.chosen)
	now.All = 10 * time.Minute // asleep
	if act, err := w.signer(context.Background(), o, nil); act != nil || err == nil || !strings.Contains(err.Error(), "the machine slept") {
		t.Errorf("%+v, %v", act, err)
	}
	deny := w.board.orderOf('d', w.board.chosen)
	if act, err := w.signer(context.Background(), deny, nil); act != nil || err != nil {
		t.Errorf("a denial: %+v, %v", act, err)
	}
}

func TestWrongPairsWipeTheKey(t *testing.T) {
	w, _ := watcherWithKey(t)
	w.board.since = time.Time{}
	if quit, err := w.take(context.Background(), []byte("azzazzazz"), nil); quit || err != nil {
		t.Fatal(quit, err)
	}
	if act, _ := w.window.Act(); act != nil || w.board.open {
		t.Error("the key is kept")
	}
}
