package channel

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

func entry() notify.Entry {
	return notify.Entry{V: 1, ID: "stop-0123-4", Kind: notify.KindStop, Title: "stopped: ümläut\r\nBcc: x@example.com", Text: "it wrote <!channel> & more",
		Session: "shop-1", Next: "reviewer incident show 0123-4"}
}

func sources(t *testing.T, env map[string]string) Sources {
	return Sources{Env: func(name string) string { return env[name] }, Home: t.TempDir()}
}

func send(t *testing.T, c settings.Channel, from Sources) error {
	t.Helper()
	c.Name = "c"
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return New([]settings.Channel{c}, from)[0].Send(ctx, entry())
}

// A receiver can check who sent a body, when, and that it is whole.
func TestWebhookIsSigned(t *testing.T) {
	var header http.Header
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer s.Close()
	const secret = "a secret of 24 letters.."
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Unix()
	for _, c := range []settings.Channel{{Kind: "webhook", URL: s.URL, SecretFile: file}, {Kind: "webhook", URLEnv: "WHERE", SecretEnv: "SECRET"}} {
		if err := send(t, c, sources(t, map[string]string{"WHERE": s.URL, "SECRET": secret})); err != nil {
			t.Fatal(err)
		}
		at, sum, ok := strings.Cut(strings.TrimPrefix(header.Get(HeaderSignature), "t="), ",v1=")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if !ok || err != nil || seconds < began || seconds > time.Now().Unix() {
			t.Fatalf("the signature is %q", header.Get(HeaderSignature))
		}
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%s.%s", at, body)
		if sum != hex.EncodeToString(mac.Sum(nil)) {
			t.Error("the signature does not fit the body")
		}
		var e notify.Entry
		if err := json.Unmarshal(body, &e); err != nil || e != entry() || header.Get(HeaderID) != e.ID {
			t.Errorf("the body is %s (%v), the key %s", body, err, header.Get(HeaderID))
		}
	}
}

func TestAnswersOfReceivers(t *testing.T) {
	code := 0
	others := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer others.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", others.URL)
		w.WriteHeader(code)
	}))
	defer s.Close()
	for _, tt := range []struct {
		code        int
		ok, forGood bool
	}{{200, true, false}, {204, true, false}, {302, false, true}, {400, false, true}, {404, false, true}, {408, false, false}, {429, false, false},
		{500, false, false}, {503, false, false}} {
		code = tt.code
		err := send(t, settings.Channel{Kind: "slack", URL: s.URL + "/secret-path"}, sources(t, nil))
		if p := (*notify.Permanent)(nil); (err == nil) != tt.ok || errors.As(err, &p) != tt.forGood {
			t.Errorf("%d: %v", tt.code, err)
		}
	}
	s.Close()
	if err := send(t, settings.Channel{Kind: "slack", URL: s.URL + "/secret-path"}, sources(t, nil)); err == nil || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("a server that is gone: %v", err)
	}
}

// The environment's proxy is not used: an agent's settings can set it.
func TestNoProxyOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	p, err := newPoster(settings.Channel{URL: "https://hooks.example.com/x"}, sources(t, nil))
	if err != nil || p.client.Transport.(*http.Transport).Proxy != nil {
		t.Errorf("the proxy is set, %v", err)
	}
}

func TestSlackText(t *testing.T) {
	var got map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { json.NewDecoder(r.Body).Decode(&got) }))
	defer s.Close()
	if err := send(t, settings.Channel{Kind: "slack", URL: s.URL}, sources(t, nil)); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(got["text"]); !strings.Contains(text, "&lt;!channel&gt; &amp; more") || !strings.Contains(text, "session: shop-1") {
		t.Errorf("the text is %q", text)
	}
}

func TestWhatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	open, short := filepath.Join(dir, "open"), filepath.Join(dir, "short")
	for file, mode := range map[string]os.FileMode{open: 0o644, short: 0o600} {
		if err := os.WriteFile(file, []byte("short"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		c    settings.Channel
		want string
	}{
		"plain HTTP":            {settings.Channel{Kind: "webhook", URL: "http://hooks.example.com/key"}, "must begin with https://"},
		"another scheme":        {settings.Channel{Kind: "slack", URL: "file:///etc/passwd"}, "URL is not valid"},
		"no address":            {settings.Channel{Kind: "slack"}, "none of url, url_file and url_env"},
		"no variable":           {settings.Channel{Kind: "slack", URLEnv: "NOWHERE"}, "NOWHERE is not set"},
		"a short secret":        {settings.Channel{Kind: "webhook", URL: "https://example.com", SecretFile: short}, "fewer than 16"},
		"a relative path":       {settings.Channel{Kind: "slack", URLFile: "url"}, "not an absolute path"},
		"mail without TLS":      {settings.Channel{Kind: "smtp", Host: "mail.example.com", Security: "none", From: "a@example.com"}, "only for a mail server on this machine"},
		"a header in a sender":  {settings.Channel{Kind: "smtp", Host: "localhost", From: "a@example.com\r\nBcc: b@example.com"}, "from:"},
		"a header in a target":  {settings.Channel{Kind: "smtp", Host: "localhost", From: "a@example.com", To: []string{"x\r\n@y"}}, "to:"},
		"a program of the PATH": {settings.Channel{Kind: "desktop", Program: "notify-send"}, "not an absolute path"},
		"no program":            {settings.Channel{Kind: "desktop", Program: filepath.Join(dir, "none")}, "none"},
		"a folder":              {settings.Channel{Kind: "desktop", Program: dir}, "is not a program"},
		"another kind":          {settings.Channel{Kind: "pigeon"}, `unknown kind of channel "pigeon"`},
	} {
		err := send(t, tt.c, sources(t, nil))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "/key") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if runtime.GOOS != "windows" {
		if err := send(t, settings.Channel{Kind: "webhook", URL: "https://example.com", SecretFile: open}, sources(t, nil)); err == nil {
			t.Error("a secret that others can read was taken")
		}
	}
}

// mailServer is an SMTP server that takes one mail; with roots, it is encrypted once
// STARTTLS was given.
func mailServer(t *testing.T, cert *tls.Certificate) (port int64, mails chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	mails = make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			serveMail(conn, cert, mails)
		}
	}()
	return int64(listener.Addr().(*net.TCPAddr).Port), mails
}

