package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth limits the nesting of sub-agents' documents.
const maxDepth = 16

var errTooDeep = fmt.Errorf("trajectories are nested more than %d deep", maxDepth)

// docReader reads a file that is one JSON document, a part at a time: of a truncated
// one, the part before the cut is read.
type docReader struct {
	in *readBudget
	d  *json.Decoder
}

func newDocReader(r io.Reader) *docReader {
	in := &readBudget{r: r, left: maxTranscriptLine, each: maxTranscriptLine}
	return &docReader{in, json.NewDecoder(bufio.NewReaderSize(in, 64<<10))}
}

// whole reads a file that contains one object and nothing else.
func (d *docReader) whole(field func(key string) error) error {
	if err := d.object(field); err != nil {
		return err
	}
	if _, err := d.d.Token(); err != io.EOF {
		return errors.New("unexpected text after the document")
	}
	return nil
}

// object calls field with each key of the object that comes next; field reads its
// value.
func (d *docReader) object(field func(key string) error) error {
	return d.within('{', func() error {
		key, err := d.d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		return field(name)
	})
}

// array calls element for each element of the array that comes next; element
// reads it.
func (d *docReader) array(element func() error) error { return d.within('[', element) }

func (d *docReader) within(open json.Delim, part func() error) error {
	t, err := d.d.Token()
	if err != nil {
		return err
	}
	if t != open {
		return fmt.Errorf("expected %q, found %v", open.String(), t)
	}
	for d.d.More() {
		if err := part(); err != nil {
			return err
		}
	}
	_, err = d.d.Token()
	return err
}

// value reads the next value.
func (d *docReader) value() (json.RawMessage, error) {
	var raw json.RawMessage
	err := d.d.Decode(&raw)
	d.in.left = d.in.each
	return raw, err
}

// skip skips the value that comes next, however long it is.
func (d *docReader) skip() error {
	for depth := 0; ; {
		t, err := d.d.Token()
		d.in.left = d.in.each
		switch {
		case err != nil:
			return err
		case t == json.Delim('{') || t == json.Delim('['):
			depth++
		case t == json.Delim('}') || t == json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// text returns the next value if it is a string.
func (d *docReader) text() (string, error) {
	raw, err := d.value()
	var text string
	if json.Unmarshal(orNull(raw), &text) != nil {
		return "", err
	}
	return text, err
}

// end reports why a document could not be read to its end; nil if it could.
func (d *docReader) end(what, part string, read int, err error) error {
	switch {
	case err == nil:
		return nil
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: truncated after %s %d: %w", what, part, read, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s: after %s %d: %w", what, part, read, err)
}

// readBudget limits what is read between two parts: an image or a file of many
// MiB is one part, an endless one is damage.
type readBudget struct {
	r          io.Reader
	left, each int // bytes
}

func (a *readBudget) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errLongLine
	}
	n, err := a.r.Read(p[:min(len(p), a.left)])
	a.left -= n
	return n, err
}
