package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// helloWait limits the time of a client's hello, and maxHello its length.
const (
	helloWait = 10 * time.Second
	maxHello  = 64 << 10
)

var errRead = errors.New("the handshake was read")

// serverName reads the hello of a TLS client, and returns the server name in it and the
// bytes that were read, which must be passed on to the host.
func serverName(conn net.Conn) (name string, read []byte, err error) {
	if err := conn.SetReadDeadline(time.Now().Add(helloWait)); err != nil {
		return "", nil, err
	}
	recorder := &onlyRead{from: io.LimitReader(conn, maxHello)}
	found := false
	server := tls.Server(recorder, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name, found = hello.ServerName, true
		return nil, errRead
	}})
	err = server.Handshake()
	if !found {
		return "", nil, err
	}
	return name, recorder.read.Bytes(), conn.SetReadDeadline(time.Time{})
}

// onlyRead is a connection from which a hello is read, and to which nothing is written.
type onlyRead struct {
	net.Conn
	from io.Reader
	read bytes.Buffer
}

// Read keeps what it reads.
func (c *onlyRead) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.read.Write(b[:n])
	return n, err
}

// Write fails: the client gets its answer from the host.
func (c *onlyRead) Write([]byte) (int, error) { return 0, errRead }

// Close does nothing: the connection continues.
func (c *onlyRead) Close() error { return nil }

// SetDeadline does nothing: that of the connection counts.
func (c *onlyRead) SetDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: see SetDeadline.
func (c *onlyRead) SetWriteDeadline(time.Time) error { return nil }
