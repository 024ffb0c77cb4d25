package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// TestRandomChanges: whatever is done to a workspace, each checkpoint can be returned to.
func TestRandomChanges(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorkspace(t, map[string]string{"a": "1", "d/b": "2"})
		ids, states := []string{}, [][]string{}
		for range 12 {
			for range r.IntN(6) {
				randomChange(w, r)
			}
			ids = append(ids, w.take(BySession).ID)
			states = append(states, w.snapshot())
		}
		for range 6 {
			n := r.IntN(len(ids))
			w.restore(ids[n])
			w.same(states[n])
		}
		if v, err := w.store.Verify(context.Background()); err != nil || len(v.Damage) != 0 {
			t.Fatalf("seed %d: %+v, %v", seed, v, err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomChange(w *workspace, r *rand.Rand) {
	names := []string{"a", "b", "d", "d/b", "d/c", "d/e/f", "g/h", "g"}
	name := names[r.IntN(len(names))]
	other := names[r.IntN(len(names))]
	full := w.path(name)
	switch r.IntN(7) {
	case 0, 1:
		if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
			_ = os.WriteFile(full, fmt.Append(nil, r.IntN(1000)), 0o644) // a folder may be there
		}
	case 2:
		_ = os.RemoveAll(full)
	case 3:
		_ = os.Rename(full, w.path(other))
	case 4:
		if runtime.GOOS != "windows" {
			_ = os.Symlink(other, full)
		}
	case 5:
		if runtime.GOOS != "windows" {
			_ = os.Link(full, w.path(other))
		}
	case 6:
		if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() {
			_ = os.Chmod(full, fs.FileMode(0o600|r.IntN(2)*0o100))
		}
	}
}

// TestEachFlippedByteIsFound: verify finds each byte of the store that was changed. With
// REVIEWER_EVERY=1 each byte is tried, else one of seven.
func TestEachFlippedByteIsFound(t *testing.T) {
	count := sweep.Count(t, "flipped bytes of a store")
	w := newWorkspace(t, map[string]string{"a.txt": "some text", "key.env": "K=1", "d/": ""})
	w.take(ByOthers)
	w.write("a.txt", "other text")
	w.take(BySession)
	packed, err := newPack(filepath.Join(w.store.dir, "packs"))
	w.must(err)
	for _, text := range []string{"one more", "and another"} {
		id := w.store.objects.keys.digest([]byte(text), false)
		frame, err := w.store.objects.keys.frame(id, []byte(text), false)
		w.must(err)
		w.must(packed.put(id, frame))
	}
	w.must(packed.finish())
	flips := 0
	w.must(filepath.WalkDir(w.store.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		b, err := os.ReadFile(name)
		w.must(err)
		for n := range b {
			if !sweep.Has(n, 7) {
				continue
			}
			flipped := bytes.Clone(b)
			flipped[n] ^= 1 << (n % 8)
			w.must(os.WriteFile(name, flipped, 0o600))
			v, err := w.store.Verify(context.Background())
			if err == nil && len(v.Damage) == 0 {
				t.Errorf("%s: byte %d of %d was changed unseen", d.Name(), n, len(b))
			}
			flips++
			count.Add(1)
		}
		return os.WriteFile(name, b, 0o600)
	}))
	if v, err := w.store.Verify(context.Background()); err != nil || len(v.Damage) != 0 || flips < 200 {
		t.Errorf("after %d flips: %+v, %v", flips, v, err)
	}
}

// TestTruncated: verify finds each file of the store that was cut off.
func TestTruncated(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.txt": "some text"})
	w.take(ByOthers)
	w.write("a.txt", "other text")
	w.take(BySession)
	w.must(filepath.WalkDir(w.store.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		b, err := os.ReadFile(name)
		w.must(err)
		for _, n := range []int{0, 1, len(b) / 2, len(b) - 1} {
			w.must(os.WriteFile(name, b[:n], 0o600))
			v, err := w.store.Verify(context.Background())
			if err == nil && len(v.Damage) == 0 {
				t.Errorf("%s with %d of %d bytes passes", d.Name(), n, len(b))
			}
		}
		return os.WriteFile(name, b, 0o600)
	}))
}

