package term

import (
	"math"
	"os"

	"golang.org/x/term"
)

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

// StdinTerminal reports whether a person types the input.
func (s *Streams) StdinTerminal() bool { return IsTerminal(s.Stdin) }

// IsTerminal reports whether a stream is one that a person looks at.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
