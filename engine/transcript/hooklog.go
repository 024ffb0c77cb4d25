package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// isHookLog reports whether a file begins like a log of the inputs of Claude Code's
// hooks: an array, or one document per line. A single document is not a log.
func isHookLog(head []byte) bool {
	first := elements(head, 1)
	if len(first) == 0 {
		line, rest, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
		if len(bytes.TrimSpace(rest)) == 0 {
			return false
		}
		first = []map[string]string{topLevel(line)}
	}
	_, event := first[0]["hook_event_name"]
	_, tool := first[0]["tool_name"]
	return first[0]["session_id"] != "" && (event || tool)
}

// hookInput is the part of a hook's input that is read. Others wrote the log, so input
// that DecodeClaudeCode refuses is read as far as possible.
type hookInput struct {
	Session   string          `json:"session_id"`
	Event     string          `json:"hook_event_name"`
	Timestamp string          `json:"timestamp"` // hooks that add one
	CWD       string          `json:"cwd"`
	Mode      string          `json:"permission_mode"`
	Agent     string          `json:"agent_id"`
	PromptID  string          `json:"prompt_id"`
	Prompt    string          `json:"prompt"`
	Source    string          `json:"source"`
	Tool      string          `json:"tool_name"`
	Args      json.RawMessage `json:"tool_input"`
	Call      string          `json:"tool_use_id"` // absent in older clients
	Response  json.RawMessage `json:"tool_response"`
	Error     string          `json:"error"`
	Interrupt bool            `json:"is_interrupt"`
	Duration  float64         `json:"duration_ms"`
}

// hookLogReader reads a log of hook inputs. Its sessions follow one another in the
// Transcript, however their inputs alternate in the log.
type hookLogReader struct {
	out    Transcript
	at     int
	order  []string                  // sessions as they come up
	events map[string][]engine.Event // by session
	called map[string]string         // calls in the log -> their session
	done   map[string]bool           // and those that have a result
	counts map[string]int            // of calls without an id: event and content -> how many there were
}

