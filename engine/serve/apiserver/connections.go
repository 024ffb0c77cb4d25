package apiserver

import (
	"io"
	"log"
	"net"
	"sync"
)

// limited accepts a connection only while fewer than a number are open. Others wait in the
// system's queue, so that clients that send nothing cost no memory here.
func limited(l net.Listener, n int) net.Listener {
	return &limitedListener{l, make(chan struct{}, n)}
}

type limitedListener struct {
	net.Listener
	open chan struct{}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	l.open <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.open
		return nil, err
	}
	return &limitedConn{Conn: c, done: sync.OnceFunc(func() { <-l.open })}, nil
}

type limitedConn struct {
	net.Conn
	done func()
}

func (c *limitedConn) Close() error {
	defer c.done()
	return c.Conn.Close()
}

// silent logs nothing: a client chooses what it sends, and an error could repeat it.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }
