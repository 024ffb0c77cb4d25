package active

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// pen is a person's key.
type pen struct{ private ed25519.PrivateKey }

func newPen(letter string) pen {
	return pen{ed25519.NewKeyFromSeed([]byte(strings.Repeat(letter, ed25519.SeedSize)))}
}

func (p pen) Sign(b []byte) []byte { return ed25519.Sign(p.private, b) }

func (p pen) Key() engine.PersonKey {
	return engine.PersonKey{Public: hex.EncodeToString(p.private.Public().(ed25519.PublicKey)), Salt: "00", Passes: 1, Memory: 32}
}

// signs lets a person sign what they activate.
func (a *Activator) signs(t *testing.T, p pen) {
	a.Machine.Log = a.Log
	a.Sign = func(ctx context.Context, act Act) (*Signature, error) {
		return &Signature{Who: "anna", Record: func() error {
			return a.Log.Act(ctx, engine.Control{Do: engine.ControlActivate, Mode: act.Layer, Digest: digestOfAct(act.Doc)}, p)
		}}, nil
	}
	if err := a.Log.SetPersonKey(t.Context(), p.Key(), "anna", nil); err != nil {
		t.Fatal(err)
	}
}

// inUse returns what is active in the user's layer, as a process reads it that starts now.
func (a *Activator) inUse(t *testing.T) (string, error) {
	t.Helper()
	h, err := Machine{Home: a.Home, Program: a.Program}.Layers("")
	if err != nil {
		return "", err
	}
	if err := h.lost[bundles.User]; err != nil {
		return "", err
	}
	return h.Active.Layers[bundles.User].Archive, nil
}

// What a program of the same user can do to the state folder does not change what is active.
func TestOnlySignedActivations(t *testing.T) {
	for name, c := range map[string]struct {
		forge func(t *testing.T, a *Activator, good, bad releases.Activation)
		lost  bool
	}{
		"nothing": {forge: func(*testing.T, *Activator, releases.Activation, releases.Activation) {}},
		"the pointer": {forge: func(t *testing.T, a *Activator, _, bad releases.Activation) {
			a.point(t, bad)
		}},
		"the pointer and a note": {forge: func(t *testing.T, a *Activator, _, bad releases.Activation) {
			a.point(t, bad)
			a.forgeNote(t, bad)
		}},
		"an act that another key signed": {forge: func(t *testing.T, a *Activator, _, bad releases.Activation) {
			a.point(t, bad)
			act := engine.Control{Do: engine.ControlActivate, Mode: bundles.User, Digest: digestOfAct(ActivationAct(bad))}
			if err := a.Log.Act(t.Context(), act, newPen("x")); err != nil {
				t.Fatal(err)
			}
		}},
		"a key of its own": {forge: func(t *testing.T, a *Activator, _, bad releases.Activation) {
			a.point(t, bad)
			p := newPen("x")
			if err := a.Log.SetPersonKey(t.Context(), p.Key(), "anna", nil); err != nil {
				t.Fatal(err)
			}
			act := engine.Control{Do: engine.ControlActivate, Mode: bundles.User, Digest: digestOfAct(ActivationAct(bad))}
			if err := a.Log.Act(t.Context(), act, p); err != nil {
				t.Fatal(err)
			}
		}},
		"no bundle": {forge: func(t *testing.T, a *Activator, _, _ releases.Activation) {
			none := releases.Activation{Layer: bundles.User}
			a.point(t, none)
			a.forgeNote(t, none)
		}},
		"an activation whose bundle is gone": {lost: true, forge: func(t *testing.T, a *Activator, _, bad releases.Activation) {
			bad.Release.Archive = strings.Repeat("0", 64)
			a.forgeNote(t, bad)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := activatorIn(t.TempDir())
			bad, err := a.Activate(t.Context(), Request{File: "bad", Archive: bundleOf(t, bundles.User), Reason: "before the key"})
			if err != nil {
				t.Fatal(err)
			}
			a.signs(t, newPen("p"))
			if got, err := a.inUse(t); err != nil || got != bad.Archive {
				t.Fatalf("what was active before the first key is %q now, %v", got, err)
			}
			good, err := a.Activate(t.Context(), Request{File: "good", Archive: anotherBundle(t), Reason: "with the key"})
			if err != nil {
				t.Fatal(err)
			}
			c.forge(t, a, good.Activation, bad.Activation)
			if got, err := a.inUse(t); (err != nil) != c.lost || !c.lost && got != good.Archive {
				t.Errorf("active is %q, want %q: %v", got, good.Archive, err)
			}
			again, err := a.Activate(t.Context(), Request{File: "good", Archive: anotherBundle(t), Reason: "again"})
			if err != nil || !c.lost && !again.Already {
				t.Errorf("activated again: %+v, %v", again, err)
			}
			if got, err := a.inUse(t); err != nil || got != good.Archive {
				t.Errorf("active after that is %q: %v", got, err)
			}
		})
	}
}

// point changes the pointer of the store, as any program can.
func (a *Activator) point(t *testing.T, to releases.Activation) {
	t.Helper()
	_, err := Releases(a.Home).Change(t.Context(), func(s *releases.State) (*releases.Next, error) {
		return &releases.Next{Layer: to.Layer, Release: to.Release, At: 1, By: "anna", Before: s.Active.Generation}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (a *Activator) forgeNote(t *testing.T, of releases.Activation) {
	t.Helper()
	s, err := Releases(a.Home).State()
	if err != nil {
		t.Fatal(err)
	}
	detail := fmt.Sprintf("generation %d, %s layer: %s, by anna", s.Active.Generation, of.Layer, ReleaseText(of.Release))
	if err := a.Log.Note(t.Context(), engine.Note{What: audit.NoteActivated, Detail: detail}); err != nil {
		t.Fatal(err)
	}
}

func anotherBundle(t *testing.T) []byte {
	t.Helper()
	b, err := bundles.FromFiles(map[string][]byte{
		".manifest":     []byte(`{"roots": ["policies/user"], "rego_version": 1, "metadata": {"name": "acme/agents", "version": "1.5.0"}}`),
		"settings.yaml": []byte("risk: {high_threshold: 0.7}\n"),
	}, bundles.User)
	if err != nil {
		t.Fatal(err)
	}
	made, err := bundles.Pack(b, bundles.Release{Name: "acme/agents", Version: "1.5.0", Sequence: 43, Engine: 1, TestsSkipped: true})
	if err != nil {
		t.Fatal(err)
	}
	return made.Bytes
}