// readHookLog reads a log of hook inputs. It covers only part of a session: a log of
// the hook before calls has no results, one of the hook after calls has no call that
// failed or was refused, and a hook may be installed for some tools only.
func readHookLog(r io.Reader) (Transcript, error) {
	h := hookLogReader{
		out:    Transcript{Harness: harness.ClaudeCode, Unasked: map[string]bool{}, Partial: true},
		events: map[string][]engine.Event{}, called: map[string]string{}, done: map[string]bool{}, counts: map[string]int{},
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var err error
	if isArray(in) {
		d := newDocReader(in)
		err = d.alone(func() error {
			raw, err := d.value()
			if err == nil {
				h.input(h.at+1, raw)
			}
			return err
		})
		err = d.end("log of hook inputs", "element", h.at, err)
	} else {
		err = eachLine(in, maxTranscriptLine, h.input)
	}
	return h.close(), err
}

// isArray reports whether the first character other than white space is a
// bracket.
func isArray(in *bufio.Reader) bool {
	head, _ := in.Peek(in.Size())
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
}

func (h *hookLogReader) input(n int, raw []byte) {
	h.at = n
	h.out.Lines++
	var i hookInput
	switch {
	case raw == nil:
		h.bad(errLongLine)
		return
	case !utf8.Valid(raw):
		h.bad(errNotUTF8)
		return
	}
	err := json.Unmarshal(onOneLine(raw), &i)
	if err != nil {
		h.bad(err)
	}
	var mistyped *json.UnmarshalTypeError
	if err == nil || errors.As(err, &mistyped) {
		h.event(i)
	}
}

func (h *hookLogReader) bad(why error) { h.out.bad(h.at, why) }

func (h *hookLogReader) event(i hookInput) {
	name := i.name()
	switch phase := harness.PhaseOf(name); {
	case i.Session == "":
		h.bad(errors.New("session_id is missing"))
	case phase == engine.PhasePrompt && harness.FromPerson(i.Source) && i.Prompt != "":
		e := i.event(name)
		e.Prompt = i.Prompt
		h.add(e)
	case phase != engine.PhasePre && phase != engine.PhasePost:
	case i.Tool == "" || len(i.Args) == 0 || i.Args[0] != '{':
		h.bad(errors.New("call without tool_name, or without an object as its tool_input"))
	default:
		h.call(i, name)
	}
}

// name returns the event's name; if it is missing, a response shows that the call had
// ended.
func (i hookInput) name() string {
	switch {
	case i.Event != "":
		return i.Event
	case len(i.Response) > 0:
		return harness.PostToolUse
	}
	return harness.PreToolUse
}

func (i hookInput) event(name string) engine.Event {
	e := engine.Event{Harness: harness.ClaudeCode, Name: name, Phase: harness.PhaseOf(name), Session: i.Session,
		Agent: i.Agent, CWD: i.CWD, Mode: i.Mode, PromptID: i.PromptID}
	if at, err := time.Parse(time.RFC3339, i.Timestamp); err == nil {
		e.Time = at.UnixMilli()
	}
	return e
}

func (h *hookLogReader) add(e engine.Event) {
	if _, known := h.events[e.Session]; !known {
		h.order = append(h.order, e.Session)
	}
	h.events[e.Session] = append(h.events[e.Session], e)
}

// call records a call, and its result if the input has one.
func (h *hookLogReader) call(i hookInput, name string) {
	id := i.Call
	if id == "" {
		id, h.out.DerivedIDs = h.idOf(i, name), true
	}
	if session, known := h.called[id]; known {
		i.Session = session // an id belongs to one call
	} else {
		h.called[id] = i.Session
		h.note(i, harness.PreToolUse, id, nil)
	}
	if harness.PhaseOf(name) == engine.PhasePost && !h.done[id] {
		h.done[id] = true
		h.note(i, name, id, i.result(name))
	}
}

func (h *hookLogReader) note(i hookInput, name, id string, r *engine.Result) {
	e := i.event(name)
	e.Call, e.Tool, e.Args, e.Result = id, i.Tool, i.Args, r
	h.add(e)
}

// idOf derives an id from the content of a call and its number of repetitions, so that
// the logs of the hooks before and after calls give the same id.
func (h *hookLogReader) idOf(i hookInput, name string) string {
	args, err := engine.Canonical(i.Args)
	if err != nil {
		args = i.Args
	}
	sum := sha256.Sum256([]byte(i.Session + "\x00" + i.Agent + "\x00" + i.Tool + "\x00" + string(args)))
	content := hex.EncodeToString(sum[:8])
	key := string(harness.PhaseOf(name)) + content
	h.counts[key]++
	return "hook-" + content + "-" + strconv.Itoa(h.counts[key])
}

func (i hookInput) result(name string) *engine.Result {
	r := &engine.Result{Failed: name == harness.PostToolUseFailure, Error: i.Error, Interrupted: i.Interrupt,
		DurationMS: int64(max(0, min(i.Duration, 1<<53-1)))}
	var side struct {
		Interrupted bool `json:"interrupted"`
	}
	if !r.Failed {
		r.Output = i.Response
		if json.Unmarshal(orNull(i.Response), &side) == nil {
			r.Interrupted = r.Interrupted || side.Interrupted
		}
	}
	return r
}

func (h *hookLogReader) close() Transcript {
	for _, id := range h.order {
		h.out.Session = cmp.Or(h.out.Session, id)
		h.out.Events = append(h.out.Events, h.events[id]...)
	}
	return h.out
}

// withoutParts leaves out partial transcripts of a session that another file
// contains completely.
func withoutParts(list []Transcript) []Transcript {
	whole := map[string]bool{}
	for _, t := range list {
		whole[t.Session] = whole[t.Session] || !t.Partial
	}
	return slices.DeleteFunc(slices.Clone(list), func(t Transcript) bool { return t.Partial && t.Session != "" && whole[t.Session] })
}

// ResultsAfterCalls moves results without a time right after their calls, which may be
// from another log.
func ResultsAfterCalls(events []engine.Event) []engine.Event {
	results := map[string]engine.Event{}
	for _, e := range events {
		if e.Phase == engine.PhasePost && e.Time == 0 {
			results[e.Call] = e
		}
	}
	var out []engine.Event
	for _, e := range events {
		if e.Phase == engine.PhasePost && e.Time == 0 {
			continue
		}
		out = append(out, e)
		if r, there := results[e.Call]; there && e.Phase == engine.PhasePre {
			out = append(out, r)
		}
	}
	return out
}
