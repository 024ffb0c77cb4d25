// Package serve implements the resident process: it answers the clients of hooks over a
// socket in the state directory, so that a policy is compiled once and not for
// each call.
//
// Out of scope: what an event means and how it is answered; the caller passes that in.
package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// ErrRunning means that another process already serves the state directory.
var ErrRunning = errors.New("another process already serves this state directory")

// requestWait is the time that a client may take to send its request.
const requestWait = 10 * time.Second

// maxRequests bounds the requests that are answered at the same time; others wait.
const maxRequests = 64

// lookEvery is how often the process looks whether its program was replaced: what it remembers is handed over then, and not
// while a client waits.
const lookEvery = 10 * time.Second

// Client is the process that asks.
type Client struct {
	Pid int
	// Confined: the process has given up rights that this one has, for good, as all do below `reviewer run`. It may be
	// any program there, so that nothing that it sends is passed on to programs outside.
	Confined bool
	// Own: it runs this program, or the client that hooks start, and has written itself what it sent.
	Own bool
	// Supervised: it is confined, and one of the processes above it is this program, which started the run.
	Supervised bool
}

// Server answers requests.
type Server struct {
	Home       string
	Idle       time.Duration // without a request after which it ends, if no program that started a client still runs; 0: never
	Handle     func(ctx context.Context, c Client, r *wire.Request, p *Pause) *wire.Answer
	HookClient string      // file of the client that hooks start, which counts as this program; empty: there is none
	Stale      func() bool // reports whether the program was replaced; nil: never

	mu       sync.Mutex
	listener net.Listener // the current one
	socket   os.FileInfo  // its file
	ended    bool         // nothing listens any more
	lock     *os.File
	active   atomic.Int64
	last     atomic.Int64 // time of the last request, nanoseconds
	callers  callers
	slots    chan struct{}
}

// Socket returns the path of the socket of a state directory.
func Socket(home string) string { return filepath.Join(home, wire.RunDir, wire.SocketName) }

// Listen opens the socket. Only its owner can reach it.
func (s *Server) Listen() error {
	path := Socket(s.Home)
	if err := fits(path); err != nil {
		return err
	}
	lock, err := lockFolder(path)
	if err != nil {
		return err
	}
	if err := s.bind(path); err != nil {
		return errors.Join(err, lock.Close())
	}
	s.lock = lock
	s.slots = make(chan struct{}, maxRequests)
	s.last.Store(time.Now().UnixNano())
	return nil
}

func lockOf(socket string) string { return filepath.Join(filepath.Dir(socket), "lock") }

// lockFolder makes the folder of a socket, and locks it.
func lockFolder(socket string) (*os.File, error) {
	if err := osfile.MkdirPrivate(filepath.Dir(socket)); err != nil {
		return nil, err
	}
	if err := private(filepath.Dir(socket)); err != nil {
		return nil, err
	}
	lock, err := osfile.OpenFile(lockOf(socket), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := osfile.TryLock(lock, osfile.Exclusive); err != nil {
		_ = lock.Close() // nothing was written
		if errors.Is(err, osfile.ErrLocked) {
			return nil, ErrRunning
		}
		return nil, err
	}
	return lock, nil
}

// bind replaces what is at the path of the socket by one of this process.
func (s *Server) bind(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // by then, another file may be there
	info, err := os.Lstat(path)
	if err := errors.Join(err, os.Chmod(path, 0o600), reportSenders(l)); err != nil {
		return errors.Join(err, l.Close())
	}
	s.listener, s.socket = l, info
	return nil
}

// Restore listens again if the file of the socket is gone or is another one, and reports whether it was. If its folder is another
// one, too, the lock in it is taken first: ErrRunning means that another process serves there by now.
func (s *Server) Restore() (lost bool, err error) {
	path := Socket(s.Home)
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, err := os.Lstat(path); s.ended || err == nil && os.SameFile(now, s.socket) {
		return false, nil
	}
	if _, err := os.Stat(s.Home); err != nil {
		return true, err // it is not created again
	}
	before := s.listener
	held, err := s.lock.Stat()
	if err != nil {
		return true, err
	}
	if now, err := os.Lstat(lockOf(path)); err != nil || !os.SameFile(now, held) {
		lock, err := lockFolder(path)
		if err != nil {
			return true, err
		}
		_ = s.lock.Close() // nothing was written
		s.lock = lock
	}
	if err := s.bind(path); err != nil {
		return true, err
	}
	return true, closed(before.Close())
}

// listening returns the current listener.
func (s *Server) listening() net.Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listener
}

// stop stops listening.
func (s *Server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return closed(s.listener.Close())
}

// Close stops listening and removes the socket.
func (s *Server) Close() error {
	err := s.stop()
	if now, e := os.Lstat(Socket(s.Home)); e == nil && os.SameFile(now, s.socket) {
		err = errors.Join(err, os.Remove(Socket(s.Home)))
	}
	return errors.Join(err, s.lock.Close())
}

