package engine

import (
	"slices"
	"strings"
)

// Terminals is the text that was typed into terminals and has not run yet: an
// agent can type a command in pieces, over several calls. It is the state after
// an action and replaces the previous one.
type Terminals struct {
	Lines []TypedLine `json:"lines"` // unfinished lines, one for each terminal; the latest is last
}

// TypedLine is a line that has not been ended with Enter yet.
type TypedLine struct {
	Terminal string   `json:"terminal"`         // name by which a multiplexer knows the terminal; empty: unknown
	Before   string   `json:"before,omitempty"` // what earlier lines set in the terminal: the directory, names of commands
	Parts    []string `json:"parts,omitempty"`  // typed text, one part for each call
}

// Equal reports whether two states are the same. A nil state equals one without lines.
func (t *Terminals) Equal(other *Terminals) bool {
	a, b := t.lines(), other.lines()
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Terminal != b[i].Terminal || a[i].Before != b[i].Before || !slices.Equal(a[i].Parts, b[i].Parts) {
			return false
		}
	}
	return true
}

// Hole stands for an unknown part of a text that is interpreted as code.
const Hole = '\uf8fe'

// Or returns the state if it is unknown whether a call ran that leads from t to after: what it
// would have ended or removed may still be there, before what it added.
func (t *Terminals) Or(after *Terminals) *Terminals {
	either := &Terminals{Lines: []TypedLine{}}
	added := slices.Clone(after.lines())
	for _, old := range t.lines() {
		i := slices.IndexFunc(added, func(l TypedLine) bool { return l.Terminal == old.Terminal })
		switch {
		case i < 0:
			either.Lines = append(either.Lines, old)
		case added[i].follows(old):
		default:
			if added[i].Before != old.Before {
				added[i].Before = "cd " + string(Hole)
			}
			added[i].Parts = slices.Concat(old.Parts, added[i].Parts)
		}
	}
	either.Lines = append(either.Lines, added...)
	return either.bound()
}

// follows reports whether a line is another one to which something was added.
func (l TypedLine) follows(old TypedLine) bool {
	text := strings.Join(l.Parts, "")
	return l.Before == old.Before && strings.HasPrefix(text, strings.Join(old.Parts, ""))
}

// bound replaces lines that are too many or too long by a line with unknown text in an unknown
// terminal.
func (t *Terminals) bound() *Terminals {
	long := slices.ContainsFunc(t.Lines, func(l TypedLine) bool {
		return JSONLen(l.Before) > 2*MaxTypedBytes || JSONLen(strings.Join(l.Parts, "")) > 2*MaxTypedBytes || len(l.Parts) > MaxTypedParts
	})
	if long || len(t.Lines) > MaxTerminals {
		return &Terminals{Lines: []TypedLine{{Before: "cd " + string(Hole), Parts: []string{string(Hole)}}}}
	}
	return t
}

func (t *Terminals) lines() []TypedLine {
	if t == nil {
		return nil
	}
	return t.Lines
}

// Limits of recorded lines.
const (
	MaxTerminals  = 4
	MaxTypedParts = 8
	MaxTypedBytes = 320 // of the parts of one line, and as much again of what is before
)
