package reviewcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// eventDocument is an event in reviewer's own format (schemas/event.json), which is
// independent of agents.
type eventDocument struct {
	ID      json.RawMessage `json:"id"`
	Session string          `json:"session"`
	Agent   string          `json:"agent"`
	Phase   engine.Phase    `json:"phase"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	CWD     string          `json:"cwd"`
	Project string          `json:"project"`
	Mode    string          `json:"mode"`
	Prompt  string          `json:"prompt"`
	Time    int64           `json:"t"` // Unix milliseconds
	Result  *resultDocument `json:"result"`
}

type resultDocument struct {
	Failed bool            `json:"failed"`
	Error  string          `json:"error"`
	Output json.RawMessage `json:"output"`
	MS     int64           `json:"ms"`
}

func eventKeys() string {
	var keys []string
	for _, f := range engine.JSONFields(reflect.TypeFor[eventDocument]()) {
		keys = append(keys, f.Name)
	}
	return strings.Join(keys, ", ")
}

// decodeEvent reads an event in reviewer's own format, strictly.
func decodeEvent(doc []byte, n int) (engine.Event, error) {
	if _, err := engine.Canonical(doc); err != nil {
		return engine.Event{}, fmt.Errorf("event: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	v := eventDocument{Phase: engine.PhasePre}
	if err := d.Decode(&v); err != nil {
		return engine.Event{}, fmt.Errorf("event: %w; expected a hook input (with hook_event_name), or an event with keys of %s (t in Unix "+
			"milliseconds)", err, eventKeys())
	}
	e := engine.Event{
		Harness: "reviewer", Name: string(v.Phase), Phase: v.Phase, Session: v.Session, Agent: v.Agent,
		Call: callID(v.ID, n), Tool: v.Tool, Args: v.Args, CWD: v.CWD, Project: v.Project, Mode: v.Mode,
		Prompt: v.Prompt, Time: v.Time,
	}
	if v.Result != nil {
		e.Result = &engine.Result{Failed: v.Result.Failed, Error: v.Result.Error, Output: v.Result.Output, DurationMS: v.Result.MS}
	}
	return e, checkEvent(e)
}

func callID(id json.RawMessage, n int) string {
	if text := idText(id); text != "" {
		return text
	}
	return "call-" + strconv.Itoa(n)
}

// idText returns an id as its document writes it: a string without its quotes,
// a number with all of its digits; empty if there is none.
func idText(raw json.RawMessage) string {
	var text *string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	if text == nil {
		return ""
	}
	return *text
}

func checkEvent(e engine.Event) error {
	known := false
	for _, p := range engine.Phases() {
		known = known || p == string(e.Phase)
	}
	if !known {
		return fmt.Errorf("event: unknown phase %q; expected one of %s", e.Phase, strings.Join(engine.Phases(), ", "))
	}
	call := e.Phase == engine.PhasePre || e.Phase == engine.PhasePost
	switch {
	case call && e.Tool == "":
		return errors.New("event: tool is missing, such as Bash")
	case call && !bytes.HasPrefix(bytes.TrimSpace(e.Args), []byte("{")):
		return errors.New(`event: args is missing or not an object, such as {"command": "ls"}`)
	}
	return nil
}
