package releases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/google/go-cmp/cmp"
)

// archive is what the archive of a sequence holds in these tests.
func archive(sequence int64) []byte { return []byte(fmt.Sprintf("archive %d", sequence)) }

func release(sequence int64) Release {
	envelope := fmt.Sprintf("envelope %d", sequence)
	return Release{Archive: Sum(archive(sequence)), Envelope: Sum([]byte(envelope)), Name: "acme/agents", Channel: "stable", Version: fmt.Sprintf("1.%d.0", sequence), Sequence: sequence}
}

// nextOf is the change that makes a sequence active in a layer.
func nextOf(s *State, layer string, sequence int64, record func(Activation) error) *Next {
	return &Next{
		Layer: layer, Release: release(sequence), Archive: archive(sequence), Envelope: fmt.Appendf(nil, "envelope %d", sequence),
		At: sequence, By: "anna", Before: s.Active.Layers[layer].Generation, Record: record,
	}
}

// activate makes a sequence active in a layer.
func activate(d *Store, layer string, sequence int64, record func(Activation) error) (*Activation, error) {
	return d.change(func(s *State) (*Next, error) { return nextOf(s, layer, sequence, record), nil })
}

// back makes a layer what it was before.
func back(d *Store, layer string) (*Activation, error) {
	return d.change(func(s *State) (*Next, error) {
		to, err := s.Previous(layer)
		return &Next{Layer: layer, Release: to.Release, At: 99, Rollback: true, Before: to.Before}, err
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustActivate(t *testing.T, d *Store, layer string, sequences ...int64) {
	t.Helper()
	for _, n := range sequences {
		_, err := activate(d, layer, n, nil)
		must(t, err)
	}
}

// holds is the sequence that is active in a layer, its bytes as they were
// activated; 0: no bundle.
func holds(t *testing.T, d *Store, layer string) int64 {
	t.Helper()
	a, err := d.Active()
	must(t, err)
	now := a.Layers[layer]
	if now.None() {
		return 0
	}
	b, err := d.Archive(now.Release)
	must(t, err)
	e, err := d.Envelope(now.Release)
	must(t, err)
	if string(b) != string(archive(now.Sequence)) || string(e) != fmt.Sprintf("envelope %d", now.Sequence) {
		t.Errorf("%s: the bytes are %q and %q", now.Release, b, e)
	}
	return now.Sequence
}

func TestActivateAndBack(t *testing.T) {
	d := Open(t.TempDir())
	if got := holds(t, d, "base"); got != 0 {
		t.Errorf("a new store holds %d", got)
	}
	mustActivate(t, d, "base", 1, 2)
	mustActivate(t, d, "organisation", 7)
	mustActivate(t, d, "base", 3)
	for _, want := range []int64{2, 1, 0} {
		_, err := back(d, "base")
		must(t, err)
		if got := holds(t, d, "base"); got != want {
			t.Errorf("back to %d, want %d", got, want)
		}
	}
	if _, err := back(d, "base"); err == nil {
		t.Error("a layer without a bundle goes back")
	}
	if got := holds(t, d, "organisation"); got != 7 {
		t.Errorf("the other layer holds %d", got)
	}
	seen, err := d.Seen()
	must(t, err)
	if got := seen.Of("acme/agents", "stable"); got.Sequence != 7 || got.Archive != release(7).Archive || got.At != 7 {
		t.Errorf("seen: %+v", got)
	}
	list, err := d.History()
	must(t, err)
	var told []string
	for _, a := range list {
		told = append(told, fmt.Sprintf("%d %s %d<%d", a.Generation, a.Layer, a.Sequence, a.Before))
	}
	want := []string{"1 base 1<0", "2 base 2<1", "3 organisation 7<0", "4 base 3<2", "5 base 2<1", "6 base 1<0", "7 base 0<0"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// What is forgotten leaves no bytes behind, and what is active is never
// forgotten.
func TestBounded(t *testing.T) {
	d := Open(t.TempDir())
	mustActivate(t, d, "organisation", 1000)
	for n := range int64(3 * maxHistory) {
		mustActivate(t, d, "base", n+1)
	}
	list, err := d.History()
	must(t, err)
	if len(list) != maxHistory || list[0].Layer != "organisation" {
		t.Errorf("%d activations, the first of %s", len(list), list[0].Layer)
	}
	names, err := d.disk.List(objectsName)
	must(t, err)
	if len(names) != 2*maxHistory {
		t.Errorf("%d objects", len(names))
	}
	if got := holds(t, d, "organisation"); got != 1000 {
		t.Errorf("organisation holds %d", got)
	}
	for range maxHistory - 2 {
		_, err := back(d, "base")
		must(t, err)
	}
	if info, err := d.disk.Size(activeName); err != nil || info > maxActive/4 {
		t.Errorf("what hooks read has %d bytes, %v", info, err)
	}
}

func TestFind(t *testing.T) {
	d := Open(t.TempDir())
	mustActivate(t, d, "base", 1, 2, 12)
	s, err := d.State()
	must(t, err)
	for what, want := range map[string]int64{
		"1": 1, "2": 2, "12": 12, release(2).Archive: 2, release(2).Archive[:8]: 2,
		"3": 0, release(2).Archive[:3]: 0, "": 0, "none": 0, release(2).Archive + "0": 0,
	} {
		a, err := s.Find("base", what)
		if a.Sequence != want || (err == nil) != (want > 0) {
			t.Errorf("%q finds %d (%v), want %d", what, a.Sequence, err, want)
		}
	}
	if _, err := s.Find("organisation", "1"); err == nil {
		t.Error("a bundle of another layer is found")
	}
}

// A change that is not recorded is not made.
func TestNotRecorded(t *testing.T) {
	d := Open(t.TempDir())
	mustActivate(t, d, "base", 1)
	full := errors.New("the log is full")
	_, err := activate(d, "base", 2, func(a Activation) error {
		if got := holds(t, d, "base"); a.Generation != 2 || got != 1 {
			t.Errorf("recorded generation %d while %d is active", a.Generation, got)
		}
		return full
	})
	if !errors.Is(err, full) || holds(t, d, "base") != 1 {
		t.Errorf("%v, and %d is active", err, holds(t, d, "base"))
	}
	list, err := d.History()
	if err != nil || len(list) != 1 {
		t.Errorf("%d activations are reported, %v", len(list), err)
	}
}

// The bytes of another release, or of none, are not kept.
func TestOtherBytes(t *testing.T) {
	d := Open(t.TempDir())
	for name, n := range map[string]*Next{
		"archive":  {Layer: "base", Release: release(1), Archive: archive(2)},
		"envelope": {Layer: "base", Release: release(1), Archive: archive(1), Envelope: []byte("x")},
		"not kept": {Layer: "base", Release: release(1)},
		"no layer": {Release: release(1), Archive: archive(1)},
	} {
		if _, err := d.change(func(*State) (*Next, error) { return n, nil }); err == nil {
			t.Errorf("%s: activated", name)
		}
		if got := holds(t, d, "base"); got != 0 {
			t.Errorf("%s: %d is active", name, got)
		}
	}
}

// steps counts the operations of a change.
func steps(m *memory, change func(*Store) error) int {
	counted := m.killed()
	_ = change(&Store{"/d", counted})
	return counted.step
}

// Whatever operation is the last, the store opens with the old policy or the new
// one, what was seen never falls behind what is active, and the change can be
// made again.
func TestCrashAtEachStep(t *testing.T) {
	for name, c := range map[string]struct {
		before   []int64
		change   func(*Store) error
		old, new int64
	}{
		"first":    {nil, func(d *Store) error { _, err := activate(d, "base", 1, nil); return err }, 0, 1},
		"next":     {[]int64{1}, func(d *Store) error { _, err := activate(d, "base", 2, nil); return err }, 1, 2},
		"back":     {[]int64{1, 2}, func(d *Store) error { _, err := back(d, "base"); return err }, 2, 1},
		"from all": {[]int64{1}, func(d *Store) error { _, err := back(d, "base"); return err }, 1, 0},
	} {
		start := newMemory()
		mustActivate(t, &Store{"/d", start}, "base", c.before...)
		n := steps(start, c.change)
		if n < 8 {
			t.Fatalf("%s: only %d operations", name, n)
		}
		seenNew := false
		for k := 1; k <= n; k++ {
			for _, failure := range []error{errCrash, syscall.ENOSPC} {
				m := start.killed()
				m.failAt, m.failure = k, failure
				if err := c.change(&Store{"/d", m}); err == nil && k < n && errors.Is(failure, errCrash) && holds(t, &Store{"/d", m}, "base") != c.new {
					t.Errorf("%s: step %d failed and nothing is said", name, k)
				}
				for how, left := range map[string]*memory{"killed": m.killed(), "unplugged": m.unplugged()} {
					if how == "unplugged" && !errors.Is(failure, errCrash) {
						continue
					}
					d := &Store{"/d", left}
					got := holds(t, d, "base")
					if got != c.old && got != c.new {
						t.Fatalf("%s, %s at step %d: %d is active", name, how, k, got)
					}
					seenNew = seenNew || got == c.new
					s, err := d.State()
					must(t, err)
					if len(s.Lost) > 0 || s.Seen.Of("acme/agents", "stable").Sequence < got {
						t.Errorf("%s, %s at step %d: lost %v, seen %+v, active %d", name, how, k, s.Lost, s.Seen, got)
					}
					if got == c.old {
						must(t, c.change(d))
					}
					if again := holds(t, d, "base"); again != c.new {
						t.Errorf("%s, %s at step %d: made again, %d is active", name, how, k, again)
					}
				}
			}
		}
		if !seenNew {
			t.Errorf("%s: no crash was late enough", name)
		}
	}
}

// A disk that is full gives an error, and not a half-written file that stays.
func TestFullDiskLeavesNothing(t *testing.T) {
	m := newMemory()
	mustActivate(t, &Store{"/d", m}, "base", 1)
	n := steps(m, func(d *Store) error { _, err := activate(d, "base", 2, nil); return err })
	for k := 1; k <= n; k++ {
		left := m.killed()
		left.failAt, left.failure = k, syscall.ENOSPC
		_, err := activate(&Store{"/d", left}, "base", 2, nil)
		for name := range left.files {
			if strings.Contains(name, newPrefix) {
				t.Errorf("step %d: %s is left (%v)", k, name, err)
			}
		}
	}
}

// Each file in turn is removed, cut short, emptied, or has a bit flipped: the
// store says so, names the last good policy, or is as it was; and an activation
// fixes it.
func TestDamage(t *testing.T) {
	start := newMemory()
	mustActivate(t, &Store{"/d", start}, "base", 1, 2)
	var names []string
	for name := range start.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text := start.files[name]
		kinds := map[string]func(m *memory){
			"removed":   func(m *memory) { delete(m.files, name) },
			"cut short": func(m *memory) { m.files[name] = text[:len(text)/2] },
			"emptied":   func(m *memory) { m.files[name] = "" },
			"another":   func(m *memory) { m.files[name] = "{}" },
		}
		for i := range text {
			kinds[fmt.Sprintf("bit %d", i)] = func(m *memory) { m.files[name] = text[:i] + string(text[i]^1) + text[i+1:] }
		}
		for kind, damage := range kinds {
			m := start.killed()
			damage(m)
			checkDamaged(t, &Store{"/d", m}, name, kind)
		}
	}
}

// TestLaterFormat: after a downgrade, files of a newer version are refused, and no
// activation replaces them.
func TestLaterFormat(t *testing.T) {
	start := newMemory()
	mustActivate(t, &Store{"/d", start}, "base", 1, 2)
	later := 0
	for name, text := range start.files {
		next := strings.Replace(text, `"v":1`, `"v":2`, 1)
		if next == text {
			continue
		}
		later++
		m := start.killed()
		m.files[name] = next
		_, read := (&Store{"/d", m}).State()
		_, written := activate(&Store{"/d", m}, "base", 3, nil)
		for _, err := range []error{read, written} {
			if err == nil || !strings.Contains(err.Error(), name+" was written by a newer reviewer (format 2, this one knows 1); install that version again") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if m.files[name] != next {
			t.Errorf("%s was changed: %s", name, m.files[name])
		}
	}
	if later < 3 {
		t.Errorf("%d files have a format, want the active policy, the history and the sequences seen", later)
	}
}

func checkDamaged(t *testing.T, d *Store, name, kind string) {
	t.Helper()
	a, err := d.Active()
	if err == nil && a.Layers["base"].Sequence == 2 {
		_, err1 := d.Archive(a.Layers["base"].Release)
		_, err2 := d.Envelope(a.Layers["base"].Release)
		err = errors.Join(err1, err2)
	} else if err == nil {
		t.Errorf("%s %s: %+v is active", name, kind, a)
	}
	held := name == activeName || name == objectName(release(2).Archive) || name == objectName(release(2).Envelope)
	same := strings.HasPrefix(kind, "bit ") // the line break at the end, or the case of a key, says nothing
	switch {
	case held && err == nil && !same, err != nil && !errors.Is(err, ErrDamaged) && !strings.Contains(err.Error(), "newer reviewer"):
		t.Errorf("%s %s: %v", name, kind, err)
	case name == activeName && errors.Is(err, ErrDamaged) && !(strings.Contains(err.Error(), "1.2.0") && strings.Contains(err.Error(), "rollback --to")):
		t.Errorf("%s %s: the last good policy is not named: %v", name, kind, err)
	}
	s, err := d.State()
	if err != nil {
		return // of a newer version
	}
	if s.Seen.Of("acme/agents", "stable").Sequence != 2 || s.Active.Layers["base"].Sequence != 2 {
		t.Errorf("%s %s: reconstructed: %+v", name, kind, s)
	}
	if own := name == activeName || name == historyName || name == seenName; own && !same && len(s.Lost) == 0 || s.SeenLost && name != seenName {
		t.Errorf("%s %s: lost %v, seen lost %v", name, kind, s.Lost, s.SeenLost)
	}
	mustActivate(t, d, "base", 3)
	if got := holds(t, d, "base"); got != 3 {
		t.Errorf("%s %s: not repaired, %d is active", name, kind, got)
	}
	if s, err = d.State(); err != nil || len(s.Lost) > 0 {
		t.Errorf("%s %s: not repaired: %v %v", name, kind, err, s.Lost)
	}
}

// Of many activations at once each sees what the one before made.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	const many = 12
	var group sync.WaitGroup
	for i := range int64(many) {
		group.Go(func() {
			d := Open(dir)
			_, err := d.Change(t.Context(), func(s *State) (*Next, error) {
				return nextOf(s, "base", i+1, nil), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	list, err := Open(dir).History()
	must(t, err)
	for i, a := range list {
		if a.Generation != int64(i+1) || a.Before != int64(i) {
			t.Errorf("%d: generation %d after %d", i, a.Generation, a.Before)
		}
	}
	if len(list) != many {
		t.Errorf("%d activations", len(list))
	}
}

func TestLockIsWaitedFor(t *testing.T) {
	d := Open(t.TempDir())
	release, err := d.lock(t.Context())
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := Open(d.Dir).Change(ctx, nil); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("got %v", err)
	}
	must(t, release())
}

// What is in the folder and is not a plain file keeps no hook waiting.
func TestNoPlainFile(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"pipe":   func(p string) error { return osfile.MakePipe(p, 0o600) },
		"folder": func(p string) error { return os.Mkdir(p, 0o700) },
		"link":   func(p string) error { return os.Symlink("/dev/zero", p) },
		"large":  func(p string) error { return os.WriteFile(p, make([]byte, maxActive+1), 0o600) },
	} {
		d := Open(t.TempDir())
		if runtime.GOOS == "windows" && (name == "pipe" || name == "link") {
			continue // no pipes in folders there, and /dev/zero is none to link to
		}
		must(t, put(filepath.Join(d.Dir, activeName)))
		if _, err := d.Active(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
