package term

import (
	"bufio"
	"io"

	"golang.org/x/term"
)

// Lines reads standard input line by line: on a terminal with a prompt, and each line can be edited and
// called back.
type Lines struct {
	io.Writer // for answers

	Prompt string // on a terminal

	edit  *term.Terminal // nil: not a terminal
	plain *bufio.Scanner
	close func()
}

// Lines begins to read. Close restores the terminal.
func (s *Streams) Lines() (*Lines, error) {
	if !s.StdinTerminal() {
		return &Lines{Writer: s.Stdout, plain: bufio.NewScanner(s.Stdin), close: func() {}}, nil
	}
	restore, err := s.Raw()
	if err != nil {
		return nil, err
	}
	edit := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.Stdin, s.Stdout}, "")
	return &Lines{Writer: edit, edit: edit, close: restore}, nil
}

// Editing reports whether the lines come from a terminal.
func (l *Lines) Editing() bool { return l.edit != nil }

// Next returns the next line; io.EOF after the last.
func (l *Lines) Next() (string, error) {
	if l.edit != nil {
		l.edit.SetPrompt(l.Prompt)
		return l.edit.ReadLine()
	}
	if l.plain.Scan() {
		return l.plain.Text(), nil
	}
	if err := l.plain.Err(); err != nil {
		return "", err
	}
	return "", io.EOF
}

// Close restores the terminal.
func (l *Lines) Close() { l.close() }
