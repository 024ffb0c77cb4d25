package engine

import "slices"

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
