package ship

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-reviewer/reviewer/engine/await"
)

// newServer returns a server of a new folder, and what it remarks.
func newServer(t *testing.T) (s *Server, dir string, remarks *bytes.Buffer) {
	t.Helper()
	dir, remarks = t.TempDir(), new(bytes.Buffer)
	s, err := NewServer(dir, log.New(remarks, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir, remarks
}

// ask sends a request with headers, given as name and value.
func ask(s *Server, method, path string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, "http://127.0.0.1/", nil)
	req.URL.Path = path
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w
}

func TestServe(t *testing.T) {
	s, dir, _ := newServer(t)
	p := parcelOf(t, "1.0.0", "1")
	mustPush(t, dir, p, Options{})
	path := Path(p.Name)
	w := ask(s, "GET", path)
	etag := w.Header().Get("ETag")
	if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), p.Archive) || etag != `"`+sha(p.Archive)+`"` || w.Header().Get("Content-Type") != "application/gzip" {
		t.Errorf("answer %d of %d bytes, %v", w.Code, w.Body.Len(), w.Header())
	}
	if w := ask(s, "GET", path, "If-None-Match", etag); w.Code != 304 || w.Body.Len() != 0 {
		t.Errorf("asked with its ETag: %d of %d bytes", w.Code, w.Body.Len())
	}
	if w := ask(s, "HEAD", path); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("ETag") != etag {
		t.Errorf("HEAD: %d of %d bytes", w.Code, w.Body.Len())
	}
	if w := ask(s, "GET", path+EnvelopeSuffix); w.Code != 200 || !bytes.Equal(w.Body.Bytes(), p.Envelope) {
		t.Errorf("envelope: %d of %d bytes", w.Code, w.Body.Len())
	}
	if w := ask(s, "GET", path, "Prefer", "modes=snapshot,delta;wait=1"); w.Header().Get("Content-Type") != longPollType {
		t.Errorf("asked to wait: %v", w.Header())
	}
}

