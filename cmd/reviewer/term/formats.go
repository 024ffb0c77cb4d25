package term

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Format is a named output format; W writes it.
type Format[W any] struct {
	Name  string
	Write W
}

// Formats are the formats of one kind of document; the first is for people.
type Formats[W any] []Format[W]

// Names lists the names of the formats.
func (f Formats[W]) Names() []string {
	var names []string
	for _, one := range f {
		names = append(names, one.Name)
	}
	return names
}

// Find returns the writer of a format; what is the noun for the error.
func (f Formats[W]) Find(what, name string) (W, error) {
	for _, one := range f {
		if one.Name == name {
			return one.Write, nil
		}
	}
	var none W
	return none, Unknown(what, name, f.Names())
}

// Unknown is the error about a word that is not in a list: it names the words of the
// list, and suggests the one that was probably meant.
func Unknown(what, name string, list []string) error {
	text := fmt.Sprintf("unknown %s %q; expected one of %s", what, name, strings.Join(list, ", "))
	if near := engine.Nearest(name, list); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return &UsageError{errors.New(text)}
}

// UsageError is an error about the command line.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e *UsageError) Unwrap() error { return e.Err }

// Whole writes a document only if it can be generated completely.
func Whole(w io.Writer, write func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteJSON writes a document as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
