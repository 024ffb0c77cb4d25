package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

const (
	botToken = "123456:not-a-real-token-of-a-bot"
	apiToken = "not-a-real-token-of-an-app"
)

// service is a server on loopback that speaks the documented API of a kind of channel.
type service struct {
	kind   string
	config func(base string) settings.Channel
	serve  func(w http.ResponseWriter, r *http.Request) (seen string, err error) // answers as documented; the text that a person sees
	reads  bool                                                                  // the answer's body matters
}

func services() []service {
	return []service{
		{"webhook", func(base string) settings.Channel {
			return settings.Channel{Kind: "webhook", URL: base + "/secret-path", SecretEnv: "KEY"}
		}, serveWebhook, false},
		{"slack", func(base string) settings.Channel { return settings.Channel{Kind: "slack", URLEnv: "WHERE"} }, serveSlackWebhook, false},
		{"slack with a token", func(base string) settings.Channel {
			return settings.Channel{Kind: "slack", URLEnv: "WHERE", SecretEnv: "TOKEN", To: []string{"C0123456789"}}
		}, serveSlackAPI, true},
		{"ntfy", func(base string) settings.Channel {
			return settings.Channel{Kind: "ntfy", URL: base + "/base/secret-path", SecretEnv: "TOKEN"}
		}, serveNtfy, true},
		{"telegram", func(base string) settings.Channel {
			return settings.Channel{Kind: "telegram", URL: base, SecretEnv: "BOT", To: []string{"-1001234"}}
		}, serveTelegram, true},
		{"sms", func(base string) settings.Channel {
			return settings.Channel{Kind: "sms", URL: base + "/messages/{to}?key={secret}", SecretEnv: "TOKEN", To: []string{"+49 151"}, Method: "PUT",
				Headers: map[string]string{"X-Key": "{secret}"}, Body: `{"text": "{text}", "to": ["{to}"]}`, Expect: `"queued"`}
		}, serveSMS, true},
	}
}

// as decodes a document that has no other keys than the documented ones.
func as(r *http.Request, v any) error {
	if got := r.Header.Get("Content-Type"); r.Method == http.MethodPost && got != "application/json; charset=utf-8" {
		return fmt.Errorf("the type is %q", got)
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func answer(w http.ResponseWriter, code int, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, format, args...)
}

func serveWebhook(w http.ResponseWriter, r *http.Request) (string, error) {
	var e notify.Entry
	if err := as(r, &e); err != nil || r.Header.Get(HeaderSignature) == "" || r.Header.Get(HeaderID) != e.ID {
		return "", fmt.Errorf("%v, headers %v", err, r.Header)
	}
	raw, err := json.Marshal(e)
	return string(raw), err
}

// https://api.slack.com/messaging/webhooks
func serveSlackWebhook(w http.ResponseWriter, r *http.Request) (string, error) {
	var m struct {
		Text  string `json:"text"`
		Links *bool  `json:"unfurl_links"`
		Media *bool  `json:"unfurl_media"`
	}
	err := as(r, &m)
	if err != nil || m.Text == "" || m.Links == nil || *m.Links || m.Media == nil || *m.Media {
		answer(w, 400, "invalid_payload")
		return "", fmt.Errorf("%v, %+v", err, m)
	}
	fmt.Fprint(w, "ok")
	return m.Text, nil
}

// https://api.slack.com/methods/chat.postMessage
func serveSlackAPI(w http.ResponseWriter, r *http.Request) (string, error) {
	var m struct {
		Channel string `json:"channel"`
		Text    string `json:"text"`
		Links   bool   `json:"unfurl_links"`
		Media   bool   `json:"unfurl_media"`
	}
	err := as(r, &m)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+apiToken:
		answer(w, 200, `{"ok":false,"error":"invalid_auth"}`)
		return "", fmt.Errorf("the token is %q", r.Header.Get("Authorization"))
	case err != nil || m.Channel != "C0123456789" || m.Text == "" || len(m.Text) > 40_000:
		answer(w, 200, `{"ok":false,"error":"channel_not_found"}`)
		return "", fmt.Errorf("%v, %+v", err, m)
	}
	answer(w, 200, `{"ok":true,"channel":"C0123456789","ts":"1503435956.000247","message":{"text":"x"}}`)
	return m.Text, nil
}

