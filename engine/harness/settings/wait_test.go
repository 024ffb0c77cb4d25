package settings

import (
	"bytes"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// Where questions wait for a person, the hook before a call is given that time by the client and in
// its own command line, in every agent whose client allows it; everything else stays as it was, and
// both forms are recognised.
func TestWait(t *testing.T) {
	for _, a := range Agents() {
		for _, name := range layerNames() {
			for _, l := range a.Targets(linux(), name) {
				usual := command("2.1.300")
				patient := usual
				patient.Wait = 150 * time.Second
				waits(t, a, l, usual, patient)
			}
		}
	}
}

func waits(t *testing.T, a Agent, l Layer, usual, patient HookCommand) {
	t.Helper()
	first := fileWith(t, l, nil, usual)
	long := fileWith(t, l, nil, patient)
	if again := fileWith(t, l, first, patient); !bytes.Equal(again, long) {
		t.Errorf("%s: installed over the usual form:\n%s", l.Path, again)
	}
	if back := fileWith(t, l, long, usual); !bytes.Equal(back, first) {
		t.Errorf("%s: installed without the time again:\n%s", l.Path, back)
	}
	if gone, err := l.Format.Uninstall(long); err != nil || gone != nil && bytes.Contains(gone, []byte("--timeout")) {
		t.Errorf("%s: after uninstalling (%v):\n%s", l.Path, err, gone)
	}
	if l.Format.Inspect == nil {
		return
	}
	before, after := l.Format.Inspect(first, usual.Client).Own, l.Format.Inspect(long, usual.Client).Own
	if len(before) != len(after) {
		t.Fatalf("%s: %d hooks, then %d", l.Path, len(before), len(after))
	}
	for i, own := range after {
		wait, limit := 0, before[i].Timeout
		if gate := (Hook{Phase: a.Phase(own.Event)}).gate(); own.Form == "plugin" || gate && a.Longest == 0 {
			wait = 150
			if limit > 0 {
				limit = int(patient.Wait / a.Unit)
			}
		}
		if own.Wait != wait || own.Form != "plugin" && own.Timeout != limit || len(own.Problems) > 0 {
			t.Errorf("%s: %s waits %d s of %d: %v", l.Path, own.Event, own.Wait, own.Timeout, own.Problems)
		}
	}
}

func fileWith(t *testing.T, l Layer, old []byte, c HookCommand) []byte {
	t.Helper()
	raw, err := l.Format.Install(old, c)
	if err != nil {
		t.Fatalf("%s: %v", l.Path, err)
	}
	return raw
}

// Where the hooks are given the fingerprint of a key, every one has it, and a later installation changes or removes it.
func TestKey(t *testing.T) {
	const one, two = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	for _, a := range Agents() {
		found := 0
		for _, name := range layerNames() {
			for _, l := range a.Targets(linux(), name) {
				usual := command("2.1.300")
				with := func(key string) HookCommand {
					c := usual
					c.Key = key
					return c
				}
				plain := fileWith(t, l, nil, usual)
				first := fileWith(t, l, plain, with(one))
				if back := fileWith(t, l, fileWith(t, l, first, with(two)), usual); !bytes.Equal(back, plain) {
					t.Errorf("%s: installed without a key again:\n%s", l.Path, back)
				}
				if gone, err := l.Format.Uninstall(first); err != nil || bytes.Contains(gone, []byte(one)) {
					t.Errorf("%s: after uninstalling (%v):\n%s", l.Path, err, gone)
				}
				if _, err := l.Format.Install(nil, with("x; rm -rf /")); err == nil && bytes.Contains(first, []byte(one)) {
					t.Errorf("%s: a key that is none is written", l.Path)
				}
				if l.Format.Inspect == nil {
					continue
				}
				for _, own := range l.Format.Inspect(first, usual.Client).Own {
					if found++; own.Key != one || len(own.Problems) > 0 {
						t.Errorf("%s: %s has the key %q: %v", l.Path, own.Event, own.Key, own.Problems)
					}
				}
			}
		}
		if found == 0 && a.Name != harness.Copilot && a.Name != harness.Pi {
			t.Errorf("%s: no hook was found", a.Name)
		}
	}
}
