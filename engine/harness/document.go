package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// document is a hook's input. Keys are given as paths, with dots between the levels.
type document map[string]json.RawMessage

func readDocument(raw []byte, keys []string) (document, error) {
	if len(raw) > MaxInput {
		return nil, fmt.Errorf("it is longer than %d bytes", MaxInput)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("it is empty")
	}
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	if _, err := engine.DecodeStrict(raw); err != nil {
		return nil, err
	}
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil || doc == nil {
		return nil, errors.New("it is not a JSON object")
	}
	return doc, doc.checkSpelling(keys)
}

// checkSpelling rejects a key that differs from a known one only in case: a
// reader that ignores case would confuse them.
func (d document) checkSpelling(keys []string) error {
	for _, key := range keys {
		outer, inner, nested := strings.Cut(key, ".")
		if err := d.checkKey(outer); err != nil {
			return err
		}
		if within := d.object(outer); nested && within != nil {
			if err := within.checkSpelling([]string{inner}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d document) checkKey(known string) error {
	wrong := ""
	for key := range d {
		if key != known && strings.EqualFold(key, known) && (wrong == "" || key < wrong) {
			wrong = key
		}
	}
	if wrong != "" {
		return fmt.Errorf("key %q must be spelled %q", wrong, known)
	}
	return nil
}

// object returns the object under a key; nil: there is none.
func (d document) object(key string) document {
	var within document
	if json.Unmarshal(d[key], &within) != nil {
		return nil
	}
	return within
}

// raw returns the value under a path; nil: there is none, or it is null.
func (d document) raw(path string) json.RawMessage {
	outer, inner, nested := strings.Cut(path, ".")
	if nested {
		return d.object(outer).raw(inner)
	}
	if raw := d[outer]; string(raw) != "null" {
		return raw
	}
	return nil
}

// has reports whether a key is there; null counts as absent.
func (d document) has(path string) bool { return d.raw(path) != nil }

func (d document) text(path string) (string, error) {
	var s string
	return s, d.set(&s, path)
}

func (d document) set(to *string, path string) error { return d.decode(to, path, "a string") }

func (d document) decode(to any, path, what string) error {
	raw := d.raw(path)
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("%s is not %s", path, what)
	}
	return nil
}

// stamp returns a time as the agent wrote it, a number or a string; empty: there is none.
func (d document) stamp(path string) string {
	raw := string(d.raw(path))
	if len(raw) > maxStamp {
		return ""
	}
	return strings.Trim(raw, `"`)
}

// maxStamp limits a time, which becomes part of the id of a call.
const maxStamp = 40

// unquoted returns the object that a string contains, read as strictly as a document.
func unquoted(raw json.RawMessage) (json.RawMessage, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	inner := json.RawMessage(strings.TrimSpace(text))
	if !bytes.HasPrefix(inner, []byte("{")) {
		return nil, errors.New("it is not an object")
	}
	_, err := engine.DecodeStrict(inner)
	return inner, err
}
