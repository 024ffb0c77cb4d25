package sources

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// fileSession names the session of a file that does not: after the file, without
// suffixes that programs add.
func fileSession(name string) string {
	base := path.Base(filepath.ToSlash(name))
	for _, end := range []string{".gz", ".zst", ".jsonl", ".json", ".traj", ".md"} {
		if short := strings.TrimSuffix(base, end); short != "" {
			base = short
		}
	}
	return base
}

// stories iterates over the sessions of a family of transcripts. In memory are one
// session with its files, and the ids of the calls that were counted.
func (f *Family) stories(ctx context.Context) iter.Seq[simulate.RecordedSession] {
	return func(yield func(simulate.RecordedSession) bool) {
		counted := f.logged(ctx)
		for _, places := range f.kin {
			for _, t := range f.gather(ctx, places) {
				t.count(counted)
				t.whole = t.session != "" && f.hasLog(t.session) && t.allCopied()
				if ctx.Err() != nil || !yield(f.storyOf(ctx, t)) {
					return
				}
			}
		}
	}
}

// sessionEvents is one session as recorded in its files.
type sessionEvents struct {
	session string
	format  string
	strands []fileEvents
	err     error // what kept a file from being read to its end

	events  []engine.Event
	copied  map[string]bool // calls that are counted in another session
	whole   bool            // a log has all of it, and it is counted there
	sources simulate.Sources
}

// fileEvents is the part of a session in one file.
type fileEvents struct {
	transcript transcript.Transcript // Events are those of the session
	place      string
}

// gather reads the files of a session, without events of other sessions in the same
// files.
func (f *Family) gather(ctx context.Context, places []place) []*sessionEvents {
	tales := map[string]*sessionEvents{}
	for _, p := range places {
		t, err := f.readTranscript(ctx, p)
		parts := split(t, idsOf(p)[0])
		for _, part := range parts {
			one := tales[part.transcript.Session]
			if one == nil {
				one = &sessionEvents{session: part.transcript.Session, format: p.head.format}
				tales[one.session] = one
			}
			part.place = p.name
			one.strands = append(one.strands, part)
		}
		last := tales[parts[len(parts)-1].transcript.Session]
		f.note(last, p, t, err)
	}
	var list []*sessionEvents
	for _, id := range slices.Sorted(maps.Keys(tales)) {
		one := tales[id]
		one.sources.Formats = map[string]int64{one.format: 1}
		one.merge()
		list = append(list, one)
	}
	return list
}

func (f *Family) readTranscript(ctx context.Context, p place) (transcript.Transcript, error) {
	r, err := p.open(ctx, f.options)
	if err != nil {
		return transcript.Transcript{}, err
	}
	defer r.Close()
	for _, format := range transcript.Readers() {
		if format.Name == p.head.format {
			return format.Read(r)
		}
	}
	return transcript.Transcript{}, fmt.Errorf("the format %q has no reader", p.head.format)
}

// note records errors of reading a file.
func (f *Family) note(t *sessionEvents, p place, read transcript.Transcript, err error) {
	s := &t.sources
	if p.counts {
		s.Files++
	}
	s.Lines += int64(read.Lines)
	s.Bad += int64(len(read.Bad))
	if len(read.Bad) > 0 {
		first := read.Bad[0]
		s.Troubles = append(s.Troubles, simulate.Trouble{
			Path: f.options.mask(p.name), Line: first.Line, Why: f.options.mask(first.Why), Count: int64(len(read.Bad)),
		})
	}
	if err != nil {
		s.Failed++
		at := trouble(p, 0, err)
		at.Path, at.Why = f.options.mask(at.Path), f.options.mask(at.Why)
		s.Troubles = append(s.Troubles, at)
		t.err = fmt.Errorf("%s: %s", at.Path, at.Why)
	}
}

// split splits a file into its sessions, if they are consecutive.
func split(t transcript.Transcript, name string) []fileEvents {
	var runs []fileEvents
	for _, part := range transcript.Split(t, name) {
		runs = append(runs, fileEvents{transcript: part})
	}
	return runs
}

// count assigns each call to the first session that has it. Ids that are only valid
// within one file are not compared.
func (t *sessionEvents) count(counted map[string]bool) {
	t.copied = map[string]bool{}
	own := map[string]bool{}
	answered := map[string]bool{}
	for _, e := range t.events {
		answered[e.Call] = answered[e.Call] || e.Phase == engine.PhasePost
	}
	for _, e := range t.events {
		if e.Phase != engine.PhasePre || e.Call == "" || own[e.Call] {
			continue
		}
		own[e.Call] = true
		key := e.Harness + "\x00" + e.Call
		switch {
		case counted[key] && !t.local():
			t.copied[e.Call] = true
			t.sources.Copied++
		case !answered[e.Call]:
			t.sources.Unpaired++
		}
		counted[key] = true
	}
}

// logged returns the calls in logs of the same sessions. Errors of a log are reported
// with the log.
func (f *Family) logged(ctx context.Context) map[string]bool {
	counted := map[string]bool{}
	for i := range f.logs {
		story := f.logs[i].chained(ctx)
		for m, err := range story.Events {
			if err != nil {
				break
			}
			if m.Record.Phase == engine.PhasePre && m.Record.Call != "" {
				counted[story.Harness+"\x00"+m.Record.Call] = true
			}
		}
	}
	return counted
}

func (f *Family) hasLog(session string) bool {
	return slices.ContainsFunc(f.logs, func(log Family) bool { return log.Session == session })
}

// allCopied reports whether every call is counted in another place.
func (t *sessionEvents) allCopied() bool {
	return !slices.ContainsFunc(t.events, func(e engine.Event) bool {
		return e.Phase == engine.PhasePre && e.Call != "" && !t.copied[e.Call]
	})
}

func (t *sessionEvents) local() bool {
	return slices.ContainsFunc(t.strands, func(s fileEvents) bool { return s.transcript.LocalIDs })
}

// storyOf makes a Story of a session.
func (f *Family) storyOf(ctx context.Context, t *sessionEvents) simulate.RecordedSession {
	whole := t.strands[0].transcript
	whole.Session, whole.Events = t.session, t.events
	t.strands = nil // its contents are in events
	return simulate.RecordedSession{
		Session: f.options.mask(t.session),
		Harness: whole.Harness,
		Format:  t.format,
		Events: func(yield func(simulate.RecordedEvent, error) bool) {
			session := simulate.Session{ID: t.session, Events: t.events}
			copied := func(call string) bool { return t.whole || t.copied[call] }
			for m, err := range simulate.Transcribe(ctx, session, f.options.Classifier(whole), f.options.Env, copied) {
				if !yield(m, err) || err != nil {
					return
				}
			}
			if t.err != nil {
				yield(simulate.RecordedEvent{}, t.err)
			}
		},
		Sources: func() simulate.Sources { return t.sources },
	}
}
