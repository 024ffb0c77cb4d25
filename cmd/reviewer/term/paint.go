package term

import (
	"math"
	"os"
	"strings"

	"golang.org/x/term"
)

// Paint colours words on a terminal, and leaves them alone in a pipe or where
// NO_COLOR is set.
type Paint struct{ On bool }

// Paint says whether a result is painted.
func (s *Streams) Paint(o *Output) Paint {
	f, ok := s.Stdout.(*os.File)
	return Paint{ok && o.File == "" && s.Env("NO_COLOR") == "" && s.Env("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))}
}

// Width is how many characters a line may have: those of the terminal, or as
// many as it has where no terminal cuts it.
func (s *Streams) Width(o *Output) int {
	if columns := s.Columns(o); columns > 0 {
		return max(columns, 40)
	}
	return math.MaxInt
}

// Columns is how wide the terminal is to which a result goes; 0 where it goes to
// none.
func (s *Streams) Columns(o *Output) int {
	if f, ok := s.Stdout.(*os.File); ok && o.File == "" {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 0
}

// Colour paints a text by an SGR code.
func (p Paint) Colour(code, s string) string {
	if !p.On {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Verdict paints a verdict (or the word of a check) by how bad it is.
func (p Paint) Verdict(word string) string {
	switch strings.TrimSpace(word) {
	case "block", "fail":
		return p.Colour("31;1", word)
	case "ask", "modify":
		return p.Colour("33;1", word)
	case "warn":
		return p.Colour("33", word)
	case "allow", "ok":
		return p.Colour("32", word)
	}
	return word
}

// Faint paints what matters less.
func (p Paint) Faint(s string) string { return p.Colour("2", s) }

// StdinTerminal reports whether a person types the input.
func (s *Streams) StdinTerminal() bool { return IsTerminal(s.Stdin) }

// IsTerminal reports whether a stream is one that a person looks at.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
