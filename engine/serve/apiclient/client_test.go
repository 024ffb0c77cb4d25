package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

func serving(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return New(strings.TrimPrefix(s.URL, "http://"), "secret")
}

// The stream goes on after the last event when the connection breaks.
func TestEventsConnectAgain(t *testing.T) {
	var asked []string
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization")+" "+r.Header.Get("Last-Event-ID"))
		fmt.Fprintf(w, ": heartbeat\n\nid: x-%d\nevent: stop\ndata: {\"kind\":\"stop\",\"t\":%[1]d}\n\n", len(asked))
	})
	ctx, end := context.WithTimeout(t.Context(), 20*time.Second)
	defer end()
	var got []int64
	for e, err := range c.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e.T); len(got) == 2 {
			break
		}
	}
	if fmt.Sprint(got) != "[1 2]" || fmt.Sprint(asked) != "[Bearer secret  Bearer secret x-1]" {
		t.Errorf("%v, %q", got, asked)
	}
}

func TestErrors(t *testing.T) {
	refused := new(RefusedError)
	c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"code":"stale","error":"no","do":"look again"}`)
	})
	if _, err := c.Questions(t.Context()); !errors.As(err, &refused) || refused.Status != 409 || refused.Why.Code != api.CodeStale {
		t.Errorf("%v", err)
	}
	for _, err := range c.Events(t.Context()) {
		if !errors.As(err, &refused) {
			t.Errorf("%v", err)
		}
	}
	c = serving(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "nginx", http.StatusBadGateway) })
	if _, err := c.Questions(t.Context()); err == nil || errors.As(err, new(*RefusedError)) {
		t.Errorf("another program: %v", err)
	}
	c = serving(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://evil.example/", http.StatusFound)
	})
	if _, err := c.Questions(t.Context()); err == nil {
		t.Error("a redirection was followed")
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := c.Sessions(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
