package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// droidLine is a line of a session of Factory's droid.
type droidLine struct {
	Type      string       `json:"type"` // session_start, message; others are not about calls
	ID        string       `json:"id"`
	Timestamp string       `json:"timestamp"`
	CWD       string       `json:"cwd"`
	Message   droidMessage `json:"message"`
}

// droidMessage is a message, or the run of a hook, which has no content.
type droidMessage struct {
	Role       string          `json:"role"` // user, assistant
	Content    json.RawMessage `json:"content"`
	Visibility string          `json:"visibility"` // of what the client itself writes: llm_only, user_only

	Hook    string        `json:"hookEventName"`
	Call    string        `json:"hookToolCallId"`
	Results []droidAnswer `json:"hookResults"`
}

// droidAnswer is the answer of a hook.
type droidAnswer struct {
	Exit   int    `json:"exitCode"`
	Stdout string `json:"stdout"`
}

// denies reports whether the client obeys this answer by not running the call.
func (a droidAnswer) denies() bool {
	var answer struct {
		Continue *bool `json:"continue"`
		Specific struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if a.Exit == 2 {
		return true
	}
	_ = json.Unmarshal([]byte(a.Stdout), &answer) // anything else does not answer
	return answer.Specific.Decision == "deny" || answer.Continue != nil && !*answer.Continue
}

// isDroidSession reports whether a file begins as a session of droid does.
func isDroidSession(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	keys := topLevel(line)
	_, version := keys["version"]
	return keys["type"] == "session_start" && keys["id"] != "" && keys["cwd"] != "" && version
}

// droidReader reads a session. What a hook answered is in it, next to the call.
type droidReader struct {
	*translator
	denied map[string]bool // ids of calls that a hook denied
}

// readDroidSession reads the JSON Lines that droid keeps of a session.
func readDroidSession(r io.Reader) (Transcript, error) {
	d := droidReader{translator: newScribe(Droid), denied: map[string]bool{}}
	err := eachLine(r, maxTranscriptLine, d.line)
	return d.close(), err
}

func (d *droidReader) line(n int, line []byte) {
	d.at = n
	d.out.Lines++
	var l droidLine
	if !d.decode(line, &l) {
		return
	}
	d.clock(l.Timestamp)
	switch {
	case l.Type == "session_start":
		d.out.Session, d.cwd = cmp.Or(d.out.Session, l.ID), cmp.Or(l.CWD, d.cwd)
	case l.Type != "message":
	case l.Message.Hook == harness.PreToolUse:
		d.answers(l.Message)
	case l.Message.Hook == "":
		d.message(l.Message)
	}
}

func (d *droidReader) answers(m droidMessage) {
	for _, a := range m.Results {
		if a.denies() {
			d.denied[m.Call] = true
		}
	}
}

func (d *droidReader) message(m droidMessage) {
	d.blocks(m.Content, func(b block) []engine.Result { return []engine.Result{d.droidResult(b)} })
	if m.Role == "user" && m.Visibility == "" {
		d.prompt(promptOf(m.Content))
	}
}

// droidResult is the result of a call. A failed command says so in its last line.
func (d *droidReader) droidResult(b block) engine.Result {
	text := contentText(b.Content)
	_, last, said := lastCut(strings.TrimSpace(text), "[Process exited with code ")
	code, whole := strings.CutSuffix(last, "]")
	switch {
	case said && whole && code != "0":
		return ended("", exitCode(code, text))
	case !b.Failed:
		return ended(text, "")
	}
	r := ended("", cmp.Or(text, "failed"))
	r.Refused = d.denied[b.Use] || isDenial(strings.TrimPrefix(text, "Error: "))
	return r
}

// block is a part of a message in the form of Anthropic's API, which several agents keep.
type block struct {
	Type    string          `json:"type"` // text, tool_use, tool_result
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Use     string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	Failed  bool            `json:"is_error"`
}

// blocks records the calls of a message, and its results as read returns them.
func (s *translator) blocks(content json.RawMessage, read func(block) []engine.Result) {
	for _, b := range blocksOf(content) {
		switch {
		case b.Type == "tool_use" && (b.ID == "" || b.Name == ""):
			s.bad(errors.New("call without an id or a name"))
		case b.Type == "tool_use":
			s.call(b.ID, serverTool(b.Name), b.Input)
		case b.Type == "tool_result":
			if err := s.results(b.Use, read(b)); err != nil {
				s.bad(err)
			}
		}
	}
}

// serverTool gives a tool of a server its name in Claude Code's notation, where an agent
// writes the server's name and two underscores before it.
func serverTool(name string) string {
	if server, tool, two := strings.Cut(name, "__"); two && server != "" && tool != "" && !strings.HasPrefix(name, "mcp__") {
		return "mcp__" + name
	}
	return name
}

// blocksOf returns the blocks of a content; a string contains none.
func blocksOf(content json.RawMessage) []block {
	var list []block
	_ = json.Unmarshal(orNull(content), &list) // blocks that can be read are kept
	return list
}

// promptOf returns what a person wrote in a message: its text without the client's own
// notes, which are in tags. A message with results has none.
func promptOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(orNull(content), &text) == nil {
		return text
	}
	var list []string
	for _, b := range blocksOf(content) {
		switch {
		case b.Type == "tool_result":
			return ""
		case b.Type == "text" && b.Text != "" && !strings.HasPrefix(b.Text, "<system-reminder>"):
			list = append(list, b.Text)
		}
	}
	return strings.Join(list, "\n")
}
