package simulate

import (
	"context"
	"iter"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// RecordedSession is a recorded session to compare: its events, in order.
type RecordedSession struct {
	Session string // the agent's id
	Harness string
	Format  string // of what it was read from, such as audit, claude-code, codex
	Audit   bool   // its records were written by a hook: decisions are in them, and can be checked

	// Events ends with an error where what follows cannot be read; what came
	// before counts.
	Events iter.Seq2[RecordedEvent, error]

	// Sources returns the result of reading it, complete once Events has ended.
	Sources func() Sources
}

// RecordedEvent is a record of a session, and what only a transcript contains in addition.
type RecordedEvent struct {
	Record  *engine.Record
	Event   *engine.Event     // raw, for detectors; nil in an audit log
	Outcome TranscriptOutcome // of a call, before it runs
	Copied  bool              // another session contains it too, and it is counted there

	// Under returns the record as other rows classify the event; nil in an audit log, whose
	// facts are recorded.
	Under func(context.Context, engine.Rows) *engine.Record

	found detections // what detectors found in Event, for all sides

	exists   map[string]string // whether files existed of which that is unknown: yes or no; nil: nothing is assumed
	supposed map[string]int64  // what detectors found whose results are unknown; nil: nothing
}

// TranscriptOutcome is the outcome of a call in a transcript: its recorded decision, as far
// as there is one.
type TranscriptOutcome string

// The outcomes.
const (
	TranscriptUnknown TranscriptOutcome = ""        // no result
	TranscriptRan     TranscriptOutcome = "ran"     // allowed by the person or program that was asked
	TranscriptRefused TranscriptOutcome = "refused" // by a hook, a rule of the agent, or a person
)

// detections are the results of the detectors of several policies for an event. Policies
// with the same detectors search it once.
type detections map[string]map[string]int64

func (d detections) of(p *review.Policy, e engine.Event) map[string]int64 {
	if d == nil {
		return p.Detector.Detect(e)
	}
	key := p.Detectors + " " + digestOf(p.Rows)
	found, known := d[key]
	if !known {
		found = p.Detector.Detect(e)
		d[key] = found
	}
	return found
}
