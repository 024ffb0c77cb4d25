package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// The events that reviewer handles by name. Several agents use Claude Code's names.
const (
	PreToolUse         = "PreToolUse"
	PostToolUse        = "PostToolUse"
	PostToolUseFailure = "PostToolUseFailure"
	postToolBatch      = "PostToolBatch"
	permissionRequest  = "PermissionRequest"
	UserPromptSubmit   = "UserPromptSubmit"
	sessionStart       = "SessionStart"
	sessionEnd         = "SessionEnd"
	stop               = "Stop"
	subagentStart      = "SubagentStart"
	subagentStop       = "SubagentStop"
)

// PhaseOf returns the phase of an event in Claude Code's names. Names of newer
// clients are PhaseOther.
func PhaseOf(event string) engine.Phase {
	switch event {
	case PreToolUse:
		return engine.PhasePre
	case PostToolUse, PostToolUseFailure:
		return engine.PhasePost
	case postToolBatch:
		return engine.PhaseBatch
	case UserPromptSubmit:
		return engine.PhasePrompt
	case sessionStart:
		return engine.PhaseStart
	case sessionEnd:
		return engine.PhaseEnd
	case stop:
		return engine.PhaseStop
	case subagentStart:
		return engine.PhaseAgentStart
	case subagentStop:
		return engine.PhaseAgentStop
	}
	return engine.PhaseOther
}

// dialect is what differs between agents whose hooks get documents like those of
// Claude Code.
type dialect struct {
	agent  string
	events []string // for which reviewer is installed
	others []string // that no tool call follows, in addition
	keys   []string // that reviewer reads
	prompt string   // the key of the prompt's id
}

// decode reads the input of a hook. It is strict about what reviewer
// uses (exact keys and types, no duplicate keys at any level, valid UTF-8, at
// most MaxInput bytes and 200 levels), since a different reading of the same
// bytes would be a different call; unknown keys are ignored, since any release
// may add some. An escaped lone surrogate is accepted: the client passes it on
// as it is.
func (l dialect) decode(event string, raw []byte, project string) (engine.Event, error) {
	doc, err := readDocument(raw, l.keys)
	if err != nil {
		return l.named(event), fmt.Errorf("read hook input: %w", err)
	}
	name, err := l.event(event, doc)
	e := l.named(name)
	if err != nil {
		return e, fmt.Errorf("read hook input: %w", err)
	}
	if l.unknownCall(name, doc) {
		return l.named(""), fmt.Errorf("read hook input: unknown event %q with a tool call that may be about to run", name)
	}
	if !l.known(name) && l.answerPhase(name) == engine.PhasePre {
		return e, fmt.Errorf("read hook input: unknown event %q, which a tool call may follow", name)
	}
	full := e
	full.Project = project
	if err := doc.fill(&full, l.prompt); err != nil {
		return e, fmt.Errorf("read hook input of %s: %w", name, err)
	}
	return full, nil
}

func (l dialect) named(event string) engine.Event {
	return engine.Event{Harness: l.agent, Name: event, Phase: l.answerPhase(event)}
}

// answerPhase returns the phase under which a failure is answered: an unknown
// event may be a tool call.
func (l dialect) answerPhase(event string) engine.Phase {
	if event == "" || event == permissionRequest || l.mayPrecede(event) {
		return engine.PhasePre
	}
	return PhaseOf(event)
}

func (l dialect) known(name string) bool {
	return slices.Contains(l.events, name) || slices.Contains(l.others, name)
}

// mayPrecede reports whether a tool call may follow an event of unknown name: a
// misspelt one, or one of a newer client. Names of something that has ended are
// excluded, since a denial there would erase prompts or force the agent to continue.
func (l dialect) mayPrecede(event string) bool {
	if l.known(event) {
		return false
	}
	name := strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); r < 'a' || r > 'z' {
			return -1
		}
		return r
	}, event)
	holds := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case holds("post", "after", "fail", "denied", "result", "complete", "ended"):
		return false
	case holds("pre", "before", "tool", "permission", "call", "exec", "command"):
		return true
	}
	return false
}

// unknownCall reports whether an unknown event contains a call and no result of
// it.
func (l dialect) unknownCall(name string, doc document) bool {
	return !l.known(name) && doc.has("tool_input") && !doc.has("tool_response") && !doc.has("error")
}

// event returns the event's name. Where the arguments and the
// document disagree, it returns the one that is answered more strictly.
func (l dialect) event(argument string, doc document) (string, error) {
	said, err := doc.text("hook_event_name")
	switch {
	case err != nil:
		return argument, err
	case said == "" && argument == "":
		return "", fmt.Errorf("hook_event_name is missing and the hook's command names no event: run `reviewer install %s` again", l.agent)
	case said == "" || said == argument:
		return argument, nil
	case argument == "":
		return said, nil
	}
	name := argument
	if l.answerPhase(said) == engine.PhasePre {
		name = said
	}
	return name, fmt.Errorf("the hook's command names the event %q, but hook_event_name is %q: run `reviewer install %s` again",
		argument, said, l.agent)
}