// https://docs.ntfy.sh/publish/#publish-as-json
func serveNtfy(w http.ResponseWriter, r *http.Request) (string, error) {
	var m struct {
		Topic    string `json:"topic"`
		Title    string `json:"title"`
		Message  string `json:"message"`
		Priority int    `json:"priority"`
	}
	err := as(r, &m)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+apiToken:
		answer(w, 403, `{"code":40301,"http":403,"error":"forbidden"}`)
		return "", fmt.Errorf("the token is %q", r.Header.Get("Authorization"))
	case err != nil || r.URL.Path != "/base/" || m.Topic != "secret-path" || m.Priority < 1 || m.Priority > 5 || len(m.Message) > 4096:
		answer(w, 400, `{"code":40024,"http":400,"error":"invalid request: request body must be valid JSON"}`)
		return "", fmt.Errorf("%v, %s, %+v", err, r.URL, m)
	}
	answer(w, 200, `{"id":"xE73Iyuabi","time":1673542291,"expires":1673585491,"event":"message","topic":%q,"message":"x"}`, m.Topic)
	return m.Title + "\n" + m.Message, nil
}

// https://core.telegram.org/bots/api#sendmessage
func serveTelegram(w http.ResponseWriter, r *http.Request) (string, error) {
	var m struct {
		Chat     string `json:"chat_id"`
		Text     string `json:"text"`
		Entities []struct {
			Type   string `json:"type"`
			Offset int    `json:"offset"`
			Length int    `json:"length"`
		} `json:"entities"`
		Preview struct {
			Off bool `json:"is_disabled"`
		} `json:"link_preview_options"`
	}
	err := as(r, &m)
	size := len(utf16.Encode([]rune(m.Text)))
	switch {
	case r.URL.Path != "/bot"+botToken+"/sendMessage":
		answer(w, 404, `{"ok":false,"error_code":404,"description":"Not Found"}`)
		return "", fmt.Errorf("the path is %s", r.URL.Path)
	case err != nil || m.Chat != "-1001234" || !m.Preview.Off || len(m.Entities) != 1 || m.Entities[0].Offset != 0 || m.Entities[0].Length != size:
		answer(w, 400, `{"ok":false,"error_code":400,"description":"Bad Request"}`)
		return "", fmt.Errorf("%v, %+v", err, m)
	case size == 0 || size > 4096:
		answer(w, 400, `{"ok":false,"error_code":400,"description":"Bad Request: message is too long"}`)
		return "", fmt.Errorf("%d units", size)
	}
	answer(w, 200, `{"ok":true,"result":{"message_id":7,"date":1673542291,"chat":{"id":-1001234}}}`)
	return m.Text, nil
}

func serveSMS(w http.ResponseWriter, r *http.Request) (string, error) {
	var m struct {
		Text string   `json:"text"`
		To   []string `json:"to"`
	}
	err := as(r, &m)
	if err != nil || r.Method != "PUT" || r.URL.Path != "/messages/+49 151" || r.URL.Query().Get("key") != apiToken || r.Header.Get("X-Key") != apiToken ||
		len(m.To) != 1 || m.To[0] != "+49 151" || len([]rune(m.Text)) > 459 {
		answer(w, 400, `{"status":"failed"}`)
		return "", fmt.Errorf("%v, %s %s, %+v", err, r.Method, r.URL, m)
	}
	answer(w, 202, `{"id":"1","status":"queued"}`)
	return m.Text, nil
}

// try sends an entry to a server within a time.
func try(t *testing.T, s service, h http.Handler, e notify.Entry, limit time.Duration) error {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	defer server.CloseClientConnections()
	c := s.config(server.URL)
	c.Name = "c"
	from := sources(t, map[string]string{"WHERE": server.URL + "/secret-path", "TOKEN": apiToken, "BOT": botToken, "KEY": "a key of at least 16 letters"})
	err := notify.Send(context.Background(), New([]settings.Channel{c}, from)[0], e, limit)
	if err != nil {
		for _, secret := range []string{"secret-path", botToken, apiToken} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error has a secret: %v", s.kind, err)
			}
		}
	}
	return err
}

// receive sends an entry to a server that answers as documented, and returns what a person sees.
func receive(t *testing.T, s service, e notify.Entry) string {
	t.Helper()
	var seen string
	var wrong error
	err := try(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen, wrong = s.serve(w, r) }), e, 5*time.Second)
	if err := errors.Join(err, wrong); err != nil {
		t.Errorf("%s: %v", s.kind, err)
	}
	return seen
}

