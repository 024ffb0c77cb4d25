package sources

import (
	"crypto/sha256"
	"slices"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// merge merges the events of a session's files into one sequence: in order of time,
// keeping the order of each file, regardless of its clock. Events in several files
// are taken once, from the first. Calls that the agent rejected before anyone was
// asked are counted and left out: no hook would have seen them.
func (t *sessionEvents) merge() {
	t.leaveParts()
	unasked := map[string]bool{}
	for i := range t.strands {
		t.strands[i].rename(i)
		for call := range t.strands[i].transcript.Unasked {
			unasked[call] = true
		}
	}
	seen := map[eventKey]bool{}
	skipped := map[string]bool{}
	for e := range t.inOrder() {
		what := keyOf(e)
		if len(t.strands) > 1 && seen[what] {
			continue
		}
		seen[what] = true
		if e.Call != "" && unasked[e.Call] {
			skipped[e.Call] = true
			continue
		}
		t.events = append(t.events, e)
	}
	if t.strands[0].transcript.Partial {
		t.events = transcript.ResultsAfterCalls(t.events)
	}
	t.sources.Unasked += int64(len(skipped))
}

// leaveParts leaves out files with part of the session, such as a hook's log, if
// another file has all of it.
func (t *sessionEvents) leaveParts() {
	if slices.ContainsFunc(t.strands, func(s fileEvents) bool { return !s.transcript.Partial }) {
		t.strands = slices.DeleteFunc(t.strands, func(s fileEvents) bool { return s.transcript.Partial })
	}
}

// inOrder iterates over the events of all strands. An event whose clock went
// back, or that has none, gets the time of the previous event.
func (t *sessionEvents) inOrder() func(yield func(engine.Event) bool) {
	return func(yield func(engine.Event) bool) {
		next := make([]int, len(t.strands))
		clock := make([]int64, len(t.strands))
		for {
			from := -1
			for i, s := range t.strands {
				if next[i] == len(s.transcript.Events) {
					continue
				}
				clock[i] = max(clock[i], s.transcript.Events[next[i]].Time)
				if from < 0 || clock[i] < clock[from] {
					from = i
				}
			}
			if from < 0 || !yield(t.strands[from].transcript.Events[next[from]]) {
				return
			}
			next[from]++
		}
	}
}

// rename makes ids that are only valid within one file unique in the session.
func (s *fileEvents) rename(part int) {
	if part == 0 || !s.transcript.LocalIDs {
		return
	}
	other := func(call string) string { return call + ";" + strconv.Itoa(part+1) }
	events := make([]engine.Event, len(s.transcript.Events))
	for i, e := range s.transcript.Events {
		if e.Call != "" {
			e.Call = other(e.Call)
		}
		events[i] = e
	}
	unasked := map[string]bool{}
	for call := range s.transcript.Unasked {
		unasked[other(call)] = true
	}
	s.transcript.Events, s.transcript.Unasked = events, unasked
}

// eventKey identifies an event.
type eventKey struct {
	agent, call string
	phase       engine.Phase
	time        int64
	text        [sha256.Size]byte
}

// keyOf identifies an event: by its call, or else by its whole content.
func keyOf(e engine.Event) eventKey {
	if e.Call != "" {
		return eventKey{call: e.Call, phase: e.Phase}
	}
	return eventKey{agent: e.Agent, phase: e.Phase, time: e.Time,
		text: sha256.Sum256([]byte(e.Tool + "\x00" + string(e.Args) + "\x00" + e.Prompt))}
}
