package osfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLock(t *testing.T) {
	path := file(t, "what is locked can be read")
	one, two := open(t, path), open(t, path)
	if err := osfile.TryLock(one, osfile.Exclusive); err != nil {
		t.Fatal(err)
	}
	for _, shared := range []osfile.Shared{osfile.Exclusive, osfile.Together} {
		if err := osfile.TryLock(two, shared); !errors.Is(err, osfile.ErrLocked) {
			t.Errorf("a second lock (shared: %v): %v, want ErrLocked", shared, err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || len(text) == 0 {
		t.Errorf("reading a locked file: %q, %v", text, err)
	}
	got := make(chan error, 1)
	go func() { got <- osfile.Lock(two, osfile.Exclusive) }()
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("waiting for a lock that is let go: %v", err)
	}
}

func TestReadersShareALock(t *testing.T) {
	path := file(t, "")
	one, two, three := open(t, path), open(t, path), open(t, path)
	if err := errors.Join(osfile.TryLock(one, osfile.Together), osfile.TryLock(two, osfile.Together)); err != nil {
		t.Fatal(err)
	}
	if err := osfile.TryLock(three, osfile.Exclusive); !errors.Is(err, osfile.ErrLocked) {
		t.Errorf("a writer next to readers: %v, want ErrLocked", err)
	}
}

func TestIdentify(t *testing.T) {
	path, other := file(t, "a"), file(t, "a")
	twin := path + "2"
	if err := os.Link(path, twin); err != nil {
		t.Fatal(err)
	}
	id := func(path string) osfile.ID {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		id, err := osfile.IdentifyPath(path, info)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := osfile.Identify(open(t, path))
		if err != nil || opened != id {
			t.Errorf("an open file has %v (%v), its path %v", opened, err, id)
		}
		return id
	}
	if id(path) != id(twin) {
		t.Error("two names of one file have two IDs")
	}
	if id(path) == id(other) {
		t.Error("two files have one ID")
	}
}

func TestOpenItself(t *testing.T) {
	path := file(t, "a")
	f, err := osfile.OpenItself(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	link := path + ".link"
	err = os.Symlink(path, link)
	if info, there := os.Lstat(link); err != nil || there != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Skipf("no links here: %v, %v", err, there)
	}
	if _, err := osfile.OpenItself(link, os.O_RDONLY, 0); !errors.Is(err, osfile.ErrLink) {
		t.Errorf("opening a link: %v, want ErrLink", err)
	}
}

// TestOpenFile: a file that is appended to can be cut off, and goes while it is open.
func TestOpenFile(t *testing.T) {
	path := file(t, "first\n")
	f, err := osfile.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("second"); err != nil {
		t.Fatal(err)
	}
	if err := osfile.Truncate(f, 6); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); string(text) != "first\n" {
		t.Errorf("what is left is %q, %v", text, err)
	}
	if err := os.Remove(path); err != nil {
		t.Errorf("deleting an open file: %v", err)
	}
}

func TestSetTime(t *testing.T) {
	f := open(t, file(t, "a"))
	want := time.UnixMilli(1767225600123)
	if err := osfile.SetTime(f, want); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || !info.ModTime().Equal(want) {
		t.Errorf("the time is %v (%v), want %v", info.ModTime(), err, want)
	}
	if err := errors.Join(osfile.Sync(f), osfile.SyncDir(filepath.Dir(f.Name()))); err != nil {
		t.Error(err)
	}
}

// TestPrivate: what others can change or read is refused, and the message says what to do.
func TestPrivate(t *testing.T) {
	f := open(t, file(t, "a"))
	if err := osfile.Private(f, 0o077); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return // Windows does not enforce modes
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := osfile.Private(f, 0o022); err != nil {
		t.Errorf("others may read it: %v", err)
	}
	if err := osfile.Private(f, 0o077); err == nil {
		t.Error("others may read it, and nobody says so")
	}
}

// TestMkdirPrivate: a folder that is there is left alone; a file in its place is an error.
func TestMkdirPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := osfile.MkdirPrivate(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := osfile.MkdirPrivate(file(t, "a")); err == nil || !strings.HasSuffix(err.Error(), "not a directory") {
		t.Errorf("a file in place of the folder: %v", err)
	}
}

// TestMissing: a file in place of a folder is not a missing file, whatever the system says.
func TestMissing(t *testing.T) {
	path := file(t, "a")
	for name, want := range map[string]error{
		filepath.Join(filepath.Dir(path), "none"):           fs.ErrNotExist,
		filepath.Join(filepath.Dir(path), "none", "at all"): fs.ErrNotExist,
		filepath.Join(path, "b"):                            osfile.ErrNotFolder,
		filepath.Join(path, "b", "c"):                       osfile.ErrNotFolder,
	} {
		if err := osfile.Missing(name, fs.ErrNotExist); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := osfile.ReadFile(filepath.Join(path, "b")); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading a file below a file: %v", err)
	}
	if err := osfile.Missing(filepath.Join(path, "b"), fs.ErrPermission); err != fs.ErrPermission {
		t.Errorf("another error: %v", err)
	}
}

// TestCreatePrivate: a file that is created for its owner alone needs no remedy, and is
// never one that is there already.
func TestCreatePrivate(t *testing.T) {
	dir := t.TempDir()
	openToAll(t, dir)
	path := filepath.Join(dir, "key")
	f, err := osfile.CreatePrivate(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("secret"); errors.Join(err, f.Close()) != nil {
		t.Fatal(err)
	}
	if command, err := osfile.ReadByOthers(open(t, path)); command != "" || err != nil {
		t.Errorf("a new private file: %q, %v", command, err)
	}
	if _, err := osfile.CreatePrivate(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file of the name: %v", err)
	}
	if _, err := osfile.CreatePrivate(filepath.Join(path+"s", "key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file in a folder that is not there: %v", err)
	}
}

// TestReadByOthers: what others can read comes with the command that changes it.
func TestReadByOthers(t *testing.T) {
	path := file(t, "secret")
	if command, err := osfile.ReadByOthers(open(t, path)); command != "" || err != nil {
		t.Errorf("a file of its owner: %q, %v", command, err)
	}
	openToAll(t, path)
	command, err := osfile.ReadByOthers(open(t, path))
	if program, _, _ := strings.Cut(command, " "); err != nil || program != "chmod" && program != "icacls" || !strings.Contains(command, path) {
		t.Errorf("a file that everyone can read: %q, %v", command, err)
	}
}

func TestKinds(t *testing.T) {
	path := file(t, "a")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if n, known := osfile.OnDisk(info); known != (runtime.GOOS != "windows") || n > 1<<20 {
		t.Errorf("a file of one byte takes %d bytes (known: %v)", n, known)
	}
	if n := osfile.Links(info); n > 1 {
		t.Errorf("a new file has %d names", n)
	}
	if err := osfile.SameOwner(open(t, path), info); err != nil {
		t.Error(err)
	}
	if err := osfile.KeepOwner(path, info); err != nil {
		t.Error(err)
	}
	err = osfile.MakePipe(filepath.Join(t.TempDir(), "pipe"), 0o600)
	if (err != nil) != (runtime.GOOS == "windows") {
		t.Errorf("a pipe: %v", err)
	}
	if err != nil && !osfile.Unsupported(err) {
		t.Errorf("a system without pipes says %v", err)
	}
	if osfile.AcrossDisks(os.Rename(path, path+"2")) {
		t.Error("a rename in a folder is one across disks")
	}
}
