package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// formatAudit is the format of reviewer's own log, as a Story names it.
const formatAudit = "audit"

// log is one session of an audit log, read record by record to save memory.
type log struct {
	options  Options
	places   []place
	follower audit.Follower
	held     *engine.Record // the newest record: the next line shows whether it was changed
	last     int64          // its number
	files    int64
	sources  simulate.Sources
	err      error // why the rest cannot be read
}

func (f *Family) logOf(places ...place) *log { return &log{options: f.options, places: places} }

// chained is the session of a chain, read from the files that contain it.
func (f *Family) chained(ctx context.Context) simulate.RecordedSession {
	c := f.logOf(f.chain...)
	return c.story(func(yield func(simulate.RecordedEvent, error) bool) {
		for _, p := range c.places {
			if p.counts {
				c.files++
			}
		}
		for _, p := range c.places {
			if !c.readPlace(ctx, p, yield) {
				return
			}
			if c.err != nil {
				break
			}
		}
		c.end(yield)
	})
}

func (c *log) story(moments func(yield func(simulate.RecordedEvent, error) bool)) simulate.RecordedSession {
	h := c.places[0].head
	return simulate.RecordedSession{
		Session: c.options.mask(h.session), Harness: h.harness, Format: formatAudit, Audit: true, Events: moments,
		Sources: func() simulate.Sources {
			s := c.sources
			s.Files, s.Formats = c.files, map[string]int64{formatAudit: 1}
			return s
		},
	}
}

// readPlace yields the records of one file; false: stop.
func (c *log) readPlace(ctx context.Context, p place, yield func(simulate.RecordedEvent, error) bool) bool {
	r, err := p.open(ctx, c.options)
	if err != nil {
		c.fail(p, 0, err)
		return true
	}
	defer r.Close()
	in := newLines(r, p.longest())
	c.follower.Exported = p.head.kind == export
	for beginning := true; c.err == nil && in.next(); {
		raw, skip := c.line(p, in, &beginning)
		if !skip && !c.take(p, in, raw, yield) {
			return false
		}
	}
	if in.err != nil {
		c.fail(p, p.line+in.number, in.err)
	}
	return true
}

// longest bounds the lines of a place: those of a part of an export are no longer
// than that.
func (p place) longest() int64 {
	if p.head.kind == export {
		return min(p.n+1, maxExportedLine)
	}
	return maxLine
}

// line returns the record that a line contains; skip if it is not one, or it has been
// read from a copy that begins earlier. An incomplete line is being written; if it is
// damage, the next file does not match.
func (c *log) line(p place, in *lines, beginning *bool) (raw []byte, skip bool) {
	raw = in.text
	if p.head.kind == export {
		if isFrame(in.text) {
			return nil, true
		}
		raw, _ = audit.Exported(in.text)
	} else if in.isHalf() {
		return nil, true
	}
	n, ok := audit.Number(raw)
	*beginning = *beginning && ok && n <= c.last
	return raw, *beginning
}

// pipe yields the records of the chain of the next line, up to the first line of
// another chain.
func (c *log) pipe(in *lines, yield func(simulate.RecordedEvent, error) bool) {
	p := c.places[0]
	c.follower.Exported = true
	for c.err == nil && in.next() {
		if id := chainOf(in.text); id != "" && id != p.head.chain {
			in.again = true
			break
		}
		if isFrame(in.text) {
			continue
		}
		raw, _ := audit.Exported(in.text)
		if !c.take(p, in, raw, yield) {
			return
		}
	}
	if in.err != nil {
		c.fail(p, in.number, in.err)
	}
	c.end(yield)
}

// take checks a line and yields the previous one, which the new line confirms.
func (c *log) take(p place, in *lines, raw []byte, yield func(simulate.RecordedEvent, error) bool) bool {
	c.sources.Lines++
	r, err := c.next(in, raw)
	if err != nil {
		c.sources.Bad++
		c.fail(p, p.line+in.number, err)
		if raw != nil {
			c.sources.Damaged++
			c.sources.Troubles[len(c.sources.Troubles)-1].Damaged = true
		}
		if errors.Is(err, audit.ErrChanged) {
			c.held = nil // one of the two was changed, and it is unknown which
		}
		return true
	}
	before := c.held
	c.held, c.last = r, r.N
	return before == nil || yield(simulate.RecordedEvent{Record: before}, nil)
}

func (c *log) next(in *lines, raw []byte) (*engine.Record, error) {
	switch {
	case in.tooLong():
		return nil, errLong
	case raw == nil:
		return nil, errors.New("is not a record of an export")
	}
	return c.follower.Next(raw)
}

// end yields the newest record, and the reason why there are no more.
func (c *log) end(yield func(simulate.RecordedEvent, error) bool) {
	if c.held != nil && !yield(simulate.RecordedEvent{Record: c.held}, nil) {
		return
	}
	if c.err != nil {
		yield(simulate.RecordedEvent{}, c.err)
	}
}

// fail reports where the session ends early.
func (c *log) fail(p place, line int, err error) {
	at := trouble(p, line, err)
	at.Path, at.Why = c.options.mask(at.Path), c.options.mask(at.Why)
	c.sources.Failed++
	c.sources.Troubles = append(c.sources.Troubles, at)
	c.err = fmt.Errorf("%s:%d: %s", at.Path, line, at.Why)
}
