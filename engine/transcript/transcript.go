// Package transcript reads what coding agents record of their own sessions, as events:
// one file per format, and one row per format in Readers, some of them for agents that
// have no hook here. It compares them with the log (Reconcile).
//
// Out of scope: the input and output of hooks (engine/harness), what a call means
// (engine/classify), and what a policy would have decided (engine/simulate).
package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// The agents whose transcripts are read besides Claude Code's, and the format
// that several of them share.
//
// Event.Harness names the agent that acted, so that policy can tell them apart.
// Everything else of an event uses Claude Code's terms: its names of events and, where
// a tool does what one of its own does, of tools and arguments. So the same rule applies to all
// agents, and decisions do not depend on the agent unless a rule tests it.
const (
	Codex    = harness.Codex
	Gemini   = "gemini"
	SWEAgent = "swe-agent"
	Copilot  = "copilot"
	Pi       = "pi"
	Droid    = "droid"
	Qwen     = "qwen"
	Kimi     = "kimi"
	Cline    = "cline"
	OpenCode = "opencode"
	ATIF     = "atif"

	MiniSWEAgent = "mini-swe-agent"
)

// Transcript is an agent's own record of a session, as events.
type Transcript struct {
	Harness string         // the agent that wrote it, as in Event.Harness
	Session string         // the agent's id of the session; the first if there are several; empty: the caller names it
	Version string         // of the agent that wrote it, if recorded
	Events  []engine.Event // prompts, calls and their results in the order of the file, each once
	Lines   int            // lines that are not blank; in a file that is one document, its messages or steps
	Bad     []BadLine      // lines, or parts of them, that were not understood

	// Unasked are the calls (by id) that the agent rejected by itself, before
	// it asks any hook: they never ran, and there was nothing to review.
	Unasked map[string]bool

	// Written are calls (by id) as the agent wrote them; in Events they are in Claude Code's terms.
	Written map[string]WrittenCall

	// LocalIDs reports whether ids of calls are meaningful only within this file.
	// Otherwise they are the agent's own, and the same id in another file is
	// the same call: a resumed or forked session contains copies of what came
	// before.
	LocalIDs bool

	// Partial reports whether the file contains only part of a session's calls,
	// as a hook's log does: if another file covers the session, that one
	// counts.
	Partial bool

	// DerivedIDs reports whether ids of calls were derived from their content, since
	// the file has none: they are unknown anywhere else.
	DerivedIDs bool
}

// WrittenCall is a call in the terms of its agent, as its hooks get it.
type WrittenCall struct {
	Tool string
	Args json.RawMessage
}

// BadLine is a line that was left out, or a part of it, and why.
type BadLine struct {
	// Line counts from 1. In a file that is one document it is the number of the message
	// or step; of a string that was shortened, always the line.
	Line int    `json:"line"`
	Why  string `json:"why"`
}

// bad records a part of a line that was not understood.
func (t *Transcript) bad(line int, why error) {
	text := why.Error()
	var mistyped *json.UnmarshalTypeError
	if errors.As(why, &mistyped) {
		text = fmt.Sprintf("%s has an unknown form (%s)", cmp.Or(mistyped.Field, "the line"), mistyped.Value)
	}
	t.Bad = append(t.Bad, BadLine{Line: line, Why: text})
}

// Calls returns the events before a tool call, in order.
func (t Transcript) Calls() []engine.Event {
	var calls []engine.Event
	for _, e := range t.Events {
		if e.Phase == engine.PhasePre {
			calls = append(calls, e)
		}
	}
	return calls
}

// Merge joins transcripts of the same session, such as the files of its
// sub-agents, in order of time; each call is kept once, and each prompt. Sessions
// keep the order in which they came.
func Merge(list []Transcript) []Transcript {
	var merged []Transcript
	for _, t := range withoutParts(list) {
		i := slices.IndexFunc(merged, func(m Transcript) bool { return m.Session == t.Session && t.Session != "" })
		if i < 0 {
			merged = append(merged, t)
			continue
		}
		merged[i] = join(merged[i], t)
	}
	return merged
}

func join(a, b Transcript) Transcript {
	if b.LocalIDs {
		b = b.renamed(a)
	}
	out := Transcript{Harness: a.Harness, Session: a.Session, Version: a.Version, Lines: a.Lines + b.Lines, Unasked: map[string]bool{},
		LocalIDs: a.LocalIDs || b.LocalIDs, Partial: a.Partial && b.Partial, DerivedIDs: a.DerivedIDs || b.DerivedIDs}
	out.Bad = append(slices.Clone(a.Bad), b.Bad...)
	out.Written = map[string]WrittenCall{}
	maps.Copy(out.Written, b.Written)
	maps.Copy(out.Written, a.Written)
	seen := map[eventKey]bool{}
	var strands [2][]engine.Event
	for i, events := range [][]engine.Event{a.Events, b.Events} {
		own := map[eventKey]bool{}
		for _, e := range events {
			what := happeningOf(e)
			if !seen[what] && (e.Call == "" || !own[what]) {
				strands[i] = append(strands[i], e)
			}
			own[what] = true
		}
		maps.Copy(seen, own)
	}
	out.Events = mergeByTime(strands[:])
	if out.Partial {
		out.Events = ResultsAfterCalls(out.Events)
	}
	for _, unasked := range []map[string]bool{a.Unasked, b.Unasked} {
		for id := range unasked {
			out.Unasked[id] = true
		}
	}
	return out
}

