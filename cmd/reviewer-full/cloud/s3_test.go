package cloud

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer-full/s3server"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
)

func listed(t *testing.T, a *objects.Access, url string) []objects.Object {
	t.Helper()
	l, err := objects.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	list, err := a.List(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func content(t *testing.T, a *objects.Access, o objects.Object, off, n int64) (string, error) {
	t.Helper()
	r, err := a.Open(t.Context(), o, off, n)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}

// Objects are listed with sizes and versions, and read whole or in part.
func TestRead(t *testing.T) {
	s, a := s3server.New(t), &objects.Access{Cloud: Open}
	long := strings.Repeat("0123456789", 20_000)
	s.Put("july/a.jsonl", []byte(long))
	s.Put("july/empty", nil)
	s.Put("july-other/b", []byte("b"))
	list := listed(t, a, s.URL("july"))
	if len(list) != 2 || list[0].Size != int64(len(long)) || list[1].Size != 0 || !strings.HasPrefix(list[0].Version, "etag:") {
		t.Fatalf("listed %+v", list)
	}
	if got, err := content(t, a, list[0], 0, -1); err != nil || got != long {
		t.Errorf("read %d bytes of %d, %v", len(got), len(long), err)
	}
	if got, err := content(t, a, list[0], 65_530, 20); err != nil || got != long[65_530:65_550] {
		t.Errorf("a part: %q, %v", got, err)
	}
	if got, err := content(t, a, list[1], 0, -1); err != nil || got != "" {
		t.Errorf("an empty object: %q, %v", got, err)
	}
	if one := listed(t, a, s.URL("july/a.jsonl")); len(one) != 1 || one[0].Key != "july/a.jsonl" {
		t.Errorf("the object itself: %+v", one)
	}
}

// An object that is no longer the one that was listed is never read.
func TestChanged(t *testing.T) {
	s, a := s3server.New(t), &objects.Access{Cloud: Open}
	s.Put("a", []byte("first"))
	s.Put("b", []byte("second"))
	list := listed(t, a, s.URL(""))
	s.Put("a", []byte("other"))
	s.Delete("b")
	if got, err := content(t, a, list[0], 0, -1); !errors.Is(err, objects.ErrChanged) {
		t.Errorf("a changed object: %q, %v", got, err)
	}
	if got, err := content(t, a, list[1], 0, -1); !errors.Is(err, objects.ErrGone) {
		t.Errorf("a deleted object: %q, %v", got, err)
	}
}

// An object is written once; writing the same contents again succeeds.
func TestCreate(t *testing.T) {
	s, a := s3server.New(t), &objects.Access{Cloud: Open}
	for _, c := range []struct{ content, want string }{{"one", ""}, {"one", ""}, {"two", "exists already, with other contents"}} {
		err := a.Write(t.Context(), s.URL("out/report.json"), []byte(c.content))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("write %s: %v, want %q", c.content, err, c.want)
		}
	}
	if err := a.Free(t.Context(), s.URL("out/report.json")); !errors.Is(err, objects.ErrExists) {
		t.Errorf("free: %v", err)
	}
	if err := a.Free(t.Context(), s.URL("out/other.json")); err != nil {
		t.Errorf("free: %v", err)
	}
	got, err := a.Read(t.Context(), s.URL("out/report.json"), 100)
	if err != nil || string(got) != "one" {
		t.Errorf("read %q, %v", got, err)
	}
}

// Credentials that expire are told apart from an object that cannot be read.
func TestExpired(t *testing.T) {
	s, a := s3server.New(t), &objects.Access{Cloud: Open}
	s.Put("a", []byte("text"))
	list := listed(t, a, s.URL("a"))
	s.Before(func(w http.ResponseWriter, _ *http.Request) bool { s3server.Expire(w); return true })
	if _, err := content(t, a, list[0], 0, -1); !errors.Is(err, objects.ErrCredentials) || !strings.Contains(err.Error(), "ExpiredToken") {
		t.Errorf("expired credentials: %v", err)
	}
	if err := a.Write(t.Context(), s.URL("b"), []byte("x")); !errors.Is(err, objects.ErrCredentials) {
		t.Errorf("writing with expired credentials: %v", err)
	}
}

// A connection that breaks in the middle of an object is continued.
func TestBrokenConnection(t *testing.T) {
	s, a := s3server.New(t), &objects.Access{Cloud: Open}
	text := bytes.Repeat([]byte("0123456789"), 30_000)
	s.Put("a", text)
	list := listed(t, a, s.URL("a"))
	gets := 0
	s.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.URL.Path != "/"+s3server.Bucket+"/a" {
			return false
		}
		if gets++; gets == 1 {
			s3server.Cut(w, strings.TrimPrefix(list[0].Version, "etag:"), 64<<10, text[:1000])
			return true
		}
		return false
	})
	got, err := content(t, a, list[0], 0, -1)
	if err != nil || got != string(text) || gets < 2 {
		t.Errorf("read %d bytes of %d in %d requests: %v", len(got), len(text), gets, err)
	}
}

// Of an object of 5 GB only what is asked for is read.
func TestLargeObject(t *testing.T) {
	s, a := s3server.New(t), &objects.Access{Cloud: Open}
	const size = 5 << 30
	var sent int64
	s.Before(func(w http.ResponseWriter, r *http.Request) bool {
		var from, to int64
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
			return false
		}
		w.Header().Set("ETag", `"large"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, int64(size)))
		w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
		w.WriteHeader(http.StatusPartialContent)
		n, _ := io.CopyN(w, endless{}, to-from+1)
		sent += n
		return true
	})
	l, err := objects.Parse(s.URL("large"))
	if err != nil {
		t.Fatal(err)
	}
	o := objects.Object{Location: l, Size: size, Version: "etag:large"}
	if got, err := content(t, a, o, size-100, -1); err != nil || len(got) != 100 {
		t.Errorf("the end: %d bytes, %v", len(got), err)
	}
	if got, err := content(t, a, o, 0, 16<<10); err != nil || len(got) != 16<<10 {
		t.Errorf("the beginning: %d bytes, %v", len(got), err)
	}
	if sent > 1<<20 {
		t.Errorf("%d bytes were sent", sent)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Of the other stores it is tried that their URLs open a bucket, which needs no network.
func TestSchemes(t *testing.T) {
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", "a2V5")
	for _, text := range []string{"azblob://container/logs", "gs://bucket/logs?anonymous=true"} {
		l, err := objects.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), l); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
