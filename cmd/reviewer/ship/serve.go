package ship

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// The path of bundles, and the content type that enables OPA's long polling.
const (
	servedBelow  = "/bundles/"
	longPollType = "application/vnd.openpolicyagent.bundles"
)

// Bounds of a server.
const (
	maxWait    = time.Minute // that an answer is held back until something changes
	maxWaiting = 256         // requests that wait at once; more are answered at once
	lookEvery  = 250 * time.Millisecond
	writeTime  = 2 * time.Minute // for an answer
	endTime    = 5 * time.Second // that requests have to end
)

// Server serves the archives of a folder, as OPA's bundle service does. An archive and
// its envelope are served together: while they are being replaced, or if the new ones
// cannot be served, the last good ones are. Names cannot refer to other folders, and
// nothing is listed.
type Server struct {
	root    *os.Root
	remarks *log.Logger

	mu      sync.Mutex
	shown   map[string]*release
	waiting chan struct{} // a slot for each waiting request
	ended   <-chan struct{}
}

// release is a served archive.
type release struct {
	archive, envelope []byte
	etag              string
	stamp             stamp // of the files that were checked last
}

// stamp identifies the state of files, to see whether they have changed.
type stamp struct{ archive, envelope fs.FileInfo }

func (s stamp) same(o stamp) bool {
	return sameFile(s.archive, o.archive) && sameFile(s.envelope, o.envelope)
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// NewServer serves the folder dir. Files that cannot be served are reported to
// remarks.
func NewServer(dir string, remarks *log.Logger) (*Server, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: no such folder", dir)
	}
	return &Server{root: root, remarks: remarks, shown: map[string]*release{}, waiting: make(chan struct{}, maxWaiting)}, nil
}

// Close closes the folder.
func (s *Server) Close() error { return s.root.Close() }

// Serve answers requests until ctx ends, and then completes the current ones.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.ended = ctx.Done()
	h := &http.Server{
		Handler: s.logged(), ErrorLog: s.remarks,
		ReadHeaderTimeout: dialTime, ReadTimeout: answerTime, WriteTimeout: writeTime + maxWait, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: maxHeader,
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer stop()
	if err := h.Shutdown(end); err != nil {
		return errors.Join(err, h.Close())
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	name, below := strings.CutPrefix(req.URL.Path, servedBelow)
	archive, ofEnvelope := strings.CutSuffix(name, EnvelopeSuffix)
	if !below || CheckName(archive) != nil {
		http.NotFound(w, req)
		return
	}
	r, err := s.release(archive)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && ofEnvelope && r.envelope == nil:
		http.NotFound(w, req)
	case err != nil:
		http.Error(w, "the bundle is temporarily unavailable", http.StatusServiceUnavailable)
	case ofEnvelope:
		answer(w, req, r.envelope, sha(r.envelope), "application/json")
	default:
		s.serveArchive(w, req, archive, r)
	}
}

// serveArchive answers with an archive, if requested after it has changed.
func (s *Server) serveArchive(w http.ResponseWriter, req *http.Request, name string, r *release) {
	kind := "application/gzip"
	if wait, asked := waitAsked(req); asked {
		kind = longPollType
		if req.Header.Get("If-None-Match") == quoted(r.etag) {
			r = s.changed(req.Context(), name, r, wait)
		}
	}
	answer(w, req, r.archive, r.etag, kind)
}

func quoted(etag string) string { return `"` + etag + `"` }

// answer writes a file, or the status not modified.
func answer(w http.ResponseWriter, req *http.Request, content []byte, etag, kind string) {
	h := w.Header()
	h.Set("ETag", quoted(etag))
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache") // ask each time whether it changed
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(content))
}

// waitAsked reads how long a client wants to wait for a change.
func waitAsked(req *http.Request) (time.Duration, bool) {
	for _, part := range strings.FieldsFunc(req.Header.Get("Prefer"), func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
		if text, ok := strings.CutPrefix(part, "wait="); ok {
			seconds, err := strconv.Atoi(text)
			return min(time.Duration(max(seconds, 0))*time.Second, maxWait), err == nil && seconds < 1e6
		}
	}
	return 0, false
}

