package place

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// makeIndex writes an index file of the given version, without extensions.
func makeIndex(version uint32, entries []indexEntry) []byte {
	var b bytes.Buffer
	b.WriteString("DIRC")
	put := func(v uint32) { _ = binary.Write(&b, binary.BigEndian, v) }
	put(version)
	put(uint32(len(entries)))
	last := ""
	for _, e := range entries {
		start := b.Len()
		for _, v := range []uint32{0, 0, e.sec, e.nsec, 0, 0, 0o100644, 0, 0, e.size} {
			put(v)
		}
		b.Write(e.hash[:])
		_ = binary.Write(&b, binary.BigEndian, uint16(e.stage)<<12|uint16(min(len(e.path), 0xfff)))
		if version == 4 {
			same := 0
			for same < len(last) && same < len(e.path) && last[same] == e.path[same] {
				same++
			}
			b.Write(appendOffset(nil, len(last)-same))
			b.WriteString(e.path[same:] + "\x00")
			last = e.path
			continue
		}
		b.WriteString(e.path + "\x00")
		for (b.Len()-start)%8 != 0 {
			b.WriteByte(0)
		}
	}
	b.Write(make([]byte, 20))
	return b.Bytes()
}

func appendOffset(b []byte, v int) []byte {
	out := []byte{byte(v & 0x7f)}
	for v >>= 7; v > 0; v >>= 7 {
		v--
		out = append([]byte{byte(0x80 | v&0x7f)}, out...)
	}
	return append(b, out...)
}

