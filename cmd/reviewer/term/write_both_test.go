package term

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteBoth(t *testing.T) {
	const old, fresh = "before", "after"
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dir string) // what is there before
		want    string                         // of the error; empty: none
		first   string                         // what is there afterwards; empty: nothing
		second  string
	}{
		"new": {func(*testing.T, string) {}, "", fresh, fresh},
		"over old ones": {func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "first"), old)
			put(t, filepath.Join(dir, "second"), old)
		}, "", fresh, fresh},
		"second is a folder": {func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "second", "x"), old)
		}, "second", "", ""},
		"second is a folder, first is kept": {func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "first"), old)
			put(t, filepath.Join(dir, "second", "x"), old)
		}, "second", old, ""},
		"first is a folder": {func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "first", "x"), old)
			put(t, filepath.Join(dir, "second"), old)
		}, "first", "", old},
	} {
		dir := t.TempDir()
		c.prepare(t, dir)
		first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
		err := WriteBoth(PlacedFile{first, []byte(fresh)}, PlacedFile{second, []byte(fresh)})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want an error about %q", name, err, c.want)
		}
		if got := contentOf(first); got != c.first {
			t.Errorf("%s: the first file is %q, want %q", name, got, c.first)
		}
		if got := contentOf(second); got != c.second {
			t.Errorf("%s: the second file is %q, want %q", name, got, c.second)
		}
		if left, err := filepath.Glob(filepath.Join(dir, ".reviewer-*")); err != nil || len(left) > 0 {
			t.Errorf("%s: %q is left behind (%v)", name, left, err)
		}
	}
}

// A file that only its owner reads stays so.
func TestWriteWholeKeepsTheMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.yaml")
	put(t, file, "before")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteWhole(file, []byte("after")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || contentOf(file) != "after" {
		t.Errorf("%v, %q; %v", info.Mode(), contentOf(file), err)
	}
}

func put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func contentOf(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return "" // none, or a folder
	}
	return string(b)
}
