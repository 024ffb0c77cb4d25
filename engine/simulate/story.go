package simulate

import (
	"context"
	"iter"

	"github.com/agent-reviewer/reviewer/engine"
)

// Story is a session to compare: what happened in it, in order.
type Story struct {
	Session string // the agent's id
	Harness string
	Format  string // of what it was read from, such as audit, claude-code, codex
	Audit   bool   // its records were written by a hook: decisions are in them, and can be checked

	// Moments ends with an error where what follows cannot be read; what came
	// before counts.
	Moments iter.Seq2[Moment, error]

	// Sources is what reading it found, complete once Moments has ended.
	Sources func() Sources
}

// Moment is a record of a session, and what only a transcript tells beside it.
type Moment struct {
	Record *engine.Record
	Event  *engine.Event // raw, so that detectors can look at it; nil in an audit log
	Fate   Fate          // of a call, before it runs
	Copied bool          // another session holds it, too, and it is counted there

	// Under returns the record as other rows read the event; nil in an audit log,
	// whose facts are what they were.
	Under func(context.Context, engine.Rows) *engine.Record

	assumed string // whether files were there whose existence is not known: yes or no; empty: nothing is assumed
}

// Fate is what a transcript says became of a call: its recorded decision, as far
// as there is one.
type Fate string

// The fates.
const (
	FateUnknown Fate = ""        // no result
	FateRan     Fate = "ran"     // let through by whoever was asked
	FateRefused Fate = "refused" // by a hook, a rule of the agent, or a person
)