// How each kind takes answers that any server can give.
func TestAnswersOfServices(t *testing.T) {
	forever := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprint(w, strings.Repeat("x", 4096))
		}
	}
	for _, tt := range []struct {
		name  string
		serve http.HandlerFunc
		want  string // permanent, again, later 7s, ok
		reads string // the same for kinds for which the answer's body matters; empty: the same
	}{
		{"400", code(400, ""), "permanent", ""},
		{"401", code(401, ""), "permanent", ""},
		{"403", code(403, ""), "permanent", ""},
		{"404", code(404, ""), "permanent", ""},
		{"410", code(410, ""), "permanent", ""},
		{"413", code(413, ""), "permanent", ""},
		{"408", code(408, ""), "again", ""},
		{"500", code(500, ""), "again", ""},
		{"502 with a page", code(502, "<html>bad gateway</html>"), "again", ""},
		{"503", code(503, "", "Retry-After", "7"), "later 7s", ""},
		{"429", code(429, "", "Retry-After", "7"), "later 7s", ""},
		{"429 for years", code(429, "", "Retry-After", "99999999999"), "later 24h0m0s", ""},
		{"429 without a time", code(429, ""), "again", ""},
		{"429 with another time", code(429, "", "Retry-After", "soon"), "again", ""},
		{"429 with a time in the past", code(429, "", "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"), "again", ""},
		{"a negative time", code(429, "", "Retry-After", "-7"), "again", ""},
		{"a redirect to itself", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		}, "permanent", ""},
		{"a page", code(200, "<html>log in first</html>"), "ok", "again"},
		{"nothing", code(200, ""), "ok", "again"},
		{"null", code(200, "null"), "ok", "again"},
		{"a list", code(200, "[]"), "ok", "again"},
		{"an endless body", forever, "ok", "again"},
		{"no answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "again", ""},
		{"half an answer", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "ok", "again"},
		{"a closed connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "again", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if hangs := tt.name == "no answer" || tt.name == "half an answer" || tt.name == "an endless body"; hangs {
				limit = time.Second
			}
			for _, s := range services() {
				var calls atomic.Int32
				err := try(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls.Add(1)
					io.Copy(io.Discard, r.Body) // only then does the server see that the client is gone
					tt.serve(w, r)
				}), request(), limit)
				want := tt.want
				if s.reads && tt.reads != "" {
					want = tt.reads
				}
				if got := kindOf(err); got != want || calls.Load() != 1 {
					t.Errorf("%s: %s (%v) after %d calls, want %s", s.kind, got, err, calls.Load(), want)
				}
			}
		})
	}
}

func code(n int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(n)
		fmt.Fprint(w, body)
	}
}

// kindOf says what follows from an error.
func kindOf(err error) string {
	var permanent *notify.Permanent
	var later *notify.Later
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &permanent):
		return "permanent"
	case errors.As(err, &later):
		return "later " + later.Wait.String()
	}
	return "again"
}

