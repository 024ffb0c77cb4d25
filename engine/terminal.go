package engine

import "slices"

// Terminals is what was typed into terminals and has not run yet: an agent can
// type a command in pieces, over several calls. It is the state after an action,
// and takes the place of the one before.
type Terminals struct {
	Lines []TypedLine `json:"lines"` // of each terminal, the one that was typed into last at the end
}

// TypedLine is a line that somebody still has to end with Enter.
type TypedLine struct {
	Terminal string   `json:"terminal"`         // the name by which a multiplexer knows it; empty: not known
	Before   string   `json:"before,omitempty"` // what lines that ran there have set: its directory, names of commands
	Parts    []string `json:"parts,omitempty"`  // the text, one part for each time that somebody typed
}

// Equal says whether two states are the same. Nothing is the same as no line.
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

// Bounds of what is kept of lines.
const (
	MaxTerminals  = 4
	MaxTypedParts = 8
	MaxTypedBytes = 320 // of the parts of one line, and as much again of what stands before
)
