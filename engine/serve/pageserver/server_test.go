package pageserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// desk is a server on real ports, with a clock that the test sets.
type desk struct {
	t       *testing.T
	s       *Server
	base    string
	clock   atomic.Int64
	changes atomic.Int64
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t}
	d.s = &Server{Script: []byte("1"), Styles: []string{"'sha256-x'"},
		Page: func(_ context.Context, name string, q url.Values) (int, []byte) {
			if name == "missing" {
				return http.StatusNotFound, []byte("missing")
			}
			return http.StatusOK, []byte("secret page " + name + q.Get("q"))
		},
		Refused: func(why string) []byte { return []byte(why) },
		Changes: func() (string, error) { return fmt.Sprint(d.changes.Load()), nil },
		Now:     func() time.Time { return time.Unix(d.clock.Load(), 0) }}
	l, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	d.base = fmt.Sprintf("http://localhost:%d", l[0].Addr().(*net.TCPAddr).Port)
	d.s.Prepare(l[0].Addr().(*net.TCPAddr).Port)
	go func() { ended <- d.s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return d
}

func browser() *http.Client {
	jar, _ := cookiejar.New(nil)
	return &http.Client{Jar: jar}
}

func (d *desk) get(c *http.Client, path string, header http.Header) (int, string, http.Header) {
	d.t.Helper()
	return d.do(c, http.MethodGet, path, header)
}

func (d *desk) do(c *http.Client, method, path string, header http.Header) (int, string, http.Header) {
	d.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = d.base + path
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if host := header.Get("Host"); host != "" {
		r.Host = host
	}
	for name, values := range header {
		r.Header[name] = values
	}
	a, err := c.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return a.StatusCode, string(b), a.Header
}

// A link opens the pages once and for ten seconds; two browsers need two links.
func TestLink(t *testing.T) {
	d := newDesk(t)
	link, one := d.s.Link(), browser()
	if status, text, _ := d.get(one, "/index.html", nil); status != http.StatusUnauthorized || strings.Contains(text, "secret") {
		t.Errorf("without a link: %d %q", status, text)
	}
	if status, text, _ := d.get(one, link, nil); status != http.StatusOK || text != "secret page index" {
		t.Errorf("with a link: %d %q", status, text)
	}
	if status, text, _ := d.get(one, "/search.html?q=+x", nil); status != http.StatusOK || text != "secret page search x" {
		t.Errorf("later: %d %q", status, text)
	}
	if status, _, _ := d.get(browser(), link, nil); status != http.StatusUnauthorized {
		t.Errorf("a second time: %d", status)
	}
	late, other := d.s.Link(), d.s.Link()
	if status, _, _ := d.get(browser(), other, nil); status != http.StatusOK {
		t.Errorf("another browser: %d", status)
	}
	d.clock.Add(11)
	if status, _, _ := d.get(browser(), late, nil); status != http.StatusUnauthorized {
		t.Errorf("after eleven seconds: %d", status)
	}
	if status, _, _ := d.get(one, "/index.html", nil); status != http.StatusOK {
		t.Errorf("the first browser then: %d", status)
	}
	if status, _, _ := d.get(one, "/missing.html", nil); status != http.StatusNotFound {
		t.Errorf("a page that is missing: %d", status)
	}
}

// The token of another state directory, whose process is another one, opens nothing, and neither does a cookie of it.
func TestTokenFromAnotherHome(t *testing.T) {
	a, b := newDesk(t), newDesk(t)
	token := a.s.Link()[strings.Index(a.s.Link(), "/open"):]
	if status, _, _ := b.get(browser(), token, nil); status != http.StatusUnauthorized {
		t.Errorf("its token: %d", status)
	}
	one := browser()
	a.get(one, a.s.Link(), nil)
	if status, _, _ := b.get(one, "/index.html", nil); status != http.StatusUnauthorized { // a cookie goes to each port of localhost
		t.Errorf("its cookie: %d", status)
	}
}

// Pages of other sites get nothing: neither by a request, nor by a name that resolves to this machine, nor in a frame.
func TestOtherSites(t *testing.T) {
	d := newDesk(t)
	one := browser()
	d.get(one, d.s.Link(), nil)
	port := d.base[strings.LastIndexByte(d.base, ':'):]
	for name, header := range map[string]http.Header{
		"a name that was made to resolve here": {"Host": {"evil.example" + port}},
		"the right name, without the port":     {"Host": {"localhost"}},
		"another port":                         {"Host": {"localhost:1"}},
		"another origin":                       {"Origin": {"http://evil.example"}},
		"another port's origin":                {"Origin": {"http://localhost:1"}},
		"no origin that can be named":          {"Origin": {"null"}},
		"a frame":                              {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"iframe"}},
		"another port of this machine":         {"Sec-Fetch-Site": {"same-site"}},
	} {
		for _, path := range []string{"/index.html", "/events", "/page.js", "/open?token=x"} {
			if status, text, _ := d.get(one, path, header); status != http.StatusForbidden || strings.Contains(text, "secret") {
				t.Errorf("%s, %s: %d %q", name, path, status, text)
			}
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "TRACE"} {
		if status, text, _ := d.do(one, method, "/index.html", nil); status != http.StatusMethodNotAllowed || strings.Contains(text, "secret") {
			t.Errorf("%s: %d %q", method, status, text)
		}
	}
	_, _, h := d.get(one, "/index.html", http.Header{"Sec-Fetch-Site": {"same-origin"}})
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
		if h.Get(name) != want {
			t.Errorf("%s is %q", name, h.Get(name))
		}
	}
	if policy := h.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") ||
		!strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("the policy is %q", policy)
	}
}

// The cookie cannot be read by a script and is not sent along by other sites.
func TestCookie(t *testing.T) {
	d := newDesk(t)
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	status, _, h := d.get(c, d.s.Link(), nil)
	set := h.Get("Set-Cookie")
	if status != http.StatusSeeOther || !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") || strings.Contains(set, "Domain") {
		t.Errorf("%d %q", status, set)
	}
}

// Where another program has one of the two addresses, nothing is served at the other.
func TestBothAddressesOrNeither(t *testing.T) {
	other, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6: ", err)
	}
	defer other.Close()
	port := other.Addr().(*net.TCPAddr).Port
	if l, err := Listen(port); err == nil || !strings.Contains(err.Error(), "another program listens at [::1]") {
		t.Errorf("%v, %v", l, err)
	}
	free, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port)) // it was closed again
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	both, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range both {
		defer l.Close()
	}
	if len(both) != 2 || both[0].Addr().(*net.TCPAddr).Port != both[1].Addr().(*net.TCPAddr).Port {
		t.Errorf("%v", both)
	}
}

// A page that follows receives each change.
func TestEvents(t *testing.T) {
	d := newDesk(t)
	one := browser()
	d.get(one, d.s.Link(), nil)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.base+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := one.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	lines := bufio.NewScanner(a.Body)
	if !lines.Scan() || lines.Text() != ": begins" {
		t.Fatalf("it begins with %q", lines.Text())
	}
	d.changes.Add(1)
	for lines.Scan() {
		if lines.Text() == "event: changed" {
			return
		}
	}
	t.Error("the stream ended without a change")
}
