package cases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// Step is one event as a reviewer receives it, or a person's choice.
type Step struct {
	Event   engine.Event    // the event that the agent reports
	Control *engine.Control // instead of Event: the person's choice; Record and Print are not set yet
	Time    int64           // Unix milliseconds
	Of      string          // id of the call that a result or a manual override is about
	Loose   bool            // an optional result: it is dropped together with its call
	Files   map[string]File // files that exist after it, in addition to the others
	Expect  *Expect
	Number  int // number of the event in the case, from 1
	Line    int
	Title   string // the event in a few words
}

// session is the id of the session in cases.
const session = "case"

// Harness is the agent that cases simulate, unless they name another.
const Harness = "claude-code"

// converter converts events to steps.
type converter struct {
	c         Case
	now       time.Time
	mode, cwd string
	calls     []Event // calls made so far
	steps     []Step
}

// Steps returns the session's start and then each event, in order.
func (c Case) Steps() ([]Step, error) {
	start, err := time.Parse(time.RFC3339, c.Now)
	if err != nil {
		return nil, &Problem{c.File, c.Line, 0, "now: " + err.Error()}
	}
	t := &converter{c: c, now: start, mode: c.Mode, cwd: c.workspace()}
	t.add(Step{Event: engine.Event{Phase: engine.PhaseStart}})
	for i, e := range c.Events {
		if err := t.event(i+1, e); err != nil {
			return nil, &Problem{c.File, e.line, 0, fmt.Sprintf("event %d: %v", i+1, err)}
		}
	}
	return t.steps, nil
}

// add adds a step, with the current time and place.
func (t *converter) add(s Step) {
	s.Time = t.now.UnixMilli()
	e := &s.Event
	e.Harness, e.Session, e.Time = cmp.Or(e.Harness, t.c.Harness, Harness), cmp.Or(e.Session, session), s.Time
	e.Project, e.CWD, e.Mode = t.c.workspace(), t.cwd, t.mode
	t.steps = append(t.steps, s)
}

func (t *converter) event(number int, e Event) error {
	if err := t.advance(e.At); err != nil {
		return err
	}
	t.move(e)
	s := Step{Expect: e.Expect, Files: e.Files, Number: number, Line: e.line, Title: short(e.title())}
	if s.Event.Agent = e.Agent; e.Tokens > 0 {
		s.Event.Usage = &engine.Usage{Tokens: int64(e.Tokens)}
	}
	s.in(e)
	switch {
	case e.Tool != "":
		return t.tool(s, e)
	case e.Result != nil:
		return t.result(s, e)
	case e.choice():
		return t.choice(s, e)
	case e.Prompt != "":
		s.Event.Phase, s.Event.Prompt = engine.PhasePrompt, e.Prompt
	default:
		s.Event.Phase, s.Event.LastMessage = engine.Phase(e.Phase), e.Says
	}
	t.add(s)
	return nil
}

// in sets the session of a step.
func (s *Step) in(e Event) {
	if e.Other != "" {
		s.Event.Harness, s.Event.Session = e.Other, "other-"+e.Other
	}
}

// Elsewhere reports whether a step happens in another session.
func (s Step) Elsewhere() bool { return s.Event.Session != session }

// advance moves the clock: by a second, by the event's offset, or to its time.
func (t *converter) advance(at string) error {
	next, err := timeAfter(t.now, at)
	if err != nil {
		return err
	}
	if next.Before(t.now) {
		return fmt.Errorf("at: %s is before the previous event (%s)", at, t.now.Format(time.RFC3339))
	}
	t.now = next
	return nil
}

func timeAfter(now time.Time, at string) (time.Time, error) {
	if at == "" {
		return now.Add(time.Second), nil
	}
	if span, ok := strings.CutPrefix(at, "+"); ok {
		d, err := time.ParseDuration(span)
		if err != nil {
			return now, fmt.Errorf("expected a time such as +5s or %s, got %q", defaultNow, at)
		}
		return now.Add(d), nil
	}
	next, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return now, fmt.Errorf("expected a time such as +5s or %s, got %q", defaultNow, at)
	}
	return next, nil
}

// time reports a time that cannot be parsed.
func (d *decoder) time(n *yaml.Node, key, at string) {
	if _, err := timeAfter(time.Time{}, at); err != nil {
		d.wrong(n, "%s: %v", key, err)
	}
}

func (t *converter) move(e Event) {
	if e.Mode != "" {
		t.mode = e.Mode
	}
	if e.CWD != "" {
		t.cwd = t.c.Path(e.CWD)
	}
}

// tool reports a call as often as it happens, each time with its result. Expectations apply
// to the last one.
func (t *converter) tool(s Step, e Event) error {
	if file, ok := e.Args[pathArgument].(string); ok && e.short {
		e.Args = maps.Clone(e.Args)
		e.Args[pathArgument] = t.c.Path(file)
	}
	args, err := json.Marshal(e.Args)
	if err != nil {
		return fmt.Errorf("args: %w", err)
	}
	if e.Args == nil {
		args = json.RawMessage("{}")
	}
	pause, err := e.pause()
	if err != nil {
		return fmt.Errorf("every: %w", err)
	}
	s.Event.Phase, s.Event.Tool = engine.PhasePre, e.Tool
	for i := range max(1, e.Times) {
		one := s
		one.Event.Args = json.RawMessage(e.numbered(string(args), i))
		if i < e.Times-1 {
			one.Expect = nil
		}
		t.calls = append(t.calls, e)
		one.Event.Call = callID(len(t.calls))
		var r *Result
		if e.Result != nil {
			own := *e.Result
			own.Output, own.Failed = e.numbered(own.Output, i), e.numbered(own.Failed, i)
			r = &own
		}
		t.made(one, &e, r)
		if t.now = t.now.Add(time.Millisecond); i < e.Times-1 {
			t.now = t.now.Add(pause - time.Millisecond)
		}
	}
	return nil
}

