package active

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// The channel that the ledger keeps counts only without the setting, and where the person has a key, only an activation
// that they signed changes it.
func TestKeptChannel(t *testing.T) {
	m := Machine{Home: t.TempDir(), Now: func() int64 { return 0 }}
	m.Log = &audit.Store{Dir: m.Home}
	note := func(name string) {
		if err := m.Log.Note(t.Context(), engine.Note{What: audit.NoteChannel, Detail: name}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when, channel string, kept bool) {
		t.Helper()
		if l, err := m.Limit(); err != nil || l.Channel != channel || l.Kept != kept {
			t.Errorf("%s: %+v, %v; want %q, %v", when, l, err, channel, kept)
		}
	}
	expect("nothing names one", "", false)
	note("stable")
	expect("a note", "stable", true)
	note("canary")
	expect("a later note without a key", "canary", true)

	settings := filepath.Join(m.Home, "policy", "settings.yaml")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"releases: {channel: beta}": "beta", "releases: {channel: [beta}": "canary"} {
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		expect(text, want, false)
	}
	if err := os.RemoveAll(filepath.Dir(settings)); err != nil {
		t.Fatal(err)
	}

	p := newPen("p")
	if err := m.Log.SetPersonKey(t.Context(), p.Key(), "anna", nil); err != nil {
		t.Fatal(err)
	}
	note("stable")
	expect("a note with a key, and no signature", "canary", true)
	act := engine.Control{Do: engine.ControlActivate, Mode: bundles.User, Digest: "0"}
	if err := m.Log.Act(t.Context(), act, newPen("x")); err == nil {
		note("beta")
		expect("an act that another key signed", "canary", true)
	}
	if err := m.Log.Act(t.Context(), act, p); err != nil {
		t.Fatal(err)
	}
	note("beta")
	expect("a note right after a signed act", "beta", true)
	note("stable")
	expect("one more note", "beta", true)
}
