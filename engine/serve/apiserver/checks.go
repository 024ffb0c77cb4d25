package apiserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// handler answers a request that was checked. It returns a document, or an error; both nil:
// it has answered.
type handler func(w http.ResponseWriter, r *http.Request) (any, *refusal)

// refusal is an error and the status of its answer.
type refusal struct {
	status int
	api.Error
}

func refuse(status int, code, what, do string) *refusal {
	return &refusal{status, api.Error{Code: code, Message: what, Do: do}}
}

// checked refuses what must not reach any operation, and answers requests to unknown paths.
func (s *Server) checked(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Busy != nil {
			defer s.Busy()()
		}
		protect(w.Header())
		refused := s.origin(r)
		h, pattern := mux.Handler(r)
		switch {
		case refused != nil:
		case pattern != "":
			mux.ServeHTTP(w, r)
			return
		default:
			refused = unknownPath(h, r)
			if refused.status == http.StatusMethodNotAllowed {
				w.Header().Set("Allow", allowed(h, r))
			}
		}
		s.finish(w, "", nil, refused)
	})
}

// protect sets headers that keep an answer from being kept, shown or used by a page.
func protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// origin refuses requests of pages: those to a name that somebody else resolves to this
// machine, and those that a browser marks as coming from elsewhere.
func (s *Server) origin(r *http.Request) *refusal {
	if !s.hosts[r.Host] {
		return refuse(http.StatusForbidden, api.CodeHost, "the request is addressed to another host",
			"use the address that `reviewer serve --http` was given")
	}
	origins, site := r.Header.Values("Origin"), r.Header.Values("Sec-Fetch-Site")
	for _, o := range origins {
		if o != "http://"+r.Host {
			return refuse(http.StatusForbidden, api.CodeBrowser, "a web page of another origin sent the request", "use a program of your own")
		}
	}
	for _, from := range site {
		if from != "same-origin" && from != "none" {
			return refuse(http.StatusForbidden, api.CodeBrowser, "a web page of another site sent the request", "use a program of your own")
		}
	}
	return nil
}

// allowed returns the methods of a path.
func allowed(h http.Handler, r *http.Request) string {
	probe := &statusOnly{header: http.Header{}}
	h.ServeHTTP(probe, r)
	return probe.header.Get("Allow")
}

func unknownPath(h http.Handler, r *http.Request) *refusal {
	probe := &statusOnly{header: http.Header{}}
	if h.ServeHTTP(probe, r); probe.status == http.StatusMethodNotAllowed {
		return refuse(probe.status, api.CodeMethod, "this method is not allowed here", "see GET /v1/openapi.json")
	}
	return refuse(http.StatusNotFound, api.CodeNotFound, "the API does not have this path", "see GET /v1/openapi.json")
}

// statusOnly takes what the multiplexer would answer.
type statusOnly struct {
	header http.Header
	status int
}

func (p *statusOnly) Header() http.Header         { return p.header }
func (p *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (p *statusOnly) WriteHeader(status int)      { p.status = status }

// operation checks what an operation needs, and answers it.
func (s *Server) operation(op api.Operation) http.Handler {
	answer := s.handlers[op.ID]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var doc any
		refused := s.needs(op, w, r)
		if refused == nil {
			doc, refused = answer(w, r)
		}
		s.finish(w, op.ID, doc, refused)
	})
}

func (s *Server) needs(op api.Operation, w http.ResponseWriter, r *http.Request) *refusal {
	if !op.Open && !s.hasToken(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return refuse(http.StatusUnauthorized, api.CodeToken, "the token is missing or wrong",
			"send the header Authorization: Bearer TOKEN with the contents of the file "+TokenFile+" in the state directory")
	}
	if op.Takes == nil {
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	set := parameters["charset"]
	if err != nil || kind != "application/json" || set != "" && !strings.EqualFold(set, "utf-8") || r.Header.Get("Content-Encoding") != "" {
		return refuse(http.StatusUnsupportedMediaType, api.CodeType, "the body is not declared as JSON", "send Content-Type: application/json")
	}
	r.Body = http.MaxBytesReader(w, r.Body, op.Limit())
	return nil
}

// hasToken compares digests, so that the time reveals nothing about the token.
func (s *Server) hasToken(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && ok && s.Token != ""
}

// body reads the document of a request.
func body(r *http.Request) ([]byte, *refusal) {
	b, err := io.ReadAll(r.Body)
	if long := new(http.MaxBytesError); errors.As(err, &long) {
		return nil, refuse(http.StatusRequestEntityTooLarge, api.CodeTooLong, "the document is too long", "send a shorter one")
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, api.CodeDocument, "the document did not arrive", "send it again")
	}
	return b, nil
}
