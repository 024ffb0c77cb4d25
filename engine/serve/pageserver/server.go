// Package pageserver serves pages to a browser of the person on this machine.
//
// A link with a token opens them: it is valid for ten seconds and once, and gives the browser a cookie that only reads. Tokens and
// cookies are in memory, so that no other program finds them on the disk. Both loopback addresses are served at one port or neither
// is, since a browser takes localhost for either. Requests of other sites and to other names are refused before anything else.
//
// Out of scope: what is on the pages.
package pageserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"
)

// LinkValid is how long a link opens the pages.
const LinkValid = 10 * time.Second

// The limits of connections and of what is remembered.
const (
	cookieName = "reviewer-ui"
	maxCookies = 64 // browsers that were let in
	maxFollow  = 16 // pages that wait for changes
	followWait = time.Second
	alive      = 15 * time.Second
)

// Server serves pages. Page, Script, Styles and Changes are needed.
type Server struct {
	// Page returns the page at an address without .html, and its status. It is HTML.
	Page func(ctx context.Context, name string, q url.Values) (int, []byte)
	// Refused returns the page that says why a request is refused.
	Refused func(why string) []byte
	Script  []byte
	Styles  []string               // sources of styles, as in a Content-Security-Policy
	Changes func() (string, error) // differs when a page may have changed
	Now     func() time.Time       // nil: the clock

	port    int
	mu      sync.Mutex
	links   map[[32]byte]time.Time // by the digest of the token: until when it is valid
	cookies map[[32]byte]bool
	order   [][32]byte // of the cookies, the oldest first
	follow  chan struct{}
}

// Listen opens both loopback addresses at one port, or returns an error. Port 0: any. On a machine without IPv6 there is one.
func Listen(port int) ([]net.Listener, error) {
	for range 16 {
		four, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return nil, err
		}
		at := four.Addr().(*net.TCPAddr).Port
		six, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", at))
		if err == nil {
			return []net.Listener{four, six}, nil
		}
		if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
			return []net.Listener{four}, nil // nobody else can listen there either
		}
		if err2 := four.Close(); port != 0 || err2 != nil {
			return nil, errors.Join(fmt.Errorf("another program listens at [::1]:%d and would receive what a browser sends to localhost: %w",
				at, err), err2)
		}
	}
	return nil, errors.New("no port is free on both loopback addresses")
}

// Prepare makes a server for a port. It comes first.
func (s *Server) Prepare(port int) {
	s.port, s.links, s.cookies = port, map[[32]byte]time.Time{}, map[[32]byte]bool{}
	s.follow = make(chan struct{}, maxFollow)
}

// Serve answers at the listeners of Listen until the context ends.
func (s *Server) Serve(ctx context.Context, listeners []net.Listener) error {
	web := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog: log.New(io.Discard, "", 0)} // a client chooses what it sends, and an error could repeat it
	stop := context.AfterFunc(ctx, func() { _ = web.Close() })
	defer stop()
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- web.Serve(l) }()
	}
	var errs []error
	for range listeners {
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
		_ = web.Close() // both or neither
	}
	return errors.Join(errs...)
}

// Link returns an address that opens the pages in a browser, once and for LinkValid.
func (s *Server) Link() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := random()
	for digest, until := range s.links {
		if s.now().After(until) {
			delete(s.links, digest)
		}
	}
	s.links[sha256.Sum256([]byte(token))] = s.now().Add(LinkValid)
	return fmt.Sprintf("http://localhost:%d/open?token=%s", s.port, token)
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

func (s *Server) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.protect(w.Header())
	if why := s.foreign(r); why != "" {
		s.refuse(w, http.StatusForbidden, why)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, http.StatusMethodNotAllowed, "These pages only read: nothing can be sent to them.")
		return
	}
	if r.URL.Path == "/open" {
		s.open(w, r)
		return
	}
	if !s.hasCookie(r) {
		s.refuse(w, http.StatusUnauthorized, "This browser has no access, or no longer: run `reviewer ui` at a terminal and open its link.")
		return
	}
	s.answer(w, r)
}

// protect sets headers that keep a page from being kept, framed or used by others, and from running or loading anything else.
func (s *Server) protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; script-src 'self'; "+
		"connect-src 'self'; style-src "+strings.Join(s.Styles, " "))
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// foreign says why a request is not one of a page of ours or of the person; empty: it is. A page of another site can send requests
// here, and can have its own name resolved to this machine.
func (s *Server) foreign(r *http.Request) string {
	known := false
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		known = known || r.Host == fmt.Sprintf("%s:%d", host, s.port)
	}
	if !known {
		return "The request was addressed to another host."
	}
	for _, o := range r.Header.Values("Origin") {
		if o != "http://"+r.Host {
			return "A page of another site sent the request."
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return "A page of another site sent the request."
		}
	}
	return ""
}

// open gives a browser a cookie for the token of a link.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	digest := sha256.Sum256([]byte(r.URL.Query().Get("token")))
	s.mu.Lock()
	until, known := s.links[digest]
	if known && r.Method == http.MethodGet {
		delete(s.links, digest)
	}
	known = known && !s.now().After(until) && r.Method == http.MethodGet
	value := ""
	if known {
		value = random()
		one := sha256.Sum256([]byte(value))
		s.cookies[one], s.order = true, append(s.order, one)
		if len(s.order) > maxCookies {
			delete(s.cookies, s.order[0])
			s.order = s.order[1:]
		}
	}
	s.mu.Unlock()
	if !known {
		s.refuse(w, http.StatusUnauthorized,
			"This link was used, or its ten seconds have passed: press Enter where `reviewer ui` runs for another.")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/index.html", http.StatusSeeOther)
}

// hasCookie looks the digest up, so that the time reveals nothing about the value.
func (s *Server) hasCookie(r *http.Request) bool {
	for _, c := range r.CookiesNamed(cookieName) {
		s.mu.Lock()
		known := s.cookies[sha256.Sum256([]byte(c.Value))]
		s.mu.Unlock()
		if known {
			return true
		}
	}
	return false
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	switch path := strings.TrimPrefix(r.URL.Path, "/"); {
	case path == "":
		http.Redirect(w, r, "/index.html", http.StatusSeeOther)
	case path == "page.js":
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(s.Script) // the browser has gone
	case path == "events":
		s.events(w, r)
	default:
		name, _ := strings.CutSuffix(path, ".html")
		status, page := s.Page(r.Context(), name, r.URL.Query())
		s.write(w, status, page)
	}
}

func (s *Server) refuse(w http.ResponseWriter, status int, why string) {
	s.write(w, status, s.Refused(why))
}

func (s *Server) write(w http.ResponseWriter, status int, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page) // the browser has gone
}

// events tells a page when to load itself again.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.follow <- struct{}{}:
		defer func() { <-s.follow }()
	default:
		s.refuse(w, http.StatusServiceUnavailable, "Too many pages wait for changes.")
		return
	}
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(5 * time.Second)) // without it, the server's own holds
		_, err := io.WriteString(w, text)
		return err == nil && out.Flush() == nil
	}
	seen, err := s.Changes()
	if err != nil || !send(": begins\n\n") {
		return
	}
	tick := time.NewTicker(followWait)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
		now, err := s.Changes()
		switch {
		case err != nil:
			return
		case now != seen:
			seen, last = now, time.Now()
			if !send("event: changed\ndata:\n\n") {
				return
			}
		case time.Since(last) > alive:
			if last = time.Now(); !send(": alive\n\n") {
				return
			}
		}
	}
}
