package e2e

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

// A Model answers the Messages API on loopback from a script, so that the real
// client runs without a model, an account or a network. It keeps every request:
// what the next request says is exactly what a model would have been told.
type Model struct {
	// BeforeStep, if set, is called before the step with that number, from 0,
	// is sent: what it does is done before the client acts on the step. It is
	// set before the client starts.
	BeforeStep func(step int)
	// FirstStep is the number of the first step in the ids of its calls, less
	// one: a session that is resumed with another script must not repeat ids.
	FirstStep int

	script   Script
	server   *http.Server
	url      string
	mu       sync.Mutex
	step     int
	ids      int
	requests []Request
}

// StartModel serves the script on a free port of 127.0.0.1 until Close.
func StartModel(script Script) (*Model, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the scripted model: %w", err)
	}
	m := &Model{script: script, url: "http://" + listener.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, map[string]any{}) })
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, map[string]any{"input_tokens": 1})
	})
	m.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go m.server.Serve(listener) //nolint:errcheck // it ends with Close
	return m, nil
}

// URL is the address for ANTHROPIC_BASE_URL.
func (m *Model) URL() string { return m.url }

// Close stops the server; requests under way are cut.
func (m *Model) Close() error { return m.server.Close() }

// Requests are those that offered tools, in the order of arrival.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Request(nil), m.requests...)
}

func (m *Model) messages(w http.ResponseWriter, r *http.Request) {
	var req Request
	body, err := io.ReadAll(r.Body)
	if err == nil {
		req.Raw, err = body, json.Unmarshal(body, &req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := m.answer(req)
	if req.Stream {
		sendStream(w, answer)
		return
	}
	sendJSON(w, answer)
}

// answer takes the next step for a request that offers tools. Others (titles,
// summaries) get a fixed text and use up no step.
func (m *Model) answer(req Request) message {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ids++
	msg := newMessage(m.ids, req.Model)
	if len(req.Tools) == 0 {
		return msg.say("Shop")
	}
	m.requests = append(m.requests, req)
	if m.step >= len(m.script) {
		return msg.say("Done.")
	}
	if m.BeforeStep != nil {
		m.BeforeStep(m.step)
	}
	step := m.script[m.step]
	m.step++
	msg = msg.say(step.Say)
	for i, call := range step.Calls {
		msg = msg.call(CallID(m.FirstStep+m.step, i+1), call)
	}
	return msg
}

// CallID is the id of the k-th call of the n-th step, both from 1.
func CallID(n, k int) string { return fmt.Sprintf("toolu_01%018d%02d", n, k) }

// A message is the API's answer, in the part of the format that the client
// reads.
type message struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Role       string         `json:"role"`
	Model      string         `json:"model"`
	Content    []Block        `json:"content"`
	StopReason string         `json:"stop_reason"`
	Usage      map[string]int `json:"usage"`
}

func newMessage(n int, model string) message {
	return message{
		ID: fmt.Sprintf("msg_01%020d", n), Type: "message", Role: "assistant", Model: model,
		StopReason: "end_turn", Content: []Block{},
		Usage: map[string]int{"input_tokens": 900, "output_tokens": 60},
	}
}

func (m message) say(text string) message {
	if text != "" {
		m.Content = append(m.Content, Block{Type: "text", Text: text})
	}
	return m
}

func (m message) call(id string, c Call) message {
	m.StopReason = "tool_use"
	m.Content = append(m.Content, Block{Type: "tool_use", ID: id, Name: c.Tool, Input: c.Input})
	return m
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client sees a cut answer
}

// sendStream writes the message as the API's server-sent events.
func sendStream(w http.ResponseWriter, msg message) {
	w.Header().Set("Content-Type", "text/event-stream")
	content, stop := msg.Content, msg.StopReason
	msg.Content, msg.StopReason = []Block{}, ""
	sendEvent(w, "message_start", map[string]any{"message": msg})
	for i, block := range content {
		sendBlock(w, i, block)
	}
	sendEvent(w, "message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": msg.Usage["output_tokens"]},
	})
	sendEvent(w, "message_stop", map[string]any{})
}

func sendBlock(w http.ResponseWriter, index int, b Block) {
	start := map[string]any{"type": "text", "text": ""}
	delta := map[string]any{"type": "text_delta", "text": b.Text}
	if b.Type == "tool_use" {
		start = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(b.Input)}
	}
	sendEvent(w, "content_block_start", map[string]any{"index": index, "content_block": start})
	sendEvent(w, "content_block_delta", map[string]any{"index": index, "delta": delta})
	sendEvent(w, "content_block_stop", map[string]any{"index": index})
}

func sendEvent(w http.ResponseWriter, name string, fields map[string]any) {
	fields["type"] = name
	var data strings.Builder
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	enc.Encode(fields) //nolint:errcheck // maps of plain values
	fmt.Fprintf(w, "event: %s\ndata: %s\n", name, data.String())
}
