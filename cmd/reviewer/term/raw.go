package term

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"
)

// Raw lets a program read each key as it is typed, and returns a function that restores the
// terminal, which can be called more than once.
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

// Secret asks for a line on the terminal, and does not show it.
func (s *Streams) Secret(prompt string) (string, error) {
	f, ok := s.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", errors.New("standard input is not a terminal")
	}
	fmt.Fprint(s.Stderr, prompt)
	line, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(s.Stderr)
	return string(line), err
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
