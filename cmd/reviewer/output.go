package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agent-reviewer/reviewer/engine"
)

// output is where a command's result goes: -f and -o mean the same everywhere.
type output struct {
	format  string
	file    string
	formats []string // the first is the default
}

func (o *output) flags(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().StringVarP(&o.format, "format", "f", formats[0], "format of the result: "+strings.Join(formats, ", "))
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "write the result to this file (default standard output)")
}

// write makes the result in memory and then puts it in its place whole.
func (o *output) write(a *app, fn func(w io.Writer) error) error {
	if err := o.known(); err != nil {
		return err
	}
	var b bytes.Buffer
	err := fn(&b)
	if o.file == "" {
		_, werr := a.stdout.Write(b.Bytes())
		return errors.Join(err, werr)
	}
	if werr := writeWhole(o.file, b.Bytes()); werr != nil {
		return errors.Join(err, fmt.Errorf("write result: %w", werr))
	}
	return err
}

// known is an error where the format is none of this command's.
func (o *output) known() error {
	if slices.Contains(o.formats, o.format) {
		return nil
	}
	text := fmt.Sprintf("unknown format %q; expected one of %s", o.format, strings.Join(o.formats, ", "))
	if near := engine.Nearest(o.format, o.formats); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(text)
}

// writeWhole makes a file appear with all of its contents, or not at all. One that
// is there keeps its mode; what is there and no plain file, such as a pipe or
// /dev/null, is written to as it is.
func writeWhole(path string, content []byte) error {
	mode := fs.FileMode(0o644)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; expected the name of a file", path)
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, content, 0o644)
	case err == nil: // a link stays one
		mode = info.Mode().Perm()
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	f, err := os.CreateTemp(dirOf(path), ".reviewer-*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no folder %s; make it first", path, dirOf(path))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func dirOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "."
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// writeLine writes a document as one line.
func writeLine(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// paint colours words on a terminal, and leaves them alone in a pipe or where
// NO_COLOR is set.
type paint struct{ on bool }

func (a *app) paint(o *output) paint {
	f, ok := a.stdout.(*os.File)
	return paint{ok && o.file == "" && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))}
}

// width is how many characters a line may have: those of the terminal, or as
// many as it has where no terminal cuts it.
func (a *app) width(o *output) int {
	if f, ok := a.stdout.(*os.File); ok && o.file == "" {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return max(columns, 40)
		}
	}
	return math.MaxInt
}

func (p paint) colour(code, s string) string {
	if !p.on {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// verdict paints a verdict (or the word of a check) by how bad it is.
func (p paint) verdict(word string) string {
	switch strings.TrimSpace(word) {
	case "block", "fail":
		return p.colour("31;1", word)
	case "ask", "modify":
		return p.colour("33;1", word)
	case "warn":
		return p.colour("33", word)
	case "allow", "ok":
		return p.colour("32", word)
	}
	return word
}

func (p paint) faint(s string) string { return p.colour("2", s) }

// oneLine makes any text safe to print in a table: no line breaks, no control
// characters that a terminal would act on, at most n characters.
func oneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return '?'
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// pad fills a cell up to a width in characters.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