// Whatever is asked for, nothing outside the folder and nothing but releases is
// served.
func TestServeNothingElse(t *testing.T) {
	s, dir, _ := newServer(t)
	p := parcelOf(t, "1.0.0", "1")
	p.Envelope = nil
	mustPush(t, dir, p, Options{})
	secret := filepath.Join(filepath.Dir(dir), "secret.tar.gz")
	err := errors.Join(
		os.WriteFile(secret, p.Archive, 0o600), os.Symlink(secret, filepath.Join(dir, "link.tar.gz")),
		os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600), os.WriteFile(filepath.Join(dir, ".hidden.tar.gz"), p.Archive, 0o600),
		os.Mkdir(filepath.Join(dir, "sub"), 0o755), os.WriteFile(filepath.Join(dir, "sub", "x.tar.gz"), p.Archive, 0o600),
		os.Mkdir(filepath.Join(dir, "folder.tar.gz"), 0o755),
	)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		Path(p.Name): 200, Path(p.Name) + EnvelopeSuffix: 404, "/" + p.Name: 404, "/": 404, "/bundles/": 404, "/bundles": 404,
		"/bundles/../secret.tar.gz": 404, "/bundles/..%2fsecret.tar.gz": 404, "/bundles//" + p.Name: 404, "/bundles/" + secret: 404,
		"/bundles/notes.txt": 404, "/bundles/.hidden.tar.gz": 404, "/bundles/sub/x.tar.gz": 404, "/bundles/" + p.Name + "/": 404, "/bundles/absent.tar.gz": 404,
		"/bundles/link.tar.gz": 503, "/bundles/folder.tar.gz": 503, "/bundles/x\x00.tar.gz": 404,
	} {
		if w := ask(s, "GET", path); w.Code != want || want != 200 && bytes.Contains(w.Body.Bytes(), p.Archive[:20]) {
			t.Errorf("%q: %d, want %d", path, w.Code, want)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if w := ask(s, method, Path(p.Name)); w.Code != 405 {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// While files are being replaced, and where what is new is not a release, the last
// good one is served.
func TestServeLastGood(t *testing.T) {
	s, dir, remarks := newServer(t)
	one, two := parcelOf(t, "1.0.0", "1"), parcelOf(t, "2.0.0", "2")
	two.Name = one.Name
	two.Envelope = envelopeOver(t, two)
	mustPush(t, dir, one, Options{})
	served := func(want Parcel) {
		t.Helper()
		a, e := ask(s, "GET", Path(one.Name)), ask(s, "GET", Path(one.Name)+EnvelopeSuffix)
		if !bytes.Equal(a.Body.Bytes(), want.Archive) || !bytes.Equal(e.Body.Bytes(), want.Envelope) {
			t.Errorf("answers %d and %d are not the release %s", a.Code, e.Code, want.Label.Version)
		}
	}
	served(one)
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(one.Name, two.Archive) // its envelope is still the old one
	served(one)
	if !strings.Contains(remarks.String(), "its envelope is for another archive") {
		t.Errorf("remarks: %s", remarks)
	}
	write(one.Name, two.Archive[:30]) // half of it
	served(one)
	write(one.Name+EnvelopeSuffix, two.Envelope)
	write(one.Name, two.Archive)
	served(two)

	if err := os.Remove(filepath.Join(dir, one.Name)); err != nil {
		t.Fatal(err)
	}
	if w := ask(s, "GET", Path(one.Name)); w.Code != 404 {
		t.Errorf("a removed archive is answered with %d", w.Code)
	}
	write(one.Name, []byte("nonsense"))
	if w := ask(s, "GET", Path(one.Name)); w.Code != 503 || strings.Contains(w.Body.String(), dir) {
		t.Errorf("nonsense is answered with %d %s", w.Code, w.Body)
	}
}

func TestServeWaits(t *testing.T) {
	s, dir, _ := newServer(t)
	p := parcelOf(t, "1.0.0", "1")
	mustPush(t, dir, p, Options{})
	etag := ask(s, "GET", Path(p.Name)).Header().Get("ETag")
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if w := ask(s, "GET", Path(p.Name), "If-None-Match", etag, "Prefer", "wait=1"); w.Code != 304 || time.Since(start) != time.Second {
			t.Errorf("nothing changed: %d after %s", w.Code, time.Since(start))
		}
	})
	for prefer, want := range map[string]time.Duration{
		"wait=5": 5 * time.Second, "modes=snapshot,delta;wait=7": 7 * time.Second, "wait=100000": maxWait, "wait=-5": 0, "wait=99999999999999999999": 0, "wait=x": 0, "": 0,
	} {
		req := httptest.NewRequest("GET", "/", nil)
		req.Header.Set("Prefer", prefer)
		got, asked := waitAsked(req)
		if asked && got != want || !asked && want != 0 {
			t.Errorf("%q: waits %s (%t), want %s", prefer, got, asked, want)
		}
	}
}

// A server that is told to end lets go of those who wait.
func TestServeEnds(t *testing.T) {
	s, dir, _ := newServer(t)
	p := parcelOf(t, "1.0.0", "1")
	mustPush(t, dir, p, Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+l.Addr().String()+Path(p.Name), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-None-Match", `"`+sha(p.Archive)+`"`)
	req.Header.Set("Prefer", "wait=50")
	go func() {
		await.Holds(func() bool { return len(s.waiting) > 0 })
		stop()
	}()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if err := <-ended; err != nil || resp.StatusCode != 304 {
		t.Errorf("ended with %v, answered %d", err, resp.StatusCode)
	}
}

func TestListen(t *testing.T) {
	l, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, want := range map[string]string{
		"0.0.0.0:0": "--allow-remote", ":0": "--allow-remote", "[::]:0": "--allow-remote", "example.invalid:0": "--allow-remote",
		"8181": "is not an address", "": "is not an address", l.Addr().String(): "is in use",
	} {
		other, err := Listen(t.Context(), address, false)
		wantError(t, err, want)
		if other != nil {
			_ = other.Close()
		}
	}
}

func TestServeNoFolder(t *testing.T) {
	_, err := NewServer(filepath.Join(t.TempDir(), "absent"), log.New(io.Discard, "", 0))
	wantError(t, err, "no such folder")
}
