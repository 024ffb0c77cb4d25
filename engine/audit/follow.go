package audit

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Follower checks the lines of one chain, one after another, wherever they
// come from: its folder, a copy of a file, or an export.
type Follower struct {
	// Exported reports whether the lines were written by JSON. That text
	// differs from the hashed one, so prev proves nothing there: it can only be
	// checked that no record is missing and that all belong to one chain.
	Exported bool

	before *engine.Record
	hash   string
}

// Next decodes a raw line with its newline, and compares it with the previous one. After an error
// nothing is known about later lines.
func (f *Follower) Next(raw []byte) (*engine.Record, error) {
	r, err := f.read(raw)
	if err != nil {
		return nil, err
	}
	if err := f.misfit(r); err != nil {
		return nil, err
	}
	f.before, f.hash = r, ""
	if !f.Exported {
		f.hash = engine.LineHash(raw)
	}
	return r, nil
}

// ErrChanged means that a line or the previous one was changed.
var ErrChanged = errors.New("prev is not the hash of the previous line: one of the two was changed")

// read decodes a line.
func (f *Follower) read(raw []byte) (*engine.Record, error) {
	if f.Exported {
		return history.DecodeLine(raw)
	}
	return readRecord(raw)
}

// misfit reports why a record cannot follow the previous one.
func (f *Follower) misfit(r *engine.Record) error {
	switch {
	case f.before == nil:
		if what := misplaced(r); what != "" {
			return errors.New(what)
		}
	case r.Chain != f.before.Chain:
		return fmt.Errorf("the record belongs to chain %q", r.Chain)
	case r.N != f.before.N+1:
		return fmt.Errorf("n is %d after %d: records are missing or out of order", r.N, f.before.N)
	case !f.Exported && f.hash != "" && r.Prev != f.hash:
		return ErrChanged
	}
	return nil
}

// misplaced reports why a record cannot be the first that remains of a chain.
func misplaced(r *engine.Record) string {
	switch {
	case r.N == 1 && (r.Kind != engine.KindOpen || r.Prev != engine.ChainSeed(r.Chain)):
		return "line 1 of the chain is not its open record"
	case r.N > 1 && r.Kind != engine.KindKeyframe:
		return "the file does not start with a keyframe"
	}
	return ""
}

// IsLine reports whether a string starts as a chain's line does.
func IsLine(text []byte) bool { return bytes.HasPrefix(text, []byte(lineBegin)) }

// Number returns the number of a raw line in its chain; false if it is not one.
func Number(raw []byte) (int64, bool) {
	h, err := parseHead(raw)
	return h.n, err == nil
}

// Exported returns the record in a line that JSON wrote, with a newline; false
// if the line is not a record, such as the brackets of an array.
func Exported(line []byte) (raw []byte, ok bool) {
	const id, next = `{"id":"`, `","v":1,`
	line = bytes.TrimSuffix(bytes.TrimSpace(line), []byte(","))
	rest, ok := bytes.CutPrefix(line, []byte(id))
	if !ok {
		return nil, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 || !bytes.HasPrefix(rest[end:], []byte(next)) {
		return nil, false
	}
	raw = append([]byte("{"), rest[end+2:]...)
	return append(unescapeHTML(raw), '\n'), IsLine(raw)
}

// unescapeHTML writes <, > and & as the log does: exporting escapes them as
// \u003c and so on, which could make a keyframe too long.
func unescapeHTML(raw []byte) []byte {
	out := raw[:0]
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' || i+1 == len(raw) {
			out = append(out, c)
			continue
		}
		switch {
		case bytes.HasPrefix(raw[i:], []byte(`\u003c`)):
			out, i = append(out, '<'), i+5
		case bytes.HasPrefix(raw[i:], []byte(`\u003e`)):
			out, i = append(out, '>'), i+5
		case bytes.HasPrefix(raw[i:], []byte(`\u0026`)):
			out, i = append(out, '&'), i+5
		default:
			out, i = append(out, c, raw[i+1]), i+1
		}
	}
	return out
}
