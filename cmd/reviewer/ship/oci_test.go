package ship

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	fakeregistry "github.com/google/go-containerregistry/pkg/registry"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// newRegistry starts a registry, whose answers change may change. It returns its
// address.
func newRegistry(t testing.TB, change func(http.Handler) http.Handler, options ...fakeregistry.Option) string {
	t.Helper()
	h := fakeregistry.New(append(options, fakeregistry.Logger(log.New(io.Discard, "", 0)))...)
	if change != nil {
		h = change(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// shelves are the places that keep OCI content.
func shelves(t *testing.T) map[string]string {
	return map[string]string{
		"referrers API":    "oci://" + newRegistry(t, nil, fakeregistry.WithReferrersSupport(true)) + "/acme/shop",
		"tag of referrers": "oci://" + newRegistry(t, nil, fakeregistry.WithReferrersSupport(false)) + "/acme/shop",
		"layout":           "oci-layout:" + filepath.Join(t.TempDir(), "new", "layout"),
	}
}

func TestOCI(t *testing.T) {
	for name, place := range shelves(t) {
		t.Run(name, func(t *testing.T) { testShelf(t, place) })
	}
}

func testShelf(t *testing.T, place string) {
	one, two := parcelOf(t, "1.0.0", "1"), parcelOf(t, "2.0.0", "2")
	first := mustPush(t, place+":stable", one, Options{})
	if !first.Signed || first.Unchanged || first.SHA256 != sha(one.Archive) {
		t.Errorf("pushed: %+v", first)
	}
	got := mustPull(t, place+":stable", Options{})
	sameParcel(t, got, one)
	if got.Label != one.Label || got.Place != first.Place {
		t.Errorf("label %+v at %s, want %+v at %s", got.Label, got.Place, one.Label, first.Place)
	}
	sameParcel(t, mustPull(t, first.Place, Options{}), one)
	if again := mustPush(t, place+":stable", one, Options{}); !again.Unchanged || again.Place != first.Place {
		t.Errorf("pushing it again: %+v", again)
	}
	if have := mustPull(t, place+":stable", Options{Have: &one}); !have.Unchanged {
		t.Error("what was here was fetched again")
	}

	// A tag belongs to one release, until someone insists.
	_, err := Push(t.Context(), mustRef(t, place+":stable"), two, Options{})
	wantError(t, err, "the tag stable belongs to another release", "--force")
	sameParcel(t, mustPull(t, place+":stable", Options{}), one)
	if r := mustPush(t, place+":stable", two, Options{Force: true}); r.Replaced == "" {
		t.Errorf("pushed: %+v", r)
	}
	sameParcel(t, mustPull(t, place+":stable", Options{}), two)
	sameParcel(t, mustPull(t, first.Place, Options{}), one) // by its digest it is still there

	// Without a tag the version is one; a name with a plus is not one.
	three := parcelOf(t, "3.0.0+linux", "3")
	mustPush(t, place, three, Options{})
	sameParcel(t, mustPull(t, place+":3.0.0_linux", Options{}), three)

	// A second signature of the same release is another envelope: each is offered.
	further := one
	further.Envelope = append(bytes.Clone(one.Envelope), '\n')
	if r := mustPush(t, place+":1.0.0", further, Options{}); r.Unchanged || r.Place != first.Place {
		t.Errorf("pushed with another envelope: %+v", r)
	}
	for _, want := range [][]byte{one.Envelope, further.Envelope} {
		p, err := Pull(t.Context(), mustRef(t, first.Place), Options{}, func(o Offer) error {
			if !bytes.Equal(o.Envelope, want) {
				return errors.New("not this one")
			}
			return nil
		})
		if err != nil || !bytes.Equal(p.Envelope, want) {
			t.Errorf("pulled with %d bytes of envelope (%v), want %d", len(p.Envelope), err, len(want))
		}
	}

	// One that nobody signed is offered without an envelope.
	four := parcelOf(t, "4.0.0", "4")
	four.Envelope = nil
	mustPush(t, place+":bare", four, Options{})
	sameParcel(t, mustPull(t, place+":bare", Options{}), four)

	_, err = Pull(t.Context(), mustRef(t, place+":absent"), Options{}, new(anyOffer).accept)
	wantError(t, err, "no such release")
	_, err = Push(t.Context(), mustRef(t, first.Place), one, Options{})
	wantError(t, err, "names a digest")
}

// Until the envelope was accepted, nothing of the archive is asked for, and the
// envelope is offered with the digest that the archive will have.
func TestVerifiedBeforeFetched(t *testing.T) {
	p := parcelOf(t, "1.0.0", "1")
	var fetched int
	place := "oci://" + newRegistry(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/blobs/sha256:"+sha(p.Archive)) {
				fetched++
			}
			h.ServeHTTP(w, req)
		})
	}) + "/shop:1"
	mustPush(t, place, p, Options{})
	_, err := Pull(t.Context(), mustRef(t, place), Options{}, func(o Offer) error {
		if fetched > 0 || o.SHA256 != sha(p.Archive) || !bytes.Equal(o.Envelope, p.Envelope) || o.Name != p.Name {
			t.Errorf("offered %+v after %d bytes were fetched", o, fetched)
		}
		return errors.New("nobody trusts this")
	})
	wantError(t, err, "nobody trusts this")
	if fetched > 0 {
		t.Error("the archive was fetched, and not accepted")
	}
	mustPull(t, place, Options{})
	if fetched != 1 {
		t.Errorf("fetched %d times, want once: the test looks at the wrong path", fetched)
	}
}

