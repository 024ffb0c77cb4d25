package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// openCodeInfo describes an exported session.
type openCodeInfo struct {
	ID        string `json:"id"`
	Parent    string `json:"parentID"` // of a sub-agent: the session that started it
	Directory string `json:"directory"`
	Version   string `json:"version"`
}

// openCodeMessage is a message of a session, with its parts.
type openCodeMessage struct {
	Info struct {
		Role string `json:"role"` // user, assistant
		Time struct {
			Created float64 `json:"created"` // milliseconds
		} `json:"time"`
		Path struct {
			CWD string `json:"cwd"`
		} `json:"path"`
	} `json:"info"`
	Parts []openCodePart `json:"parts"`
}

// openCodePart is a string, a call with its result so far, or something else.
type openCodePart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // the client wrote it
	Tool      string `json:"tool"`
	Call      string `json:"callID"`
	State     struct {
		Status   string          `json:"status"` // completed, error; any other is pending
		Input    json.RawMessage `json:"input"`
		Output   json.RawMessage `json:"output"`
		Error    string          `json:"error"`
		Metadata struct {
			Exit *float64 `json:"exit"`
		} `json:"metadata"`
		Time struct {
			Start float64 `json:"start"`
			End   float64 `json:"end"`
		} `json:"time"`
	} `json:"state"`
}

// isOpenCodeExport reports whether a file begins as an exported session of OpenCode does.
func isOpenCodeExport(head []byte) bool {
	key, keys := firstMember(head)
	return key == "info" && strings.HasPrefix(keys["id"], "ses_") && keys["directory"] != "" && keys["projectID"] != ""
}

// firstMember returns the first key of an object, and the keys of the object under it, as
// far as the text goes.
func firstMember(head []byte) (key string, keys map[string]string) {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", nil
	}
	t, err := d.Token()
	key, _ = t.(string)
	if err != nil {
		return "", nil
	}
	return key, topLevel(bytes.TrimLeft(head[d.InputOffset():], " \t\r\n:"))
}

// readOpenCodeExport reads what `opencode export` prints of a session. A sub-agent has a
// session of its own, which names the one that started it.
func readOpenCodeExport(r io.Reader) (Transcript, error) {
	s := newScribe(OpenCode)
	d := newDocReader(r)
	err := d.whole(func(key string) error {
		switch key {
		case "info":
			return s.openCodeInfo(d)
		case "messages":
			return d.array(func() error {
				raw, err := d.value()
				if err == nil {
					s.at++
					s.openCodeMessage(raw)
				}
				return err
			})
		}
		return d.skip()
	})
	return s.close(), d.end("session of OpenCode", "message", s.at, err)
}

func (s *translator) openCodeInfo(d *docReader) error {
	raw, err := d.value()
	var i openCodeInfo
	if err != nil || !s.decode(raw, &i) {
		return err
	}
	s.out.Session, s.out.Version, s.cwd = i.ID, i.Version, i.Directory
	if i.Parent != "" {
		s.out.Session, s.agent = i.Parent, i.ID
	}
	return nil
}

func (s *translator) openCodeMessage(raw []byte) {
	s.out.Lines++
	var m openCodeMessage
	if !s.decode(raw, &m) {
		return
	}
	s.cwd = cmp.Or(m.Info.Path.CWD, s.cwd)
	s.millis(m.Info.Time.Created)
	if m.Info.Role == "user" {
		s.prompt(openCodeTyped(m.Parts))
	}
	for _, p := range m.Parts {
		s.openCodeCall(p)
	}
	for _, p := range m.Parts {
		s.openCodeResult(p)
	}
}

// openCodeTyped returns what a person typed.
func openCodeTyped(parts []openCodePart) string {
	var list []string
	for _, p := range parts {
		if p.Type == "text" && p.Text != "" && !p.Synthetic {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

func (s *translator) openCodeCall(p openCodePart) {
	switch {
	case p.Type != "tool":
	case p.Call == "" || p.Tool == "":
		s.bad(errors.New("call without an id or a name"))
	default:
		s.millis(p.State.Time.Start)
		s.call(p.Call, openCodeTool(p.Tool), p.State.Input)
	}
}

// openCodeTool gives a tool of a server its name in Claude Code's notation: the client
// puts the server's name before it. A tool of the client's own is known by its name.
func openCodeTool(name string) string {
	_, known := aliases[name]
	server, tool, two := strings.Cut(name, "_")
	if known || name == "apply_patch" || !two || server == "" || tool == "" {
		return name
	}
	return "mcp__" + server + "__" + tool
}

func (s *translator) openCodeResult(p openCodePart) {
	if p.Type != "tool" || p.State.Status != "completed" && p.State.Status != "error" {
		return
	}
	text := contentText(p.State.Output)
	r := ended(text, "")
	exit := p.State.Metadata.Exit
	switch {
	case p.State.Status == "error":
		r = ended("", cmp.Or(p.State.Error, text, "failed"))
		r.Refused = isDenial(r.Error) || isOpenCodeRefusal(r.Error)
	case exit != nil && *exit != 0:
		r = ended("", exitCode(strconv.FormatFloat(*exit, 'f', -1, 64), text))
	}
	if took := p.State.Time.End - p.State.Time.Start; took > 0 && took < 1<<53 {
		r.DurationMS = int64(took)
	}
	before := s.now
	s.millis(p.State.Time.End)
	if s.result(p.Call, r) == nil && p.Tool == "invalid" {
		s.unasked(p.Call) // a tool that the client does not have
	}
	s.now = before
}

// isOpenCodeRefusal recognises, by the client's own words, a call that did not
// run.
func isOpenCodeRefusal(text string) bool {
	for _, start := range []string{"The user rejected permission", "The user has specified a rule which prevents you"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}
