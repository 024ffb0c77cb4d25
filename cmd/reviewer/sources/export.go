package sources

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// splitExport determines which part of an export belongs to which chain, and the total
// length. The records of one chain may be in several places. A line that is not a
// record belongs to the part before it, whose reader reports the damage.
func splitExport(r io.Reader) (parts []place, length int64, err error) {
	in := newLines(r, maxExportedLine)
	open, session := false, map[string]string{}
	for in.next() {
		frame := string(bytes.TrimSpace(in.text))
		open = frame == "[" || open && frame != "]"
		id := chainOf(in.text)
		last := len(parts) - 1
		if last >= 0 && (id == "" || id == parts[last].head.chain) {
			parts[last].n = in.offset + in.size - parts[last].off
			continue
		}
		if id != "" {
			parts = append(parts, place{off: in.offset, n: in.size, line: in.number - 1, head: partHead(in.text, id, session)})
		}
	}
	length = in.offset
	switch {
	case in.err != nil:
		err = in.err
	case open:
		err = errors.New("the export is truncated: the closing bracket of its array is missing")
	}
	return sessionsOnly(parts), length, err
}

// partHead is the beginning of a part of an export. session has the session of each
// chain, since not every record has it.
func partHead(text []byte, chain string, session map[string]string) head {
	raw, _ := audit.Exported(text)
	h := chainHead(raw, true)
	h.kind, h.chain = export, chain
	if h.session == "" {
		h.session = session[chain]
	}
	session[chain] = h.session
	return h
}

// sessionsOnly leaves out chains of which no record names a session, as the
// machine's own.
func sessionsOnly(parts []place) []place {
	var own []place
	for _, p := range parts {
		if p.head.session != "" {
			own = append(own, p)
		}
	}
	return own
}

// piped iterates over the sessions of an export on standard input, one after
// the other as they come. Since standard input cannot be read again, it must be in
// order: a chain that comes again is reported, and not read.
func (f *Family) piped(ctx context.Context) iter.Seq[simulate.RecordedSession] {
	return func(yield func(simulate.RecordedSession) bool) {
		r, err := f.pipe.open(ctx, f.options)
		if err != nil {
			yield(f.failed(*f.pipe, err))
			return
		}
		defer r.Close()
		in, seen, session := newLines(r, maxExportedLine), map[string]bool{}, map[string]string{}
		files := int64(1)
		for in.next() {
			id := chainOf(in.text)
			h := partHead(in.text, id, session)
			if id == "" || h.session == "" || f.skip[id] {
				continue
			}
			c := f.logOf(place{file: f.pipe.file, name: stdin, head: h})
			c.files, files = files, 0
			in.again = true
			if seen[id] {
				c.fail(c.places[0], in.number,
					errors.New("records of this session are interleaved with another's: name a file instead, or sort them"))
			}
			seen[id] = true
			if !yield(c.story(func(yield func(simulate.RecordedEvent, error) bool) { c.pipe(in, yield) })) {
				return
			}
			for in.next() {
				if other := chainOf(in.text); other != "" && other != id {
					in.again = true
					break
				}
			}
		}
		if in.err != nil {
			yield(f.failed(*f.pipe, in.err))
		}
	}
}

// failed is a session of which nothing can be read.
func (f *Family) failed(p place, err error) simulate.RecordedSession {
	c := f.logOf(p)
	c.fail(p, 0, err)
	return c.story(c.end)
}