// badRegistries answer in ways that must not pass. Each changes the answer to one
// kind of request.
func badRegistries(p Parcel) map[string]struct {
	change func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder)
	want   string
} {
	archive := "/blobs/sha256:" + sha(p.Archive)
	onGet := func(part string, do func(http.ResponseWriter, *httptest.ResponseRecorder)) func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder) {
		return func(w http.ResponseWriter, req *http.Request, r *httptest.ResponseRecorder) {
			if req.Method == http.MethodGet && strings.Contains(req.URL.Path, part) {
				do(w, r)
				return
			}
			send(w, r, r.Body.Bytes())
		}
	}
	status := func(code int) func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder) {
		return func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) { w.WriteHeader(code) }
	}
	type bad = struct {
		change func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder)
		want   string
	}
	return map[string]bad{
		"another archive": {onGet(archive, func(w http.ResponseWriter, r *httptest.ResponseRecorder) {
			other := r.Body.Bytes()
			other[len(other)-1] ^= 1
			send(w, r, other)
		}), "does not match its digest"},
		"an archive that is cut short": {onGet(archive, func(w http.ResponseWriter, r *httptest.ResponseRecorder) {
			w.Header().Set("Content-Length", fmt.Sprint(r.Body.Len()))
			_, _ = w.Write(r.Body.Bytes()[:10])
		}), "truncated"},
		"an archive of another length": {onGet(archive, func(w http.ResponseWriter, r *httptest.ResponseRecorder) { send(w, r, append(r.Body.Bytes(), 'x')) }), "mismatch Content-Length"},
		"an archive without end": {onGet(archive, func(w http.ResponseWriter, r *httptest.ResponseRecorder) {
			for range 1000 {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}), "is longer than announced"},
		"another manifest": {onGet("/manifests/sha256:", func(w http.ResponseWriter, r *httptest.ResponseRecorder) {
			send(w, r, bytes.Replace(r.Body.Bytes(), []byte("acme"), []byte("evil"), 1))
		}), "does not match its digest"},
		"a digest that is none": {func(w http.ResponseWriter, req *http.Request, r *httptest.ResponseRecorder) {
			if req.Method == http.MethodHead {
				r.Header().Set("Docker-Content-Digest", "sha256:12")
			}
			send(w, r, r.Body.Bytes())
		}, "invalid checksum digest length"},
		"an envelope of 2 MB": {onGet("/blobs/sha256:"+sha(p.Envelope), func(w http.ResponseWriter, r *httptest.ResponseRecorder) { send(w, r, make([]byte, 2<<20)) }), "mismatch Content-Length"},
		"401":                 {status(http.StatusUnauthorized), "401 from the server: the user name and password"},
		"403":                 {status(http.StatusForbidden), "403 from the server: the account is not allowed"},
		"404":                 {status(http.StatusNotFound), "no such release"},
		"500":                 {status(http.StatusInternalServerError), "500 from the server: it has an internal problem"},
		"429":                 {status(http.StatusTooManyRequests), "429 from the server: too many requests"},
		"a redirect in a circle": {func(w http.ResponseWriter, req *http.Request, _ *httptest.ResponseRecorder) {
			http.Redirect(w, req, req.URL.Path, http.StatusTemporaryRedirect)
		}, "more than 5 redirects"},
		"a redirect out of this machine without TLS": {func(w http.ResponseWriter, req *http.Request, _ *httptest.ResponseRecorder) {
			http.Redirect(w, req, "http://registry.invalid"+req.URL.Path, http.StatusTemporaryRedirect)
		}, "without TLS"},
		"no registry at all": {func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder) {
			_, _ = io.WriteString(w, "<html>hello</html>")
		}, "pull oci://"},
	}
}

