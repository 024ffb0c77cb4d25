package trash

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/google/go-cmp/cmp"
)

var now = time.UnixMilli(1741443753000)

func newBin(t testing.TB) *Bin { return &Bin{Dir: filepath.Join(t.TempDir(), "trash"), Now: now} }

// elsewhere is a folder on another file system than that of TempDir.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "reviewer-trash")
	if err != nil {
		t.Skip("no second file system here: ", err)
	}
	t.Cleanup(func() { must(t, discard(dir)) })
	a, err := os.Stat(dir)
	must(t, err)
	b, err := os.Stat(t.TempDir())
	must(t, err)
	if device(a) == device(b) {
		t.Skip("/dev/shm is on the file system of the temporary folder")
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
	must(t, os.Chmod(path, mode))
	past := now.Add(-time.Hour)
	must(t, os.Chtimes(path, past, past))
}

// snapshot describes a tree: of each path its kind, mode, time, contents and
// the first path of the same file.
func snapshot(t testing.TB, root string) map[string]string {
	t.Helper()
	tree, first := map[string]string{}, map[osfile.ID]string{}
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		name, _ := filepath.Rel(root, path)
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			must(t, err)
			ino, err := osfile.IdentifyPath(path, info)
			must(t, err)
			if first[ino] == "" {
				first[ino] = name
			}
			text += fmt.Sprintf(" %x %s %s", sha256.Sum256(b), info.ModTime(), first[ino])
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			must(t, err)
			text += " -> " + target
		case info.IsDir():
			text += " " + info.ModTime().String()
		}
		tree[name] = text
		return nil
	}))
	return tree
}

// things are what can be moved: each makes something at a path.
func things() map[string]func(t testing.TB, path string) {
	return map[string]func(t testing.TB, path string){
		"file":          func(t testing.TB, p string) { write(t, p, "tea\n", 0o644) },
		"empty":         func(t testing.TB, p string) { write(t, p, "", 0o600) },
		"program":       func(t testing.TB, p string) { write(t, p, "#!/bin/sh\n", 0o4755) },
		"read-only":     func(t testing.TB, p string) { write(t, p, "tea\n", 0o400) },
		"link":          func(t testing.TB, p string) { must(t, os.Symlink("/etc", p)) },
		"dangling link": func(t testing.TB, p string) { must(t, os.Symlink("nowhere", p)) },
		"pipe":          func(t testing.TB, p string) { must(t, osfile.MakePipe(p, 0o640)) },
		"empty folder":  func(t testing.TB, p string) { must(t, os.Mkdir(p, 0o750)) },
		"folder": func(t testing.TB, p string) {
			write(t, p+"/a/b", "tea\n", 0o640)
			write(t, p+"/a/-rf", "mug\n", 0o444)
			must(t, os.Link(p+"/a/b", p+"/same"))
			must(t, os.Symlink("a/b", p+"/link"))
			must(t, osfile.MakePipe(p+"/pipe", 0o600))
			write(t, p+"/locked/c", "mug\n", 0o600)
			must(t, os.Chmod(p+"/locked", 0o755|fs.ModeSticky))
			must(t, os.Chtimes(p+"/locked", now, now))
		},
		"sparse file": func(t testing.TB, p string) {
			write(t, p, "begin", 0o644)
			must(t, os.Truncate(p, 10<<20))
		},
	}
}

// TestThereAndBack moves everything away and back, on one file system and
// between two, and finds it as it was.
func TestThereAndBack(t *testing.T) {
	for name, make := range things() {
		t.Run(name, func(t *testing.T) {
			thereAndBack(t, newBin(t), t.TempDir(), make)
		})
		t.Run(name+" across", func(t *testing.T) {
			thereAndBack(t, newBin(t), elsewhere(t), make)
		})
	}
}

func thereAndBack(t *testing.T, b *Bin, dir string, make func(testing.TB, string)) {
	path := filepath.Join(dir, "x")
	make(t, path)
	before := snapshot(t, path)
	e, err := b.Put(path)
	must(t, err)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("it is still there (%v)", err)
	}
	for _, own := range []string{b.Dir, filepath.Join(b.Dir, e.ID)} { // what is in it may be for everyone to read
		if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("others can reach %s (%v)", own, err)
		}
	}
	list, rest, err := b.Entries()
	must(t, err)
	if len(list) != 1 || len(rest) != 0 || cmp.Diff(e, list[0]) != "" {
		t.Fatalf("the trash holds %v and %v, want %v", list, rest, e)
	}
	to, err := b.Restore(e, "")
	must(t, err)
	if d := cmp.Diff(before, snapshot(t, path)); d != "" || to != e.Path {
		t.Errorf("it came back to %s otherwise (-before +after):\n%s", to, d)
	}
	left, err := os.ReadDir(b.Dir)
	if siblings, _ := os.ReadDir(dir); err != nil || len(left) != 0 || len(siblings) != 1 {
		t.Errorf("left behind: %v in the trash, %v next to it (%v)", left, siblings, err)
	}
}

