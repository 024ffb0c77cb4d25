package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// miniMessage is a message of a run of mini-swe-agent. Its calls are calls of
// the tool bash, or in older runs a block of code in its text.
type miniMessage struct {
	Role    string          `json:"role"` // system, user, assistant, tool
	Content json.RawMessage `json:"content"`
	Answers string          `json:"tool_call_id"` // of a tool: the call that it answers
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Extra struct {
		Time float64 `json:"timestamp"` // seconds
	} `json:"extra"`
}

// isMiniTrajectory reports whether a file begins as a trajectory of
// mini-swe-agent does.
func isMiniTrajectory(head []byte) bool {
	keys := topLevel(head)
	_, info := keys["info"]
	_, messages := keys["messages"]
	format := strings.HasPrefix(keys["trajectory_format"], "mini-swe-agent")
	return format || info && messages && bytes.Contains(head, []byte(`"mini_version"`)) || isMiniMessages(head)
}

// isMiniMessages reports whether a file begins as the messages alone do, which the
// first versions kept: the system message asks for a block of code of a special kind.
func isMiniMessages(head []byte) bool {
	first := elements(head, 1)
	if len(first) == 0 || first[0]["role"] != "system" {
		return false
	}
	return bytes.Contains(head, []byte("mswea_bash_command")) || bytes.Contains(head, []byte("<returncode>"))
}

// miniReader reads a run. Steps of older runs have no ids.
type miniReader struct {
	*translator
	open string // the step that waits for its result
}

// readMiniTrajectory reads the messages of a run of mini-swe-agent.
func readMiniTrajectory(r io.Reader) (Transcript, error) {
	m := miniReader{translator: newScribe(MiniSWEAgent)}
	m.out.LocalIDs = true
	in := bufio.NewReaderSize(r, 64<<10)
	d := newDocReader(in)
	message := func() error {
		raw, err := d.value()
		if err == nil {
			m.message(raw)
		}
		return err
	}
	var err error
	if isArray(in) {
		err = d.alone(message)
	} else {
		err = d.whole(func(key string) error { return m.field(d, key, message) })
	}
	return m.close(), d.end("trajectory of mini-swe-agent", "message", m.at, err)
}

func (m *miniReader) field(d *docReader, key string, message func() error) error {
	switch key {
	case "info":
		return m.info(d)
	case "messages":
		return d.array(message)
	}
	return d.skip()
}

func (m *miniReader) info(d *docReader) error {
	raw, err := d.value()
	var info struct {
		Version string `json:"mini_version"`
		Config  struct {
			Environment struct {
				CWD string `json:"cwd"`
			} `json:"environment"`
		} `json:"config"`
	}
	if err == nil && json.Unmarshal(raw, &info) == nil {
		m.out.Version, m.cwd = info.Version, info.Config.Environment.CWD
	}
	return err
}

func (m *miniReader) message(raw []byte) {
	m.at++
	m.out.Lines++
	var v miniMessage
	if !m.decode(raw, &v) {
		return
	}
	if v.Extra.Time > 0 && v.Extra.Time < 1<<40 {
		m.now = int64(v.Extra.Time * 1000)
	}
	text := contentText(v.Content)
	switch {
	case v.Role == "assistant":
		m.calls(v, text)
	case v.Role == "tool" || v.Role == "user" && m.open != "":
		m.returned(cmp.Or(v.Answers, m.open), text)
	case v.Role == "user":
		m.prompt(text)
	}
}

func (m *miniReader) calls(v miniMessage, text string) {
	m.open = ""
	for _, c := range v.Calls {
		if c.ID == "" || c.Function.Name == "" {
			m.bad(errors.New("call without an id or a name"))
			continue
		}
		m.call(c.ID, c.Function.Name, c.Function.Arguments)
	}
	if command, ok := miniCommand(text); ok && len(v.Calls) == 0 {
		m.open = "step-" + strconv.Itoa(m.at)
		m.note(m.open, []toolCall{encoded("Bash", map[string]any{"command": command})})
	}
}

// miniCommand returns the single block of code in a step.
func miniCommand(text string) (string, bool) {
	for _, mark := range []string{"```bash\n", "```mswea_bash_command\n"} {
		_, rest, found := strings.Cut(text, mark)
		command, _, closed := strings.Cut(rest, "\n```")
		if found && closed {
			return command, true
		}
	}
	return "", false
}

func (m *miniReader) returned(id, text string) {
	m.open = ""
	if err := m.result(id, miniResult(text)); err != nil {
		m.bad(err)
	}
}

// miniResult reads the result of a step: its exit code and its output are in
// tags.
func miniResult(text string) engine.Result {
	code := tagged(text, "returncode")
	output := text
	if strings.Contains(text, "<output>") {
		output = strings.Trim(tagged(text, "output"), "\n")
	}
	if code != "" && code != "0" {
		return ended("", exitCode(code, output))
	}
	return ended(output, "")
}
