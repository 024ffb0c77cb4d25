package ship

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// newWeb starts a web server that has one release.
func newWeb(t testing.TB, p *Parcel, seen *[]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		*seen = append(*seen, req.Method+" "+req.URL.Path)
		switch {
		case req.URL.Path == "/"+p.Name+EnvelopeSuffix && p.Envelope != nil:
			answer(w, req, p.Envelope, sha(p.Envelope), "application/json")
		case req.URL.Path == "/"+p.Name:
			answer(w, req, p.Archive, sha(p.Archive), "application/gzip")
		default:
			http.NotFound(w, req)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestWeb(t *testing.T) {
	p := parcelOf(t, "1.0.0", "1")
	var seen []string
	s := newWeb(t, &p, &seen)
	url := s.URL + "/" + p.Name
	got := mustPull(t, url, Options{})
	sameParcel(t, got, p)
	if got.ETag == "" || got.Unchanged {
		t.Errorf("got %+v", got)
	}

	// What is here is not fetched again; a new envelope of it is.
	p.Envelope = append(p.Envelope, '\n')
	again := mustPull(t, url, Options{Have: &got})
	sameParcel(t, again, p)
	if !again.Unchanged {
		t.Error("the archive was fetched again")
	}

	// What changed is.
	changed := parcelOf(t, "2.0.0", "2")
	p.Archive, p.Envelope = changed.Archive, nil
	again = mustPull(t, url, Options{Have: &again})
	sameParcel(t, again, p)
	if again.Unchanged {
		t.Error("another archive counts as the same")
	}

	// Nothing is fetched where the envelope is not accepted.
	seen = nil
	_, err := Pull(t.Context(), mustRef(t, url), Options{}, func(o Offer) error {
		if o.Envelope == nil {
			return fmt.Errorf("unsigned")
		}
		return nil
	})
	wantError(t, err, "unsigned")
	if want := "GET /" + p.Name + EnvelopeSuffix + " HEAD /" + p.Name; strings.Join(seen, " ") != want {
		t.Errorf("asked for %v, want the envelope, and whether the archive is there", seen)
	}

	// What is not there is not found, and not an archive without signatures.
	_, err = Pull(t.Context(), mustRef(t, s.URL+"/none.tar.gz"), Options{}, func(Offer) error { return fmt.Errorf("unsigned") })
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want that nothing is there", err)
	}
}

func TestWebBadInput(t *testing.T) {
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, test := range map[string]struct {
		archive, envelope http.HandlerFunc // nil: a good archive, no envelope
		want              string
	}{
		"endless archive":  {endless, nil, "the archive is larger than"},
		"endless envelope": {nil, endless, "the envelope is larger than"},
		"said to be huge":  {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000000000") }, nil, "the archive has 1000000000 bytes"},
		"empty":            {status(http.StatusOK), nil, "the archive is empty"},
		"no content":       {status(http.StatusNoContent), nil, "204 from the server"},
		"truncated": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("x"))
		}, nil, "truncated"},
		"nothing changed, unasked": {status(http.StatusNotModified), nil, "304 from the server"},
		"401":                      {status(http.StatusUnauthorized), nil, "401 from the server: the user name and password"},
		"403":                      {status(http.StatusForbidden), nil, "403 from the server"},
		"404":                      {status(http.StatusNotFound), nil, "no such release"},
		"500":                      {status(http.StatusInternalServerError), nil, "an internal problem"},
		"403 for the envelope":     {nil, status(http.StatusForbidden), "its envelope: 403 from the server"},
		"in a circle":              {func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, req.URL.Path, http.StatusFound) }, nil, "more than 5 redirects"},
		"elsewhere, without TLS": {func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, "http://example.invalid/x.tar.gz", http.StatusFound)
		}, nil, "without TLS"},
		"to a file": {func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, "file:///etc/passwd", http.StatusFound)
		}, nil, "without TLS"},
		"header without end": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, nil, "header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				h := test.archive
				if strings.HasSuffix(req.URL.Path, EnvelopeSuffix) {
					h = test.envelope
				}
				if h == nil {
					h = http.NotFound
				}
				h(w, req)
			}))
			t.Cleanup(s.Close)
			p, err := Pull(soon(t, 20*time.Second), mustRef(t, s.URL+"/x.tar.gz"), Options{}, new(anyOffer).accept)
			wantError(t, err, test.want)
			if p.Archive != nil {
				t.Error("something came with the error")
			}
		})
	}
}

// Without TLS only this machine is reached, and a certificate must be good.
func TestWebTLS(t *testing.T) {
	for _, text := range []string{"http://example.invalid/x.tar.gz", "http://10.0.0.1/x.tar.gz"} {
		_, err := Pull(t.Context(), mustRef(t, text), Options{Username: "kim", Password: "pass"}, new(anyOffer).accept)
		wantError(t, err, "without TLS", "--plain-http")
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	_, err := Pull(t.Context(), mustRef(t, s.URL+"/x.tar.gz"), Options{}, new(anyOffer).accept)
	wantError(t, err, "its certificate is not trusted")
	_, err = Pull(t.Context(), mustRef(t, "https://"+strings.TrimPrefix(newWeb(t, &Parcel{}, new([]string)).URL, "http://")+"/x.tar.gz"), Options{}, new(anyOffer).accept)
	wantError(t, err, "does not use TLS")
}

// A name and a password go to the host that was named, and to no other.
func TestWebLogin(t *testing.T) {
	p := parcelOf(t, "1.0.0", "1")
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		got = append(got, "other:"+req.Header.Get("Authorization"))
		_, _ = w.Write(p.Archive)
	}))
	t.Cleanup(other.Close)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name, password, _ := req.BasicAuth()
		got = append(got, name+":"+password)
		if strings.HasSuffix(req.URL.Path, EnvelopeSuffix) {
			http.NotFound(w, req)
			return
		}
		http.Redirect(w, req, other.URL+"/x.tar.gz", http.StatusFound)
	}))
	t.Cleanup(s.Close)
	mustPull(t, s.URL+"/x.tar.gz", Options{Username: "kim", Password: "pass"})
	if want := "kim:pass kim:pass other:"; strings.Join(got, " ") != want {
		t.Errorf("logins: %q, want %q", strings.Join(got, " "), want)
	}
}
