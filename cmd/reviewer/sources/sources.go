// Package sources finds recorded sessions and opens them: reviewer's own audit
// logs and transcripts of agents, in files, folders, archives and on standard
// input, compressed or not. A file is recognised by its contents, never by its
// name.
//
// Out of scope: the meaning of a transcript's lines (engine/harness), whether a
// whole log was forged (`reviewer audit verify` checks the seals), and what is done
// with the sessions. It only reads, and stores nothing.
package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/transcript"
)

// Options contains the dependencies of reading.
type Options struct {
	Stdin      io.Reader                                     // of the argument "-"
	Read       func(bytes int64)                             // called with the bytes read from disk, by several goroutines; may be nil
	Classifier func(transcript.Transcript) engine.Classifier // classifies a transcript's events
	Env        engine.Env                                    // the environment to note in records of a transcript
	Mask       func(string) string                           // masks secrets in paths, ids and errors; nil: no masking
	Objects    *objects.Access                               // opens s3:// and the like; nil: such an argument is refused
	Listed     []objects.Input                               // read instead of the arguments: they were listed before
	Part       bool                                          // of what was listed: it may contain no session
	Stop       func(error)                                   // called if nothing more can be read, such as without credentials; may be nil
}

func (o Options) mask(s string) string {
	if o.Mask == nil {
		return s
	}
	return o.Mask(s)
}

func (o Options) read(n int64) {
	if o.Read != nil && n > 0 {
		o.Read(n)
	}
}

// Set is the result of a search. It does not depend on the order of the arguments.
type Set struct {
	// Families are in the best order for reading, even by several goroutines at
	// once: first those of a compressed file with several sessions, in its
	// order, since it can only be read forwards; then the largest first.
	Families []Family
	Files    int64              // that hold sessions; an archive's are counted one by one
	Bytes    int64              // on disk, of all families
	Lost     []simulate.Trouble // files without a session that could be found, by path

	named []candidate // all that was inspected
}

// Family is one session, or several that share calls because one was made out
// of another: forks, resumed copies. Its sessions are read together, so that
// each call is counted once.
type Family struct {
	Session  string   // the smallest id of them; raw
	Sessions []string // ids as the files begin; raw, sorted. Of standard input only the first
	Bytes    int64    // on disk

	options Options
	kin     [][]place       // transcripts: by session, the places that hold it
	chain   []place         // audit: what holds the chain's lines
	pipe    *place          // standard input with an export: any number of chains
	skip    map[string]bool // of pipe: chains that other families hold
	logs    []Family        // transcripts: the logs of the same sessions
}

// Recorded iterates over the family's sessions. A session's events must be
// read before the next session is requested.
func (f *Family) Recorded(ctx context.Context) iter.Seq[simulate.RecordedSession] {
	switch {
	case f.pipe != nil:
		return f.piped(ctx)
	case f.chain != nil:
		return func(yield func(simulate.RecordedSession) bool) { yield(f.chained(ctx)) }
	}
	return f.stories(ctx)
}

// Find inspects the files that the arguments name, without reading them completely:
// files, folders, patterns with *, ? and **, and "-" for standard input. Files that cannot be read,
// or have an unknown format, are in Set.Lost; it returns an error if an argument names nothing, if
// there are no sessions, or if ctx ended.
func Find(ctx context.Context, args []string, o Options) (*Set, error) {
	named, lost, err := walk(ctx, args, o)
	if err != nil {
		return nil, err
	}
	f := finder{ctx: ctx, options: o}
	f.lost = append(f.lost, lost...)
	for _, one := range inspectAll(ctx, named, o) {
		f.take(one)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("find sessions: %w", err)
	}
	set := f.set()
	set.named = named
	if len(set.Families) == 0 && !o.Part {
		return nil, nothing(args, set.Lost)
	}
	return set, nil
}

// nothing is the error if there is no session at all.
func nothing(args []string, lost []simulate.Trouble) error {
	formats := strings.Join(formatNames(), ", ")
	if len(lost) == 0 {
		return fmt.Errorf("no sessions in %s: expected audit logs or transcripts (%s)", strings.Join(args, ", "), formats)
	}
	return fmt.Errorf("no session could be read; unusable: %s, the first %s: %s",
		engine.Counted(len(lost), "file", "files"), lost[0].Path, lost[0].Why)
}

// inspection is the result of inspecting one file.
type inspection struct {
	places []place
	lost   []simulate.Trouble
}

