package e2e

import (
	"encoding/json"
	"strings"
)

// A Request is one call of the Messages API as the client sent it, in the part
// that tests look at.
type Request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []Message         `json:"messages"`
	Raw      []byte            `json:"-"` // all of it
}

// A Message is one turn of the conversation in a request. Its content is a
// string or a list of blocks on the wire and always a list here.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// A Block is a part of a message; which fields are set depends on Type: text,
// tool_use or tool_result.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

// UnmarshalJSON accepts both forms of content.
func (m *Message) UnmarshalJSON(data []byte) error {
	var raw struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	m.Role = raw.Role
	m.Content = blocks(raw.Content)
	return nil
}

func blocks(data json.RawMessage) []Block {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return []Block{{Type: "text", Text: text}}
	}
	var list []Block
	if json.Unmarshal(data, &list) != nil {
		return nil
	}
	return list
}

// text is everything readable in a block; a tool's result may hold blocks.
func (b Block) text() string {
	if b.Type != "tool_result" {
		return b.Text
	}
	var parts []string
	for _, inner := range blocks(b.Content) {
		parts = append(parts, inner.Text)
	}
	return strings.Join(parts, "\n")
}

// A Result is what the model was told about one tool call.
type Result struct {
	Call    string // the tool_use id
	Text    string
	IsError bool
}

// Results are the tool results of the newest message of a request.
func (r Request) Results() []Result {
	var results []Result
	for _, b := range r.newest() {
		if b.Type == "tool_result" {
			results = append(results, Result{Call: b.ToolUseID, Text: b.text(), IsError: b.IsError})
		}
	}
	return results
}

// Told is all text of the newest message, tool results and reminders included:
// what the model learns with this request and did not know before.
func (r Request) Told() string {
	var parts []string
	for _, b := range r.newest() {
		parts = append(parts, b.text())
	}
	return strings.Join(parts, "\n")
}

// newest are the blocks after the model's own last words.
func (r Request) newest() []Block {
	var list []Block
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			list = nil
			continue
		}
		list = append(list, m.Content...)
	}
	return list
}
