package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// stage is a proxy with invented names and addresses: every connection that it opens ends at a server of
// the test.
type stage struct {
	*Proxy
	at    string
	names map[string]string
	mu    sync.Mutex
	told  []Connection
	ended chan Connection
}

func set(t *testing.T, server string) *stage {
	t.Helper()
	s := &stage{names: map[string]string{"allowed.test": "93.184.216.34", "twice.test": "93.184.216.34 10.0.0.1"}, ended: make(chan Connection, 100)}
	s.Proxy = New(Rules{Hosts: []string{"allowed.test", "*.below.test", "local.test", "meta.test", "six.test", "twice.test", "nowhere.test", "93.184.216.34", "10.0.0.1", "drop.test"},
		Ports: []int64{443, 80}, Refused: []string{"drop.test", "169.254.169.254"}, Text: "no: {why}"}, func(c Connection, ended bool) {
		if ended {
			s.ended <- c
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told, c)
	})
	s.lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
		var list []netip.Addr
		for text := range strings.FieldsSeq(s.names[host]) {
			list = append(list, netip.MustParseAddr(text))
		}
		return list, nil
	}
	s.dial = func(context.Context, string) (net.Conn, error) { return net.Dial("tcp", server) }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go s.Serve(l)
	s.at = l.Addr().String()
	return s
}

func (s *stage) why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.told) == 0 {
		return ""
	}
	return s.told[len(s.told)-1].Why
}

func (s *stage) client(t *testing.T, roots *x509.CertPool) *http.Client {
	t.Helper()
	at := &url.URL{Scheme: "http", Host: s.at}
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "allowed.test", InsecureSkipVerify: true}, DisableKeepAlives: true}}
}

// TLS passes through unopened: the client speaks with the host itself.
func TestTunnel(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello over TLS to "+r.Host) }))
	defer server.Close()
	s := set(t, server.Listener.Addr().String())
	res, err := s.client(t, nil).Get("https://allowed.test/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	if string(body) != "hello over TLS to allowed.test" || res.TLS.PeerCertificates[0].Equal(server.Certificate()) == false {
		t.Errorf("%s", body)
	}
	if c := <-s.ended; c.Host != "allowed.test" || c.Address != "93.184.216.34:443" || c.Sent == 0 || c.Got == 0 {
		t.Errorf("%+v", c)
	}
}

// Requests without TLS are passed on to the host that they name, without what is meant for the proxy.
func TestForward(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, r.Method, r.URL, r.Header.Get("Proxy-Authorization"), string(body))
	}))
	defer server.Close()
	s := set(t, server.Listener.Addr().String())
	res, err := s.client(t, nil).Post("http://allowed.test/a?b", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); string(body) != "POST/a?bbody" {
		t.Errorf("%s", body)
	}
}

