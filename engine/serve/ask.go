package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// fits reports a path that is too long for a socket.
func fits(path string) error {
	if len(path) > wire.MaxSocketPath {
		return fmt.Errorf("the path of the socket has %d bytes, at most %d: %s; use a state directory with a shorter path",
			len(path), wire.MaxSocketPath, path)
	}
	return nil
}

// Obstacle returns why no process can serve a state directory; nil if nothing is known.
func Obstacle(home string) error {
	path := Socket(home)
	if err := fits(path); err != nil {
		return err
	}
	if err := private(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Shared returns the kind of network file system that a state directory is on; empty if it
// is a local one.
func Shared(home string) string { return shared(home) }

// Peer is who answered.
type Peer struct {
	Pid     int
	Program string // its file
}

// Listener returns the process that listens at a state directory's socket, as this one sees it: 0 if it is in namespaces
// that cannot be seen from here. runs is false if nobody listens.
func Listener(home string) (pid int, runs bool) {
	conn, err := net.Dial("unix", Socket(home))
	if err != nil {
		return 0, false
	}
	defer conn.Close() // nothing is written
	c, err := peer(conn)
	if err != nil {
		return 0, false
	}
	return c.Pid, true
}

// Ask lets the process that listens at a state directory's socket answer a request. Unlike the
// client of hooks, it trusts any process: the caller decides which one to trust.
func Ask(home string, r *wire.Request, wait time.Duration) (*wire.Answer, Peer, error) {
	conn, err := net.Dial("unix", Socket(home))
	if err != nil {
		return nil, Peer{}, err
	}
	defer conn.Close() // nothing is left to be written
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return nil, Peer{}, err
	}
	c, err := peer(conn)
	if err != nil {
		return nil, Peer{}, err
	}
	who := Peer{Pid: c.Pid}
	who.Program, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", c.Pid)) // empty is not the program either
	b, err := message(conn)
	if err != nil {
		return nil, who, err
	}
	var greeting wire.Greeting
	if err := greeting.Decode(b); err != nil {
		return nil, who, err
	}
	answering := *r
	answering.Challenge = greeting.Challenge
	if _, err := conn.Write(answering.Encode()); err != nil {
		return nil, who, err
	}
	if b, err = message(conn); err != nil {
		return nil, who, err
	}
	var a wire.Answer
	return &a, who, a.Decode(b)
}