// TestClock: changes are found whatever the clock and the times of files say. Windows has no
// time of the last change in a file's information, so a file of the same size whose old time
// was set again counts as unchanged there.
func TestClock(t *testing.T) {
	w := newWorkspace(t, map[string]string{"past": "1", "future": "1", "coarse": "1"})
	times := map[string]time.Time{"past": time.Unix(0, 0), "future": time.Now().Add(100 * time.Hour), "coarse": time.Now().Truncate(time.Second)}
	if runtime.GOOS == "windows" {
		delete(times, "past")
	}
	set := func() {
		for name, at := range times {
			w.must(os.Chtimes(w.path(name), at, at))
		}
	}
	set()
	w.take(ByOthers)
	for name := range times {
		w.write(name, "2")
	}
	set()
	if taken := w.take(BySession); len(taken.Changes) != len(times) {
		t.Errorf("changes: %+v", taken.Changes)
	}
}

// TestCoarseTimes: where the file system counts in seconds and no change of an inode is
// known, a file that changed shortly before it was read is read again.
func TestCoarseTimes(t *testing.T) {
	same := stat{size: 1, modified: 1e9, inode: 1}
	for name, c := range map[string]struct {
		racy bool
		want bool
	}{"long ago": {false, true}, "just before": {true, false}} {
		then := item{Entry: Entry{Kind: File}, stat: same, has: true, racy: c.racy}
		now := item{Entry: Entry{Kind: File}, stat: same}
		new(scanner).unchanged(&now, &then)
		if now.has != c.want {
			t.Errorf("%s: taken for unchanged: %v", name, now.has)
		}
	}
}

// TestDamagedContents: a restore from a damaged store changes nothing.
func TestDamagedContents(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "one", "b": "two"})
	first := w.take(ByOthers)
	w.write("a", "changed")
	w.write("b", "changed")
	w.take(BySession)
	id := w.store.objects.keys.digest([]byte("two"), false)
	w.must(os.Remove(w.store.objects.file(id)))
	_, err := w.store.Restore(context.Background(), RestoreRequest{To: first.ID, Session: "s1"})
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "nothing was restored") {
		t.Errorf("error: %v", err)
	}
	if b, _ := os.ReadFile(w.path("a")); string(b) != "changed" {
		t.Errorf("half restored: %q", b)
	}
	if again := w.take(ByOthers); again.New {
		t.Errorf("a refused restore left something behind: %+v", again.Changes)
	}
}

// TestLostIndex: without the cache the same is found.
func TestLostIndex(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1", "b": "1"})
	w.take(ByOthers)
	w.write("a", "2")
	w.must(os.Remove(w.store.indexFile()))
	if taken := w.take(BySession); len(taken.Changes) != 1 {
		t.Errorf("without an index: %+v", taken.Changes)
	}
	w.must(os.WriteFile(w.store.indexFile(), []byte("rvi1 of another time, or damaged, and long enough to be read"), 0o600))
	w.write("b", "2")
	if taken := w.take(BySession); len(taken.Changes) != 1 {
		t.Errorf("with a damaged index: %+v", taken.Changes)
	}
}

// TestLaterFormat: after a downgrade, a store of a newer version is refused, and is not
// changed.
func TestLaterFormat(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	first := w.take(ByOthers)
	line, err := os.ReadFile(w.store.journalFile())
	w.must(err)
	_, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	later := strings.Replace(text, `"v":1`, `"v":2`, 1)
	line = fmt.Appendf(nil, "%s %s\n", Digest(sha256.Sum256([]byte(later))), later)
	w.must(os.WriteFile(w.store.journalFile(), line, 0o600))
	w.write("a", "2")
	want := "checkpoint " + first.ID + " was written by a newer reviewer (format 2, this one reads up to 1); install that version again"
	_, taken := w.store.Take(t.Context(), Request{When: BeforeCall, By: BySession, Session: "s1", Call: "c2", Time: 2})
	_, restored := w.store.Restore(t.Context(), RestoreRequest{To: first.ID, Session: "s1", Time: 2})
	for _, err := range []error{taken, restored} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if after, err := os.ReadFile(w.store.journalFile()); err != nil || string(after) != string(line) {
		t.Errorf("the journal was changed (%v)", err)
	}
}

// TestTornLine: a line of the journal that was cut off is ignored.
func TestTornLine(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	first := w.take(ByOthers)
	b, err := os.ReadFile(w.store.journalFile())
	w.must(err)
	w.must(os.WriteFile(w.store.journalFile(), append(b, b[:len(b)/2]...), 0o600))
	w.write("a", "2")
	second := w.take(BySession)
	if second.N != 2 || second.Prev != first.hash.String() {
		t.Errorf("after a torn line: %+v", second.Checkpoint)
	}
	w.restore(first.ID)
}