// What services answer besides what all do.
func TestOwnAnswersOfServices(t *testing.T) {
	for _, tt := range []struct {
		kind string
		code int
		body string
		want string
	}{
		{"slack", 403, "action_prohibited", "permanent"},
		{"slack", 410, "channel_is_archived", "permanent"},
		{"slack", 500, "rollup_error", "again"},
		{"slack with a token", 200, `{"ok":false,"error":"channel_not_found"}`, "permanent"},
		{"slack with a token", 200, `{"ok":false,"error":"token_revoked"}`, "permanent"},
		{"slack with a token", 200, `{"ok":false,"error":"ratelimited"}`, "again"},
		{"slack with a token", 200, `{"ok":false,"error":"internal_error"}`, "again"},
		{"slack with a token", 200, `{"ok":true,"warning":"x","ts":"1"}`, "ok"},
		{"ntfy", 429, `{"code":42901,"http":429,"error":"limit reached: too many requests"}`, "again"},
		{"ntfy", 507, `{"code":50701,"http":507,"error":"cannot publish to UnifiedPush topic"}`, "again"},
		{"ntfy", 200, `{"id":"x","event":"keepalive"}`, "again"},
		{"telegram", 429, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 9","parameters":{"retry_after":9}}`, "later 9s"},
		{"telegram", 403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`, "permanent"},
		{"telegram", 200, `{"ok":false,"description":"x"}`, "again"},
		{"sms", 200, `{"status":"rejected"}`, "again"},
		{"sms", 201, `{"status":"queued"}`, "ok"},
	} {
		for _, s := range services() {
			if s.kind != tt.kind {
				continue
			}
			if err := try(t, s, code(tt.code, tt.body), request(), 5*time.Second); kindOf(err) != tt.want {
				t.Errorf("%s, %s: %s (%v), want %s", tt.kind, tt.body, kindOf(err), err, tt.want)
			}
		}
	}
}

// request is the entry about a request that has all fields; texts that mean something to a service do
// not to the person who reads them.
func request() notify.Entry {
	return notify.Ask(notify.Request{ID: "r-17", Action: nasty, Effects: []string{"deletes build/ " + nasty}, Reasons: []string{"a reason " + nasty},
		Level: "high", Undo: "cannot be undone", Deadline: "2026-11-24T12:03:00Z", Notes: []string{"a note"}},
		time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), "claude-code", "shop-1", "/home/ann/shop")
}

const nasty = "echo \"<!channel>\" `x` ```x``` *b* _i_ [l](http://127.0.0.1:9/x) <a href='y'>&amp; {secret} {to} \\ %0d%0aBcc: b@example.com\r\nX: y @all /start 😀"

// A person can decide with what each service shows, and text of the agent is never markup, a placeholder
// or another request.
func TestServicesShowRequests(t *testing.T) {
	for _, s := range services() {
		seen := receive(t, s, request())
		for _, part := range []string{"r-17", "2026-11-24T12:03:00Z", "reviewer approvals show r-17", "shop", "{secret} {to}"} {
			if s.kind == "webhook" {
				part = strings.ReplaceAll(part, `\`, `\\`)
			}
			if !strings.Contains(seen, part) {
				t.Errorf("%s does not show %q: %s", s.kind, part, seen)
			}
		}
		if strings.Contains(seen, apiToken) || strings.Contains(seen, "http://127.0.0.1:9/x?") || strings.Contains(seen, "/home/ann") {
			t.Errorf("%s shows too much: %s", s.kind, seen)
		}
		if strings.HasPrefix(s.kind, "slack") && (strings.Contains(seen, "<") || strings.Count(seen, "```") != 2) {
			t.Errorf("%s has markup: %s", s.kind, seen)
		}
	}
}

// Messages about many or long requests are within the limits of each service, which its server checks.
func TestLargeMessages(t *testing.T) {
	long := request()
	for n := range 4 {
		text := strings.Repeat([]string{"x", "日本", "😀", "<&>"}[n], 4000)
		long.Approval.Action, long.Approval.Effects = text, []string{text, text}
		for _, s := range services() {
			if seen := receive(t, s, long); !strings.Contains(seen, "reviewer approvals show r-17") || !strings.Contains(seen, "2026-11-24T12:03:00Z") {
				t.Errorf("%s lost what to do: %.200s…", s.kind, seen)
			}
		}
	}
	digest := notify.Entry{ID: "digest-1", Kind: notify.KindDigest, Title: "reviewer: 500 actions wait for approval", Next: "reviewer approvals list",
		Digest: &notify.Digest{More: 480}}
	for n := range 20 {
		digest.Digest.Requests = append(digest.Digest.Requests, notify.Request{ID: fmt.Sprint("r-", n), Action: strings.Repeat("日", 120), Deadline: "2026-11-24T12:03:00Z"})
	}
	for _, s := range services() {
		if seen := receive(t, s, digest); !strings.Contains(seen, "500 actions") && s.kind != "webhook" || !strings.Contains(seen, "reviewer approvals list") {
			t.Errorf("%s: %.300s", s.kind, seen)
		}
	}
}

// Values are escaped where they are put; a template that could not be filled in safely is refused.
func TestSMSTemplates(t *testing.T) {
	var got *http.Request
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		b := make([]byte, 8192)
		n, _ := r.Body.Read(b)
		body = string(b[:n])
	}))
	defer server.Close()
	e := entry()
	e.Title, e.Next = `a"b&c=d<e> ü+{to}`, "x"
	const said = `a"b&c=d<e> ü+{to}; x`
	for name, tt := range map[string]struct {
		c    settings.Channel
		want string
		in   func() string
	}{
		"a form":      {settings.Channel{URL: "/send", Body: "to={to}&text={text}&key={secret}"}, said, func() string { v, _ := url.ParseQuery(body); return v.Get("text") }},
		"an address":  {settings.Channel{URL: "/send?to={to}&text={text}", Method: "GET"}, said, func() string { return got.URL.Query().Get("text") }},
		"a path":      {settings.Channel{URL: "/send/{text}", Method: "GET"}, "/send/" + said, func() string { return got.URL.Path }},
		"JSON":        {settings.Channel{URL: "/send", Body: `{"t": "{text}"}`}, said, func() string { var m map[string]string; json.Unmarshal([]byte(body), &m); return m["t"] }},
		"XML":         {settings.Channel{URL: "/send", Body: "<t>{text}</t>", Headers: map[string]string{"content-type": "text/xml"}}, "<t>a&quot;b&amp;c=d&lt;e&gt; ü+{to}; x</t>", func() string { return body }},
		"plain":       {settings.Channel{URL: "/send", Body: "{text}", Headers: map[string]string{"Content-Type": "text/plain"}}, said, func() string { return body }},
		"shorter":     {settings.Channel{URL: "/send", Body: "{text}", Length: 10, Headers: map[string]string{"Content-Type": "text/plain"}}, `a"b&c=d<e…`, func() string { return body }},
		"Basic":       {settings.Channel{URL: "/send", Body: "text={text}", User: "u"}, "Basic dTpub3QtYS1yZWFsLXRva2VuLW9mLWFuLWFwcA==", func() string { return got.Header.Get("Authorization") }},
		"no dot-dots": {settings.Channel{URL: "/a/{to}/{text}", Method: "GET", To: []string{"../../x"}}, "/a/..%2F..%2Fx/", func() string { return got.RequestURI[:len("/a/..%2F..%2Fx/")] }},
	} {
		tt.c.Kind, tt.c.URL, tt.c.SecretEnv = "sms", server.URL+tt.c.URL, "TOKEN"
		if tt.c.To == nil {
			tt.c.To = []string{"+49151"}
		}
		c := New([]settings.Channel{tt.c}, sources(t, map[string]string{"TOKEN": apiToken}))[0]
		if err := c.Send(t.Context(), e); err != nil || tt.in() != tt.want {
			t.Errorf("%s: %v, %q, want %q", name, err, tt.in(), tt.want)
		}
	}
}

