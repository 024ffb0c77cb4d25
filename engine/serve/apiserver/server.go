// Package apiserver serves the HTTP API of the resident process on this machine: people and
// their programs list waiting questions, answer them with the approval code, and follow
// events; other programs get decisions about events of their own.
//
// A request needs a token that every program of the user can read, the agent included; an
// answer to a question needs the approval code, which nothing on disk reveals. A web page
// can reach the port too, so the headers that a browser sets are checked before anything
// else.
//
// Out of scope: what an answer does (engine/approval/queue), how an event is decided (the
// caller), and the documents (engine/serve/api).
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// Codes unlocks the person's key with approval codes.
type Codes interface {
	// UnlockFor returns why a code is refused: an error of engine/approval/code.
	UnlockFor(ctx context.Context, code string) (*code.Key, error)
}

// Server answers requests. All fields but Counted and Busy are needed.
type Server struct {
	Queue   queue.Queue
	Token   string
	Codes   Codes
	By      string                                                     // user whose code it is, for the log
	Mask    func(string) (string, error)                               // replaces secrets
	Review  func(ctx context.Context, doc []byte) (*api.Review, error) // an error says what is wrong with the document
	Events  *Hub
	Counted func(operation string, status int) // after each request
	Busy    func() (done func())               // called for each request

	hosts    map[string]bool // that a request may name
	handlers map[string]handler
	reviews  chan struct{}
	seen     seen
}

// The limits of connections. A stream of events has a deadline for each write instead.
const (
	headerWait     = 5 * time.Second
	readWait       = 15 * time.Second
	writeWait      = 60 * time.Second
	idleWait       = 60 * time.Second
	maxHeader      = 16 << 10
	maxConnections = 128
	maxReviews     = 4
)

// Listen opens an address that no other machine can reach.
func Listen(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("%q is not an address for the API; expected a loopback address and a port, such as 127.0.0.1:9470", address)
	}
	return net.Listen("tcp", at.String())
}

// Serve answers at a listener of Listen until the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h, err := s.prepare(l.Addr().String())
	if err != nil {
		return err
	}
	web := &http.Server{Handler: h, ReadHeaderTimeout: headerWait, ReadTimeout: readWait, WriteTimeout: writeWait, IdleTimeout: idleWait,
		MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: silent()}
	stop := context.AfterFunc(ctx, func() { _ = web.Close() }) // answers are recorded before they are confirmed
	defer stop()
	go s.watch(ctx)
	if err := web.Serve(limited(l, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// prepare returns the handler for requests to an address.
func (s *Server) prepare(address string) (http.Handler, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	s.hosts = map[string]bool{address: true, net.JoinHostPort("localhost", port): true}
	s.reviews = make(chan struct{}, maxReviews)
	s.handlers = map[string]handler{
		api.ListQuestions: s.listQuestions, api.GetQuestion: s.getQuestion, api.AnswerQuestion: s.answerQuestion,
		api.AnswerQuestions: s.answerQuestions, api.ListSessions: s.listSessions, api.GetSession: s.getSession,
		api.StreamEvents: s.streamEvents, api.ReviewEvent: s.reviewEvent, api.GetOpenAPI: s.openAPI,
	}
	mux := http.NewServeMux()
	for _, op := range api.Operations() {
		mux.Handle(op.Method+" "+op.Path, s.operation(op))
	}
	return s.checked(mux), nil
}
