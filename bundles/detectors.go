package bundles

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// Detector is one row of a bundle's detectors: what to search for in the raw
// texts of a call, which policy itself never sees. The number of matches is
// action.detected, by id, for rules to use.
//
//	id: injection.orders
//	title: Text that gives the agent orders
//	pattern: '(?i)ignore (all )?previous instructions'
//	in: [results]
//	tools: [WebFetch, mcp__*]
//	examples:
//	  match: ["Ignore previous instructions"]
//	  no_match: ["Read the instructions"]
//
// Where more than engine.MaxDetected detectors find something in one call, the
// first are reported: those of the base layer before those of others, and in a
// layer by file name and then by row.
type Detector struct {
	ID          string   `json:"id" yaml:"id"`                             // unique id over all layers
	Title       string   `json:"title" yaml:"title"`                       // a few words for lists and reports
	Description string   `json:"description,omitempty" yaml:"description"` // what it finds and what it does not
	Pattern     string   `json:"pattern,omitempty" yaml:"pattern"`         // regular expression (RE2); this or patterns
	Patterns    []string `json:"patterns,omitempty" yaml:"patterns"`       // several regular expressions (RE2), counted together
	In          []string `json:"in,omitempty" yaml:"in"`                   // texts to search; empty: all
	// Tools whose calls are searched, exact or ending in *; empty: all.
	Tools    []string         `json:"tools,omitempty" yaml:"tools"`
	Max      int64            `json:"max,omitempty" yaml:"max"` // counting stops here, 1 to 10000; absent: 100
	Examples DetectorExamples `json:"examples" yaml:"examples"` // texts for policy test

	file     string
	line     int
	patterns []int // lines of the patterns
	matches  []int // lines of the examples that match, then of those that do not
}

// DetectorExamples are texts in which something is found, and texts in which
// nothing is. There is at least one of each.
type DetectorExamples struct {
	Match   []string `json:"match" yaml:"match"`       // texts in which something must be found; at least one
	NoMatch []string `json:"no_match" yaml:"no_match"` // texts in which nothing must be found; at least one
}

// Limits of a detector's count.
const (
	usualMax = 100
	mostMax  = 10_000
)

// Vocabulary lists the values that the items of a key may have, nil if any are allowed.
func (Detector) Vocabulary(key string) []string {
	if key == "in" {
		return engine.Places()
	}
	return nil
}

// All returns the patterns, however they are written.
func (d Detector) All() []string {
	if d.Pattern != "" {
		return []string{d.Pattern}
	}
	return d.Patterns
}

// Place returns file:line of the row.
func (d Detector) Place() string { return d.file + ":" + strconv.Itoa(d.line) }

// PatternPlace returns file:line of a pattern.
func (d Detector) PatternPlace(i int) string {
	return d.file + ":" + strconv.Itoa(d.patterns[i])
}

// ExamplePlace returns file:line of an example: of those that match, and then
// of those that do not.
func (d Detector) ExamplePlace(i int) string {
	return d.file + ":" + strconv.Itoa(d.matches[i])
}

// ParseDetectors reads the detectors of one file: YAML documents, each a detector or a
// list of them. It is strict: unknown syntax is an error, and all errors are returned together,
// each as file:line: what is wrong and what was expected.
// Patterns are checked when they are compiled.
func ParseDetectors(file string, data []byte) ([]Detector, error) {
	if p, ok := parsedBefore(file, data); ok {
		return p.Detectors, nil
	}
	return readDetectors(file, data)
}

