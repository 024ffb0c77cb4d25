// Package s3server is a server for tests that speaks the protocol of S3, on loopback, and
// fails where a test wants it to.
//
// Out of scope: being a store; nothing is kept when a test ends.
package s3server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is the name of the only bucket.
const Bucket = "logs"

// Server is a running server.
type Server struct {
	t       testing.TB
	backend *s3mem.Backend
	http    *httptest.Server

	mu     sync.Mutex
	before func(w http.ResponseWriter, r *http.Request) (done bool)
}

// New starts a server with an empty bucket, and sets credentials for it.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, backend: s3mem.New()}
	if err := s.backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	inner := gofakes3.New(s.backend).Server()
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		before := s.before
		s.mu.Unlock()
		if before == nil || !before(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.http.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return s
}

// URL is the location of a key.
func (s *Server) URL(key string) string {
	return fmt.Sprintf("s3://%s/%s?endpoint=%s&region=us-east-1&use_path_style=true", Bucket, key, url.QueryEscape(s.http.URL))
}

// Put stores an object.
func (s *Server) Put(key string, content []byte) {
	s.t.Helper()
	_, err := s.backend.PutObject(Bucket, key, nil, strings.NewReader(string(content)), int64(len(content)), nil)
	if err != nil {
		s.t.Fatal(err)
	}
}

// Delete deletes an object.
func (s *Server) Delete(key string) {
	s.t.Helper()
	if _, err := s.backend.DeleteObject(Bucket, key); err != nil {
		s.t.Fatal(err)
	}
}

// Has reports whether there is an object.
func (s *Server) Has(key string) bool {
	_, err := s.backend.HeadObject(Bucket, key)
	return err == nil
}

// Before passes every request to a function first, which may answer it.
func (s *Server) Before(f func(w http.ResponseWriter, r *http.Request) (done bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// Expire answers as S3 does after the credentials expired.
func Expire(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?>`+
		`<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>`)
}

// Cut sends the beginning of a body of a given size, and closes the connection.
func Cut(w http.ResponseWriter, etag string, size int, begin []byte) {
	conn, buffer, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(buffer, "HTTP/1.1 206 Partial Content\r\n")
	fmt.Fprintf(buffer, "ETag: %q\r\nContent-Length: %d\r\n", etag, size)
	fmt.Fprintf(buffer, "Content-Range: bytes 0-%d/%d\r\n\r\n", size-1, size)
	buffer.Write(begin)
	buffer.Flush()
}
