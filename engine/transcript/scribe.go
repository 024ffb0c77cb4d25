package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// translator translates the events of other agents into those of Claude Code: each
// call once, and each result once, after its call.
type translator struct {
	out   Transcript
	at    int              // number of the line, message or step
	now   int64            // its time, Unix milliseconds; 0: unknown
	agent string           // the current sub-agent
	cwd   string           // the agent's working directory at that point
	mode  string           // the agent's permission mode at that point
	calls map[string][]int // the agent's id -> the events of its call
	done  map[string]bool  // the agent's ids of calls that have a result
	taken map[string]bool  // ids of calls in the transcript
	ends  map[int]int      // the event of a call -> that of its result
}

func newScribe(harness string) *translator {
	return &translator{
		out:   Transcript{Harness: harness, Unasked: map[string]bool{}, Written: map[string]WrittenCall{}},
		calls: map[string][]int{}, done: map[string]bool{}, taken: map[string]bool{}, ends: map[int]int{},
	}
}

func (s *translator) bad(why error) { s.out.bad(s.at, why) }

// clock sets the time; one that cannot be read leaves it unchanged.
func (s *translator) clock(text string) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		s.now = at.UnixMilli()
	}
}

// millis sets the time in Unix milliseconds; an impossible one leaves it
// unchanged.
func (s *translator) millis(at float64) {
	if at > 0 && at < 1<<53 {
		s.now = int64(at)
	}
}

func (s *translator) event(name string) engine.Event {
	return engine.Event{Name: name, Phase: harness.PhaseOf(name), Agent: s.agent, CWD: s.cwd, Mode: s.mode, Time: s.now}
}

// prompt records a person's prompt to the main agent.
func (s *translator) prompt(text string) {
	if text == "" || s.agent != "" {
		return
	}
	e := s.event(harness.UserPromptSubmit)
	e.Prompt = text
	s.out.Events = append(s.out.Events, e)
}

// call records a call in the agent's own terms. Unreadable arguments are kept as
// text, because the call did run.
func (s *translator) call(id, tool string, raw json.RawMessage) {
	args, err := arguments(raw)
	if err != nil {
		s.bad(fmt.Errorf("arguments of %s: %w", tool, err))
	}
	id = s.note(id, translate(tool, args))
	if _, twice := s.out.Written[id]; !twice && err == nil {
		s.out.Written[id] = WrittenCall{tool, raw}
	}
}

// note records the calls that are equivalent to one call of the agent. The first has
// its id, the others a number after it. A call without an id gets a derived one, which
// is the same in a copy; note returns it.
func (s *translator) note(id string, calls []toolCall) string {
	if id == "" {
		id = fmt.Sprintf("at-%d-%d", s.now, s.at)
	}
	if _, twice := s.calls[id]; twice {
		return id
	}
	s.calls[id] = []int{}
	for i, c := range calls {
		e := s.event(harness.PreToolUse)
		e.Tool, e.Args, e.Call = c.tool, c.args, id
		if e.CWD = inPlace(c.dir, e.CWD); i > 0 {
			e.Call += "#" + strconv.Itoa(i+1)
		}
		for s.taken[e.Call] {
			e.Call += "+"
		}
		s.taken[e.Call] = true
		s.calls[id] = append(s.calls[id], len(s.out.Events))
		s.out.Events = append(s.out.Events, e)
	}
	return id
}

// inPlace returns the directory dir relative to cwd. If that is unknown, so is
// the result.
func inPlace(dir, cwd string) string {
	switch {
	case dir == "" || cwd == "" && !isAbsolute(dir):
		return cwd
	case isAbsolute(dir):
		return dir
	}
	return path.Join(cwd, dir)
}

// isAbsolute reports whether a path is absolute on any system.
func isAbsolute(name string) bool {
	drive := len(name) > 2 && name[1] == ':' && strings.ContainsAny(name[2:3], `/\`)
	return path.IsAbs(name) || drive || strings.HasPrefix(name, `\\`)
}

// result records the result of a call.
func (s *translator) result(id string, r engine.Result) error {
	return s.results(id, []engine.Result{r})
}

// results records the results of a call: one for each call that it is equivalent to, or
// one for all. Only the first report counts: some agents report a result twice.
func (s *translator) results(id string, list []engine.Result) error {
	calls, known := s.calls[id]
	if !known {
		return fmt.Errorf("result of the call %q, which is not in the transcript", id)
	}
	if s.done[id] {
		return nil
	}
	s.done[id] = true
	for i, at := range calls {
		s.ends[at] = len(s.out.Events)
		s.out.Events = append(s.out.Events, s.end(s.out.Events[at], partResult(list, i, len(calls))))
	}
	return nil
}

// end is the event of a call's result.
func (s *translator) end(pre engine.Event, r engine.Result) engine.Event {
	name := harness.PostToolUse
	if r.Failed {
		name = harness.PostToolUseFailure
	}
	e := s.event(name)
	e.Agent, e.Call, e.Tool, e.Args, e.CWD, e.Mode = pre.Agent, pre.Call, pre.Tool, pre.Args, pre.CWD, pre.Mode
	e.Result = &r
	return e
}

// partResult returns the result of a part of a call. If there is not one for each part, all
// succeeded or all failed, and the output is recorded with the first.
func partResult(list []engine.Result, part, parts int) engine.Result {
	if len(list) == parts {
		return list[part]
	}
	r := list[0]
	for _, other := range list {
		if other.Failed {
			r = other
			break
		}
	}
	if part > 0 {
		r.Output = json.RawMessage(`""`)
	}
	return r
}

// unasked records that the agent rejected a call before anyone was asked.
func (s *translator) unasked(id string) {
	for _, at := range s.calls[id] {
		s.out.Unasked[s.out.Events[at].Call] = true
	}
}

// close completes what is only known at the end.
func (s *translator) close() Transcript {
	for i := range s.out.Events {
		s.out.Events[i].Harness, s.out.Events[i].Session = s.out.Harness, s.out.Session
	}
	return s.out
}

// denials are the beginnings of reviewer's answers to a call that must not run, in
// the texts of the default policy. Some agents report a denial as a failure with no
// other mark.
var denials = []string{
	"Blocked by rule ", "Needs approval (rule ", "This session was stopped by ", "This session was permanently ended by ",
	"reviewer could not review this call", "reviewer denied this call",
}

// isDenial reports whether a string is a denial by reviewer.
func isDenial(text string) bool {
	return slices.ContainsFunc(denials, func(start string) bool { return strings.HasPrefix(text, start) })
}

// ended is a result in words.
func ended(output, failure string) engine.Result {
	if failure != "" {
		return engine.Result{Failed: true, Error: failure}
	}
	raw, _ := json.Marshal(output) // a string can always be written
	return engine.Result{Output: raw}
}

var errNotUTF8 = errors.New("not valid UTF-8")

// decode reads one document of a transcript into v. Fields of the wrong type
// are reported in the error; the others are still read.
func (s *translator) decode(raw []byte, v any) (usable bool) {
	switch {
	case raw == nil:
		s.bad(errLongLine)
		return false
	case !utf8.Valid(raw):
		s.bad(errNotUTF8)
		return false
	}
	err := json.Unmarshal(raw, v)
	if err != nil {
		s.bad(err)
	}
	var mistyped *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mistyped)
}

// contentText returns the text of a content: a string, or the texts of its
// parts. Parts that are not text are skipped; anything else stays as it is.
func contentText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	var list []string
	for _, p := range parts {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}
