package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// copilotLine is a line of the events that Copilot CLI keeps of a session.
type copilotLine struct {
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// copilotData is the fields of the events that are read.
type copilotData struct {
	Session string `json:"sessionId"`
	Version string `json:"copilotVersion"`
	CWD     string `json:"cwd"`
	Context struct {
		CWD string `json:"cwd"`
	} `json:"context"`

	Content json.RawMessage `json:"content"`
	Source  string          `json:"source"` // of a message in a person's name: who wrote it

	Call      string          `json:"toolCallId"`
	Parent    string          `json:"parentToolCallId"` // of a sub-agent: the call that started it
	Tool      string          `json:"toolName"`
	Server    string          `json:"mcpServerName"`
	Remote    string          `json:"mcpToolName"`
	Arguments json.RawMessage `json:"arguments"`
	Success   *bool           `json:"success"`
	Result    struct {
		Content json.RawMessage `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
		Code    string `json:"code"`
	} `json:"error"`
	Shell struct {
		Exit *int `json:"exitCode"`
	} `json:"shellExecution"`
}

// isCopilotEvents reports whether a file begins as the events of Copilot CLI
// do.
func isCopilotEvents(head []byte) bool {
	for _, line := range bytes.SplitN(head, []byte("\n"), 5) {
		keys := topLevel(line)
		_, data := keys["data"]
		area, _, event := strings.Cut(keys["type"], ".")
		known := slices.Contains([]string{"session", "hook", "user", "system", "assistant", "tool", "permission"}, area)
		if data && event && known {
			return true
		}
	}
	return false
}

// readCopilotEvents reads the JSON Lines that Copilot CLI keeps of a session. Of the
// calls that the model requests, only those that the client started count.
func readCopilotEvents(r io.Reader) (Transcript, error) {
	s := newScribe(Copilot)
	err := eachLine(r, maxTranscriptLine, s.copilotLine)
	return s.close(), err
}

func (s *translator) copilotLine(n int, line []byte) {
	s.at = n
	s.out.Lines++
	var l copilotLine
	if !s.decode(line, &l) {
		return
	}
	s.clock(l.Timestamp)
	read := s.copilotEvent(l.Type)
	if read == nil {
		return
	}
	var d copilotData
	if s.decode(orNull(l.Data), &d) {
		s.agent = d.Parent
		read(d)
		s.agent = ""
	}
}

// copilotEvent returns the function that reads an event; nil if it is not about a call.
func (s *translator) copilotEvent(kind string) func(copilotData) {
	switch kind {
	case "session.start", "session.resume", "session.context_changed":
		return s.copilotPlace
	case "user.message":
		return func(d copilotData) {
			if d.Source == "" || d.Source == "user" {
				s.prompt(contentText(d.Content))
			}
		}
	case "tool.execution_start":
		return s.copilotCall
	case "tool.execution_complete":
		return func(d copilotData) {
			if err := s.result(d.Call, copilotResult(d)); err != nil {
				s.bad(err)
			}
		}
	}
	return nil
}

func (s *translator) copilotPlace(d copilotData) {
	s.out.Session, s.out.Version = cmp.Or(s.out.Session, d.Session), cmp.Or(s.out.Version, d.Version)
	s.cwd = cmp.Or(d.Context.CWD, d.CWD, s.cwd)
}

func (s *translator) copilotCall(d copilotData) {
	if d.Call == "" || d.Tool == "" {
		s.bad(errors.New("call without an id or a name"))
		return
	}
	tool := d.Tool
	if d.Server != "" && d.Remote != "" {
		tool = "mcp__" + d.Server + "__" + d.Remote
	}
	if tool == "sql" {
		tool = "update_plan" // a database of the session with its to-do list
	}
	var text string
	if json.Unmarshal(orNull(d.Arguments), &text) == nil && text != "" && !strings.HasPrefix(strings.TrimSpace(text), "{") {
		s.note(d.Call, translate(tool, map[string]any{"input": text})) // a tool that takes a string
		return
	}
	s.call(d.Call, tool, d.Arguments)
}

// copilotResult is the result of a call. A failed command is reported as a success of
// its tool.
func copilotResult(d copilotData) engine.Result {
	text := contentText(d.Result.Content)
	exit := copilotExit(text)
	if d.Shell.Exit != nil {
		exit = *d.Shell.Exit
	}
	switch {
	case d.Success != nil && !*d.Success:
		r := ended("", cmp.Or(d.Error.Message, text, d.Error.Code, "failed"))
		r.Refused = slices.Contains([]string{"denied", "rejected"}, d.Error.Code)
		r.Interrupted = d.Error.Code == "cancelled" || d.Error.Code == "aborted"
		return r
	case exit != 0:
		return ended("", exitCode(strconv.Itoa(exit), text))
	}
	return ended(text, "")
}

// copilotExit returns the exit code in the last line of a command's output, where
// older clients write it.
func copilotExit(text string) int {
	_, last, said := lastCut(strings.TrimSpace(text), " with exit code ")
	number, closed := strings.CutSuffix(last, ">")
	code, err := strconv.Atoi(number)
	if !said || !closed || err != nil {
		return 0
	}
	return code
}

func lastCut(text, at string) (before, after string, found bool) {
	i := strings.LastIndex(text, at)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(at):], true
}