func send(w http.ResponseWriter, r *httptest.ResponseRecorder, body []byte) {
	for key, values := range r.Header() {
		w.Header()[key] = values
	}
	if r.Header().Get("Content-Length") != "" && len(body) > 0 {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	}
	w.WriteHeader(r.Code)
	_, _ = w.Write(body)
}

func TestBadRegistry(t *testing.T) {
	p := parcelOf(t, "1.0.0", "1")
	for name, bad := range badRegistries(p) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pushed := false
			place := "oci://" + newRegistry(t, func(h http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					if !pushed {
						h.ServeHTTP(w, req)
						return
					}
					r := httptest.NewRecorder()
					h.ServeHTTP(r, req)
					bad.change(w, req, r)
				})
			}, fakeregistry.WithReferrersSupport(true)) + "/shop:1"
			mustPush(t, place, p, Options{})
			mustPull(t, place, Options{})
			pushed = true
			got, err := Pull(t.Context(), mustRef(t, place), Options{}, new(anyOffer).accept)
			wantError(t, err, bad.want)
			if got.Archive != nil {
				t.Errorf("%d bytes came with the error", len(got.Archive))
			}
		})
	}
}

func TestRegistryIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"oci://" + address + "/shop:1", "http://" + address + "/shop.tar.gz"} {
		_, err = Pull(t.Context(), mustRef(t, text), Options{}, new(anyOffer).accept)
		wantError(t, err, text, "connection refused")
	}
	_, err = Push(t.Context(), mustRef(t, "oci://"+address+"/shop:1"), parcelOf(t, "1.0.0", "1"), Options{})
	wantError(t, err, "push to oci://"+address, "connection refused")
}

func TestRegistryIsSlow(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(stop) })
	host := strings.TrimPrefix(s.URL, "http://")
	for _, text := range []string{"oci://" + host + "/shop:1", s.URL + "/shop.tar.gz"} {
		_, err := Pull(soon(t, 100*time.Millisecond), mustRef(t, text), Options{}, new(anyOffer).accept)
		wantError(t, err, "timed out", "--timeout")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Pull(ctx, mustRef(t, "oci://"+host+"/shop:1"), Options{}, new(anyOffer).accept)
	wantError(t, err, "interrupted")
}

// The tag moves to another release after it was looked up: what comes is the one
// that was looked up.
func TestTagMovesMeanwhile(t *testing.T) {
	one, two := parcelOf(t, "1.0.0", "1"), parcelOf(t, "2.0.0", "2")
	var looked func()
	place := "oci://" + newRegistry(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			h.ServeHTTP(w, req)
			if move := looked; move != nil && req.Method == http.MethodHead && strings.HasSuffix(req.URL.Path, "/manifests/stable") {
				looked = nil
				move()
			}
		})
	}) + "/shop:stable"
	mustPush(t, place, one, Options{})
	moved := false
	looked = func() {
		moved = true
		mustPush(t, place, two, Options{Force: true})
	}
	sameParcel(t, mustPull(t, place, Options{}), one)
	if !moved {
		t.Error("nothing moved meanwhile")
	}
	sameParcel(t, mustPull(t, place, Options{}), two)
}

