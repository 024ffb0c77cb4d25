package apiserver

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

func TestListenOnlyHere(t *testing.T) {
	for _, place := range []string{"", "0.0.0.0:0", "[::]:0", "10.0.0.1:0", ":9470", "localhost:0", "127.0.0.1", "127.0.0.1:x", "example.com:80"} {
		if l, err := Listen(place); err == nil {
			t.Errorf("%s: listens at %s", place, l.Addr())
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	b := newBench(t)
	q := b.ask("s1", 1, time.Minute)
	port := b.base[strings.LastIndexByte(b.base, ':'):]
	one, yes := "/v1/approvals/"+q.ID, api.Answer{Digest: q.Digest, Approve: true}
	for _, c := range []struct {
		name, method, path string
		doc                any
		headers            []string
		status             int
		code               string
	}{
		{"no token", "GET", "/v1/approvals", nil, []string{"Authorization:"}, 401, api.CodeToken},
		{"a wrong token", "GET", "/v1/approvals", nil, []string{"Authorization: Bearer x"}, 401, api.CodeToken},
		{"the token as a password", "GET", "/v1/approvals", nil, []string{"Authorization: Basic " + b.server.Token}, 401, api.CodeToken},
		{"the token in the address", "GET", "/v1/approvals?token=" + b.server.Token, nil, []string{"Authorization:"}, 401, api.CodeToken},
		{"no token, an answer", "POST", one + "/answer", yes, []string{"Authorization:"}, 401, api.CodeToken},
		{"another name of this machine", "GET", "/v1/approvals", nil, []string{"Host: evil.example" + port}, 403, api.CodeHost},
		{"no port", "GET", "/v1/approvals", nil, []string{"Host: 127.0.0.1"}, 403, api.CodeHost},
		{"another port", "GET", "/v1/approvals", nil, []string{"Host: 127.0.0.1:1"}, 403, api.CodeHost},
		{"the form of a page", "POST", one + "/answer", "digest=x", []string{"Origin: https://evil.example", "Content-Type: application/x-www-form-urlencoded"}, 403, api.CodeBrowser},
		{"a script of a page", "POST", one + "/answer", yes, []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403, api.CodeBrowser},
		{"a page in a frame", "GET", "/v1/approvals", nil, []string{"Origin: null"}, 403, api.CodeBrowser},
		{"another port of this machine", "POST", one + "/answer", yes, []string{"Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: same-site"}, 403, api.CodeBrowser},
		{"an image of a page", "GET", "/v1/approvals", nil, []string{"Sec-Fetch-Site: cross-site"}, 403, api.CodeBrowser},
		{"a preflight of a browser", "OPTIONS", one + "/answer", nil, []string{"Origin: https://evil.example", "Access-Control-Request-Method: POST"}, 403, api.CodeBrowser},
		{"a form without an origin", "POST", one + "/answer", "digest=x", []string{"Content-Type: application/x-www-form-urlencoded"}, 415, api.CodeType},
		{"plain text", "POST", one + "/answer", yes, []string{"Content-Type: text/plain"}, 415, api.CodeType},
		{"another character set", "POST", one + "/answer", yes, []string{"Content-Type: application/json; charset=utf-16"}, 415, api.CodeType},
		{"compressed", "POST", one + "/answer", yes, []string{"Content-Encoding: gzip"}, 415, api.CodeType},
		{"no such path", "GET", "/v2/approvals", nil, nil, 404, api.CodeNotFound},
		{"a wrong method", "DELETE", "/v1/approvals", nil, nil, 405, api.CodeMethod},
		{"an answer as GET", "GET", one + "/answer", nil, nil, 405, api.CodeMethod},
		{"no code", "POST", one + "/answer", yes, []string{api.CodeHeader + ":"}, 403, api.CodeNoCode},
		{"a wrong code", "POST", one + "/answer", yes, []string{api.CodeHeader + ": 0000-0000-0000"}, 403, api.CodeWrongCode},
		{"a denial without the code", "POST", one + "/answer", api.Answer{Digest: q.Digest}, []string{api.CodeHeader + ":"}, 403, api.CodeNoCode},
		{"several without the code", "POST", "/v1/approvals/answer", api.Bulk{Answers: []api.BulkAnswer{{ID: q.ID, Digest: q.Digest, Approve: true}}}, []string{api.CodeHeader + ":"}, 403, api.CodeNoCode},
		{"no JSON", "POST", one + "/answer", "x", nil, 400, api.CodeDocument},
		{"an unknown key", "POST", one + "/answer", `{"digest":"x","aprove":true}`, nil, 400, api.CodeDocument},
		{"a key twice", "POST", one + "/answer", `{"digest":"x","approve":false,"approve":true}`, nil, 400, api.CodeDocument},
		{"a key in another case", "POST", one + "/answer", `{"digest":"x","approve":false,"Approve":true}`, nil, 400, api.CodeDocument},
		{"a long text", "POST", one + "/answer", api.Answer{Digest: q.Digest, Message: strings.Repeat("x", 1<<20)}, nil, 413, api.CodeTooLong},
		{"a very long event", "POST", "/v1/review", `{"x":"` + strings.Repeat("x", 3<<20) + `"}`, nil, 413, api.CodeTooLong},
		{"another digest", "POST", one + "/answer", api.Answer{Digest: digestOf(9), Approve: true}, nil, 409, api.CodeStale},
		{"no digest", "POST", one + "/answer", `{"approve":true}`, nil, 409, api.CodeStale},
		{"no such question", "POST", "/v1/approvals/00000000-7/answer", yes, nil, 404, api.CodeUnknown},
		{"a path as a question", "POST", "/v1/approvals/..%2f..%2fkey/answer", yes, nil, 404, api.CodeUnknown},
		{"no such session", "GET", "/v1/sessions/nothing", nil, nil, 404, api.CodeNotFound},
		{"no answers", "POST", "/v1/approvals/answer", api.Bulk{}, nil, 400, api.CodeDocument},
		{"a question twice", "POST", "/v1/approvals/answer", api.Bulk{Answers: []api.BulkAnswer{{ID: q.ID}, {ID: q.ID}}}, nil, 400, api.CodeDocument},
	} {
		status, h, text := b.request(c.method, c.path, c.doc, c.headers...)
		var e api.Error
		if err := json.Unmarshal([]byte(text), &e); err != nil || status != c.status || e.Code != c.code || e.Message == "" || e.Do == "" {
			t.Errorf("%s: %d %.200s", c.name, status, text)
		}
		for name := range h {
			if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" {
				t.Errorf("%s: header %s", c.name, name)
			}
		}
		if h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: headers %v", c.name, h)
		}
		if status == http.StatusMethodNotAllowed && h.Get("Allow") == "" {
			t.Errorf("%s: no header Allow", c.name)
		}
		if strings.Contains(text, b.server.Token) || strings.Contains(text, rightCode) {
			t.Errorf("%s: a secret in %s", c.name, text)
		}
	}
	if state, err := b.server.Queue.StateOf(q); err != nil || state != approval.Pending {
		t.Errorf("the question is %s, %v", state, err)
	}
}

