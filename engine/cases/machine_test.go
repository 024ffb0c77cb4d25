package cases

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestMachine(t *testing.T) {
	c := parse(t, `
name: a
files: {a.txt: text, src/: null, up: {link: ../other}, /srv/other/b.txt: more, self: {link: self}, ~/.x: ""}
cases: [{Bash: ls, decision: allow}]
`)[0]
	m := c.Machine()
	if b, err := m.ReadFile("/srv/shop/up/b.txt", 10); string(b) != "more" || err != nil {
		t.Errorf("through a link: %q, %v", b, err)
	}
	if _, err := m.ReadFile("/srv/shop/a.txt", 3); err == nil {
		t.Error("a file that is longer than the limit was read")
	}
	if _, err := m.ReadFile("/srv/shop/self", 3); err == nil {
		t.Error("a link to itself was read")
	}
	if _, err := m.Lstat("/srv/shop/b.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for name, mode := range map[string]string{
		"/srv/shop": "drwxr-xr-x", "/srv/shop/src": "drwxr-xr-x", "/srv/shop/up": "Lrwxrwxrwx", "/home/anna/.x": "-rw-r--r--", "/": "drwxr-xr-x", "/tmp": "drwxr-xr-x",
	} {
		if info, err := m.Lstat(name); err != nil || info.Mode().String() != mode {
			t.Errorf("%s: %v, %v; want %s", name, info, err, mode)
		}
	}
	if list, err := m.ReadDir("/srv/shop", 2); err != nil || len(list) != 2 || list[0].Name() != "a.txt" || list[1].Name() != "self" {
		t.Errorf("the workspace: %v, %v", list, err)
	}
	m.Put(map[string]File{"new/deep.txt": {Content: "x"}})
	if info, err := m.Lstat("/srv/shop/new"); err != nil || !info.IsDir() {
		t.Errorf("the folder above a new file: %v, %v", info, err)
	}
}

// A file has several names on a disk that ignores case, and is one.
func TestMachineSame(t *testing.T) {
	m := parse(t, `
name: a
files: {Src/a.txt: text, src: {same: Src}, loop: {same: loop}}
cases: [{Bash: ls, decision: allow}]
`)[0].Machine()
	if b, err := m.ReadFile("/srv/shop/src/a.txt", 10); string(b) != "text" || err != nil {
		t.Errorf("by its other name: %q, %v", b, err)
	}
	stat := func(name string) fs.FileInfo {
		info, err := m.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	src := stat("/srv/shop/src")
	if !src.IsDir() || src.Name() != "src" {
		t.Errorf("the other name is %v", src)
	}
	if !m.Same(src, stat("/srv/shop/Src")) || !m.Same(stat("/srv/shop/src/a.txt"), stat("/srv/shop/Src/a.txt")) {
		t.Error("two names of one folder are two folders")
	}
	if m.Same(src, stat("/srv/shop")) {
		t.Error("two folders are one")
	}
	if _, err := m.Lstat("/srv/shop/loop"); err == nil {
		t.Error("a name of itself was found")
	}
}

// Nothing is known about a machine that a case does not describe.
func TestNoMachine(t *testing.T) {
	cases := parse(t, "- {name: a, cases: [{Bash: ls, decision: allow}]}\n- {name: b, files: {}, cases: [{Bash: ls, decision: allow}]}")
	if cases[0].Machine() != nil || cases[1].Machine() == nil {
		t.Error("a machine without files and none are the same")
	}
}

// A machine answers like a real one with the same files.
func TestMachineIsLikeReal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the machine of a case has paths of Unix")
	}
	g := rand.New(rand.NewPCG(1, 2))
	for round := range 30 {
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		m := (&Case{Workspace: root, Home: root, Files: randomFiles(g, root)}).Machine()
		for range 60 {
			name := filepath.Join(root, randomPath(g))
			if got, want := answers(m.Lstat(name)), answers(os.Lstat(name)); got != want {
				t.Errorf("round %d: lstat %s is %s, want %s", round, name, got, want)
			}
			gotLink, gotErr := m.Readlink(name)
			wantLink, wantErr := os.Readlink(name)
			if gotLink != wantLink || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("round %d: readlink %s is %s, %v, want %s, %v", round, name, gotLink, gotErr, wantLink, wantErr)
			}
			got, gotErr := m.ReadFile(name, 100)
			want, wantErr := os.ReadFile(name)
			if string(got) != string(want) || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("round %d: %s holds %q, %v, want %q, %v", round, name, got, gotErr, want, wantErr)
			}
			gotList, gotErr := m.ReadDir(name, 100)
			wantList, wantErr := os.ReadDir(name)
			if fmt.Sprint(gotList) != fmt.Sprint(wantList) || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("round %d: in %s are %v, %v, want %v, %v", round, name, gotList, gotErr, wantList, wantErr)
			}
		}
	}
}

func answers(i fs.FileInfo, err error) string {
	if err != nil {
		return "not there"
	}
	return fmt.Sprint(i.Name(), i.Mode().Type(), i.IsDir())
}

func randomPath(g *rand.Rand) string {
	parts := make([]string, 1+g.IntN(3))
	for i := range parts {
		parts[i] = string(rune('a' + g.IntN(4)))
	}
	return strings.Join(parts, "/")
}

// randomFiles makes files below root, and returns those that could be made.
func randomFiles(g *rand.Rand, root string) map[string]File {
	files := map[string]File{}
	for range 8 {
		name := randomPath(g)
		links := slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(other string) bool {
			return files[other].Link != "" && strings.HasPrefix(name, other+"/")
		})
		if links {
			continue // it would be made where the link leads
		}
		full := filepath.Join(root, name)
		if os.MkdirAll(filepath.Dir(full), 0o755) != nil {
			continue
		}
		f := File{Content: name}
		err := fs.ErrExist
		switch _, there := os.Lstat(full); {
		case there == nil:
		case g.IntN(3) == 0:
			f = File{Link: randomPath(g)}
			err = os.Symlink(f.Link, full)
		case g.IntN(2) == 0:
			f = File{Folder: true}
			err = os.Mkdir(full, 0o755)
		default:
			err = os.WriteFile(full, []byte(name), 0o644)
		}
		if err == nil {
			files[name] = f
		}
	}
	return files
}
