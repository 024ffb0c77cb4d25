// Package detect searches the raw texts of a call (its arguments, the contents that it
// writes, its results) for the patterns that a policy declares. It reports how often each
// detector matched, never the text.
//
// Patterns are RE2, so that time is linear in the length of the text. Most
// texts contain none of the words that a pattern requires: one pass over a string
// finds where such words are, and a pattern runs only around them.
//
// Out of scope: what to search for, how matches are judged (policy), and
// which arguments of a tool are contents (engine/classify).
package detect

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
)

// Version is raised manually when the same patterns could count differently.
const Version = 2

// Detector is one thing to search for.
type Detector struct {
	ID       string
	Patterns []string       // RE2; their matches are counted together
	In       []engine.Place // empty: everywhere
	Tools    []string       // exact names, or prefixes that end in *; empty: all
	Max      int64          // counting stops here
}

// Places classifies the texts of a tool's argument: arguments, contents, both
// if unknown, or neither.
type Places func(tool, argument string) []engine.Place

// Set is the detectors of a policy. It is an engine.Detector and safe for
// concurrent use.
type Set struct {
	Digest string // digest of everything that determines matches

	detectors []detector
	places    Places
	words     func() *words // of all patterns; built for the first text
}

var _ engine.Detector = (*Set)(nil)

type detector struct {
	Detector
	patterns []*pattern
}

// Error is a defect of a pattern.
type Error struct {
	ID      string // of the detector
	Pattern int    // index in its Patterns
	Err     error
}

func (e *Error) Error() string { return fmt.Sprintf("detector %s: pattern: %v", e.ID, e.Err) }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// New makes a set from detectors. Their order is their priority: where more than
// engine.MaxDetected find something, the first are reported. All invalid
// patterns are reported together, each as an *Error.
func New(list []Detector, places Places) (*Set, error) {
	s := &Set{places: places}
	var all []*pattern
	var errs []error
	for _, d := range list {
		one := detector{Detector: d}
		for i, source := range d.Patterns {
			p, err := newPattern(source)
			if err != nil {
				errs = append(errs, &Error{d.ID, i, err})
				continue
			}
			p.number = len(all)
			one.patterns, all = append(one.patterns, p), append(all, p)
		}
		s.detectors = append(s.detectors, one)
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	s.words = sync.OnceValue(func() *words { return newWords(all) })
	s.Digest = digest(list)
	return s, nil
}

// digest covers the order of detectors too, since it decides what is left out.
func digest(list []Detector) string {
	h := sha256.New()
	fmt.Fprintf(h, "detectors %d\n", Version)
	for _, d := range list {
		fmt.Fprintf(h, "%q %q %q %q %d\n", d.ID, d.Patterns, slices.Sorted(slices.Values(d.In)), slices.Sorted(slices.Values(d.Tools)), d.Max)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Detect implements engine.Detector: how often each detector found something,
// by id; nil if none did. Before a call it searches arguments and contents,
// after it results.
func (s *Set) Detect(e engine.Event) map[string]int64 {
	concerned := s.applicable(e)
	if len(concerned) == 0 {
		return nil
	}
	counts := make([]int64, len(s.detectors))
	for _, t := range s.texts(e) {
		s.count(t, concerned, counts)
	}
	return s.report(counts)
}

// Finds reports whether the detector at an index matches a string, regardless of
// place and time.
func (s *Set) Finds(index int, in string) bool {
	everywhere := text{in, []engine.Place{engine.PlaceArguments, engine.PlaceContents, engine.PlaceResults}}
	counts := make([]int64, len(s.detectors))
	s.count(everywhere, []int{index}, counts)
	return counts[index] > 0
}

// applicable returns the indices of the detectors that apply to such an event.
func (s *Set) applicable(e engine.Event) []int {
	places := PlacesOf(e.Phase)
	var list []int
	for i := range s.detectors {
		if d := &s.detectors[i]; d.looksIn(places) && d.looksAt(e.Tool) {
			list = append(list, i)
		}
	}
	return list
}

func (d *detector) looksIn(places []engine.Place) bool {
	if len(d.In) == 0 {
		return len(places) > 0
	}
	return slices.ContainsFunc(places, func(p engine.Place) bool { return slices.Contains(d.In, p) })
}

func (d *detector) looksAt(tool string) bool {
	return len(d.Tools) == 0 || slices.ContainsFunc(d.Tools, func(t string) bool {
		prefix, open := strings.CutSuffix(t, "*")
		return t == tool || open && strings.HasPrefix(tool, prefix)
	})
}

// count adds the matches in one string.
func (s *Set) count(t text, concerned []int, counts []int64) {
	found := s.words().find(t.text)
	for _, i := range concerned {
		d := &s.detectors[i]
		if !d.looksIn(t.places) {
			continue
		}
		for _, p := range d.patterns {
			if left := d.Max - counts[i]; left > 0 {
				counts[i] += p.count(t.text, found, left)
			}
		}
	}
}

func (s *Set) report(counts []int64) map[string]int64 {
	var found map[string]int64
	for i, n := range counts {
		if n == 0 || len(found) == engine.MaxDetected {
			continue
		}
		if found == nil {
			found = map[string]int64{}
		}
		found[s.detectors[i].ID] = n
	}
	return found
}
