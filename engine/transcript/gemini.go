package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// geminiRecord is a message of a session of Gemini CLI, or in a session with one
// record per line, a record about the session itself.
type geminiRecord struct {
	Session   string          `json:"sessionId"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"` // user, gemini, info, error, warning
	Content   json.RawMessage `json:"content"`
	Calls     []geminiCall    `json:"toolCalls"`
	Set       struct {
		Session string `json:"sessionId"`
	} `json:"$set"`
}

// geminiCall is a call with its result so far.
type geminiCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Status    string          `json:"status"` // success, error, cancelled; any other is pending
	Result    json.RawMessage `json:"result"`
	Timestamp string          `json:"timestamp"`
	Agent     string          `json:"agentId"`
}

// isGeminiSession reports whether a file begins as a session of Gemini CLI
// does.
func isGeminiSession(head []byte) bool {
	keys := topLevel(head)
	_, project := keys["projectHash"]
	return keys["sessionId"] != "" && project
}

// readGeminiSession reads a session of Gemini CLI: one document with a list of
// messages, or as newer clients write it, one record per line. A message that
// is written again replaces the first and has more calls; messages that a
// person rewound did happen. The working directory is not in it.
func readGeminiSession(r io.Reader) (Transcript, error) {
	s := newScribe(Gemini)
	in := bufio.NewReaderSize(r, 64<<10)
	var err error
	if line, many := firstLine(in); many && json.Valid(line) {
		err = eachLine(in, maxTranscriptLine, func(n int, line []byte) {
			s.at = n
			s.geminiRecord(line)
		})
	} else {
		err = s.geminiDocument(newDocReader(in))
	}
	return s.close(), err
}

// firstLine reads the first line; many reports whether another follows.
func firstLine(in *bufio.Reader) (line []byte, many bool) {
	head, _ := in.Peek(in.Size())
	line, rest, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return line, len(bytes.TrimSpace(rest)) > 0
}

func (s *translator) geminiDocument(d *docReader) error {
	err := d.whole(func(key string) error {
		switch key {
		case "sessionId":
			text, err := d.text()
			s.out.Session = cmp.Or(s.out.Session, text)
			return err
		case "messages":
			return d.array(func() error {
				raw, err := d.value()
				if err == nil {
					s.at++
					s.geminiRecord(raw)
				}
				return err
			})
		}
		return d.skip()
	})
	return d.end("session of Gemini CLI", "message", s.at, err)
}

func (s *translator) geminiRecord(raw []byte) {
	s.out.Lines++
	var r geminiRecord
	if !s.decode(raw, &r) {
		return
	}
	s.out.Session = cmp.Or(s.out.Session, r.Session, r.Set.Session)
	s.clock(r.Timestamp)
	if r.Type == "user" {
		s.prompt(contentText(r.Content))
	}
	for _, c := range r.Calls {
		s.geminiCall(c)
	}
	for _, c := range r.Calls {
		s.geminiResult(c)
	}
}

func (s *translator) geminiCall(c geminiCall) {
	if c.Name == "" {
		s.bad(errors.New("call without a name"))
		return
	}
	s.agent = c.Agent
	s.call(c.ID, geminiTool(c.Name), c.Args)
	s.agent = ""
}

// geminiTool gives a tool of a server its name in Claude Code's notation. The end of
// the server's name is not marked; the first word is assumed.
func geminiTool(name string) string {
	rest, remote := strings.CutPrefix(name, "mcp_")
	if server, tool, ok := strings.Cut(rest, "_"); remote && ok && server != "" {
		return "mcp__" + server + "__" + strings.TrimPrefix(tool, "_")
	}
	return name
}

// geminiResult records the result of a call.
func (s *translator) geminiResult(c geminiCall) {
	output, failure := geminiOutput(c.Result)
	r := ended(output, "")
	switch c.Status {
	case "success":
		if code := geminiExit(output); code != "0" && c.Name == "run_shell_command" {
			r = ended("", exitCode(code, output))
		}
	case "error", "cancelled":
		r = ended("", cmp.Or(failure, output, c.Status))
		r.Refused = isGeminiRefusal(r.Error)
		r.Interrupted = c.Status == "cancelled" && !r.Refused
	default:
		return
	}
	before := s.now
	if s.clock(c.Timestamp); s.now < before {
		s.now = before
	}
	if c.ID != "" && s.result(c.ID, r) == nil && strings.Contains(r.Error, "not found in registry") {
		s.unasked(c.ID)
	}
	s.now = before
}

// isGeminiRefusal recognises, by the client's own words, a call that did not
// run.
func isGeminiRefusal(text string) bool {
	for _, words := range []string{"User did not allow", "did not allow tool call", "denied by policy", "Tool execution blocked",
		"Tool execution denied", "User denied"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// geminiOutput is the text of a result: a list of responses, each with an output
// or an error, or in old files anything else.
func geminiOutput(raw json.RawMessage) (output, failure string) {
	var parts []struct {
		Function struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	if json.Unmarshal(orNull(raw), &parts) != nil || len(parts) == 0 {
		return contentText(raw), ""
	}
	var outputs, failures []string
	for _, p := range parts {
		r := p.Function.Response
		outputs, failures = append(outputs, r.Output), append(failures, r.Error)
	}
	output, failure = strings.TrimSpace(strings.Join(outputs, "\n")), strings.TrimSpace(strings.Join(failures, "\n"))
	if output == "" && failure == "" {
		return string(raw), ""
	}
	return output, failure
}

// spokenInGemini: a message is written again when its calls have ended.
func spokenInGemini(line []byte) (string, int64, bool) {
	var l struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Tokens struct{ Output, Thoughts int64 }
	}
	ok := json.Unmarshal(line, &l) == nil && l.Type == "gemini"
	return l.ID, sum(l.Tokens.Output, l.Tokens.Thoughts), ok
}