func TestHolesAreKept(t *testing.T) {
	path := filepath.Join(elsewhere(t), "disk")
	write(t, path, "begin", 0o644)
	must(t, os.Truncate(path, 64<<20))
	b := newBin(t)
	e, err := b.Put(path)
	must(t, err)
	info, err := os.Stat(filepath.Join(b.Dir, e.ID, contentName))
	must(t, err)
	if taken, _ := osfile.OnDisk(info); info.Size() != 64<<20 || taken > 1<<20 {
		t.Errorf("size %d, of which %d bytes are on the disk", info.Size(), taken)
	}
}

func TestSocket(t *testing.T) {
	listen := func(path string) {
		l, err := net.Listen("unix", path)
		must(t, err)
		t.Cleanup(func() { l.Close() })
	}
	b := newBin(t)
	near := filepath.Join(t.TempDir(), "s")
	listen(near)
	e, err := b.Put(near)
	if err != nil || e.Kind != "other" {
		t.Errorf("on one file system: %+v, %v", e, err)
	}
	far := elsewhere(t)
	write(t, far+"/d/a", "tea\n", 0o644)
	listen(far + "/d/s")
	before := snapshot(t, far)
	if _, err := b.Put(far + "/d"); err == nil || !strings.Contains(err.Error(), "/d/s is a socket") {
		t.Errorf("across: %v", err)
	}
	if d := cmp.Diff(before, snapshot(t, far)); d != "" {
		t.Errorf("a move that failed changed something:\n%s", d)
	}
	if left, _ := os.ReadDir(b.Dir); len(left) != 1 {
		t.Errorf("a move that failed left something in the trash: %v", left)
	}
}

// TestNames: any name that a file can have comes back.
func TestNames(t *testing.T) {
	for _, name := range []string{"-rf", "a\nb", " ", "\\", "\xff\xfe", "ä", "…", "*", strings.Repeat("x", 255), "info.json"} {
		nameAndBack(t, name)
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range []string{"a", "-", "\xff", "a\nb", "\u202e"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" || name == "." || name == ".." || len(name) > 255 || strings.ContainsAny(name, "/\x00") {
			t.Skip()
		}
		nameAndBack(t, name)
	})
}

func nameAndBack(t *testing.T, name string) {
	t.Helper()
	b, path := newBin(t), filepath.Join(t.TempDir(), name)
	write(t, path, name, 0o644)
	put, err := b.Put(path)
	must(t, err)
	e, older, err := b.Find(path)
	if err != nil || older != 0 || e.Path != put.Path || filepath.Base(e.Path) != name {
		t.Fatalf("%q: found %+v, %v", name, e, err)
	}
	_, err = b.Restore(e, "")
	must(t, err)
	if got, err := os.ReadFile(path); string(got) != name {
		t.Errorf("%q came back as %q (%v)", name, got, err)
	}
}

