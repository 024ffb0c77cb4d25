package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Proxy allows some connections.
type Proxy struct {
	Rules Rules
	// Tell gets each connection once it was opened or refused, and again with its bytes when it has ended.
	Tell func(c Connection, ended bool)

	lookup func(ctx context.Context, host string) ([]netip.Addr, error) // tests replace it
	dial   func(ctx context.Context, address string) (net.Conn, error)  // and this
	open   sync.WaitGroup
}

// New returns a proxy.
func New(r Rules, tell func(c Connection, ended bool)) *Proxy {
	resolver, dialer := &net.Resolver{}, &net.Dialer{Timeout: dialWait}
	return &Proxy{Rules: r, Tell: tell,
		lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return resolver.LookupNetIP(ctx, "ip", host)
		},
		dial: func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}}
}

// dialWait is how long the connection to a host may take, and requestWait a client with its request.
const (
	dialWait    = 30 * time.Second
	requestWait = 30 * time.Second
)

// Serve answers until the listener is closed.
func (p *Proxy) Serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // there are too many open files
			continue
		}
		p.open.Go(func() { p.connection(conn) })
	}
}

// connection answers the one request of a client.
func (p *Proxy) connection(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	_ = conn.SetReadDeadline(time.Now().Add(requestWait)) // of a client that is gone
	request, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	if request.Method == http.MethodConnect {
		p.tunnel(conn, in, request)
		return
	}
	p.forward(conn, request)
}

// reach opens a connection to a host, if it is allowed. The address is the one that was
// checked: the name is not resolved again.
func (p *Proxy) reach(ctx context.Context, c *Connection) (net.Conn, error) {
	if c.Why = p.Rules.refused(c.Host, c.Port); c.Why != "" {
		return nil, errors.New(c.Why)
	}
	ips, err := p.addresses(ctx, c.Host)
	if err != nil {
		return nil, fmt.Errorf("look %s up: %w", c.Host, err)
	}
	var ip netip.Addr
	if ip, c.Why = public(c.Host, ips, p.Rules.Refused); c.Why != "" {
		return nil, errors.New(c.Why)
	}
	c.Address = net.JoinHostPort(ip.String(), strconv.Itoa(c.Port))
	return p.dial(ctx, c.Address)
}

func (p *Proxy) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	return p.lookup(ctx, host)
}

// tunnel copies data between client and host, once the client has begun a TLS handshake for this host.
func (p *Proxy) tunnel(conn net.Conn, in *bufio.Reader, request *http.Request) {
	var c Connection
	c.Host, c.Port = hostPort(request.Host, 443)
	host, err := p.reach(request.Context(), &c)
	if err != nil {
		p.refuse(conn, c, err)
		return
	}
	defer host.Close()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	name, hello, err := serverName(&buffered{conn, in})
	if err != nil || !strings.EqualFold(strings.TrimSuffix(name, "."), strings.TrimSuffix(c.Host, ".")) && !address(c.Host, name) {
		c.Why = fmt.Sprintf("the client asked for %.100q in its TLS handshake", name)
		if err != nil {
			c.Why = "the client did not begin a TLS handshake"
		}
		p.Tell(c, false)
		return
	}
	p.Tell(c, false)
	if _, err := host.Write(hello); err != nil {
		return
	}
	c.Sent = int64(len(hello))
	p.join(conn, in, host, &c)
	p.Tell(c, true)
}

// address reports whether a host is an address: then clients ask for no name.
func address(host, name string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil && name == ""
}

// buffered reads what a bufio.Reader has read already.
type buffered struct {
	net.Conn
	in *bufio.Reader
}

// Read implements io.Reader.
func (b *buffered) Read(to []byte) (int, error) { return b.in.Read(to) }

// join copies in both directions until both have ended. The kernel copies where it can.
func (p *Proxy) join(client net.Conn, in *bufio.Reader, host net.Conn, c *Connection) {
	done := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(client, host) // an end by an error is an end
		closeWrite(client)
		done <- n
	}()
	if n := in.Buffered(); n > 0 {
		early, _ := in.Peek(n)
		written, _ := host.Write(early)
		c.Sent += int64(written)
	}
	n, _ := io.Copy(host, client) // an end by an error is an end
	closeWrite(host)
	c.Sent += n
	c.Got = <-done
}

func closeWrite(conn net.Conn) {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // the other end may be gone
	}
}

// refuse tells the client why there is no connection.
func (p *Proxy) refuse(conn net.Conn, c Connection, err error) {
	if c.Why == "" {
		c.Why = err.Error()
	}
	p.Tell(c, false)
	text := strings.ReplaceAll(p.Rules.Text, "{why}", c.Host+": "+c.Why) + "\n"
	fmt.Fprintf(conn, "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text)
}

// forward passes on one request without TLS, after which the connection ends.
func (p *Proxy) forward(conn net.Conn, request *http.Request) {
	var c Connection
	c.Host, c.Port = hostPort(request.URL.Host, 80)
	if request.URL.Scheme != "http" || c.Host == "" || request.Host != "" && !strings.EqualFold(request.Host, request.URL.Host) {
		c.Why = "the request names no host, names another one in its header, or is not HTTP"
		p.refuse(conn, c, nil)
		return
	}
	host, err := p.reach(request.Context(), &c)
	if err != nil {
		p.refuse(conn, c, err)
		return
	}
	defer host.Close()
	p.Tell(c, false)
	exchange(conn, &counter{Conn: host, c: &c}, request)
	p.Tell(c, true)
}

// exchange sends the request to the host and its answer to the client.
func exchange(conn net.Conn, host net.Conn, request *http.Request) {
	for _, name := range []string{"Proxy-Connection", "Proxy-Authorization", "Connection", "Keep-Alive", "Te", "Trailer", "Upgrade"} {
		request.Header.Del(name)
	}
	request.Close = true
	if request.Write(host) != nil {
		return // the client sees the end of the connection
	}
	in := bufio.NewReader(host)
	answer, err := http.ReadResponse(in, request)
	for err == nil && answer.StatusCode < 200 && answer.StatusCode != http.StatusSwitchingProtocols {
		answer, err = http.ReadResponse(in, request) // the one before was interim, such as 100 Continue
	}
	if err != nil {
		return
	}
	defer answer.Body.Close()
	answer.Close = true
	_ = answer.Write(conn) // the client may be gone
}

// counter counts the bytes of a connection.
type counter struct {
	net.Conn
	c *Connection
}

// Read implements io.Reader.
func (n *counter) Read(b []byte) (int, error) {
	read, err := n.Conn.Read(b)
	n.c.Got += int64(read)
	return read, err
}

// Write implements io.Writer.
func (n *counter) Write(b []byte) (int, error) {
	written, err := n.Conn.Write(b)
	n.c.Sent += int64(written)
	return written, err
}

// Pass connects each client of a listener with an address of this machine, which the policy names.
func (p *Proxy) Pass(l net.Listener, to string) {
	var c Connection
	c.Host, c.Port = hostPort(to, 0)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		p.open.Go(func() {
			defer conn.Close()
			c := c
			c.Address = to
			host, err := net.DialTimeout("tcp", to, dialWait)
			if err != nil {
				c.Why = err.Error()
				p.Tell(c, false)
				return
			}
			defer host.Close()
			p.Tell(c, false)
			p.join(conn, bufio.NewReaderSize(conn, 16), host, &c)
			p.Tell(c, true)
		})
	}
}
