package harness

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

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

// dialect describes the documents that an agent gives to its hooks.
type dialect struct {
	agent  string
	keys   keys
	events []reported // for which reviewer is installed
	others []reported // that no tool call follows, in addition

	ids         bool // each call has an id before it runs; false: engine/act makes one
	looseInput  bool // the input of a call may be a string that contains an object
	blankPrompt bool // a prompt without text is not a person's

	// author is how a prompt's document says who wrote it.
	author author

	// prepare renames keys that differ between this agent's events; nil: none.
	prepare func(document)

	// finish reads what only this agent's documents have; nil: nothing.
	finish func(document, *engine.Event) error
}

// row completes an agent's row in Harnesses: what is missing there follows from the documents, or is as in Claude Code.
func (d dialect) row(h Harness) Harness {
	h.Name, h.Decode, h.Phase, h.Events = d.agent, d.decode, d.phase, eventNames(d.events)
	if h.Failure == nil {
		h.Failure = d.fail
	}
	if h.Timeout == nil {
		h.Timeout = ClaudeCodeTimeout
	}
	h.Unit = cmp.Or(h.Unit, time.Second)
	return h
}

// keys are the names under which an agent's documents have what reviewer reads. A name with
// dots leads through objects. An empty name: the documents do not have it.
type keys struct {
	event, session, cwd, mode, agent, transcript, stamp string

	spoken string // tokens that the model wrote in the session so far

	tool, input, call                      string
	result, failure, interrupted, duration string

	promptID, prompt string
	message, again   string // of the end of a turn
}