func TestRefused(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, dir := range []string{"home/kim/shop/web", "state/trash", "opt"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	write(t, root+"/opt/reviewer", "", 0o755)
	write(t, root+"/home/kim/notes", "", 0o644)
	must(t, os.Symlink(root+"/home/kim/shop", root+"/shop"))
	must(t, os.Symlink(root+"/state", root+"/link"))
	b := &Bin{Dir: root + "/state/trash", Now: now, Own: []string{root + "/state", root + "/opt/reviewer", root + "/etc/reviewer"},
		Keep: []Place{{root + "/shop/web", "the current folder"}, {root + "/home/kim", "the home directory"}}}
	for path, want := range map[string]string{
		"/": "give the name of the folder", "//": "give the name of the folder", root + "/opt/.": "give the name of the folder", root + "/opt/..": "give the name of the folder",
		"": "file does not exist", root + "/nothing": "no such file", root + "/nothing/x": "no such file", root + "/home/kim/notes/x": "not a directory",
		root + "/home/kim/notes/":     "it is not a folder",
		root + "/home/kim/shop/web":   "it is or contains the current folder",
		root + "/home/kim/shop/":      "it is or contains the current folder",
		root + "/link/../shop/web":    "it is or contains the current folder",
		root + "/home":                "it is or contains the current folder",
		root + "/home/kim":            "it is or contains the current folder",
		root + "/state":               "it is or contains files of reviewer",
		root + "/opt":                 "it is or contains files of reviewer",
		root + "/opt/reviewer":        "it is or contains files of reviewer",
		root + "/state/trash":         "/state, which belongs to reviewer",
		root + "/link/trash":          "/state, which belongs to reviewer",
		root + "/" + longName:         "file name too long",
		root + "/home/kim/shop\x00/a": "invalid argument",
	} {
		before := snapshot(t, root)
		if e, err := b.Put(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, error %v, want %q", path, e, err, want)
		}
		if d := cmp.Diff(before, snapshot(t, root)); d != "" {
			t.Fatalf("%q: a refusal changed something:\n%s", path, d)
		}
	}
	if _, err := b.Put(root + "/shop"); err != nil {
		t.Errorf("a link to a place that stays: %v", err)
	}
}

var longName = strings.Repeat("x", 256)

func TestMountPoint(t *testing.T) {
	shm := elsewhere(t) // it is there, on another file system than its parent
	b := newBin(t)
	if _, err := b.Put(filepath.Dir(shm)); err == nil || err.Error() != "it is a mount point" {
		t.Errorf("the mount point: %v", err)
	}
	if _, err := b.Put(filepath.Dir(filepath.Dir(shm))); err == nil || !strings.Contains(err.Error(), "mount point") {
		t.Errorf("a folder that holds it: %v", err)
	}
}

// TestPathsAreTheSystems: .. after a link leads to where the link leads.
func TestPathsAreTheSystems(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	write(t, root+"/a/b/x", "", 0o644)
	write(t, root+"/a/y", "right", 0o644)
	write(t, root+"/y", "wrong", 0o644)
	must(t, os.Symlink("a/b", root+"/link"))
	t.Chdir(root)
	e, err := newBin(t).Put("link/../y")
	if err != nil || e.Path != root+"/a/y" {
		t.Errorf("moved %s (%v), want %s", e.Path, err, root+"/a/y")
	}
}

func TestRestoreOverwritesNothing(t *testing.T) {
	for name, make := range things() {
		for _, there := range []string{"file", "link", "dangling link", "empty folder", "folder"} {
			b, path := newBin(t), filepath.Join(t.TempDir(), "x")
			make(t, path)
			e, err := b.Put(path)
			must(t, err)
			things()[there](t, path)
			before := snapshot(t, path)
			if _, err := b.Restore(e, ""); err == nil || !strings.Contains(err.Error(), "already exists and is not overwritten") {
				t.Errorf("%s over %s: %v", name, there, err)
			}
			if err := place(filepath.Join(b.Dir, e.ID, contentName), path); err == nil {
				t.Errorf("%s over %s: placed there", name, there)
			}
			if d := cmp.Diff(before, snapshot(t, path)); d != "" {
				t.Errorf("%s over %s changed it:\n%s", name, there, d)
			}
			if _, err := b.Restore(e, filepath.Join(t.TempDir(), "new/folder/x")); err != nil {
				t.Errorf("%s to another path: %v", name, err)
			}
		}
	}
}

func TestRestoreElsewhere(t *testing.T) {
	b, dir := newBin(t), t.TempDir()
	b.Own = []string{filepath.Dir(b.Dir)}
	write(t, dir+"/d/x", "tea\n", 0o644)
	e, err := b.Put(dir + "/d/x")
	must(t, err)
	if _, err := b.Restore(e, b.Dir+"/y"); err == nil || !strings.Contains(err.Error(), "belongs to reviewer") {
		t.Errorf("into the state directory: %v", err)
	}
	must(t, os.Remove(dir+"/d"))
	if _, err := b.Restore(e, ""); err != nil {
		t.Errorf("to a folder that is gone: %v", err)
	}
	if _, _, err := b.Find(e.ID); !errors.Is(err, ErrNoEntry) {
		t.Errorf("after it went back: %v", err)
	}
}

func TestNewestFirst(t *testing.T) {
	b, dir := newBin(t), t.TempDir()
	var ids []string
	for i := range 12 {
		b.Now = now.Add(time.Duration(i) * 100 * time.Millisecond)
		write(t, dir+"/x", fmt.Sprint(i), 0o644)
		e, err := b.Put(dir + "/x")
		must(t, err)
		ids = append(ids, e.ID)
	}
	e, older, err := b.Find(dir + "/x")
	if err != nil || e.ID != ids[11] || older != 11 {
		t.Errorf("found %s and %d older (%v), want %s", e.ID, older, err, ids[11])
	}
	if e, _, err := b.Find(ids[3]); err != nil || e.ID != ids[3] {
		t.Errorf("by id: %+v, %v", e, err)
	}
}

func TestRemove(t *testing.T) {
	b, dir := newBin(t), t.TempDir()
	write(t, dir+"/d/a/b", "tea\n", 0o400)
	must(t, os.Chmod(dir+"/d/a", 0o500))
	e, err := b.Put(dir + "/d")
	must(t, err)
	must(t, b.Remove(e))
	if left, err := os.ReadDir(b.Dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestUnfinished: what a killed process leaves is not an entry.
func TestUnfinished(t *testing.T) {
	b := newBin(t)
	id, err := b.reserve()
	must(t, err)
	dir := filepath.Join(b.Dir, id)
	for _, step := range []func(){
		func() {},
		func() { must(t, writeInfo(dir, Entry{Path: "/x"})) },
		func() { write(t, dir+"/"+partName+"/a", "half", 0o644) },
	} {
		step()
		if list, rest, err := b.Entries(); err != nil || len(list) != 0 || len(rest) != 1 || rest[0] != dir {
			t.Errorf("entries %v, unfinished %v, %v", list, rest, err)
		}
	}
	must(t, Discard(dir))
	if _, rest, err := b.Entries(); err != nil || len(rest) != 0 {
		t.Errorf("unfinished %v, %v", rest, err)
	}
}

// TestChangedMeanwhile: what was written to the original behind the copy's back
// is not lost.
func TestChangedMeanwhile(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"written":  func(dir string) error { return os.WriteFile(dir+"/b", []byte("news"), 0o644) },
		"replaced": func(dir string) error { return errors.Join(os.Remove(dir+"/b"), os.Symlink("a", dir+"/b")) },
		"added":    func(dir string) error { return os.WriteFile(dir+"/c", []byte("new"), 0o644) },
	} {
		dir := filepath.Join(t.TempDir(), "d")
		write(t, dir+"/a", "tea\n", 0o644)
		write(t, dir+"/b", "mug\n", 0o644)
		var c copier
		must(t, c.tree(dir, filepath.Join(t.TempDir(), "copy")))
		must(t, change(dir))
		if _, err := c.removeOriginals(); err == nil {
			t.Errorf("%s: nobody noticed", name)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) == 0 {
			t.Errorf("%s: it is gone (%v)", name, err)
		}
	}
}

// TestTwoAtOnce: of those who move the same file one wins; different files
// never meet.
func TestTwoAtOnce(t *testing.T) {
	const many = 16
	b, dir := newBin(t), t.TempDir()
	write(t, dir+"/same", "tea\n", 0o644)
	var wins, fails int
	var lock sync.Mutex
	var all sync.WaitGroup
	for i := range many {
		own := fmt.Sprintf("%s/%d", dir, i)
		write(t, own, own, 0o644)
		all.Go(func() {
			mine := &Bin{Dir: b.Dir, Now: now}
			_, err := mine.Put(own)
			_, same := mine.Put(dir + "/same")
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				t.Error(err)
			}
			if same == nil {
				wins++
			} else if errors.Is(same, fs.ErrNotExist) {
				fails++
			}
		})
	}
	all.Wait()
	list, rest, err := b.Entries()
	if err != nil || len(list) != many+1 || len(rest) != 0 || wins != 1 || fails != many-1 {
		t.Errorf("%d entries, %d unfinished, %d won, %d lost (%v)", len(list), len(rest), wins, fails, err)
	}
	for _, e := range list {
		content, err := os.ReadFile(filepath.Join(b.Dir, e.ID, contentName))
		if err != nil || filepath.Base(e.Path) != "same" && string(content) != e.Path {
			t.Errorf("%s holds %q (%v)", e.Path, content, err)
		}
	}
}

// TestMain lets a test start this binary to move something and kill it.
func TestMain(m *testing.M) {
	if path := os.Getenv("MOVE"); path != "" {
		b := Bin{Dir: os.Getenv("TRASH"), Now: now}
		if _, err := b.Put(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestKilled kills moves to another file system at many points: every file is
// whole at one of the two places.
func TestKilled(t *testing.T) {
	program, err := os.Executable()
	must(t, err)
	for i := range 15 {
		dir, b := elsewhere(t)+"/d", newBin(t)
		for n := range 40 {
			write(t, fmt.Sprintf("%s/%d/f", dir, n), strings.Repeat(fmt.Sprint(n), 5000), 0o644)
		}
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "MOVE="+dir, "TRASH="+b.Dir)
		must(t, cmd.Start())
		time.Sleep(time.Duration(i*i) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		list, _, err := b.Entries()
		must(t, err)
		for n := range 40 {
			want := strings.Repeat(fmt.Sprint(n), 5000)
			got, err := os.ReadFile(fmt.Sprintf("%s/%d/f", dir, n))
			if err != nil && len(list) == 1 {
				got, err = os.ReadFile(filepath.Join(b.Dir, list[0].ID, contentName, fmt.Sprint(n), "f"))
			}
			if err != nil || string(got) != want {
				t.Fatalf("killed after %d ms: file %d is lost: %v", i*i, n, err)
			}
		}
	}
}
