package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// content is an element of what Gemini CLI sends its model, as it can be saved.
type content struct {
	Role  string `json:"role"` // user, model
	Parts []struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought"`
		Call    *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			ID       string          `json:"id"`
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

// isContents reports whether a file begins as saved contents do.
func isContents(head []byte) bool {
	for _, keys := range elements(head, 3) {
		_, parts := keys["parts"]
		if role := keys["role"]; parts && (role == "user" || role == "model") {
			return true
		}
	}
	return false
}

// contentsReader pairs responses with calls by their ids, or where there are
// none, in order.
type contentsReader struct {
	*translator
	open []string // calls without a result
}

// readContents reads the contents that Gemini CLI saves on demand: without session,
// times and directory.
func readContents(r io.Reader) (Transcript, error) {
	c := contentsReader{translator: newScribe(Gemini)}
	c.out.LocalIDs = true
	d := newDocReader(r)
	err := d.alone(func() error {
		raw, err := d.value()
		if err == nil {
			c.at++
			c.content(raw)
		}
		return err
	})
	return c.close(), d.end("contents", "element", c.at, err)
}

func (c *contentsReader) content(raw []byte) {
	c.out.Lines++
	var v content
	if !c.decode(raw, &v) {
		return
	}
	c.parts(v, v.Role == "user", saidResult)
}

// parts reads the parts of a message: calls, results as read returns them, and if a person
// wrote it, a prompt.
func (c *contentsReader) parts(v content, person bool, read func(json.RawMessage) engine.Result) {
	for i, p := range v.Parts {
		switch {
		case p.Call != nil && p.Call.Name == "":
			c.bad(errors.New("call without a name"))
		case p.Call != nil:
			id := "call-" + strconv.Itoa(c.at) + "-" + strconv.Itoa(i+1)
			if _, twice := c.calls[p.Call.ID]; p.Call.ID != "" && !twice {
				id = p.Call.ID
			}
			c.open = append(c.open, id)
			c.call(id, geminiTool(p.Call.Name), p.Call.Args)
		case p.Response != nil:
			c.response(p.Response.ID, read(p.Response.Response))
		case person && !p.Thought && !strings.HasPrefix(p.Text, "<"): // the client's own notes are in tags
			c.prompt(p.Text)
		}
	}
}

// response notes a result: for the call with its id, else for the first call without a
// result.
func (c *contentsReader) response(id string, r engine.Result) {
	at := 0
	for i, open := range c.open {
		if open == id {
			at = i
		}
	}
	if at >= len(c.open) {
		c.bad(errors.New("response to no call"))
		return
	}
	id, c.open = c.open[at], append(c.open[:at:at], c.open[at+1:]...)
	if err := c.result(id, r); err != nil {
		c.bad(err)
	}
}

// saidResult is the result in a response.
func saidResult(raw json.RawMessage) engine.Result {
	r := saidText(raw)
	text := cmp.Or(r.Error, contentText(r.Output))
	if code := geminiExit(text); code != "0" {
		return ended("", exitCode(code, text))
	}
	return r
}

// geminiExit returns the exit code in the report of a command, which is a success of its
// tool even if the command failed.
func geminiExit(report string) string {
	report = strings.TrimPrefix(report, "<untrusted_context>\n")
	_, rest, said := strings.Cut(report, "\nExit Code: ")
	if !said || !strings.HasPrefix(report, "Command: ") && !strings.HasPrefix(report, "Output: ") {
		return "0"
	}
	code, _, _ := strings.Cut(rest, "\n")
	return code
}

// saidText is the output or the error in a response.
func saidText(raw json.RawMessage) engine.Result {
	var said struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	}
	_ = json.Unmarshal(orNull(raw), &said) // what has another shape is kept as it is
	r := ended(said.Output, said.Error)
	if said.Output == "" && said.Error == "" {
		r = ended(string(raw), "")
	}
	r.Refused = r.Failed && isGeminiRefusal(r.Error)
	return r
}
