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

func reportSenders(net.Listener) error { return nil }

// senderReader reads from a connection.
type senderReader struct{ conn net.Conn }

func (r *senderReader) Read(b []byte) (int, error) { return r.conn.Read(b) }

func (*senderReader) sender() int { return 0 }

func newSenderReader(conn net.Conn) *senderReader { return &senderReader{conn} }