func TestParseIndex(t *testing.T) {
	long := strings.Repeat("d/", 300) + "file"
	want := []indexEntry{{path: "a", size: 1}, {path: "a/b.go", sec: 7, nsec: 8, size: 9, hash: blobHash([]byte("x"))}, {path: "a/c.go", stage: 2}, {path: long}, {path: "z"}}
	for version := uint32(2); version <= 4; version++ {
		got, _, err := parseIndex(makeIndex(version, want))
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Errorf("version %d, entry %d: %+v, want %+v", version, i, got, want[i])
			}
		}
	}
	good := makeIndex(2, want)
	link := append(bytes.Clone(good[:len(good)-20]), "link\x00\x00\x00\x00"...)
	for name, b := range map[string][]byte{
		"empty": nil, "version 5": makeIndex(5, want), "cut": good[:90], "split": append(link, make([]byte, 20)...),
		"not sorted": makeIndex(2, []indexEntry{{path: "b"}, {path: "a"}}),
	} {
		if _, _, err := parseIndex(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParseIndex(f *testing.F) {
	for version := uint32(2); version <= 4; version++ {
		f.Add(makeIndex(version, []indexEntry{{path: "a/b"}, {path: "a/c"}}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, _, err := parseIndex(b)
		if err == nil && len(list)*entryFixed > len(b) {
			t.Errorf("%d entries of %d bytes", len(list), len(b))
		}
	})
}

// tree writes files under a new directory; a name that ends in / is a directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else {
			err = os.WriteFile(p, []byte(files[name]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// repo writes a repository of which the named files are tracked with the content that they have.
func repo(t *testing.T, files map[string]string, tracked ...string) string {
	t.Helper()
	files[".git/config"] = "[core]\n\trepositoryformatversion = 0\n"
	root := tree(t, files)
	var entries []indexEntry
	for _, name := range tracked {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		m := info.ModTime()
		entries = append(entries, indexEntry{path: name, sec: uint32(m.Unix()), nsec: uint32(m.Nanosecond()), size: uint32(info.Size()), hash: blobHash([]byte(files[name]))})
	}
	if err := os.WriteFile(filepath.Join(root, ".git/index"), makeIndex(2, entries), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestGitState(t *testing.T) {
	root := repo(t, map[string]string{
		".gitignore": "*.log\n/build/\n!keep.log\n", "a.go": "a", "b.go": "b", "c.go": "c", "new.go": "n", "x.log": "l", "keep.log": "k", "build/out": "o",
		"clean/d.go": "d", "clean/e.go": "e", "mixed/f.go": "f", "mixed/g.go": "g", "logs/y.log": "y", "empty/": "", "sub/.git/HEAD": "ref", "sub/h": "h",
		"tracked.log": "t", "deep/node/z.go": "z", "deep/.gitignore": "node/\n",
	}, "a.go", "b.go", "c.go", "clean/d.go", "clean/e.go", "mixed/f.go", "tracked.log")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("b.go", "B")
	write("c.go", "c") // other time, same content
	if err := os.Chtimes(filepath.Join(root, "c.go"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	state := LocalWorld("", "", nil).Git()
	for name, want := range map[string]string{
		"a.go": "clean", "b.go": "dirty", "c.go": "clean", "new.go": "untracked", "x.log": "ignored", "keep.log": "untracked", "tracked.log": "clean",
		"build": "ignored", "build/out": "ignored", "clean": "clean", "mixed": "untracked", "logs": "ignored", "empty": "clean", "sub": "untracked", "sub/h": "",
		".": "untracked", ".git": "", ".git/config": "", "missing": "", "deep/node": "ignored", "deep/node/z.go": "ignored",
	} {
		if got := state(filepath.ToSlash(filepath.Join(root, name))); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestGitStateNotKnown(t *testing.T) {
	sha256 := repo(t, map[string]string{"a": "a"}, "a")
	if err := os.WriteFile(filepath.Join(sha256, ".git/config"), []byte("[extensions]\n\tobjectFormat = SHA256\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	damaged := repo(t, map[string]string{"a": "a"}, "a")
	if err := os.WriteFile(filepath.Join(damaged, ".git/index"), []byte("DIRC\x00\x00\x00\x09"), 0o644); err != nil {
		t.Fatal(err)
	}
	large := map[string]string{}
	for i := range maxWalk + 10 {
		large["d/"+strconv.Itoa(i)] = ""
	}
	for name, p := range map[string]string{"SHA-256": sha256 + "/a", "damaged": damaged + "/a", "too many files": repo(t, large) + "/d", "no repository": tree(t, map[string]string{"a": ""}) + "/a"} {
		if got := LocalWorld("", "", nil).Git()(p); got != "" {
			t.Errorf("%s: %q, want nothing", name, got)
		}
	}
}

// TestGitAgrees compares with git itself, where there is one.
func TestGitAgrees(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	for _, version := range []string{"2", "4"} {
		root := tree(t, map[string]string{".gitignore": "out/\n*.tmp\n", "a": "1", "d/b": "2", "d/c": "3", "out/x": "4", "new": "5", "y.tmp": "6"})
		git := func(args ...string) string {
			cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=", "-c", "index.version=" + version, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+root)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		git("init", "-q")
		git("add", ".gitignore", "a", "d/b", "d/c")
		if err := os.WriteFile(filepath.Join(root, "d/c"), []byte("4"), 0o644); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"a": "clean", "d/b": "clean", ".gitignore": "clean"}
		for _, line := range strings.Split(git("status", "--porcelain=v1", "--ignored", "-uall"), "\n") {
			if len(line) < 4 {
				continue
			}
			switch line[:2] {
			case "??":
				want[line[3:]] = "untracked"
			case "!!":
				want[strings.TrimSuffix(line[3:], "/")] = "ignored"
			case "AM", " M":
				want[line[3:]] = "dirty"
			}
		}
		if len(want) != 7 {
			t.Fatalf("git says %v", want)
		}
		state := LocalWorld("", "", nil).Git()
		for name, w := range want {
			if got := state(filepath.Join(root, name)); got != w {
				t.Errorf("index version %s: %s is %q, git says %q", version, name, got, w)
			}
		}
	}
}

// What was added to the index, or committed, is as old as the object that contains it.
func TestAdded(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	name := filepath.Join(dir, "a.sh")
	if err := os.WriteFile(name, []byte("true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := LocalWorld(dir, dir, nil)
	if got := w.Added(name); got != 0 {
		t.Errorf("before git add: got %d, want 0", got)
	}
	before := time.Now().Add(-time.Minute).UnixMilli()
	git("add", "a.sh")
	if got := w.Added(name); got < before {
		t.Errorf("after git add: got %d, want now", got)
	}
	git("commit", "-qm", "a")
	if got := w.Added(name); got < before {
		t.Errorf("after git commit: got %d, want now", got)
	}
	git("gc", "-q")
	if got := w.Added(name); got != 0 {
		t.Errorf("after git gc: got %d, want 0", got)
	}
}