// A host may ask a client to go on before it answers.
func TestForwardContinue(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		body, _ := io.ReadAll(r.Body) // sends 100 Continue
		fmt.Fprint(w, len(body))
	}))
	defer server.Close()
	s := set(t, server.Listener.Addr().String())
	request, err := http.NewRequest(http.MethodPost, "http://allowed.test/", strings.NewReader(strings.Repeat("x", 5000)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Expect", "100-continue")
	res, err := s.client(t, nil).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || string(body) != "5000" {
		t.Errorf("%s: %s", res.Status, body)
	}
}

// What is refused is so before a connection is opened, and the client is told why.
func TestRefused(t *testing.T) {
	for host, why := range map[string]string{
		"other.test:443":             "not among the allowed hosts",
		"allowed.test.evil.test:443": "not among the allowed hosts",
		"below.test:443":             "not among the allowed hosts",
		"allowed.test:22":            "port 22 is not among the allowed ports",
		"allowed.test:0":             "port 0 is not",
		"sub.drop.test:443":          "refuses it in any case",
		"drop.test:443":              "refuses it in any case",
		"local.test:443":             "local.test resolves to 127.0.0.1, which is not on the internet",
		"meta.test:443":              "resolves to 169.254.169.254",
		"six.test:443":               "resolves to ::ffff:10.1.2.3",
		"twice.test:443":             "resolves to 10.0.0.1",
		"nowhere.test:443":           "it has no address",
		"10.0.0.1:443":               "not on the internet",
		"[::1]:443":                  "not among the allowed hosts",
		"a b:443":                    "",
	} {
		s := set(t, "127.0.0.1:1")
		s.names["local.test"], s.names["meta.test"], s.names["six.test"] = "127.0.0.1", "169.254.169.254", "::ffff:10.1.2.3"
		conn, err := net.Dial("tcp", s.at)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if why == "" {
			continue // it is not a request
		}
		if !strings.HasPrefix(string(answer), "HTTP/1.1 403 ") || !strings.Contains(string(answer), "no: ") || !strings.Contains(s.why(), why) {
			t.Errorf("%s: %s: %q, want %q", host, answer, s.why(), why)
		}
	}
}

// Addresses that are not of the internet are refused in every form.
func TestPrivate(t *testing.T) {
	for _, text := range strings.Fields("127.0.0.1 127.9.9.9 ::1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.100.100.200 0.0.0.0 :: fe80::1 fe80::1%eth0 fd00:ec2::254 ff02::1 224.0.0.1 255.255.255.255 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: 168.63.129.16 198.18.0.1 192.0.0.192 2001:0:1::") {
		if !private(netip.MustParseAddr(text)) {
			t.Errorf("%s counts as one of the internet", text)
		}
	}
	for _, text := range strings.Fields("93.184.216.34 1.1.1.1 2606:4700:4700::1111") {
		if private(netip.MustParseAddr(text)) {
			t.Errorf("%s counts as private", text)
		}
	}
}

// A client that asks for one host and greets another, or does not greet as one of TLS, gets no connection.
func TestOtherName(t *testing.T) {
	var reached bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	for _, greet := range []func(net.Conn){
		func(c net.Conn) {
			_ = tls.Client(c, &tls.Config{ServerName: "other.test", InsecureSkipVerify: true}).Handshake()
		},
		func(c net.Conn) { _ = tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake() },
		func(c net.Conn) { fmt.Fprint(c, "SSH-2.0-OpenSSH_9.9\r\n"); _, _ = io.ReadAll(c) },
	} {
		s := set(t, server.Listener.Addr().String())
		conn, err := net.Dial("tcp", s.at)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:443\r\n\r\n")
		line, err := bufio.NewReader(io.LimitReader(conn, 39)).ReadString('\n')
		if err != nil || !strings.Contains(line, "200") {
			t.Fatalf("%q, %v", line, err)
		}
		greet(conn)
		conn.Close()
		if why := s.why(); reached || !strings.Contains(why, "handshake") {
			t.Errorf("reached: %t; %q", reached, why)
		}
	}
}

// The name in the header of a request cannot differ from the one that was looked at.
func TestForwardOtherHost(t *testing.T) {
	s := set(t, "127.0.0.1:1")
	for _, head := range []string{"GET / HTTP/1.1\r\nHost: allowed.test\r\n", "GET https://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n"} {
		conn, err := net.Dial("tcp", s.at)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, head+"\r\n")
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if !strings.HasPrefix(string(answer), "HTTP/1.1 403 ") {
			t.Errorf("%q: %s", head, answer)
		}
	}
}

// An address of this machine is reached only through its own listener.
func TestPass(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "local") }))
	defer server.Close()
	s := set(t, "127.0.0.1:1")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go s.Pass(l, server.Listener.Addr().String())
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); string(body) != "local" {
		t.Errorf("%s", body)
	}
	if c := <-s.ended; c.Got == 0 || c.Why != "" {
		t.Errorf("%+v", c)
	}
}