func TestRegistryLogin(t *testing.T) {
	place := "oci://" + newRegistry(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if name, password, ok := req.BasicAuth(); !ok || name != "kim" || password != "pass" {
				w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, req)
		})
	}) + "/shop:1"
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	p := parcelOf(t, "1.0.0", "1")
	_, err := Push(t.Context(), mustRef(t, place), p, Options{})
	wantError(t, err, "a user name and a password", "docker login")
	_, err = Push(t.Context(), mustRef(t, place), p, Options{Username: "kim", Password: "wrong"})
	wantError(t, err, "401", "missing or wrong")
	mustPush(t, place, p, Options{Username: "kim", Password: "pass"})

	// What docker knows is used, too.
	config := fmt.Sprintf(`{"auths":{%q:{"auth":"a2ltOnBhc3M="}}}`, mustRef(t, place).host)
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	sameParcel(t, mustPull(t, place, Options{}), p)
	if err := os.WriteFile(filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Pull(t.Context(), mustRef(t, place), Options{}, new(anyOffer).accept)
	wantError(t, err, "docker's configuration")
}

// badManifests are manifests of something other than a policy, made of a good one.
func badManifests() map[string]struct {
	change func(*ocispec.Manifest)
	want   string
} {
	type bad = struct {
		change func(*ocispec.Manifest)
		want   string
	}
	return map[string]bad{
		"another artifact":     {func(m *ocispec.Manifest) { m.ArtifactType = "application/vnd.example" }, `an artifact of type "application/vnd.example"`},
		"an image":             {func(m *ocispec.Manifest) { m.ArtifactType, m.Config.MediaType = "", ocispec.MediaTypeImageConfig }, `an artifact of type "application/vnd.oci.image.config`},
		"no layer":             {func(m *ocispec.Manifest) { m.Layers = nil }, "found 0 layers"},
		"two layers":           {func(m *ocispec.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) }, "found 2 layers"},
		"a layer without gzip": {func(m *ocispec.Manifest) { m.Layers[0].MediaType = ocispec.MediaTypeImageLayer }, "its layer is of type"},
		"a huge layer":         {func(m *ocispec.Manifest) { m.Layers[0].Size = 1 << 40 }, "expected 1 to"},
		"a negative layer":     {func(m *ocispec.Manifest) { m.Layers[0].Size = -1 }, "expected 1 to"},
		"an empty layer":       {func(m *ocispec.Manifest) { m.Layers[0].Size = 0 }, "expected 1 to"},
		"another hash":         {func(m *ocispec.Manifest) { m.Layers[0].Digest = "sha512:" + digest.Digest(strings.Repeat("0", 128)) }, "expected a SHA-256 digest"},
		"a path for a digest":  {func(m *ocispec.Manifest) { m.Layers[0].Digest = "sha256:../../../../etc/passwd" }, "expected a SHA-256 digest"},
		"a layer that lacks":   {func(m *ocispec.Manifest) { m.Layers[0].Digest = digest.FromString("absent") }, "layout lacks"},
	}
}

func TestBadManifest(t *testing.T) {
	for name, bad := range badManifests() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := parcelOf(t, "1.0.0", "1")
			mustPush(t, "oci-layout:"+dir+":1", p, Options{})
			l, err := openLayout(dir, true)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			good, _ := l.Resolve(t.Context(), "1")
			m, err := fetchManifest(t.Context(), l, good)
			if err != nil {
				t.Fatal(err)
			}
			bad.change(&m)
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			i := newItem(ocispec.MediaTypeImageManifest, raw)
			if err := errors.Join(l.Push(t.Context(), i.desc, bytes.NewReader(i.raw)), l.Tag(t.Context(), i.desc, "bad")); err != nil {
				t.Fatal(err)
			}
			_, err = Pull(t.Context(), mustRef(t, "oci-layout:"+dir+":bad"), Options{}, new(anyOffer).accept)
			wantError(t, err, bad.want)
		})
	}
}

// A title that would lead elsewhere is not one.
func TestNameOfFile(t *testing.T) {
	r := mustRef(t, "oci://127.0.0.1:5000/acme/shop:1.0")
	for title, want := range map[string]string{
		"shop-1.tar.gz": "shop-1.tar.gz", "": "shop-1.0.tar.gz", "../../x.tar.gz": "shop-1.0.tar.gz", "/etc/cron.d/x.tar.gz": "shop-1.0.tar.gz", "x.sh": "shop-1.0.tar.gz",
	} {
		d := ocispec.Descriptor{Digest: digest.FromString("x"), Annotations: map[string]string{ocispec.AnnotationTitle: title}}
		if got := r.nameOf(d); got != want {
			t.Errorf("%q: the file is %s, want %s", title, got, want)
		}
	}
}
