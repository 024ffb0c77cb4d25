//go:build !linux

package serve

import (
	"errors"
	"net"
)

// peer fails: on this system it is unknown which program is at the other end of a socket.
func peer(net.Conn) (c Client, err error) {
	return c, errors.New("this system does not report which process a client is")
}

// callers knows of none.
type callers struct{}

func (callers) add(int) {}

func (callers) live() bool { return false }

// runs reports false: this system does not say which program a process runs.
func runs(int, string) bool { return false }

func nameWriters(net.Listener) error { return nil }

// letter reads from a connection.
type letter struct{ conn net.Conn }

func (l *letter) Read(b []byte) (int, error) { return l.conn.Read(b) }

func (l *letter) writer() int { return 0 }

func newLetter(conn net.Conn) *letter { return &letter{conn} }
