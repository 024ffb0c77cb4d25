package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode"
)

// isClaudeChat reports whether a file starts as the chat that a hook saves at
// the end of a turn: the lines of Claude Code's transcript, as one array.
func isClaudeChat(head []byte) bool {
	for _, keys := range elements(head, 50) {
		if isClaudeLine(keys) {
			return true
		}
	}
	return false
}

// readClaudeChat reads an array of the documents that ReadClaudeCode
// reads line by line.
func readClaudeChat(r io.Reader) (Transcript, error) {
	t := newClaudeReader()
	d, n := newDocReader(r), 0
	err := d.alone(func() error {
		raw, err := d.value()
		if err == nil {
			n++
			t.line(n, onOneLine(raw))
		}
		return err
	})
	return t.end(), d.end("chat of Claude Code", "element", n, err)
}

// onOneLine removes the white space of an array that was formatted for people:
// the same call has the same arguments in every file.
func onOneLine(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// alone reads a file that contains one array and nothing else.
func (d *docReader) alone(element func() error) error {
	if err := d.array(element); err != nil {
		return err
	}
	if _, err := d.d.Token(); err != io.EOF {
		return errors.Join(errors.New("unexpected text after the document"), notEOF(err))
	}
	return nil
}

func notEOF(err error) error {
	if err == nil || err == io.EOF {
		return nil
	}
	return fmt.Errorf("at its end: %w", err)
}

// elements returns the keys of the first objects of an array, as far as the text
// goes.
func elements(head []byte, most int) []map[string]string {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	var list []map[string]string
	for len(list) < most && d.More() {
		rest := head[d.InputOffset():]
		var raw json.RawMessage
		if d.Decode(&raw) != nil { // cut
			return append(list, topLevel(bytes.TrimLeftFunc(rest, betweenElements)))
		}
		list = append(list, topLevel(raw))
	}
	return list
}

func betweenElements(r rune) bool { return r == ',' || unicode.IsSpace(r) }