// Serve answers requests until the context ends, the program is replaced, or
// there was none for the time of Idle and no program that started a client runs. Those that have begun are answered.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.watch(ctx, cancel)
	stop := context.AfterFunc(ctx, func() { _ = s.stop() }) // Close reports the error
	defer stop()
	var open sync.WaitGroup
	defer open.Wait()
	for {
		l := s.listening()
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if l != s.listening() {
				continue // it was restored
			}
			return err
		}
		open.Go(func() { s.connection(ctx, cancel, conn) })
	}
}

// watch ends the process when it is no longer needed.
func (s *Server) watch(ctx context.Context, end func()) {
	every := lookEvery
	if s.Idle > 0 {
		every = min(every, max(s.Idle/10, 10*time.Millisecond))
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			idle := s.Idle > 0 && s.active.Load() == 0 && time.Since(time.Unix(0, s.last.Load())) > s.Idle
			if s.Stale != nil && s.Stale() || idle && !s.callers.live() {
				end()
				return
			}
		}
	}
}

// Busy keeps the process from ending for lack of requests until done is called.
func (s *Server) Busy() (done func()) {
	s.active.Add(1)
	return func() {
		s.last.Store(time.Now().UnixNano())
		s.active.Add(-1)
	}
}

// connection answers one client. On any failure the client starts a process of its own.
func (s *Server) connection(serving context.Context, end func(), conn net.Conn) {
	defer conn.Close()
	defer s.Busy()()
	if s.Stale != nil && s.Stale() {
		end() // the clients trust only the program that is installed now
		return
	}
	client, err := peer(conn)
	if err != nil {
		return
	}
	s.callers.add(client.Pid)
	own := client.Own || s.HookClient != "" && runs(client.Pid, s.HookClient)
	challenge := rand.Text()
	if _, err := conn.Write((&wire.Greeting{Home: s.Home, Challenge: challenge}).Encode()); err != nil {
		return
	}
	request, sender, err := receive(conn)
	if err != nil {
		return
	}
	// A program that becomes this one after it has asked, or lets another one ask, is not trusted.
	client.Own = own && sender == client.Pid && request.Challenge == challenge
	answer := &wire.Answer{Status: wire.InProcess}
	switch {
	case request.Home != s.Home:
	case len(request.Args) == 1 && request.Args[0] == wire.WroteCommand: // whoever asks holds a lock for which others may wait
		answer = s.Handle(serving, client, request, nil)
	default:
		s.slots <- struct{}{}
		ctx, cancel := context.WithCancel(context.WithoutCancel(serving))
		answer = s.Handle(ctx, client, request, &Pause{server: s, conn: conn, once: request.Once, serving: serving, cancel: cancel})
		gone := ctx.Err() != nil
		cancel()
		if <-s.slots; gone {
			return // the client reviews the event itself, or has ended
		}
	}
	answer.Once = request.Once
	_ = conn.SetWriteDeadline(time.Now().Add(requestWait)) // of a client that is gone
	_, _ = conn.Write(answer.Encode())                     // which has no use for it
}

// Pause is the wait for something that takes longer than a review.
type Pause struct {
	server  *Server
	conn    net.Conn
	once    string
	serving context.Context
	cancel  context.CancelFunc
}

// Begin tells the client to wait for at most some time, and lets another request take the place of this one until
// the returned function is called. Meanwhile the request's context ends if the client does, or
// if the server is about to end: the client then starts a process of its own.
func (p *Pause) Begin(most time.Duration) (resume func()) {
	waiting := wire.Answer{Status: wire.Waiting, Once: p.once, Wait: int(max(most, 0).Milliseconds())}
	_ = p.conn.SetDeadline(time.Time{})
	_, _ = p.conn.Write(waiting.Encode()) // a client that is gone is noticed below
	ended := context.AfterFunc(p.serving, p.cancel)
	go func() {
		if _, err := p.conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			p.cancel()
		}
	}()
	<-p.server.slots
	return func() {
		ended()
		_ = p.conn.SetReadDeadline(time.Now()) // ends the goroutine
		p.server.slots <- struct{}{}
	}
}

// receive reads a request, and says which process has written it; 0: several, or it is unknown.
func receive(conn net.Conn) (r *wire.Request, sender int, err error) {
	if err := conn.SetReadDeadline(time.Now().Add(requestWait)); err != nil {
		return nil, 0, err
	}
	from := newSenderReader(conn)
	b, err := message(from)
	if err != nil {
		return nil, 0, err
	}
	r = &wire.Request{}
	return r, from.sender(), r.Decode(b)
}

// message reads a whole message.
func message(r io.Reader) ([]byte, error) {
	header := make([]byte, wire.HeaderSize)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	n, err := wire.BodyLength(header)
	if err != nil {
		return nil, err
	}
	b := append(header, make([]byte, n)...)
	_, err = io.ReadFull(r, b[wire.HeaderSize:])
	return b, err
}

// closed ignores the error of something that was already closed.
func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
