package objects

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func file(t *testing.T, name, content string) Location {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := OfFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Location{
		"s3://b/logs/a.jsonl":                 {Scheme: "s3", Bucket: "b", Key: "logs/a.jsonl"},
		"s3://b":                              {Scheme: "s3", Bucket: "b"},
		"gs://b/logs/":                        {Scheme: "gs", Bucket: "b", Key: "logs/"},
		"s3://b/k?region=eu-west-1&awssdk=v2": {Scheme: "s3", Bucket: "b", Key: "k", Options: "region=eu-west-1&awssdk=v2"},
		"file:///srv/logs":                    {Scheme: "file", Key: "/srv/logs"},
	} {
		got, err := Parse(text)
		if err != nil || got != want || got.URL() != text && text != "s3://b" {
			t.Errorf("%s: %+v, %v; written %s", text, got, err, got.URL())
		}
	}
	if runtime.GOOS == "windows" {
		for _, text := range []string{"file:///C:/srv/logs", "file://C:/srv/logs", `file://C:\srv\logs`, `file:///C:\srv\logs`} {
			if got, err := Parse(text); err != nil || got.String() != "file:///C:/srv/logs" || got.Path() != `C:\srv\logs` {
				t.Errorf("%s: %s, path %s, %v", text, got, got.Path(), err)
			}
		}
	}
	for text, want := range map[string]string{
		"logs": "expected a location", "s3:///k": "expected the name of a bucket", "file://logs": "an absolute path", "s3://b/k?a=%zz": "expected options",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A manifest holds files to their contents, wherever they are copied; a changed or
// deleted one is not read.
func TestManifest(t *testing.T) {
	dir := t.TempDir()
	l := file(t, filepath.Join(dir, "a"), "one")
	gone := file(t, filepath.Join(dir, "b"), "two")
	a := &Access{}
	var inputs []Input
	for _, at := range []Location{l, gone} {
		list, err := a.List(t.Context(), at)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		inputs = append(inputs, Input{Object: list[0], Group: len(inputs)})
	}
	m, err := a.NewManifest(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadManifest(bytes.NewReader(m.Bytes()))
	if err != nil || again.Digest() != m.Digest() || !strings.HasPrefix(m.Objects[0].Version, "sha256:") {
		t.Fatalf("%+v, %v", again, err)
	}
	back, err := again.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	read := func(o Object) error {
		r, err := (&Access{}).Open(context.Background(), o, 0, -1)
		if err == nil {
			r.Close()
		}
		return err
	}
	if err := read(back[0].Object); err != nil {
		t.Errorf("the same file: %v", err)
	}
	file(t, filepath.Join(dir, "a"), "ONE")
	if err := read(back[0].Object); !errors.Is(err, ErrChanged) {
		t.Errorf("other contents of the same size: %v", err)
	}
	file(t, filepath.Join(dir, "a"), "longer")
	if err := read(back[0].Object); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "3 bytes, and has 6") {
		t.Errorf("another size: %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "b"))); err != nil {
		t.Fatal(err)
	}
	if err := read(back[1].Object); !errors.Is(err, ErrGone) {
		t.Errorf("a deleted file: %v", err)
	}
}

func TestReadManifestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "is not a manifest",
		`{"v":1,"kind":"impact"}`:   "is not a manifest of version 1",
		`{"v":2,"kind":"manifest"}`: "is not a manifest of version 1",
		`{"v":1,"kind":"manifest","sources":["s3://b"],"objects":[{"source":3,"key":"a","size":1,"version":"etag:x","group":0}]}`: `the entry of "a" is not complete`,
		`{"v":1,"kind":"manifest","sources":["s3://b"],"objects":[{"source":0,"key":"a","size":1,"version":"","group":0}]}`:       `the entry of "a" is not complete`,
	} {
		if _, err := ReadManifest(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Every group is in one share, and the shares are about as large.
func TestShare(t *testing.T) {
	var inputs []Input
	for i := range 200 {
		inputs = append(inputs, Input{Object: Object{Location: Location{Key: string(rune('a' + i))}, Size: int64(1 + i*i%97)}, Group: i / 2})
	}
	of := map[int]int{}
	var sizes []int64
	total := 0
	for i := 1; i <= 7; i++ {
		var size int64
		for _, in := range Share(inputs, i, 7) {
			if other, known := of[in.Group]; known && other != i {
				t.Errorf("group %d is in shares %d and %d", in.Group, other, i)
			}
			of[in.Group] = i
			size += in.Size
			total++
		}
		sizes = append(sizes, size)
	}
	if total != len(inputs) {
		t.Errorf("%d of %d inputs", total, len(inputs))
	}
	if low, high := slices.Min(sizes), slices.Max(sizes); high-low > 200 {
		t.Errorf("shares of %v bytes", sizes)
	}
	if got := Share(inputs[:2], 2, 3); len(got) != 0 {
		t.Errorf("one group, second share: %v", got)
	}
}

// A file is written whole, once.
func TestCreateFile(t *testing.T) {
	dir := t.TempDir()
	l, err := OfFile(filepath.Join(dir, "out", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	a := &Access{}
	for _, c := range []struct{ content, want string }{{"one", ""}, {"one", ""}, {"two", "with other contents"}, {"longer", "with other contents"}} {
		err := a.Write(t.Context(), l.String(), []byte(c.content))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("write %s: %v", c.content, err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "out"))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A link in a folder is followed to a file.
func TestListFollowsLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := t.TempDir()
	file(t, filepath.Join(dir, "real", "a"), "one")
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "real", "a"), filepath.Join(dir, "logs", "b")); err != nil {
		t.Fatal(err)
	}
	l, err := OfFile(filepath.Join(dir, "logs"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := (&Access{}).List(t.Context(), l)
	if err != nil || len(list) != 1 || list[0].Size != 3 {
		t.Errorf("%+v, %v", list, err)
	}
}
