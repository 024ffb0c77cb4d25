package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// helloWait is how long the greeting of a client may take, and maxHello how long it may be.
const (
	helloWait = 10 * time.Second
	maxHello  = 64 << 10
)

var errRead = errors.New("the greeting was read")

// serverName reads the greeting of a TLS client, and returns the name that it asks for and the bytes that were
// read, which the host has to get.
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

// onlyRead is a connection from which a greeting is read, and to which nothing is written.
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

// Close does nothing: the connection goes on.
func (c *onlyRead) Close() error { return nil }

// SetDeadline does nothing: that of the connection counts.
func (c *onlyRead) SetDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: see SetDeadline.
func (c *onlyRead) SetWriteDeadline(time.Time) error { return nil }
