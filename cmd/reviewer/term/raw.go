package term

import (
	"errors"
	"os"

	"golang.org/x/term"
)

// Raw lets a program read each key as it is typed, and returns how the terminal becomes what
// it was. It can be called more than once.
func (s *Streams) Raw() (restore func(), err error) {
	f, ok := s.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, errors.New("standard input is not a terminal")
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(int(f.Fd()), before) }, nil // nothing is left to do about a failure
}

// Screen returns the size of the terminal of standard output; 80 and 24 where it is unknown.
func (s *Streams) Screen() (width, height int) {
	if f, ok := s.Stdout.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
	}
	return 80, 24
}
