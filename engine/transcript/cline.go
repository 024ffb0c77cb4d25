package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// clineMessage is a message of a session of Cline.
type clineMessage struct {
	Role    string          `json:"role"` // user, assistant
	Content json.RawMessage `json:"content"`
	Time    float64         `json:"ts"` // milliseconds
}

// clineOrigin is the place where a session was started.
type clineOrigin struct {
	Session string `json:"sessionId"`
	Version string `json:"version"`
}

// clineLead is the agent that the person talks to.
const clineLead = "lead"

// isClineSession reports whether a file begins as the messages of a session of Cline do.
func isClineSession(head []byte) bool {
	keys := topLevel(head)
	_, version := keys["version"]
	_, updated := keys["updated_at"]
	return version && updated && keys["agent"] != "" && keys["sessionId"] != ""
}

// clineReader reads a session; in each call there may be several commands, each with a
// result.
type clineReader struct {
	*translator
	own, agent string // ids of the file's session and agent
	origin     clineOrigin
}

// readClineSession reads the document that Cline keeps of the messages of a session. The
// working directory is not in it.
func readClineSession(r io.Reader) (Transcript, error) {
	c := clineReader{translator: newScribe(Cline)}
	d := newDocReader(r)
	err := d.whole(func(key string) error { return c.field(d, key) })
	c.out.Session, c.out.Version = c.own, c.origin.Version
	if c.sub() {
		c.out.Session = c.origin.Session
	}
	return c.close(), d.end("session of Cline", "message", c.at, err)
}

// sub reports whether the file is that of a sub-agent.
func (c *clineReader) sub() bool {
	return c.agent != clineLead && c.agent != "" && c.origin.Session != "" && c.origin.Session != c.own
}

func (c *clineReader) field(d *docReader, key string) error {
	var into any
	switch key {
	case "sessionId":
		into = &c.own
	case "agent":
		into = &c.agent
	case "origin":
		into = &c.origin
	case "messages":
		if c.sub() {
			c.translator.agent = c.own
		}
		return d.array(func() error {
			raw, err := d.value()
			if err == nil {
				c.at++
				c.message(raw)
			}
			return err
		})
	default:
		return d.skip()
	}
	raw, err := d.value()
	if err == nil {
		c.decode(raw, into)
	}
	return err
}

func (c *clineReader) message(raw []byte) {
	c.out.Lines++
	var m clineMessage
	if !c.decode(raw, &m) {
		return
	}
	c.millis(m.Time)
	if m.Role == "user" {
		c.prompt(clineTyped(promptOf(m.Content)))
	}
	c.blocks(m.Content, c.clineResults)
}

var clineInput = engine.Regexp(`(?s)^<user_input\b[^>]*>(.*)</user_input>`)

// clineTyped returns what a person typed, without the client's tag.
func clineTyped(text string) string {
	if found := clineInput().FindStringSubmatch(strings.TrimSpace(text)); found != nil {
		return found[1]
	}
	return text
}

// clineOutcome is the result of one command or file of a call.
type clineOutcome struct {
	Query   string          `json:"query"`
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`
	Success *bool           `json:"success"`
}

// clineResults returns the results of a call: one for each command or file, or one for
// the call.
func (c *clineReader) clineResults(b block) []engine.Result {
	raw := b.Content
	var text string
	if json.Unmarshal(orNull(raw), &text) == nil {
		raw = json.RawMessage(text)
	}
	var list []clineOutcome
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		raw = append(append([]byte("["), raw...), ']')
	}
	if json.Unmarshal(orNull(raw), &list) != nil || len(list) == 0 || list[0].Success == nil {
		return []engine.Result{b.plain(clineText(raw, text))}
	}
	var results []engine.Result
	for i, o := range list {
		results = append(results, o.result(c.commandOf(b.Use, i)))
	}
	return results
}

// clineText returns the text of a result of another form, such as that of a server's tool.
func clineText(raw json.RawMessage, text string) string {
	var list []struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(orNull(raw), &list) == nil && len(list) == 1 && len(list[0].Content) > 0 {
		return contentText(list[0].Content)
	}
	return cmp.Or(text, contentText(raw))
}

// commandOf returns the command of a part of a call.
func (c *clineReader) commandOf(id string, part int) string {
	var args struct {
		Command string `json:"command"`
	}
	if at := c.calls[id]; part < len(at) {
		_ = json.Unmarshal(c.out.Events[at[part]].Args, &args) // other calls have none
	}
	return args.Command
}

// result is the result of a command. A hook denies a command by replacing it with one
// that prints the reason, and the client names that one.
func (o clineOutcome) result(command string) engine.Result {
	text := contentText(o.Result)
	if isDenial(text) && command != "" && o.Query != command {
		r := ended("", text)
		r.Refused = true
		return r
	}
	if o.Success == nil || *o.Success {
		return ended(text, "")
	}
	if _, code, said := lastCut(o.Error, "exited with code "); said {
		return ended("", exitCode(code, text))
	}
	r := ended("", cmp.Or(o.Error, text, "failed"))
	r.Refused = isDenial(r.Error)
	return r
}

// plain is a result that is only a string.
func (b block) plain(text string) engine.Result {
	if !b.Failed {
		return ended(text, "")
	}
	r := ended("", cmp.Or(text, "failed"))
	r.Refused = isDenial(strings.TrimPrefix(text, "Error: "))
	return r
}