// document is a hook's input, one level deep.
type document map[string]json.RawMessage

func readDocument(raw []byte, keys []string) (document, error) {
	if len(raw) > MaxInput {
		return nil, fmt.Errorf("it is longer than %d bytes", MaxInput)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("it is empty")
	}
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	if _, err := engine.DecodeStrict(raw); err != nil {
		return nil, err
	}
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil || doc == nil {
		return nil, errors.New("it is not a JSON object")
	}
	return doc, doc.checkSpelling(keys)
}

// checkSpelling rejects a key that differs from a known one only in case: a
// reader that ignores case would confuse them.
func (d document) checkSpelling(keys []string) error {
	for _, key := range slices.Sorted(maps.Keys(d)) {
		for _, known := range keys {
			if key != known && strings.EqualFold(key, known) {
				return fmt.Errorf("key %q must be spelled %q", key, known)
			}
		}
	}
	return nil
}

// fill reads the fields of an event whose name is known.
func (d document) fill(e *engine.Event, prompt string) error {
	e.Phase = PhaseOf(e.Name)
	err := errors.Join(
		d.set(&e.Session, "session_id"), d.set(&e.CWD, "cwd"), d.set(&e.Mode, "permission_mode"),
		d.set(&e.PromptID, prompt), d.set(&e.Agent, "agent_id"),
	)
	if err == nil && e.Session == "" {
		err = errors.New("session_id is missing")
	}
	if err != nil {
		return err
	}
	_ = d.set(&e.Transcript, "transcript_path") // of another type: there is none, and no call depends on it
	switch e.Phase {
	case engine.PhasePre:
		return d.fillCall(e, "tool_name", "tool_input", "tool_use_id")
	case engine.PhasePost:
		return errors.Join(d.fillCall(e, "tool_name"), d.fillResult(e))
	case engine.PhasePrompt:
		return d.fillPrompt(e)
	case engine.PhaseStop:
		d.fillStop(e)
	}
	return nil
}

// fillStop reads the agent's last message, where the client sends it. Of another
// type, it is absent: a stop must not fail for it.
func (d document) fillStop(e *engine.Event) {
	_ = d.set(&e.LastMessage, "last_assistant_message")
	_ = d.decode(&e.Again, "stop_hook_active", "true or false")
}

// fillCall reads the call, whose required keys must be present. After a call
// only its tool is required: a report of what ran is useful without its id.
func (d document) fillCall(e *engine.Event, required ...string) error {
	for _, key := range required {
		if !d.has(key) {
			return fmt.Errorf("%s is missing", key)
		}
	}
	if d.has("tool_input") {
		if e.Args = d["tool_input"]; e.Args[0] != '{' {
			return errors.New("tool_input is not an object")
		}
	}
	if err := errors.Join(d.set(&e.Tool, "tool_name"), d.set(&e.Call, "tool_use_id")); err != nil {
		return err
	}
	if e.Tool == "" {
		return errors.New("tool_name is empty")
	}
	if e.Phase == engine.PhasePre && e.Call == "" {
		return errors.New("tool_use_id is empty")
	}
	return nil
}

func (d document) fillResult(e *engine.Event) error {
	r := &engine.Result{Failed: e.Name == PostToolUseFailure}
	e.Result = r
	if !r.Failed && d.has("tool_response") {
		r.Output = d["tool_response"]
		r.Changed = changedFiles(r.Output)
	}
	var ms float64
	err := errors.Join(
		d.set(&r.Error, "error"), d.decode(&r.Interrupted, "is_interrupt", "true or false"),
		d.decode(&ms, "duration_ms", "a number"),
	)
	r.DurationMS = int64(math.Max(0, math.Min(ms, 1<<53-1)))
	return err
}

// fillPrompt keeps PhasePrompt to prompts of a person: limits count from one
// prompt to the next, and an agent can wake itself up.
func (d document) fillPrompt(e *engine.Event) error {
	source, err := d.text("source")
	if err != nil {
		return err
	}
	if !FromPerson(source) {
		e.Phase = engine.PhaseOther
		return nil
	}
	return d.set(&e.Prompt, "prompt")
}

// FromPerson reports whether a prompt comes from a person, or from a program
// that a person started.
func FromPerson(source string) bool {
	switch source {
	case "system", "loop_wakeup", "schedule_wakeup", "poll_event":
		return false
	}
	return true
}

// has reports whether a key is there; null counts as absent.
func (d document) has(key string) bool {
	raw, ok := d[key]
	return ok && string(raw) != "null"
}

func (d document) text(key string) (string, error) {
	var s string
	return s, d.set(&s, key)
}

func (d document) set(to *string, key string) error { return d.decode(to, key, "a string") }

func (d document) decode(to any, key, what string) error {
	if !d.has(key) {
		return nil
	}
	if err := json.Unmarshal(d[key], to); err != nil {
		return fmt.Errorf("%s is not %s", key, what)
	}
	return nil
}