// list returns the names that are not empty.
func (k keys) list() []string {
	all := []string{k.event, k.session, k.cwd, k.mode, k.agent, k.transcript, k.stamp, k.spoken, k.tool, k.input, k.call, k.result,
		k.failure, k.interrupted, k.duration, k.promptID, k.prompt, k.message, k.again}
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// reported is an event that an agent reports.
type reported struct {
	name   string
	phase  engine.Phase
	said   string // the name in the document, where it differs
	failed bool   // of a call that failed
	asks   bool   // the person is being asked about a call: a failure is answered like one before a call
}

// pascal returns events with the names of Claude Code, which several agents use.
func pascal(names ...string) []reported {
	var list []reported
	for _, name := range names {
		list = append(list, reported{name: name, phase: PhaseOf(name), failed: name == PostToolUseFailure, asks: name == permissionRequest})
	}
	return list
}

// ignored returns events that mean nothing to reviewer.
func ignored(names ...string) []reported {
	var list []reported
	for _, name := range names {
		list = append(list, reported{name: name, phase: engine.PhaseOther})
	}
	return list
}

func eventNames(events []reported) []string {
	var names []string
	for _, e := range events {
		names = append(names, e.name)
	}
	return names
}

// decode reads the input of a hook. It is strict about what reviewer
// uses (exact keys and types, no duplicate keys at any level, valid UTF-8, at
// most MaxInput bytes and 200 levels), since a different reading of the same
// bytes would be a different call; unknown keys are ignored, since any release
// may add some. An escaped lone surrogate is accepted: the client passes it on
// as it is.
func (l dialect) decode(event string, raw []byte, project string) (engine.Event, error) {
	doc, err := readDocument(raw, append(l.keys.list(), l.author.keys()...))
	if err != nil {
		return l.named(event), fmt.Errorf("read hook input: %w", err)
	}
	if l.prepare != nil {
		l.prepare(doc)
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
	if err := l.fill(doc, &full); err != nil {
		return e, fmt.Errorf("read hook input of %s: %w", name, err)
	}
	return full, nil
}

func (l dialect) named(event string) engine.Event {
	return engine.Event{Harness: l.agent, Name: event, Phase: l.answerPhase(event)}
}

// find returns the event of a name. One that the agent does not have is PhaseOther.
func (l dialect) find(name string) (reported, bool) {
	for _, list := range [][]reported{l.events, l.others} {
		for _, e := range list {
			if e.name == name {
				return e, true
			}
		}
	}
	return reported{name: name, phase: engine.PhaseOther}, false
}

// phase returns the phase of an event.
func (l dialect) phase(name string) engine.Phase {
	e, _ := l.find(name)
	return e.phase
}

// answerPhase returns the phase under which a failure is answered: an unknown
// event may be a tool call.
func (l dialect) answerPhase(event string) engine.Phase {
	e, known := l.find(event)
	if event == "" || e.asks || !known && mayPrecede(event) {
		return engine.PhasePre
	}
	return e.phase
}

// fail encodes a failure to answer: before a tool call, and where the event is unknown, exit
// status 2 with text. Everywhere else it is silent: a failing hook there would lose the person's
// prompt, or restart the agent's loop endlessly.
func (l dialect) fail(event, text string) (stdout []byte, stderr string, exit int) {
	phase := l.answerPhase(event)
	if e, _ := l.find(event); phase != engine.PhasePre || e.asks {
		return nil, "", 0
	}
	return nil, shorten(engine.Degraded(phase, text).Text, maxText) + "\n", 2
}

func (l dialect) known(name string) bool {
	_, known := l.find(name)
	return known
}

// mayPrecede reports whether a tool call may follow an event of unknown name: a
// misspelt one, or one of a newer client. Names of something that has ended are
// excluded, since a denial there would erase prompts or force the agent to continue.
func mayPrecede(event string) bool {
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
	return !l.known(name) && doc.has(l.keys.input) && !doc.has(l.keys.result) && !doc.has(l.keys.failure)
}

// event returns the event's name. Where the arguments and the
// document disagree, it returns the one that is answered more strictly.
func (l dialect) event(argument string, doc document) (string, error) {
	said, err := doc.text(l.keys.event)
	said = l.sayingOf(argument, said)
	switch {
	case err != nil:
		return argument, err
	case said == "" && argument == "":
		return "", fmt.Errorf("%sthe hook's command names no event: run `reviewer install %s` again", l.missing(), l.agent)
	case said == "" || said == argument:
		return argument, nil
	case argument == "":
		return said, nil
	}
	name := argument
	if l.answerPhase(said) == engine.PhasePre {
		name = said
	}
	return name, fmt.Errorf("the hook's command names the event %q, but %s is %q: run `reviewer install %s` again",
		argument, l.keys.event, said, l.agent)
}

func (l dialect) missing() string {
	if l.keys.event == "" {
		return ""
	}
	return l.keys.event + " is missing and "
}

// sayingOf returns the name of the event that a document names. Several events may have the same
// name there: the argument tells them apart.
func (l dialect) sayingOf(argument, said string) string {
	if e, _ := l.find(argument); said != "" && e.said == said {
		return argument
	}
	for _, e := range slices.Concat(l.events, l.others) {
		if said != "" && e.said == said {
			return e.name
		}
	}
	return said
}

// fill reads the fields of an event whose name is known.
func (l dialect) fill(d document, e *engine.Event) error {
	e.Phase = l.phase(e.Name)
	if err := l.fillBase(d, e); err != nil {
		return err
	}
	switch e.Phase {
	case engine.PhasePre:
		if err := l.fillCall(d, e); err != nil {
			return err
		}
	case engine.PhaseRequest:
		if err := l.fillRequest(d, e); err != nil {
			return err
		}
	case engine.PhasePost:
		if err := l.fillDone(d, e); err != nil {
			return err
		}
	case engine.PhasePrompt:
		if err := l.fillPrompt(d, e); err != nil {
			return err
		}
	case engine.PhaseStop:
		l.fillStop(d, e)
	}
	if l.finish == nil {
		return nil
	}
	return l.finish(d, e)
}

// fillBase reads what each event has.
func (l dialect) fillBase(d document, e *engine.Event) error {
	err := errors.Join(
		d.set(&e.Session, l.keys.session), d.set(&e.CWD, l.keys.cwd), d.set(&e.Mode, l.keys.mode),
		d.set(&e.PromptID, l.keys.promptID), d.set(&e.Agent, l.keys.agent),
	)
	if err == nil && e.Session == "" {
		err = fmt.Errorf("%s is missing", l.keys.session)
	}
	_ = d.set(&e.Transcript, l.keys.transcript) // of another type: there is none, and no call depends on it
	e.Stamp = d.stamp(l.keys.stamp)
	if l.keys.spoken != "" {
		_ = d.decode(&e.Spoken, l.keys.spoken, "a number") // of another type: it is unknown
	}
	return err
}

// fillStop reads the agent's last message, where the client sends it. A value of
// another type counts as absent: a stop must not fail because of it.
func (l dialect) fillStop(d document, e *engine.Event) {
	_ = d.set(&e.LastMessage, l.keys.message)
	_ = d.decode(&e.Again, l.keys.again, "true or false")
}

// fillCall reads the call, whose required keys must be present.
func (l dialect) fillCall(d document, e *engine.Event) error {
	required := []string{l.keys.tool, l.keys.input}
	if l.ids {
		required = append(required, l.keys.call)
	}
	for _, key := range required {
		if !d.has(key) {
			return fmt.Errorf("%s is missing", key)
		}
	}
	if err := l.fillTool(d, e); err != nil {
		return err
	}
	if l.ids && e.Call == "" {
		return fmt.Errorf("%s is empty", l.keys.call)
	}
	return nil
}

// fillRequest reads the call about which a person is asked. Requests have no id.
func (l dialect) fillRequest(d document, e *engine.Event) error {
	l.ids = false
	err := l.fillCall(d, e)
	e.Call = ""
	return err
}

// fillDone reads a call that has ended. Only its tool is required: a report of what ran is
// useful without its id.
func (l dialect) fillDone(d document, e *engine.Event) error {
	if !d.has(l.keys.tool) {
		return fmt.Errorf("%s is missing", l.keys.tool)
	}
	return errors.Join(l.fillTool(d, e), l.fillResult(d, e))
}

func (l dialect) fillTool(d document, e *engine.Event) error {
	if d.has(l.keys.input) {
		if err := l.fillInput(d, e); err != nil {
			return err
		}
	}
	if err := errors.Join(d.set(&e.Tool, l.keys.tool), d.set(&e.Call, l.keys.call)); err != nil {
		return err
	}
	if e.Tool == "" {
		return fmt.Errorf("%s is empty", l.keys.tool)
	}
	return nil
}

// fillInput reads the arguments of a call.
func (l dialect) fillInput(d document, e *engine.Event) error {
	raw := d.raw(l.keys.input)
	if l.looseInput && raw[0] == '"' {
		inner, err := unquoted(raw)
		if err != nil {
			return fmt.Errorf("%s is a string without an object: %w", l.keys.input, err)
		}
		raw = inner
	}
	if raw[0] != '{' {
		return fmt.Errorf("%s is not an object", l.keys.input)
	}
	e.Args = raw
	return nil
}

func (l dialect) fillResult(d document, e *engine.Event) error {
	event, _ := l.find(e.Name)
	r := &engine.Result{Failed: event.failed}
	e.Result = r
	if !r.Failed && d.has(l.keys.result) {
		r.Output = d.raw(l.keys.result)
		r.Changed = changedFiles(r.Output)
	}
	var ms float64
	err := errors.Join(
		d.set(&r.Error, l.keys.failure), d.decode(&r.Interrupted, l.keys.interrupted, "true or false"),
		d.decode(&ms, l.keys.duration, "a number"),
	)
	r.DurationMS = int64(math.Max(0, math.Min(ms, 1<<53-1)))
	return err
}

// fillPrompt keeps PhasePrompt to prompts of a person: limits count from one
// prompt to the next, and an agent can wake itself up. What nobody typed can still forbid something.
func (l dialect) fillPrompt(d document, e *engine.Event) error {
	if err := d.set(&e.Prompt, l.keys.prompt); err != nil {
		return err
	}
	if engine.FromRun(e.Prompt) || l.blankPrompt && strings.TrimSpace(e.Prompt) == "" {
		e.Phase, e.Prompt = engine.PhaseOther, ""
		return nil
	}
	return l.author.read(d, e)
}