func TestOddNames(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the file system refuses such names")
	}
	w := newWorkspace(t, nil)
	for _, name := range []string{"a\nb", "bad\xff\xfeutf8", " ", "-rf", "\\", "a\tb", "\u202eabc", strings.Repeat("n", 255)} {
		w.write(name, "x")
	}
	want := w.snapshot()
	first := w.take(ByOthers)
	w.must(os.RemoveAll(w.root))
	w.must(os.Mkdir(w.root, 0o755))
	w.take(BySession)
	w.restore(first.ID)
	for _, line := range want[1:] { // the mode of the workspace itself is not restored
		if !strings.Contains(strings.Join(w.snapshot(), "\n"), line) {
			t.Errorf("not restored: %s", line)
		}
	}
}

// TestLinkOutOfTheWorkspace: a folder that became a link is never followed.
func TestLinkOutOfTheWorkspace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	away := t.TempDir()
	w := newWorkspace(t, map[string]string{"d/a": "1"})
	first := w.take(ByOthers)
	w.must(os.RemoveAll(w.path("d")))
	w.must(os.Symlink(away, w.path("d")))
	w.must(os.WriteFile(filepath.Join(away, "a"), []byte("of somebody else"), 0o600))
	w.take(BySession)
	w.restore(first.ID)
	if b, _ := os.ReadFile(filepath.Join(away, "a")); string(b) != "of somebody else" {
		t.Errorf("a file outside was changed: %q", b)
	}
	if b, _ := os.ReadFile(w.path("d/a")); string(b) != "1" {
		t.Errorf("contents: %q", b)
	}
}

// TestLinkSwappedDuringARestore: a folder that turns into a link between the look and the
// write leads nowhere.
func TestLinkSwappedDuringARestore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	away := t.TempDir()
	w := newWorkspace(t, map[string]string{"d/a": "1"})
	w.take(ByOthers)
	target, err := w.store.state(&Checkpoint{N: 1})
	w.must(err)
	changes := []Change{{Path: "d/a", After: &target.find("d/a").Entry}}
	st, err := w.store.stage(changes, nil, "to", "undo")
	w.must(err)
	defer st.remove()
	w.must(os.RemoveAll(w.path("d")))
	w.must(os.Symlink(away, w.path("d")))
	if _, err := st.apply(changes, tree{}); err == nil {
		t.Error("no error")
	}
	if list, _ := os.ReadDir(away); len(list) != 0 {
		t.Errorf("written outside the workspace: %v", list)
	}
}

