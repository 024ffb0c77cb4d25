package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// kimiLine is a line of what Kimi Code keeps of an agent. Messages are also repeated as
// agent.message.appended, which is not read.
type kimiLine struct {
	Type  string  `json:"type"`
	Agent string  `json:"agentId"`
	Time  float64 `json:"time"` // milliseconds
	Place struct {
		CWD string `json:"cwd"`
	} `json:"environmentDisclosure"`
	Input  json.RawMessage `json:"input"` // of a prompt
	Origin struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Event kimiEvent `json:"event"`
}

// kimiEvent is an event of the agent's loop.
type kimiEvent struct {
	Type    string          `json:"type"`
	Call    string          `json:"toolCallId"`
	Name    string          `json:"name"`
	Args    json.RawMessage `json:"args"`
	Display struct {
		CWD string `json:"cwd"`
	} `json:"display"`
	Result struct {
		Output   json.RawMessage `json:"output"`
		Failed   bool            `json:"isError"`
		Duration float64         `json:"durationMs"`
	} `json:"result"`
}

// kimiMain is the agent that the person talks to.
const kimiMain = "main"

// isKimiWire reports whether a file begins as those of Kimi Code do.
func isKimiWire(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	keys := topLevel(line)
	_, created := keys["created_at"]
	return keys["type"] == "metadata" && keys["protocol_version"] != "" && created
}

// kimiSession returns the id of the session in whose folder a file is.
func kimiSession(name string) string {
	for dir := path.Dir(filepath.ToSlash(name)); dir != path.Dir(dir); dir = path.Dir(dir) {
		if strings.HasPrefix(path.Base(dir), "session_") {
			return path.Base(dir)
		}
	}
	return ""
}

// readKimiWire reads the JSON Lines that Kimi Code keeps of each agent of a session. The
// session is named by the folder only.
func readKimiWire(r io.Reader) (Transcript, error) {
	s := newScribe(Kimi)
	err := eachLine(r, maxTranscriptLine, s.kimiLine)
	return s.close(), err
}

func (s *translator) kimiLine(n int, line []byte) {
	s.at = n
	s.out.Lines++
	var l kimiLine
	if !s.decode(line, &l) {
		return
	}
	s.millis(l.Time)
	if s.agent = l.Agent; s.agent == kimiMain {
		s.agent = ""
	}
	switch l.Type + " " + l.Event.Type {
	case "profile.bind ":
		s.cwd = cmp.Or(l.Place.CWD, s.cwd)
	case "turn.prompt ":
		if l.Origin.Kind == "" || l.Origin.Kind == "user" {
			s.prompt(contentText(l.Input))
		}
	case "context.append_loop_event tool.call":
		s.kimiCall(l.Event)
	case "context.append_loop_event tool.result":
		if err := s.result(l.Event.Call, kimiResult(l.Event)); err != nil {
			s.bad(err)
		}
	}
}

func (s *translator) kimiCall(e kimiEvent) {
	if e.Call == "" || e.Name == "" {
		s.bad(errors.New("call without an id or a name"))
		return
	}
	session := s.cwd
	s.cwd = cmp.Or(e.Display.CWD, s.cwd)
	s.call(e.Call, e.Name, e.Args)
	s.cwd = session
}

// kimiResult is the result of a call. The last line of a failed command's output is its
// exit code; a hook's denial is the reason, or where it gave none, the client's own words.
func kimiResult(e kimiEvent) engine.Result {
	text := contentText(e.Result.Output)
	r := ended(text, "")
	if e.Result.Failed {
		r = ended("", cmp.Or(text, "failed"))
		r.Refused = isDenial(text) || strings.HasPrefix(text, "Blocked by PreToolUse hook")
		if _, last, said := lastCut(strings.TrimSpace(text), "Command failed with exit code: "); said {
			r = ended("", exitCode(strings.TrimSuffix(last, "."), text))
		}
	}
	r.DurationMS = int64(max(0, min(e.Result.Duration, 1<<53-1)))
	return r
}
