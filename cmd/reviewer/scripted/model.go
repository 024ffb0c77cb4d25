// Package scripted serves models on loopback that answer from a script instead of thinking, so that
// real coding agents run without an account and without a network.
//
// Out of scope: how an agent is started and told the model's address (cmd/reviewer/live).
package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// ModelName is the name under which the model is offered.
const ModelName = "scripted-1"

// A Model answers OpenAI's Responses and Chat Completions, Anthropic's Messages and
// Gemini's requests on loopback, from one script. It keeps each request: what is in the
// next one is what a model would have been told.
type Model struct {
	// BeforeStep, if set, is called before the step with that number, from 0, is sent: what it does
	// is done before the agent acts on the step. It is set before the agent starts.
	BeforeStep func(step int)

	// CallID, if set, returns the id of the k-th call of the n-th step, both from 1.
	CallID func(n, k int) string

	script   Script
	server   *http.Server
	url      string
	mu       sync.Mutex
	step     int
	answers  int
	requests []Request
}

// A Request is one that offered tools.
type Request struct {
	Path string
	Body json.RawMessage
}

// Start serves the script on a free port of 127.0.0.1 until Close.
func Start(script Script) (*Model, error) {
	for n, step := range script {
		for _, call := range step.Calls {
			if _, err := json.Marshal(call.Input); err != nil {
				return nil, fmt.Errorf("step %d of the scripted model: %w", n+1, err)
			}
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the scripted model: %w", err)
	}
	m := &Model{script: script, url: "http://" + listener.Addr().String()}
	m.server = &http.Server{Handler: http.HandlerFunc(m.serve), ReadHeaderTimeout: time.Minute}
	go m.server.Serve(listener) //nolint:errcheck // it ends with Close
	return m, nil
}

// URL is the server's address, without a path.
func (m *Model) URL() string { return m.url }

// Close stops the server.
func (m *Model) Close() error { return m.server.Close() }

// Requests returns those that offered tools, in the order of arrival.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Request(nil), m.requests...)
}

// An offer is the part of a request that decides how it is answered, in any protocol.
type offer struct {
	Model  string            `json:"model"`
	Stream bool              `json:"stream"`
	Tools  []json.RawMessage `json:"tools"`
	Input  json.RawMessage   `json:"input"`
	Config struct {
		MIME string `json:"responseMimeType"`
	} `json:"generationConfig"`
}

// tools reports whether tools are offered: newer models of OpenAI get them as an item of
// the input.
func (o offer) tools() bool {
	return len(o.Tools) > 0 || strings.Contains(string(o.Input), `"additional_tools"`)
}

// A turn is one answer: the step that it takes, and a number that makes its ids unique.
type turn struct {
	offer
	Step
	n  int
	id func(call int) string // nil: of the protocol
}

// call returns the id of the turn's call of a number, from 0.
func (t turn) call(i int) string { return t.callAs("call_%d_%d", i) }

// callAs is call with the form that ids have in a protocol.
func (t turn) callAs(form string, i int) string {
	if t.id != nil {
		return t.id(i)
	}
	return fmt.Sprintf(form, t.n, i)
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, p := range protocols() {
		if strings.HasSuffix(r.URL.Path, p.path) {
			m.answer(w, r.URL.Path, body, p)
			return
		}
	}
	sendJSON(w, otherAnswer(r.URL.Path))
}

// otherAnswer is the answer to anything but a request to the model.
func otherAnswer(path string) map[string]any {
	model := map[string]any{"id": ModelName, "object": "model", "created": 1, "owned_by": "test"}
	switch {
	case strings.HasSuffix(path, "/models"):
		return map[string]any{"object": "list", "data": []any{model}, "models": []any{}}
	case strings.Contains(path, "/models/") && !strings.Contains(path, ":"):
		return model
	}
	return map[string]any{"totalTokens": 10, "input_tokens": 10}
}

// A protocol encodes turns: as one document, or as server-sent events.
type protocol struct {
	path   string             // the end of the path of its requests
	plain  func(turn) any     // nil: it always streams
	stream func(turn) []event // nil: it never does
}

func protocols() []protocol {
	return []protocol{
		{path: "/responses", plain: plainResponse, stream: streamResponse},
		{path: "/chat/completions", plain: plainChat, stream: streamChat},
		{path: "/messages", plain: plainMessage, stream: streamMessage},
		{path: ":generateContent", plain: plainGemini},
		{path: ":streamGenerateContent", stream: streamGemini},
	}
}

func (m *Model) answer(w http.ResponseWriter, path string, body []byte, p protocol) {
	var o offer
	if err := json.Unmarshal(body, &o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	t := m.next(o, Request{Path: path, Body: body})
	if p.plain == nil || o.Stream && p.stream != nil {
		sendEvents(w, p.stream(t))
		return
	}
	sendJSON(w, p.plain(t))
}

// next takes the next step for a request that offers tools. Others, such as those for
// titles, get a fixed text and use up no step.
func (m *Model) next(o offer, r Request) turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers++
	t := turn{offer: o, Step: Step{Say: "Shop"}, n: m.answers}
	if !o.tools() {
		return t
	}
	m.requests = append(m.requests, r)
	if m.BeforeStep != nil {
		m.BeforeStep(m.step)
	}
	t.Step = Step{Say: "Done."}
	if m.step < len(m.script) {
		t.Step = m.script[m.step]
	}
	m.step++
	if step := m.step; m.CallID != nil {
		t.id = func(call int) string { return m.CallID(step, call+1) }
	}
	return t
}

// An event is one server-sent event; some protocols do not name theirs.
type event struct {
	name string
	data any // encoded as JSON, unless it is a string
}

func sendEvents(w http.ResponseWriter, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Connection", "close") // some clients wait for the end of the connection
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		text, is := e.data.(string)
		if !is {
			raw, err := json.Marshal(e.data)
			if err != nil {
				return // the agent sees a cut answer
			}
			text = string(raw)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client sees a cut answer
}
