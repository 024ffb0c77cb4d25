package stats

import (
	"cmp"
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Checkpoints describes the stored files of workspaces.
type Checkpoints struct {
	Before ReviewTime `json:"before"` // of those before calls; a call waits for it
	After  ReviewTime `json:"after"`  // of those after calls
	Stored int64      `json:"stored"` // bytes
	Left   int64      `json:"left"`   // calls before which some path was left out, or not examined
	Failed int64      `json:"failed"`
	Denied int64      `json:"denied"` // of these, calls that did not run
	// Rollbacks that policy chose, and those of them that restored nothing because someone else
	// had changed a file, or because they failed.
	Rollbacks   int64 `json:"rollbacks"`
	NotRestored int64 `json:"not_restored"`
}

// ObservedProgram compares what the calls of a program were expected to change with what
// changed.
type ObservedProgram struct {
	Program   string `json:"program"` // the one that changes files; the action's name for tools
	Calls     int64  `json:"calls"`
	Predicted int64  `json:"predicted"` // paths that were expected to change
	Confirmed int64  `json:"confirmed"` // of these, paths that did
	Changed   int64  `json:"changed"`   // paths that changed
	Matched   int64  `json:"matched"`   // of these, paths that were expected to
	Precision *Rate  `json:"precision,omitempty"`
	Recall    *Rate  `json:"recall,omitempty"`
}

// files counts what is recorded about the files of calls.
type files struct {
	before, after *times
	doc           Checkpoints
	programs      map[string]*ObservedProgram
}

func newFiles() *files {
	return &files{before: newTimes(), after: newTimes(), programs: map[string]*ObservedProgram{}}
}

// see reads an act; it reports whether that was about files.
func (f *files) see(a *engine.Act) bool {
	if a != nil && a.Rollback != nil {
		f.doc.Rollbacks++
		if a.Rollback.Failure != "" {
			f.doc.NotRestored++
		}
	}
	if !a.OfFiles() {
		return false
	}
	if c := a.Checkpoint; c != nil {
		f.checkpoint(a.Kind, c)
	}
	if a.Kind == engine.ActObserved && a.Observed != nil {
		f.observed(a.Observed)
	}
	return true
}

func (f *files) checkpoint(kind string, c *engine.CheckpointFacts) {
	f.doc.Stored += max(c.Stored, 0)
	if c.Failure != "" {
		f.doc.Failed++
	}
	if kind == engine.ActObserved {
		f.after.add(c.MS)
		return
	}
	f.before.add(c.MS)
	if c.Left > 0 || c.Unseen > 0 {
		f.doc.Left++
	}
	if c.Effect == engine.Block {
		f.doc.Denied++
	}
}

func (f *files) observed(o *engine.Observed) {
	if o.Confirmed < 0 || o.Confirmed > o.Predicted || o.Matched < 0 || o.Matched > o.Changed {
		return // not written by reviewer
	}
	name := Other
	if len(o.Programs) > 0 {
		name = o.Programs[0]
	}
	if _, known := f.programs[name]; !known && len(f.programs) >= maxNames {
		name = Other
	}
	p := f.programs[name]
	if p == nil {
		p = &ObservedProgram{Program: name}
		f.programs[name] = p
	}
	p.Calls++
	p.Predicted, p.Confirmed = p.Predicted+o.Predicted, p.Confirmed+o.Confirmed
	p.Changed, p.Matched = p.Changed+o.Changed, p.Matched+o.Matched
}

func (f *files) checkpoints() Checkpoints {
	d := f.doc
	d.Before, d.After = f.before.document(), f.after.document()
	return d
}

// list returns the programs, the one with most calls first.
func (f *files) list() []ObservedProgram {
	list := []ObservedProgram{}
	for _, name := range slices.Sorted(maps.Keys(f.programs)) {
		p := *f.programs[name]
		p.Precision, p.Recall = shareOf(p.Confirmed, p.Predicted), shareOf(p.Matched, p.Changed)
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b ObservedProgram) int { return cmp.Compare(b.Calls, a.Calls) })
	return list
}

// shareOf is the share k of n; nil of nothing.
func shareOf(k, n int64) *Rate {
	if n == 0 {
		return nil
	}
	r := rateOf(k, n)
	return &r
}