// inspectAll inspects the files, as many at a time as there are processors.
func inspectAll(ctx context.Context, named []candidate, o Options) []inspection {
	found := make([]inspection, len(named))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(len(named), inspectors(o)) {
		group.Go(func() {
			for i := range next {
				found[i] = inspect(ctx, named[i], o)
			}
		})
	}
	for i := range named {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	return found
}

// inspectors is the number of files that are inspected at a time. Most of the time of an
// object is waiting.
func inspectors(o Options) int {
	if o.Objects != nil {
		return 16
	}
	return runtime.GOMAXPROCS(0)
}

// finder sorts the files into families.
type finder struct {
	ctx         context.Context
	options     Options
	transcripts []place
	chains      map[string][]place
	pipes       []place
	lost        []simulate.Trouble
}

func (f *finder) take(one inspection) {
	f.lost = append(f.lost, one.lost...)
	for _, p := range one.places {
		switch {
		case p.head.kind == session:
			f.transcripts = append(f.transcripts, p)
		case p.head.kind == export && p.file.path == stdin:
			f.pipes = append(f.pipes, p)
		default:
			if f.chains == nil {
				f.chains = map[string][]place{}
			}
			f.chains[p.head.chain] = append(f.chains[p.head.chain], p)
		}
	}
}

func (f *finder) set() *Set {
	families := f.transcriptFamilies()
	known := map[string]bool{}
	var logs []Family
	for chain, places := range f.chains {
		known[chain] = true
		logs = append(logs, f.chainFamily(places))
	}
	for i := range families {
		families[i].beside(logs)
	}
	families = append(families, logs...)
	for i := range f.pipes {
		p := &f.pipes[i]
		families = append(families, Family{Session: p.head.session, Sessions: []string{p.head.session}, pipe: p, skip: known, options: f.options})
	}
	s := &Set{Families: families, Lost: f.masked()}
	for i := range s.Families {
		one := &s.Families[i]
		for _, p := range one.places() {
			one.Bytes += p.cost
			if p.counts {
				s.Files++
			}
		}
		s.Bytes += one.Bytes
	}
	slices.SortFunc(s.Families, readingOrder)
	return s
}

// beside notes the logs of sessions that the family's transcripts also have: calls in both
// are counted in the log.
func (f *Family) beside(logs []Family) {
	for _, log := range logs {
		if slices.Contains(f.Sessions, log.Session) {
			f.logs = append(f.logs, log)
		}
	}
	slices.SortFunc(f.logs, func(a, b Family) int { return cmp.Compare(a.name(), b.name()) })
}

func readingOrder(a, b Family) int {
	x, y := a.latest(), b.latest()
	switch {
	case (x == nil) != (y == nil):
		if x != nil {
			return -1
		}
		return 1
	case x != nil:
		if c := comparePaths(x, y); c != 0 {
			return c
		}
	}
	if c := cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Session, b.Session)); c != 0 {
		return c
	}
	return cmp.Compare(a.name(), b.name())
}

// latest returns the last place of a family in a compressed file with several
// sessions; nil: it is not in one.
func (f *Family) latest() *place {
	var last *place
	for _, places := range append(slices.Clip(f.kin), f.chain) {
		for i := range places {
			p := &places[i]
			if p.file.parts != nil && (last == nil || comparePaths(last, p) < 0) {
				last = p
			}
		}
	}
	return last
}

func comparePaths(a, b *place) int {
	return cmp.Or(cmp.Compare(a.file.path, b.file.path), cmp.Compare(a.off, b.off))
}

// chainFamily orders the places of one chain by the number of their first line: the
// files of a folder, and copies of them.
func (f *finder) chainFamily(places []place) Family {
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.head.first, b.head.first), cmp.Compare(a.head.kind, b.head.kind), comparePlaces(a, b))
	})
	id := places[0].head.session
	return Family{Session: id, Sessions: []string{id}, chain: places, options: f.options}
}

// masked returns the unreadable files, by path, with masked names.
func (f *finder) masked() []simulate.Trouble {
	slices.SortFunc(f.lost, func(a, b simulate.Trouble) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Why, b.Why))
	})
	for i := range f.lost {
		t := &f.lost[i]
		t.Path, t.Why = f.options.mask(t.Path), f.options.mask(t.Why)
	}
	return f.lost
}

// places lists the places of a family.
func (f *Family) places() []place {
	if f.pipe != nil {
		return []place{*f.pipe}
	}
	all := slices.Clone(f.chain)
	for _, places := range f.kin {
		all = append(all, places...)
	}
	return all
}

// name distinguishes families whose sessions have the same id.
func (f *Family) name() string {
	p := f.places()[0]
	return p.head.chain + "\x00" + p.name
}

// trouble converts an error to a Trouble of a file.
func trouble(p place, line int, err error) simulate.Trouble {
	return simulate.Trouble{Path: p.name, Line: line, Why: why(err), Count: 1, Failed: true}
}

// why is an error's text without the path, which is shown next to it.
func why(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
