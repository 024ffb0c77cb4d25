package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
)

// piLine is a line of a session of Pi.
type piLine struct {
	Type      string `json:"type"` // session, message; others are not about calls
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	CWD       string `json:"cwd"`
	Message   struct {
		Role    string          `json:"role"` // user, assistant, toolResult, bashExecution (a person's command)
		Content json.RawMessage `json:"content"`
		Call    string          `json:"toolCallId"`
		Failed  bool            `json:"isError"`
	} `json:"message"`
}

type piBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// isPiSession reports whether a file begins as a session of Pi does.
func isPiSession(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	keys := topLevel(line)
	return keys["type"] == "session" && keys["id"] != "" && keys["timestamp"] != "" && keys["cwd"] != ""
}

// readPiSession reads the JSON Lines that Pi keeps of a session. Commands that a
// person runs are not calls.
func readPiSession(r io.Reader) (Transcript, error) {
	s := newScribe(Pi)
	err := eachLine(r, maxTranscriptLine, s.piLine)
	return s.close(), err
}

func (s *translator) piLine(n int, line []byte) {
	s.at = n
	s.out.Lines++
	var l piLine
	if !s.decode(line, &l) {
		return
	}
	s.clock(l.Timestamp)
	switch l.Type + " " + l.Message.Role {
	case "session ":
		s.out.Session, s.cwd = cmp.Or(s.out.Session, l.ID), cmp.Or(l.CWD, s.cwd)
	case "message user":
		s.prompt(contentText(l.Message.Content))
	case "message assistant":
		s.piCalls(l.Message.Content)
	case "message toolResult":
		s.piResult(l)
	}
}

func (s *translator) piCalls(content json.RawMessage) {
	var blocks []piBlock
	_ = json.Unmarshal(orNull(content), &blocks) // a string contains no call
	for _, b := range blocks {
		switch {
		case b.Type != "toolCall":
		case b.ID == "" || b.Name == "":
			s.bad(errors.New("call without an id or a name"))
		default:
			s.call(b.ID, b.Name, b.Arguments)
		}
	}
}

func (s *translator) piResult(l piLine) {
	text := contentText(l.Message.Content)
	r := ended(text, "")
	if l.Message.Failed {
		r = ended("", cmp.Or(text, "failed"))
	}
	if err := s.result(l.Message.Call, r); err != nil {
		s.bad(err)
	}
}

// spokenInPi: a message has one line.
func spokenInPi(line []byte) (string, int64, bool) {
	var l struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Message struct {
			Role  string `json:"role"`
			Usage struct {
				Output int64 `json:"output"`
			} `json:"usage"`
		} `json:"message"`
	}
	ok := json.Unmarshal(line, &l) == nil && l.Type == "message" && l.Message.Role == "assistant"
	return l.ID, l.Message.Usage.Output, ok
}
