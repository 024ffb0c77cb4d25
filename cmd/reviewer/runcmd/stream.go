package runcmd

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine/run"
)

// stream is what an agent's standard output tells about the conversation.
type stream struct {
	mu       sync.Mutex
	sessions []string
	messages map[string]int64 // tokens by message: each is written several times
	tokens   run.Tokens
	total    int64                      // as the agent itself sums up, which counts if there is more
	answers  map[string]json.RawMessage // of the client to requests, by their ids
	broken   int                        // lines that look like documents and are none
}

// used returns the usage so far.
func (s *stream) used() run.Tokens {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := s.tokens
	for _, n := range s.messages {
		used.Output += n
	}
	used.Output = max(used.Output, s.total)
	return used
}

// names returns the sessions that the stream named.
func (s *stream) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.sessions...)
}

// answered returns the answer of the client to a request.
func (s *stream) answered(id string) (json.RawMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, ok := s.answers[id]
	return raw, ok
}

func (s *stream) session(id string) {
	if id == "" {
		return
	}
	for _, known := range s.sessions {
		if known == id {
			return
		}
	}
	s.sessions = append(s.sessions, id)
}

// read decodes a line into a document; a line that is none is counted.
func (s *stream) read(line []byte, doc any) bool {
	if json.Unmarshal(line, doc) == nil {
		return true
	}
	s.broken++
	return false
}

// claudeLine reads a line of `claude -p --output-format stream-json`.
func claudeLine(s *stream, line []byte) {
	var l struct {
		Type    string  `json:"type"`
		Session string  `json:"session_id"`
		Cost    float64 `json:"total_cost_usd"`
		Message struct {
			ID    string `json:"id"`
			Usage struct {
				Output int64 `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
		Usage struct {
			Output int64 `json:"output_tokens"`
		} `json:"usage"`
		Response json.RawMessage `json:"response"`
	}
	if !s.read(line, &l) {
		return
	}
	s.session(l.Session)
	switch l.Type {
	case "control_response":
		s.answer(l.Response)
	case "assistant":
		s.messages[l.Message.ID] = max(s.messages[l.Message.ID], l.Message.Usage.Output)
	case "result":
		s.tokens.Cost += l.Cost
		s.total += l.Usage.Output
	}
}

// answer keeps the answer to a request of `reviewer run`; others are for whoever started the run.
func (s *stream) answer(raw json.RawMessage) {
	var to struct {
		ID string `json:"request_id"`
	}
	if json.Unmarshal(raw, &to) != nil || !strings.HasPrefix(to.ID, "reviewer-rewind-") {
		return
	}
	if s.answers == nil {
		s.answers = map[string]json.RawMessage{}
	}
	s.answers[to.ID] = raw
}

// codexLine reads a line of `codex exec --json`.
func codexLine(s *stream, line []byte) {
	var l struct {
		Type   string `json:"type"`
		Thread string `json:"thread_id"`
		Usage  struct {
			Output int64 `json:"output_tokens"`
		} `json:"usage"`
	}
	if !s.read(line, &l) {
		return
	}
	s.session(l.Thread)
	if l.Type == "turn.completed" {
		s.total = max(s.total, l.Usage.Output) // of the whole thread
	}
}

// rolloutLine reads a line of a transcript of Codex.
func rolloutLine(s *stream, line []byte) {
	var l struct {
		Payload struct {
			Type string `json:"type"`
			Info struct {
				Total struct {
					Output int64 `json:"output_tokens"`
				} `json:"total_token_usage"`
			} `json:"info"`
		} `json:"payload"`
	}
	if s.read(line, &l) && l.Payload.Type == "token_count" {
		s.total = max(s.total, l.Payload.Info.Total.Output) // of the whole thread
	}
}
