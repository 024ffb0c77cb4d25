package cel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Condition is one question about an Input. It produces a finding if Match accepts the input,
// When is true (or empty), and Measure reaches Threshold (or is empty).
type Condition struct {
	ID        string
	Match     Match
	When      string  // CEL, bool
	Measure   string  // CEL, a number; rounded to 1e-6 before it is compared
	Threshold float64 // of Measure: reached counts
	Levels    []Level // levels of a Measure
	Limited   float64 // factor on both in a session that was resumed with limits; 0: none

	Confidence string // CEL, a number from 0 to 1: the confidence in the finding
	Details    string // CEL, a string: what was measured, in words
	List       string // empty: the condition is independent of others
	Names      *Names // what the expressions can refer to besides the input; the same for all conditions of a host
	Order      int    // position in List, of whose conditions only the first that is true gives a finding
}

// Level names the step that a measure has reached: the highest whose At it
// reaches.
type Level struct {
	At    float64
	Level string
}

// Match is what an input must have before a condition is evaluated. Each list needs
// one word in common with the input; an empty list accepts all.
type Match struct {
	Phases   []string
	Tools    []string // exact names; "mcp__*" matches every name with that prefix
	Types    []string // of the action
	Signals  []string // of the action
	Commands []string // names of the action's commands, wrappers not counted
	Detected []string // ids of detectors that found something
	Facts    []string // of engine.FactNames
	Actions  []string // the action's dotted name; exact, or ending in * as tools do
	Written  []string // patterns of commands as they are written (engine/cmdline): one command has to match
	Every    bool     // of Written: all commands have to match
	Weekdays []string // of the event, UTC
	Hours    []int64  // [start, end) of the event's hour, UTC, over midnight where start > end
	Before   int64    // the event's time, in Unix ms, is before; 0: any time
}

// Error is a problem of a condition.
type Error struct {
	ID      string // of the condition
	Part    string // id, match, when, measure, threshold, levels
	Line    int    // in the expression, from 1; 0 if no place can be given
	Column  int    // in the line, from 1
	Code    string // kind of problem, one of those that `policy codes` lists
	Warning bool   // a warning, not an error
	Message string
}

func (e *Error) Error() string {
	of := "condition " + e.ID
	if e.defines() {
		of = e.ID
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", of, e.Part, e.Message)
	}
	return fmt.Sprintf("%s: %s:%d:%d: %s", of, e.Part, e.Line, e.Column, e.Message)
}

// join combines several errors into one; nil if there are none. errors.As finds the
// first, Unwrap() []error all.
func join(problems []*Error) error {
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Problems lists what an error of Compile consists of.
func Problems(err error) (list []*Error) {
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil {
		return nil
	}
	for _, one := range joined.Unwrap() {
		if p, ok := one.(*Error); ok {
			list = append(list, p)
		}
	}
	return list
}

// validate checks everything of a condition except its expressions.
func (c *Condition) validate() []*Error {
	problems := c.Match.validate(c.ID)
	add := func(part, format string, args ...any) {
		problems = append(problems, &Error{ID: c.ID, Part: part, Code: "row.meaning", Message: fmt.Sprintf(format, args...)})
	}
	if c.ID == "" {
		add("id", "is missing: give each condition an id of its own")
	}
	if c.When == "" && c.Measure == "" && c.Match.empty() {
		add("when", "is missing: without when, measure or match the condition would be true for everything")
	}
	if c.Measure == "" && c.Threshold != 0 {
		add("threshold", "has no effect without a measure")
	}
	if c.Measure == "" && len(c.Levels) > 0 {
		add("levels", "have no effect without a measure")
	}
	if c.Measure == "" && c.Confidence != "" {
		add("confidence", "has no effect without a measure")
	}
	for i, l := range c.Levels {
		switch {
		case l.Level == "":
			add("levels", "the step at %v has no level", l.At)
		case l.At < c.Threshold:
			add("levels", "%s at %v is below the threshold %v and can never be given", l.Level, l.At, c.Threshold)
		case slices.ContainsFunc(c.Levels[:i], func(o Level) bool { return o.At == l.At }):
			add("levels", "has two steps at %v", l.At)
		}
	}
	return problems
}

func (m *Match) validate(id string) []*Error {
	var problems []*Error
	add := func(format string, args ...any) {
		problems = append(problems, &Error{ID: id, Part: "match", Code: "row.word", Message: fmt.Sprintf(format, args...)})
	}
	for _, list := range []struct {
		name         string
		words, known []string
	}{
		{"phases", m.Phases, engine.Phases()},
		{"types", m.Types, engine.Types()},
		{"signals", m.Signals, append(engine.Signals(), engine.LegacySignals()...)},
		{"weekdays", m.Weekdays, engine.Weekdays()},
		{"tools", m.Tools, nil},
		{"actions", m.Actions, nil},
		{"commands", m.Commands, nil},
		{"detected", m.Detected, nil},
		{"facts", m.Facts, engine.FactNames()},
	} {
		for _, w := range list.words {
			switch {
			case w == "":
				add("%s: an empty word matches nothing; leave the list out to match anything", list.name)
			case list.known != nil && !slices.Contains(list.known, w):
				add("%s: unknown word %s", list.name, engine.Suggest(w, list.known))
			case (list.name == "commands" || list.name == "detected") && strings.Contains(w, "*"):
				add("%s: %q: patterns are not supported here", list.name, w)
			case strings.Contains(strings.TrimSuffix(w, "*"), "*") && strings.Contains(w, "("):
				add("%s: %q is not how tools are written here: name the tool alone, and ask for its arguments in when", list.name, w)
			case strings.Contains(strings.TrimSuffix(w, "*"), "*"):
				add("%s: %q: a * can only be at the end", list.name, w)
			}
		}
	}
	if h := m.Hours; len(h) != 0 && (len(h) != 2 || h[0] == h[1]) {
		add("hours: expected a start and a different end, got %v", h)
	}
	return problems
}