// eventKey identifies an event that is in two files: by its call, or else by
// its time and text.
type eventKey struct {
	call, agent, prompt string
	phase               engine.Phase
	time                int64
}

func happeningOf(e engine.Event) eventKey {
	if e.Call != "" {
		return eventKey{call: e.Call, phase: e.Phase}
	}
	return eventKey{agent: e.Agent, prompt: e.Prompt, phase: e.Phase, time: e.Time}
}

// Split splits a file into its sessions, where one follows the other; name is
// the session of events that name none. Where ids alternate, or change in the
// middle of a turn, it is one session: clients use both the old and the new id
// in the lines of a resumed session.
func Split(t Transcript, name string) []Transcript {
	t.Session = cmp.Or(t.Session, name)
	var runs []Transcript
	seen := map[string]bool{}
	begin := 0
	for i, e := range t.Events {
		id := cmp.Or(e.Session, t.Session)
		if i > 0 && id == cmp.Or(t.Events[i-1].Session, t.Session) {
			continue
		}
		if turn := i > 0 && e.Phase != engine.PhasePrompt && e.Time != 0; !t.Partial && (seen[id] || turn) {
			return []Transcript{t}
		}
		seen[id] = true
		if i > 0 {
			runs = append(runs, t.run(begin, i))
			begin = i
		}
	}
	if len(seen) < 2 {
		return []Transcript{t}
	}
	return append(runs, t.run(begin, len(t.Events)))
}

func (t Transcript) run(from, to int) Transcript {
	t.Events = t.Events[from:to]
	t.Session = cmp.Or(t.Events[0].Session, t.Session)
	return t
}

// mergeByTime merges lists of events in order of time. Each list keeps its order: an
// event whose clock went back, or that has no time, gets the time of the one
// before it.
func mergeByTime(strands [][]engine.Event) []engine.Event {
	type timed struct {
		engine.Event
		clock int64
	}
	var all []timed
	for _, strand := range strands {
		clock := int64(0)
		for _, e := range strand {
			clock = max(clock, e.Time)
			all = append(all, timed{e, clock})
		}
	}
	slices.SortStableFunc(all, func(x, y timed) int { return cmp.Compare(x.clock, y.clock) })
	events := make([]engine.Event, len(all))
	for i, e := range all {
		events[i] = e.Event
	}
	return events
}

// renamed gives the calls ids that no call of a has.
func (t Transcript) renamed(a Transcript) Transcript {
	taken := map[string]bool{}
	for _, e := range a.Events {
		taken[e.Call] = true
	}
	part := 2
	for slices.ContainsFunc(t.Events, func(e engine.Event) bool { return e.Call != "" && taken[inPart(e.Call, part)] }) {
		part++
	}
	t.Events = slices.Clone(t.Events)
	for i, e := range t.Events {
		if e.Call != "" {
			t.Events[i].Call = inPart(e.Call, part)
		}
	}
	unasked := map[string]bool{}
	for id := range t.Unasked {
		unasked[inPart(id, part)] = true
	}
	t.Unasked = unasked
	return t
}

func inPart(id string, part int) string { return id + ";" + strconv.Itoa(part) }

// maxTranscriptLine limits a line, or a part of a document, in bytes: what is read takes
// several times as much memory.
const maxTranscriptLine = 16 << 20

var errLongLine = fmt.Errorf("longer than %d MiB", maxTranscriptLine>>20)

// eachLine calls fn with each line that is not blank. A line of more than limit
// bytes is passed as nil.
func eachLine(r io.Reader, limit int, fn func(n int, line []byte)) error {
	b := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(b, limit)
		if err != nil && err != io.EOF && !errors.Is(err, errLongLine) {
			return fmt.Errorf("read transcript: %w", err)
		}
		if errors.Is(err, errLongLine) {
			fn(n, nil)
			continue
		}
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			fn(n, trimmed)
		}
		if err == io.EOF {
			return nil
		}
	}
}

func readLine(b *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := b.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit; !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long && (err == nil || err == io.EOF):
			return nil, errLongLine
		}
		return line, err
	}
}