// TestFileThatChanges: a file that is written all the time is named, and nothing else is lost.
func TestFileThatChanges(t *testing.T) {
	w := newWorkspace(t, map[string]string{"quiet": "1", "busy": "1"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
			_ = os.WriteFile(w.path("busy"), bytes.Repeat([]byte("x"), rand.IntN(100000)), 0o644)
		}
	}()
	for range 20 {
		taken := w.take(ByOthers)
		for _, l := range taken.Left {
			if l.Path != "busy" {
				t.Errorf("left out: %+v", l)
			}
		}
	}
	<-done
	if last := w.take(ByOthers); last.LeftAll != 0 {
		t.Errorf("left out at rest: %+v", last.Left)
	}
	if v, err := w.store.Verify(context.Background()); err != nil || len(v.Damage) != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// TestTwoAtOnce: two processes may take checkpoints of one workspace.
func TestTwoAtOnce(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	stores := filepath.Dir(w.store.dir)
	errs := make(chan error, 4)
	for n := range 4 {
		go func() {
			s, err := Open(stores, w.root, Options{Bounds: testBounds(), Secret: []byte("a secret of this test, and nothing else")})
			for k := 0; k < 10 && err == nil; k++ {
				_ = os.WriteFile(w.path(fmt.Sprint("f", n)), fmt.Append(nil, k), 0o644)
				_, err = s.Take(context.Background(), Request{By: BySession})
			}
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if v, err := w.store.Verify(context.Background()); err != nil || len(v.Damage) != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// TestBudget: what there is no time for is named, and is stored later.
func TestBudget(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1", "d/b": "2"})
	b := testBounds()
	b.Budget = time.Nanosecond
	stores := filepath.Dir(w.store.dir)
	w.open(stores, b)
	taken := w.take(ByOthers)
	if len(taken.Unseen) == 0 {
		t.Errorf("nothing is named: %+v", taken)
	}
	w.open(stores, testBounds())
	if taken := w.take(ByOthers); len(taken.Unseen) != 0 || taken.Files != 2 || taken.LeftAll != 0 {
		t.Errorf("with time: %+v", taken)
	}
}

// TestKilled: a process that is killed while it takes or restores checkpoints leaves a
// store that is whole, and files that the next restore completes.
func TestKilled(t *testing.T) {
	if os.Getenv("CHECKPOINT_ROOT") != "" {
		endless(t)
	}
	if runtime.GOOS == "windows" {
		t.Skip("processes end in another way")
	}
	files := map[string]string{}
	for n := range 40 {
		files[fmt.Sprintf("d%d/f%d", n%5, n)] = strings.Repeat("text ", n*20)
	}
	w := newWorkspace(t, files)
	want := w.snapshot()
	first := w.take(ByOthers)
	for n := range 15 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "CHECKPOINT_ROOT="+w.root, "CHECKPOINT_STORES="+filepath.Dir(w.store.dir))
		w.must(cmd.Start())
		time.Sleep(time.Duration(20+n*7) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		v, err := w.store.Verify(context.Background())
		if err != nil || len(v.Damage) != 0 {
			t.Fatalf("verify after kill %d: %+v, %v", n, v, err)
		}
		// What the process wrote before it was killed is nobody's call.
		_, err = w.store.Restore(context.Background(), RestoreRequest{To: first.ID, Force: true})
		w.must(err)
		w.same(want)
		if w.store.Interrupted() != nil {
			t.Error("a complete restore counts as cut off")
		}
	}
}

// endless changes, records and restores until the process is killed.
func endless(t *testing.T) {
	w := &workspace{T: t, root: os.Getenv("CHECKPOINT_ROOT")}
	w.open(os.Getenv("CHECKPOINT_STORES"), testBounds())
	for n := 0; ; n++ {
		for k := range 10 {
			w.write(fmt.Sprintf("d%d/f%d", k%5, k), fmt.Sprint(n, k, strings.Repeat("x", n%100*100)))
		}
		w.take(BySession)
		w.restore("1")
	}
}

// TestGrowth: five hundred edits of a project grow the store by little more than what
// changed.
func TestGrowth(t *testing.T) {
	files := map[string]string{}
	r := rand.New(rand.NewPCG(1, 2))
	text := func(lines int) string {
		var b strings.Builder
		for range lines {
			fmt.Fprintf(&b, "\tvalue%d := compute(%d, %q)\n", r.IntN(1000), r.IntN(100000), fmt.Sprint(r.Uint64()))
		}
		return b.String()
	}
	for n := range 300 {
		files[fmt.Sprintf("pkg%d/file%d.go", n%20, n)] = text(20 + n%200)
	}
	w := newWorkspace(t, files)
	w.take(ByOthers)
	before := folderSize(t, w.store.dir)
	var changed int64
	for n := range 500 {
		name := fmt.Sprintf("pkg%d/file%d.go", n%20, n%300)
		b, err := os.ReadFile(w.path(name))
		w.must(err)
		lines := strings.SplitAfter(string(b), "\n")
		lines[r.IntN(len(lines))] = text(1)
		w.write(name, strings.Join(lines, ""))
		changed += int64(len(strings.Join(lines, "")))
		_, err = w.store.Take(context.Background(), Request{By: BySession, First: []string{name}, Only: true})
		w.must(err)
	}
	index, err := os.Stat(w.store.indexFile())
	w.must(err)
	growth := folderSize(t, w.store.dir) - before
	t.Logf("%d bytes changed, the store grew by %d (%.2f), the index has %d", changed, growth, float64(growth)/float64(changed), index.Size())
	if float64(growth) > 1.2*float64(changed) {
		t.Errorf("the store grew by %d bytes for %d bytes that changed", growth, changed)
	}
}

func folderSize(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func FuzzIndex(f *testing.F) {
	f.Add("\x01\x00\x01\x00\x00")
	f.Fuzz(func(t *testing.T, text string) {
		r := &indexReader{text: text}
		for r.text != "" && !r.failed {
			var i item
			r.item("d", &i)
		}
	})
}

func FuzzFrame(f *testing.F) {
	k, err := newKeys([]byte("secret"))
	if err != nil {
		f.Fatal(err)
	}
	for _, sealed := range []bool{false, true} {
		contents := []byte("some contents")
		frame, err := k.frame(k.digest(contents, sealed), contents, sealed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if id, contents, err := k.open(b); err == nil && k.digest(contents, b[4]&flagSealed != 0) != id {
			t.Error("contents of another digest")
		}
	})
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte(`{"p":"a","k":"file","m":420,"s":1,"h":"00"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = decodeEntries(b, func(p string, e *Entry) {
			if !validPath(p) {
				t.Errorf("path %q", p)
			}
		})
	})
}
