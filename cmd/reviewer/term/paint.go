package term

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/term"
)

// narrowest is the width below which no page is laid out.
const narrowest = 40

// Paint reports whether a result is coloured.
func (s *Streams) Paint(o *Output) Paint {
	f, ok := s.Stdout.(*os.File)
	return Paint{ok && o.File == "" && s.Env("NO_COLOR") == "" && s.Env("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))}
}

// Width returns the maximum length of a line: the width of the terminal, or unlimited
// without one.
func (s *Streams) Width(o *Output) int {
	if columns := s.Columns(o); columns > 0 {
		return max(columns, narrowest)
	}
	return math.MaxInt
}

// Columns returns the width of lines on the screen: COLUMNS, else that of the
// terminal; 0 if there is neither.
func (s *Streams) Columns(o *Output) int {
	if n, err := strconv.Atoi(s.Env("COLUMNS")); err == nil && n > 0 && o.File == "" {
		return max(n, narrowest)
	}
	if f, ok := s.Stdout.(*os.File); ok && o.File == "" {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 0
}

// StdinTerminal reports whether a person types the input.
func (s *Streams) StdinTerminal() bool { return IsTerminal(s.Stdin) }

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	if s, ok := stream.(interface{ Terminal() bool }); ok {
		return s.Terminal() // in a test
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