// The errors say what to do.
func TestServicesThatCannotBeUsed(t *testing.T) {
	one := []string{"x"}
	for name, tt := range map[string]struct {
		c    settings.Channel
		want string
	}{
		"ntfy without a topic":     {settings.Channel{Kind: "ntfy", URL: "https://ntfy.example.com/"}, "must be that of a topic"},
		"ntfy with another topic":  {settings.Channel{Kind: "ntfy", URL: "https://ntfy.example.com/a b"}, "must be that of a topic"},
		"ntfy over HTTP":           {settings.Channel{Kind: "ntfy", URL: "http://ntfy.example.com/key"}, "must begin with https://"},
		"telegram without a token": {settings.Channel{Kind: "telegram", To: one}, "give it in secret_file or secret_env"},
		"a token with a path":      {settings.Channel{Kind: "telegram", To: one, SecretEnv: "PATH_IN_TOKEN"}, "not the token of a Telegram bot"},
		"telegram without a chat":  {settings.Channel{Kind: "telegram", SecretEnv: "BOT"}, "the id of one chat"},
		"slack without a channel":  {settings.Channel{Kind: "slack", SecretEnv: "TOKEN"}, "the id of one Slack channel"},
		"sms for two":              {settings.Channel{Kind: "sms", URL: "https://example.com", Body: "{text}", To: []string{"1", "2"}}, "give each person a channel"},
		"sms without a text":       {settings.Channel{Kind: "sms", URL: "https://example.com", Body: "{to}", To: one}, "contains {text}"},
		"an unknown placeholder":   {settings.Channel{Kind: "sms", URL: "https://example.com", Body: "{text} {from}", To: one}, "known are {to}, {text}, {id} and {secret}"},
		"a server of the request":  {settings.Channel{Kind: "sms", URL: "https://{to}.example.com/", Body: "{text}", To: one}, "in the host name"},
		"a text in a header":       {settings.Channel{Kind: "sms", URL: "https://example.com", Headers: map[string]string{"T": "{text}"}, To: one}, "put it into the body or the URL"},
		"JSON without quotes":      {settings.Channel{Kind: "sms", URL: "https://example.com", Body: `{"t": {text}}`, To: one}, "write placeholders between quotes"},
		"a header in a number":     {settings.Channel{Kind: "sms", URL: "http://127.0.0.1:9", Body: "{text}", Headers: map[string]string{"T": "{to}"}, To: []string{"1\r\nX: y"}}, "invalid header"},
	} {
		err := send(t, tt.c, sources(t, map[string]string{"BOT": botToken, "TOKEN": apiToken, "PATH_IN_TOKEN": "1:a/../../x"}))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "/key") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing but the addresses of the settings is called: no service of a kind has a link that decides.
func TestNoLinks(t *testing.T) {
	e := request()
	e.Approval.Action = "ls"
	e.Approval.Effects, e.Approval.Reasons = nil, nil
	for _, s := range services() {
		if seen := receive(t, s, e); regexp.MustCompile(`https?:`).MatchString(seen) {
			t.Errorf("%s has a link: %s", s.kind, seen)
		}
	}
}