// numbered replaces {n} with the number of a repeated call, from 1.
func (e *Event) numbered(text string, i int) string {
	if e.Times < 2 {
		return text
	}
	return strings.ReplaceAll(text, "{n}", strconv.Itoa(i+1))
}

func callID(n int) string { return "call-" + strconv.Itoa(n) }

// made adds the steps of a call, of the request about it, and of its result, after which the
// call's files exist.
func (t *converter) made(s Step, e *Event, r *Result) {
	call := s
	if r != nil {
		call.Files = nil
	}
	if e.Asks {
		call.Expect, s.Expect = s.Expect.split()
	}
	t.add(call)
	if e.Asks {
		t.add(request(call, s.Expect))
	}
	if r == nil {
		return
	}
	s.Event.Phase, s.Event.Result, s.Event.Usage = engine.PhasePost, r.engine(), nil
	s.Of, s.Loose, s.Expect = s.Event.Call, true, nil
	t.add(s)
}

// request is the step in which the agent is about to ask a person about a call. It has no id.
func request(call Step, e *Expect) Step {
	call.Event.Phase, call.Event.Call, call.Event.Usage, call.Expect, call.Files = engine.PhaseRequest, "", nil, e, nil
	return call
}

// split separates what is expected of a call from what is expected of the request about it.
func (e *Expect) split() (call, request *Expect) {
	if e == nil || e.Granted == "" {
		return e, nil
	}
	of := *e
	of.Granted = ""
	if !reflect.ValueOf(of).IsZero() {
		call = &of
	}
	return call, &Expect{Granted: e.Granted}
}

// dots pads an output.
var dots = strings.Repeat(".", 79) + "\n"

func (r *Result) engine() *engine.Result {
	text := r.Output
	if missing := r.Bytes - len(text); missing > 0 {
		text += strings.Repeat(dots, missing/len(dots)+1)[:missing]
	}
	output, err := json.Marshal(text)
	if err != nil {
		output = nil // not reached: a string
	}
	return &engine.Result{Failed: r.Failed != "", Error: r.Failed, Output: output, DurationMS: int64(cmp.Or(r.MS, 10))}
}

func (t *converter) result(s Step, e Event) error {
	call, id, err := t.call(e.Call)
	if err != nil {
		return err
	}
	args := call.Args
	if e.Result.Args != nil {
		args = e.Result.Args
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("args: %w", err)
	}
	s.Of = id
	s.Event.Phase, s.Event.Call, s.Event.Tool, s.Event.Args = engine.PhasePost, id, call.Tool, raw
	s.Event.Agent, s.Event.Result = call.Agent, e.Result.engine()
	s.in(call)
	t.add(s)
	return nil
}

// call returns the call that an event is about.
func (t *converter) call(n int) (Event, string, error) {
	if n == 0 {
		n = len(t.calls)
	}
	if n < 1 || n > len(t.calls) {
		return Event{}, "", fmt.Errorf("%s before this event, but it is about number %d", engine.Counted(len(t.calls), "call", "calls"), n)
	}
	return t.calls[n-1], callID(n), nil
}

func (t *converter) choice(s Step, e Event) error {
	const by = "a person"
	switch {
	case e.Stop != "":
		s.Control = &engine.Control{Do: engine.ControlStop, Reason: e.Stop, By: by}
	case e.Resume != "":
		s.Control = &engine.Control{Do: engine.ControlResume, Mode: e.With, Reason: e.Resume, By: by}
	case e.Restore != "":
		s.Control = &engine.Control{Do: engine.ControlRestore, Reason: e.Restore, By: by}
	default:
		_, id, err := t.call(e.Call)
		if err != nil {
			return err
		}
		s.Of, s.Control = id, &engine.Control{Do: "allow_" + e.Allow, By: by}
	}
	t.add(s)
	return nil
}

// workspace is empty if it is unknown.
func (c Case) workspace() string {
	if c.Workspace == noWorkspace {
		return ""
	}
	return c.Workspace
}

// Path makes a path from a case absolute: it is relative to the workspace, or starts with
// ~/ for the home directory.
func (c Case) Path(name string) string {
	switch rest, home := strings.CutPrefix(name, "~"); {
	case home && (rest == "" || rest[0] == '/'):
		return path.Join(c.Home, rest)
	case ofWindows(name):
		return name
	case absolute(name):
		return path.Clean(name)
	case c.workspace() == "":
		return path.Join("/", name)
	}
	return path.Join(c.workspace(), name)
}

// short truncates a title that would fill the screen.
func short(title string) string {
	const most = 120
	if runes := []rune(title); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return title
}
