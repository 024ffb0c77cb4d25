package sources

import (
	"crypto/sha256"
	"slices"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// weave joins what the files of a session tell to one sequence: in order of
// time, and of each file in its own order, whatever its clock did. What several
// tell is taken once, from the first. Calls that the agent turned down before
// anybody was asked are counted and left out: no hook would have heard of them.
func (t *tale) weave() {
	t.leaveParts()
	unasked := map[string]bool{}
	for i := range t.strands {
		t.strands[i].rename(i)
		for call := range t.strands[i].transcript.Unasked {
			unasked[call] = true
		}
	}
	seen := map[happening]bool{}
	skipped := map[string]bool{}
	for e := range t.inOrder() {
		what := happened(e)
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
		t.events = harness.ResultsBehindCalls(t.events)
	}
	t.sources.Unasked += int64(len(skipped))
}

// leaveParts leaves out what tells of part of the session, such as a hook's log,
// where another file tells of all of it.
func (t *tale) leaveParts() {
	if slices.ContainsFunc(t.strands, func(s strand) bool { return !s.transcript.Partial }) {
		t.strands = slices.DeleteFunc(t.strands, func(s strand) bool { return s.transcript.Partial })
	}
}

// inOrder iterates over the events of all strands. An event whose clock went
// back, or that has none, happens when the one before it did.
func (t *tale) inOrder() func(yield func(engine.Event) bool) {
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

// rename gives calls whose ids mean something in one file only ids that no
// other file of the session has.
func (s *strand) rename(part int) {
	if part == 0 || !s.transcript.Local {
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

// happening is what makes two events the same.
type happening struct {
	agent, call string
	phase       engine.Phase
	time        int64
	text        [sha256.Size]byte
}

// happened identifies an event: by its call, and without one by all that it says.
func happened(e engine.Event) happening {
	if e.Call != "" {
		return happening{call: e.Call, phase: e.Phase}
	}
	return happening{agent: e.Agent, phase: e.Phase, time: e.Time,
		text: sha256.Sum256([]byte(e.Tool + "\x00" + string(e.Args) + "\x00" + e.Prompt))}
}