// readDetectors is ParseDetectors for any file.
func readDetectors(file string, data []byte) ([]Detector, error) {
	p := &rowParser{file: file, seen: map[string]int{}}
	var list []Detector
	err := p.parse(data, func(n *yaml.Node) {
		rows := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			rows = n.Content
		}
		for _, row := range rows {
			list = append(list, p.detector(row))
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// detector reads a row. Its result is valid only if there are no errors.
func (p *rowParser) detector(n *yaml.Node) Detector {
	d := Detector{file: p.file, line: n.Line}
	before := len(p.problems)
	p.check(n, "the detector", reflect.TypeFor[Detector](), nil)
	if len(p.problems) > before {
		return d
	}
	if err := n.Decode(&d); err != nil {
		p.wrong(n, "%v", err)
		return d
	}
	nodes := RowValues(n)
	examples := RowValues(nodes["examples"])
	d.patterns, d.matches = linesOf(nodes["pattern"], nodes["patterns"]), linesOf(examples["match"], examples["no_match"])
	p.idForm(nodes["id"], d.ID)
	p.once(nodes["id"], p.seen, "id", d.ID)
	if len(d.ID) > engine.MaxDetectorID {
		p.wrong(nodes["id"], "id %s has %d bytes, at most %d: every record with a match contains it", d.ID, len(d.ID),
			engine.MaxDetectorID)
	}
	p.filled(nodes, "patterns", "in", "tools")
	p.filled(examples, "match", "no_match")
	p.patterns(nodes["tools"], "tools", d.Tools)
	if (d.Pattern == "") == (nodes["patterns"] == nil) {
		p.wrong(n, "%s: expected either pattern, or patterns", d.ID)
	}
	p.counts(&d, nodes["max"])
	return d
}

func (p *rowParser) counts(d *Detector, n *yaml.Node) {
	if n != nil && (d.Max < 1 || d.Max > mostMax) {
		p.wrong(n, "max: %d is not between 1 and %d", d.Max, mostMax)
	}
	d.Max = cmp.Or(d.Max, usualMax)
}

// linesOf returns the lines of texts and of lists of strings.
func linesOf(nodes ...*yaml.Node) []int {
	var lines []int
	for _, n := range nodes {
		switch {
		case n == nil:
		case n.Kind == yaml.SequenceNode:
			lines = append(lines, linesOf(n.Content...)...)
		default:
			lines = append(lines, n.Line)
		}
	}
	return lines
}

// Detectors returns the detectors of all layers in order.
func (e *Effective) Detectors() []Detector {
	var all []Detector
	for _, l := range e.Layers {
		for _, d := range l.Detectors {
			if l.Layer != Base {
				d.file = l.Layer + "/" + d.file
			}
			all = append(all, d)
		}
	}
	return all
}

// joinDetectors adds the titles of a layer's detectors under its root, and refuses an
// id of an earlier layer.
func (l *Bundle) joinDetectors(at map[string]any, owner map[string]string) error {
	titles := map[string]any{}
	var errs []error
	for _, d := range l.Detectors {
		if other, taken := owner[d.ID]; taken {
			errs = append(errs, position{l.Layer, d.file, d.line, 0, "row.id"}.wrong("detector %q already exists in the %s layer; "+
				"give this one another id", d.ID, other))
			continue
		}
		owner[d.ID] = l.Layer
		titles[d.ID] = map[string]any{"title": d.Title}
	}
	if len(titles) > 0 {
		at[DetectorsKey] = titles
	}
	return errors.Join(errs...)
}

// DetectorsKey is the key of the titles of detectors in a layer's data.
const DetectorsKey = "detectors"

// checkDetected refuses rules with unknown detectors.
func (e *Effective) checkDetected() error {
	var known []string
	var errs []error
	for _, d := range e.Detectors() {
		known = append(known, d.ID)
	}
	for _, l := range e.Layers {
		for _, r := range l.Rules {
			for _, id := range r.Match.Detected {
				if !slices.Contains(known, id) {
					errs = append(errs,
						r.at("match").in(l.Layer).as("rule.unknown").wrong("rule %s: unknown detector %s", r.ID, engine.Suggest(id, known)))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// File names the file that the row is in, under its layer's folder.
func (d Detector) File() string { return d.file }

// PatternLine is the line of a pattern.
func (d Detector) PatternLine(i int) int { return d.patterns[i] }

// ExampleLine is the line of an example: of those that match, and then of those
// that do not.
func (d Detector) ExampleLine(i int) int { return d.matches[i] }
