package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

const rightCode = "K7QM-2XRT-9BWD"

// fakeCodes accepts one code.
type fakeCodes struct {
	err    error
	store  code.Store
	secret string // the code that it stands for
}

func (f *fakeCodes) UnlockFor(ctx context.Context, given string) (*code.Key, error) {
	switch {
	case f.err != nil:
		return nil, f.err
	case given != rightCode:
		return nil, code.ErrWrong
	}
	return f.store.Unlock(ctx, f.secret)
}

// bench is a server on a real port, and the log that it reads.
type bench struct {
	t      *testing.T
	server *Server
	codes  *fakeCodes
	base   string
	end    func()
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return benchAt(t, t.TempDir(), nil)
}

// benchAt begins with a new code, which that of the bench before it signs.
func benchAt(t *testing.T, home string, before *fakeCodes) *bench {
	t.Helper()
	token, err := Token(home)
	if err != nil {
		t.Fatal(err)
	}
	codes := &fakeCodes{store: code.Store{Log: &audit.Store{Dir: home}, Cheap: true}}
	var old *code.Key
	if before != nil {
		if old, err = before.UnlockFor(t.Context(), rightCode); err != nil {
			t.Fatal(err)
		}
	}
	if codes.secret, err = codes.store.Set(t.Context(), "kim", old); err != nil {
		t.Fatal(err)
	}
	s := &Server{Queue: queue.Queue{Log: &audit.Store{Dir: home}}, Token: token, Codes: codes, By: "kim", Events: NewHub(),
		Mask: func(text string) (string, error) { return strings.ReplaceAll(text, "hunter2", "[masked]"), nil },
		Review: func(_ context.Context, doc []byte) (*api.Review, error) {
			if !json.Valid(doc) {
				return nil, errors.New("not a JSON document")
			}
			return &api.Review{ID: "1", Decision: engine.Allow, Enforced: engine.Allow, Rules: []string{}}, nil
		}}
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	b := &bench{t, s, codes, "http://" + l.Addr().String(), func() { end(); <-ended }}
	t.Cleanup(end)
	return b
}

func digestOf(i int) string { return fmt.Sprintf("%08x", i+1) + strings.Repeat("0", 56) }

// ask records a question in a session and writes its request.
func (b *bench) ask(session string, i int, wait time.Duration) approval.Request {
	b.t.Helper()
	now := time.Now().UnixMilli()
	key := engine.SessionKey{Harness: "claude-code", Session: session}
	r := &engine.Record{Kind: engine.KindPre, T: now, Agent: engine.MainAgent, Call: fmt.Sprint("call-", i), Phase: engine.PhasePre,
		Event:    &engine.EventFacts{Name: "PreToolUse", Tool: "Bash", CWD: "/srv/shop"},
		Decision: &engine.Decision{Decision: engine.Ask, Enforced: engine.Ask, Reason: "Asks"},
		Answer: &engine.AnswerFacts{Effect: engine.Ask, Mode: engine.ModeEnforced,
			Pending: &engine.Pending{Digest: digestOf(i), Until: now + wait.Milliseconds()}}}
	err := b.server.Queue.Log.Update(context.Background(), key, func(t history.Tail) error {
		if t.History.Empty() {
			if err := t.Append(&engine.Record{Kind: engine.KindOpen, T: now, Open: &engine.Open{Workspace: "/srv/shop", Env: &engine.Env{}}}); err != nil {
				return err
			}
		}
		return t.Append(r)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	q := approval.Request{ID: r.ID(), Digest: digestOf(i), Session: session, Harness: "claude-code", Agent: engine.MainAgent, Workspace: "/srv/shop",
		Asked: now, Until: r.Answer.Pending.Until, Tool: "Bash", Action: fmt.Sprint("make deploy-", i)}
	if _, err := b.server.Queue.Put(q); err != nil {
		b.t.Fatal(err)
	}
	return q
}

// stop stops a session, as a person does.
func (b *bench) stop(session string) {
	b.t.Helper()
	key := engine.SessionKey{Harness: "claude-code", Session: session}
	if err := b.server.Queue.Log.Control(context.Background(), key, engine.Control{Do: engine.ControlStop, Reason: "enough", By: "kim"}, nil); err != nil {
		b.t.Fatal(err)
	}
}

// request sends a request with token, code and content type, unless headers replace
// them. A header "Name:" removes one.
func (b *bench) request(method, path string, doc any, headers ...string) (int, http.Header, string) {
	b.t.Helper()
	var text []byte
	switch d := doc.(type) {
	case nil:
	case string:
		text = []byte(d)
	default:
		var err error
		if text, err = json.Marshal(doc); err != nil {
			b.t.Fatal(err)
		}
	}
	r, err := http.NewRequest(method, b.base+path, bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.server.Token)
	r.Header.Set(api.CodeHeader, rightCode)
	if doc != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		if value = strings.TrimSpace(value); name == "Host" {
			r.Host = value
		} else if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(got)
}

func (b *bench) answer(q approval.Request, a api.Answer) (int, string) {
	status, _, text := b.request(http.MethodPost, "/v1/approvals/"+q.ID+"/answer", a)
	return status, text
}

// newPost approves a call; the connection may break.
func newPost(b *bench, q approval.Request) (int, error) {
	doc := fmt.Sprintf(`{"digest":%q,"approve":true}`, q.Digest)
	r, err := http.NewRequest(http.MethodPost, b.base+"/v1/approvals/"+q.ID+"/answer", strings.NewReader(doc))
	if err != nil {
		return 0, err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + b.server.Token}, api.CodeHeader: {rightCode}, "Content-Type": {"application/json"}}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