// changed waits until a release changes, or the time is up.
func (s *Server) changed(ctx context.Context, name string, r *release, wait time.Duration) *release {
	select {
	case s.waiting <- struct{}{}:
		defer func() { <-s.waiting }()
	default:
		return r
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if now, err := s.release(name); err == nil && now.etag != r.etag {
				return now
			}
		case <-over.C:
			return r
		case <-ctx.Done():
			return r
		case <-s.ended:
			return r
		}
	}
}

// release returns the archive that is served under a name: the release in the folder, or if that
// is incomplete, the last complete one.
func (s *Server) release(name string) (*release, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, err := s.look(name)
	if err != nil {
		delete(s.shown, name)
		return nil, err
	}
	shown := s.shown[name]
	if shown != nil && shown.stamp.same(now) {
		return shown, nil
	}
	fresh, err := s.read(name, now)
	switch {
	case err == nil:
		s.shown[name] = fresh
		return fresh, nil
	case shown == nil:
		s.remarks.Printf("%s cannot be served: %v", name, err)
		return nil, errors.New("no complete release")
	}
	s.remarks.Printf("%s was changed and cannot be served; still serving the previous one: %v", name, err)
	kept := *shown
	kept.stamp = now
	s.shown[name] = &kept
	return &kept, nil
}

// look returns the state of a release's files without opening them.
func (s *Server) look(name string) (stamp, error) {
	archive, err := s.root.Stat(name)
	if err != nil {
		return stamp{}, err
	}
	envelope, err := s.root.Stat(name + EnvelopeSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{archive: archive}, nil
	}
	return stamp{archive, envelope}, err
}

// read reads a release whose files do not change in the meantime.
func (s *Server) read(name string, now stamp) (*release, error) {
	archive, envelope, err := readPair(s.root, name)
	if err != nil {
		return nil, err
	}
	if after, err := s.look(name); err != nil || !after.same(now) {
		return nil, errors.New("it is being changed")
	}
	if err := Matches(archive, envelope); err != nil {
		return nil, err
	}
	return &release{archive: archive, envelope: envelope, etag: sha(archive), stamp: now}, nil
}

// Matches reports whether an archive is complete, and the one that its envelope is about.
// Signatures are not verified.
func Matches(archive, envelope []byte) error {
	if _, err := bundles.OpenArchive(bytes.NewReader(archive)); err != nil {
		return err
	}
	if envelope == nil {
		return nil
	}
	e, err := signing.DecodeEnvelope(envelope)
	if err != nil {
		return err
	}
	subject, _, err := signing.Open[signing.Release](e)
	if err != nil {
		return err
	}
	if subject.SHA256 != sha(archive) {
		return fmt.Errorf("its envelope is for another archive (SHA-256 %.12s, this one has %.12s); sign this archive, or fetch the other one",
			subject.SHA256, sha(archive))
	}
	return nil
}

// Listen opens a port at an address such as 127.0.0.1:8181. An address that other
// machines can reach requires remote: there is no TLS, and everyone who reaches it can
// read the policy.
func Listen(ctx context.Context, address string, remote bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not an address; expected one such as 127.0.0.1:8181", address)
	case !remote && !Loopback(host):
		return nil, fmt.Errorf("%s can be reached by other machines, all of which could read the policy; listen on 127.0.0.1, "+
			"or add --allow-remote", address)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use; stop the program that listens there, or use another port", address)
	}
	return l, err
}

// Path returns the path of the archive with this name on a server.
func Path(name string) string { return path.Join(servedBelow, name) }

// logged writes a line about each request that was answered.
func (s *Server) logged() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen := &seenResponse{ResponseWriter: w, status: http.StatusOK}
		s.ServeHTTP(seen, req)
		s.remarks.Printf("%s %.200q from %s: %d, %d bytes", req.Method, req.URL.Path, req.RemoteAddr, seen.status, seen.bytes)
	})
}

// seenResponse notes what is answered.
type seenResponse struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (r *seenResponse) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (r *seenResponse) Write(b []byte) (int, error) {
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (r *seenResponse) Unwrap() http.ResponseWriter { return r.ResponseWriter }