func TestOwnHosts(t *testing.T) {
	b := newBench(t)
	port := b.base[strings.LastIndexByte(b.base, ':'):]
	for _, headers := range [][]string{nil, {"Host: localhost" + port}, {"Origin: " + b.base, "Sec-Fetch-Site: same-origin"}} {
		if status, _, text := b.request("GET", "/v1/approvals", nil, headers...); status != 200 || strings.TrimSpace(text) != `{"questions":[]}` {
			t.Errorf("%v: %d %s", headers, status, text)
		}
	}
	if status, _, _ := b.request("GET", "/v1/openapi.json", nil, "Authorization:"); status != 200 {
		t.Errorf("the description: %d", status)
	}
}

func TestRefusedCodes(t *testing.T) {
	b := newBench(t)
	q := b.ask("s1", 1, time.Minute)
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"none is set": {code.ErrNone, 403, api.CodeNoCode},
		"too many":    {&code.LockedError{For: time.Minute}, 429, api.CodeLocked},
		"a full disk": {net.ErrClosed, 500, api.CodeUnavailable},
	} {
		b.codes.err = c.err
		status, h, text := b.request("POST", "/v1/approvals/"+q.ID+"/answer", api.Answer{Digest: q.Digest, Approve: true})
		if status != c.status || !strings.Contains(text, `"`+c.code+`"`) || (status == 429) != (h.Get("Retry-After") == "61") {
			t.Errorf("%s: %d %v %s", name, status, h, text)
		}
	}
}

// A client that sends its headers slowly is disconnected, and others are answered meanwhile.
func TestSlowClients(t *testing.T) {
	b := newBench(t)
	var slow []net.Conn
	for range maxConnections / 2 {
		c, err := net.Dial("tcp", strings.TrimPrefix(b.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("GET /v1/approvals HTTP/1.1\r\nHost: ")); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	if status, _, _ := b.request("GET", "/v1/approvals", nil); status != 200 {
		t.Errorf("another client: %d", status)
	}
	began := time.Now()
	for _, c := range slow {
		if err := c.SetReadDeadline(began.Add(headerWait + 5*time.Minute)); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := c.Read(make([]byte, 512)); err != nil {
				if e, ok := err.(net.Error); ok && e.Timeout() {
					t.Fatal("a slow client is still connected")
				}
				break
			}
		}
	}
}

func TestHugeHeader(t *testing.T) {
	b := newBench(t)
	r, err := http.NewRequest("GET", b.base+"/v1/approvals", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X", strings.Repeat("x", 64<<10))
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%d", answer.StatusCode)
		}
	}
}
