package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
)

// qwenLine is a line of a chat of Qwen Code: contents in the form of Gemini CLI, and
// what the client knows about them.
type qwenLine struct {
	Session    string          `json:"sessionId"`
	Timestamp  string          `json:"timestamp"`
	Type       string          `json:"type"`       // user, assistant, tool_result, system
	Provenance string          `json:"provenance"` // of a message in a person's name: who wrote it
	Agent      string          `json:"agentId"`    // in the file of a sub-agent
	CWD        string          `json:"cwd"`
	Version    string          `json:"version"`
	Message    json.RawMessage `json:"message"`
	Result     qwenResult      `json:"toolCallResult"`
}

// qwenResult contains the client's own facts about a result.
type qwenResult struct {
	Status  string          `json:"status"` // success, error, cancelled
	Display json.RawMessage `json:"resultDisplay"`
	Kind    string          `json:"errorType"`
}

// qwenRefused are the kinds of errors of calls that did not run because somebody refused
// them.
var qwenRefused = []string{"execution_denied", "permission_denied", "policy_violation"}

// isQwenChat reports whether a file begins as a chat of Qwen Code does: lines like those
// of Claude Code, whose messages have parts.
func isQwenChat(head []byte) bool {
	for _, line := range bytes.SplitN(head, []byte("\n"), 5) {
		if isQwenLine(topLevel(line)) {
			return true
		}
	}
	return false
}

// isQwenLine distinguishes a line from one of Claude Code by what only Qwen Code writes
// next to the message: who wrote it, or in a sub-agent's file the agent's name and colour.
func isQwenLine(keys map[string]string) bool {
	_, parent := keys["parentUuid"]
	_, user := keys["userType"]
	_, name := keys["agentName"]
	sub := name && keys["agentId"] != "" && !user
	return parent && keys["uuid"] != "" && keys["sessionId"] != "" && keys["cwd"] != "" && (keys["provenance"] != "" || sub)
}

// readQwenChat reads the JSON Lines that Qwen Code keeps of a session.
func readQwenChat(r io.Reader) (Transcript, error) {
	c := contentsReader{translator: newScribe(Qwen)}
	err := eachLine(r, maxTranscriptLine, c.qwenLine)
	return c.close(), err
}

func (c *contentsReader) qwenLine(n int, line []byte) {
	c.at = n
	c.out.Lines++
	var l qwenLine
	if !c.decode(line, &l) {
		return
	}
	c.out.Session, c.out.Version = cmp.Or(c.out.Session, l.Session), cmp.Or(c.out.Version, l.Version)
	c.cwd = cmp.Or(l.CWD, c.cwd)
	c.clock(l.Timestamp)
	c.agent = l.Agent
	var v content
	if l.Type == "system" || len(l.Message) == 0 || !c.decode(l.Message, &v) {
		return
	}
	person := l.Type == "user" && slices.Contains([]string{"", "real_user"}, l.Provenance)
	c.parts(v, person, func(raw json.RawMessage) engine.Result { return l.Result.of(raw) })
}

// of is the result with what the client knows about it.
func (q qwenResult) of(raw json.RawMessage) engine.Result {
	var shell struct {
		Exit *int `json:"exitCode"`
	}
	_ = json.Unmarshal(orNull(q.Display), &shell) // of other tools it has another form
	r := saidText(raw)
	text := cmp.Or(r.Error, contentText(r.Output))
	code := geminiExit(r.Error)
	if shell.Exit != nil {
		code = strconv.Itoa(*shell.Exit)
	}
	switch {
	case code != "0":
		return ended("", exitCode(code, text))
	case q.Status == "error" || q.Status == "cancelled":
		r = ended("", cmp.Or(text, q.Kind, q.Status))
	}
	r.Refused = r.Failed && (slices.Contains(qwenRefused, q.Kind) || isGeminiRefusal(r.Error) || isDenial(r.Error))
	r.Interrupted = q.Status == "cancelled" && !r.Refused
	return r
}

// spokenInQwen: a message has one line.
func spokenInQwen(line []byte) (string, int64, bool) {
	var l struct {
		Type  string `json:"type"`
		ID    string `json:"uuid"`
		Usage struct {
			Output   int64 `json:"candidatesTokenCount"`
			Thoughts int64 `json:"thoughtsTokenCount"`
		} `json:"usageMetadata"`
	}
	ok := json.Unmarshal(line, &l) == nil && l.Type == "assistant"
	return l.ID, sum(l.Usage.Output, l.Usage.Thoughts), ok
}