func serveMail(conn net.Conn, cert *tls.Certificate, mails chan string) {
	defer func() { conn.Close() }()
	r := bufio.NewReader(conn)
	fmt.Fprint(conn, "220 ready\r\n")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb == "STARTTLS" && cert == nil {
			verb = "no"
		}
		switch verb {
		case "no":
			fmt.Fprint(conn, "502 no such command\r\n")
		case "EHLO":
			if cert != nil {
				fmt.Fprint(conn, "250-localhost\r\n250 STARTTLS\r\n")
			} else {
				fmt.Fprint(conn, "250 localhost\r\n")
			}
		case "STARTTLS":
			fmt.Fprint(conn, "220 go\r\n")
			conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*cert}})
			r = bufio.NewReader(conn)
		case "DATA":
			fmt.Fprint(conn, "354 go\r\n")
			var text strings.Builder
			for line != ".\r\n" && err == nil {
				line, err = r.ReadString('\n')
				text.WriteString(line)
			}
			mails <- text.String()
			fmt.Fprint(conn, "250 taken\r\n")
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

func TestMail(t *testing.T) {
	port, mails := mailServer(t, nil)
	c := settings.Channel{Kind: "smtp", Host: "127.0.0.1", Port: port, Security: "none", From: "reviewer <r@example.com>", To: []string{"ann@example.com"}}
	if err := send(t, c, sources(t, nil)); err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(<-mails, "\r\n\r\n")
	if strings.Contains(head, "\nBcc") || !strings.Contains(head, "Subject: =?utf-8?q?stopped:_=C3=BCml=C3=A4ut_Bcc:_x@example.com?=") ||
		!strings.Contains(head, "Message-ID: <stop-0123-4@example.com>") {
		t.Errorf("the head is %s", head)
	}
	text, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\r\n.\r\n", "", "\r\n", "").Replace(body))
	if err != nil || !strings.Contains(string(text), "it wrote <!channel> & more") {
		t.Errorf("the body is %q, %v", text, err)
	}
}

// A server without STARTTLS gets nothing, and one with it only if its certificate is good.
func TestMailIsEncrypted(t *testing.T) {
	web := httptest.NewTLSServer(nil)
	web.Close()
	cert := web.TLS.Certificates[0]
	port, _ := mailServer(t, nil)
	c := settings.Channel{Kind: "smtp", Host: "127.0.0.1", Port: port, From: "r@example.com", To: []string{"ann@example.com"}}
	if err := send(t, c, sources(t, nil)); err == nil || !strings.Contains(err.Error(), "encrypt the connection") {
		t.Errorf("without STARTTLS: %v", err)
	}
	c.Port, _ = mailServer(t, &cert)
	if err := send(t, c, sources(t, nil)); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("with an unknown certificate: %v", err)
	}
	var mails chan string
	c.Port, mails = mailServer(t, &cert)
	s, err := newSMTP(c, sources(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	s.(*mailer).roots = &tls.Config{RootCAs: roots}
	if err := s.send(context.Background(), entry()); err != nil || !strings.Contains(<-mails, "Subject") {
		t.Errorf("with a known certificate: %v", err)
	}
}

// Title and text are arguments, whatever they contain.
func TestDesktop(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "show")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" > "+dir+"/shown\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := send(t, settings.Channel{Kind: "desktop", Program: program}, sources(t, nil)); err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile(filepath.Join(dir, "shown"))
	if err != nil || !strings.Contains(string(shown), "it wrote &lt;!channel&gt; &amp; more\nreviewer incident show 0123-4") {
		t.Errorf("%q, %v", shown, err)
	}
	for system, want := range map[string]string{"darwin": "on run argv", "windows": "$env:REVIEWER_TEXT", "linux": "--"} {
		if args := strings.Join(arguments(system, "T", "X"), " "); !strings.Contains(args, want) {
			t.Errorf("%s: %s", system, args)
		}
	}
}
