package active

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// activatorIn is a machine at which a person sits.
func activatorIn(home string) *Activator {
	now := int64(1_900_000_000_000)
	anna := func(string) (string, error) { return "anna", nil }
	return &Activator{
		Machine:       Machine{Home: home, Program: func() string { return "this one" }},
		Log:           &audit.Store{Dir: home, Env: engine.Env{Engine: 1}},
		Now:           func() int64 { now++; return now },
		Check:         func(context.Context, *bundles.Effective) error { return nil },
		Try:           func(context.Context, *bundles.Effective, map[string]fs.FS) error { return nil },
		RequirePerson: anna, RequireScript: anna,
		Mask: func(text string) string { return text },
		Line: func(text string, most int) string { return text[:min(len(text), most)] },
	}
}

// ledger returns what the ledger records about activations, the newest last.
func (a *Activator) ledger(t *testing.T) []string {
	t.Helper()
	var notes []string
	for r, err := range a.Log.Ledger() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Note != nil {
			notes = append(notes, r.Note.What+": "+r.Note.Detail)
		}
	}
	return notes
}

func (a *Activator) active(t *testing.T, layer string) releases.Activation {
	t.Helper()
	now, err := Releases(a.Home).Active()
	if err != nil {
		t.Fatal(err)
	}
	return now.Layers[layer]
}

// A bundle that nobody signed holds by a manual override; the second time nothing is
// done, and a rollback to none takes it away again.
func TestActivate(t *testing.T) {
	a := activatorIn(t.TempDir())
	in := Request{File: "acme.tar.gz", Archive: bundleOf(t, bundles.User), Reason: "tried out"}
	made, err := a.Activate(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if made.Already || made.Before != (releases.Release{}).String() || made.By != "anna" || made.Was == nil || made.Is == nil || made.Policy != made.Is.Digest || made.Was.Digest == made.Is.Digest {
		t.Errorf("activated: %+v", made)
	}
	if now := a.active(t, bundles.User); now.Checked != "this one" || !now.Unsigned {
		t.Errorf("active: %+v", now)
	}
	if e, err := a.Effective(""); err != nil || e.Digest != made.Policy {
		t.Errorf("what holds is not what was activated (%v)", err)
	}
	if again, err := a.Activate(t.Context(), in); err != nil || !again.Already {
		t.Errorf("once more: %+v (%v)", again, err)
	}
	state, err := Releases(a.Home).State()
	if err != nil {
		t.Fatal(err)
	}
	layer, err := RollbackLayer(state, "")
	if err != nil || layer != bundles.User {
		t.Fatalf("layer %q (%v)", layer, err)
	}
	target, err := RollbackTarget(state, layer, releases.NoBundle)
	if err != nil {
		t.Fatal(err)
	}
	back := Request{Layer: layer, Reason: "enough", AllowRollback: true}
	if err := back.TakeKept(Releases(a.Home), target); err != nil {
		t.Fatal(err)
	}
	if made, err = a.Activate(t.Context(), back); err != nil || !made.Rollback || !a.active(t, bundles.User).None() {
		t.Errorf("rollback: %+v (%v)", made, err)
	}
	notes := a.ledger(t)
	if len(notes) != 2 || !strings.HasSuffix(notes[0], "by anna: tried out") || !strings.HasSuffix(notes[1], "rollback, by anna: enough") {
		t.Errorf("ledger: %q", notes)
	}
}

// What is refused leaves what holds as it is; a refusal is in the ledger, and an
// error of the machine is not.
func TestActivateRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Activator, *Request)
		want    string
		refused bool
	}{
		"no person": {func(a *Activator, _ *Request) {
			a.RequirePerson = func(string) (string, error) { return "", errors.New("not under an agent") }
		}, "not under an agent", false},
		"another layer": {func(_ *Activator, in *Request) { in.Layer = bundles.Base }, "expected base", true},
		"does not compile": {func(a *Activator, _ *Request) {
			a.Check = func(context.Context, *bundles.Effective) error { return errors.New("bad rule") }
		}, "[compile] not activated: acme.tar.gz: bad rule", true},
		"no archive": {func(_ *Activator, in *Request) { in.Archive = []byte("x") }, "[unpack]", true},
	} {
		t.Run(name, func(t *testing.T) {
			a, in := activatorIn(t.TempDir()), Request{File: "acme.tar.gz", Archive: bundleOf(t, bundles.User)}
			c.change(a, &in)
			_, err := a.Activate(t.Context(), in)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasSuffix(err.Error(), "the previous policy stays active") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			refusal := (*trust.Refusal)(nil)
			if errors.As(err, &refusal) != c.refused || len(a.ledger(t)) > 0 != c.refused {
				t.Errorf("refused %t, ledger %q", !c.refused, a.ledger(t))
			}
			if !a.active(t, bundles.User).None() {
				t.Error("it is active anyway")
			}
		})
	}
}

// The ledger records what a deleted store does not.
func TestLaterInLedger(t *testing.T) {
	a := activatorIn(t.TempDir())
	if _, err := a.Activate(t.Context(), Request{File: "acme.tar.gz", Archive: bundleOf(t, bundles.User)}); err != nil {
		t.Fatal(err)
	}
	now, err := Releases(a.Home).Active()
	if err != nil {
		t.Fatal(err)
	}
	if last, err := LaterInLedger(a.Log, now); err != nil || last != "" {
		t.Errorf("it reports %q (%v)", last, err)
	}
	if last, err := LaterInLedger(a.Log, &releases.Active{}); err != nil || !strings.HasPrefix(last, "generation 1, user layer: ") {
		t.Errorf("of a store that was emptied it tells %q (%v)", last, err)
	}
}

// References that need neither git nor a command.
func TestReferences(t *testing.T) {
	home := t.TempDir()
	var signed []string
	r := References{
		Machine: func() (Machine, error) { return Machine{Home: home}, nil },
		Signed:  func(archive string) { signed = append(signed, archive) },
	}
	shipped, err := r.Policy(t.Context(), RefDefault)
	if err != nil {
		t.Fatal(err)
	}
	if err := KeptIn(home).Put(shipped); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, ref := range []string{RefActive, shipped.Digest, shipped.Digest[:8]} {
		if e, err := r.Policy(t.Context(), ref); err != nil || e.Digest != shipped.Digest {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if e := NewPolicyFinder([]string{filepath.Join(home, "none"), home}).Get(shipped.Digest); e == nil || e.Digest != shipped.Digest {
		t.Error("a policy that was kept is not found")
	}
	for ref, want := range map[string]string{"": "expected a folder", RefRecorded: "can only be a baseline", "defalt": "did you mean default?", "00000000": "no policy with this digest"} {
		if _, err := r.Policy(t.Context(), ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", ref, err, want)
		}
	}
	if len(signed) > 0 {
		t.Errorf("signatures of %q", signed)
	}
}
