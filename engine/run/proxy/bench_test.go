//go:build bench

package proxy

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// TestRunThroughput compares a connection through the proxy with one without: as fast as this machine can, and over
// a link of 1 Gbit/s, which a bucket of bytes stands for.
func TestRunThroughput(t *testing.T) {
	for _, c := range []struct {
		what string
		rate int // bytes per second; 0: no limit
		size int64
	}{{"unlimited", 0, 4 << 30}, {"1 Gbit/s", 125_000_000, 500_000_000}} {
		server := sender(t, c.rate, c.size)
		s := set(t, server)
		var direct, proxied []float64
		for range 3 {
			direct = append(direct, receiveAll(t, greeted(t, server, ""), c.size))
			proxied = append(proxied, receiveAll(t, greeted(t, server, s.at), c.size))
		}
		t.Logf("%s: direct %.0f MB/s, through the proxy %.0f MB/s (best of 3), %.0f %%", c.what, best(direct), best(proxied), 100*best(proxied)/best(direct))
	}
}

func best(list []float64) float64 {
	most := 0.0
	for _, n := range list {
		most = max(most, n)
	}
	return most
}

// sender is a server that sends bytes to whoever greets it.
func sender(t *testing.T, rate int, size int64) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go send(conn, rate, size)
		}
	}()
	return l.Addr().String()
}

func send(conn net.Conn, rate int, size int64) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, 5)); err != nil {
		return
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	chunk := make([]byte, 256<<10)
	for began, sent := time.Now(), int64(0); sent < size; {
		n, err := conn.Write(chunk[:min(int64(len(chunk)), size-sent)])
		if err != nil {
			return
		}
		sent += int64(n)
		if rate > 0 {
			time.Sleep(time.Duration(float64(sent)/float64(rate)*1e9) - time.Since(began))
		}
	}
}

// greeted is a connection to the server, through a proxy if there is one, whose client has greeted as one of TLS.
func greeted(t *testing.T, server, proxy string) net.Conn {
	at := server
	if proxy != "" {
		at = proxy
	}
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	if proxy != "" {
		fmt.Fprint(conn, "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n")
		if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
			t.Fatal(err)
		}
	}
	_ = tls.Client(&onlyWrites{conn}, &tls.Config{ServerName: "allowed.test"}).Handshake() // the greeting is all that is sent
	return conn
}

// onlyWrites ends a handshake after the greeting.
type onlyWrites struct{ net.Conn }

// Read fails.
func (o *onlyWrites) Read([]byte) (int, error) { return 0, io.EOF }

func receiveAll(t *testing.T, conn net.Conn, size int64) float64 {
	defer conn.Close()
	began := time.Now()
	buffer := make([]byte, 256<<10)
	for got := int64(0); got < size; {
		n, err := conn.Read(buffer)
		if err != nil && got+int64(n) < size {
			t.Fatal(got, err)
		}
		got += int64(n)
	}
	return float64(size) / time.Since(began).Seconds() / 1e6
}
