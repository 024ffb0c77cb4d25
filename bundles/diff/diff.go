// Package diff compares the meaning of two policies, and determines for each
// difference whether it alone tightens or loosens the policy. Comments, formatting and
// file names are ignored.
//
// Out of scope: reading and joining layers (bundles), what Rego states (rego, a
// function of the caller), and showing differences to people.
package diff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// Direction describes the effect of a change on strictness if nothing else changes. It follows from
// the order of values in the schema of the settings, of verdicts and of effects; if none of these
// determines it, it is Undecided, and only a simulation shows it.
type Direction string

// The directions of a change.
const (
	Tightened  Direction = "tightened"
	Loosened   Direction = "loosened"
	Mixed      Direction = "mixed"     // a part of it tightens, another one loosens
	Undecided  Direction = "undecided" // it may do either
	Unaffected Direction = "none"      // it does not affect decisions: texts for people, an order without meaning
)

// Directions lists the possible effects of a change on strictness.
func Directions() []string {
	return []string{string(Tightened), string(Loosened), string(Mixed), string(Undecided), string(Unaffected)}
}

// The kinds of what can change, in the order in which changes are listed.
const (
	KindLayer    = "layer"    // a whole layer, by its name
	KindManifest = "manifest" // a field of a layer's manifest, such as base.version
	KindSetting  = "setting"  // an effective setting, by its path
	KindUnused   = "said"     // a value in a layer's settings, where the effective value stayed the same
	KindData     = "data"     // data of a layer above the base, by path
	KindRule     = "rule"
	KindPattern  = "pattern"
	KindAccess   = "access" // a list or a rule of one, by the id under which it is reported
	KindDetector = "detector"
	KindRow      = "row"  // what is known about a program, a kind of path, a list of words: programs/rm
	KindRego     = "rego" // a rule or a package, such as data.reviewer.risk.level
)

// Kinds lists the kinds of changes in their order.
func Kinds() []string {
	return []string{KindLayer, KindManifest, KindSetting, KindUnused, KindData, KindRule, KindPattern, KindAccess, KindDetector, KindRow,
		KindRego}
}

// The kinds of changes of an entry.
const (
	Added     = "added"
	Removed   = "removed"
	Altered   = "changed"
	Reordered = "reordered" // only the order of its items changed
)

// Changes are the differences in meaning between two policies: comments, formatting
// and file names do not count.
type Changes struct {
	Before Snapshot        `json:"before"`
	After  Snapshot        `json:"after"`
	Counts DirectionCounts `json:"counts"`
	List   []Change        `json:"changes"` // by kind; settings in the order of the schema, others by name
}

// Snapshot is one of the two policies that are compared.
type Snapshot struct {
	Digest string          `json:"digest"`
	Layers []SnapshotLayer `json:"layers"`
}

// SnapshotLayer is a layer of a policy.
type SnapshotLayer struct {
	Layer    string `json:"layer"`
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
	Sequence int64  `json:"sequence,omitempty"`
	Digest   string `json:"digest"`
}

// DirectionCounts counts changes by their direction.
type DirectionCounts struct {
	Tightened  int `json:"tightened"`
	Loosened   int `json:"loosened"`
	Mixed      int `json:"mixed"`
	Undecided  int `json:"undecided"`
	Unaffected int `json:"none"`
}

// Change is one difference.
type Change struct {
	Kind      string    `json:"kind"` // one of Kinds
	Name      string    `json:"name"`
	Did       string    `json:"did"` // added, removed, changed, reordered
	Direction Direction `json:"direction"`
	Why       string    `json:"why,omitempty"`    // of an undecided one: why the direction is unknown
	Before    *Version  `json:"before,omitempty"` // absent: it did not exist
	After     *Version  `json:"after,omitempty"`  // absent: it no longer exists
	Parts     []Part    `json:"parts,omitempty"`  // of a row: all its parts if it was added or removed, else those that differ; of a list: added and removed items
}

// Version is an entry in one of the two policies.
type Version struct {
	Value  any      `json:"value,omitempty"`  // absent for a row, whose values are in the parts
	Layers []string `json:"layers,omitempty"` // layers with this value
	Place  string   `json:"place,omitempty"`  // file:line in the last of them; absent for a setting
}

// Part is a difference of one part of a row, such as when or match.signals.
type Part struct {
	Name      string    `json:"name"`
	Before    any       `json:"before,omitempty"` // absent: it did not exist
	After     any       `json:"after,omitempty"`  // absent: it no longer exists
	Direction Direction `json:"direction"`
}

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Change) Vocabulary(key string) []string {
	switch key {
	case "kind":
		return Kinds()
	case "did":
		return []string{Added, Removed, Altered, Reordered}
	case "direction":
		return Directions()
	}
	return nil
}

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Part) Vocabulary(key string) []string {
	if key == "direction" {
		return Directions()
	}
	return nil
}

// CompareRego compares the definitions in two sets of modules (name -> source). By the
// path of a rule or a package, such as data.reviewer.risk.level, it returns the
// texts of the definitions that only one of them has; nil where a set has no
// definition of it at all. An error names the module. It is rego.Differences.
type CompareRego func(before, after map[string]string) (map[string][2][]string, error)

// Empty reports whether the policies mean the same, regardless of their digests.
func (c Changes) Empty() bool { return len(c.List) == 0 }

// Loosens reports whether some change, or a part of one, certainly loosens.
func (c Changes) Loosens() bool {
	return slices.ContainsFunc(c.List, func(d Change) bool {
		return d.Direction == Loosened || d.Direction == Mixed ||
			slices.ContainsFunc(d.Parts, func(p Part) bool { return p.Direction == Loosened || p.Direction == Mixed })
	})
}

// Policies compares two policies. It fails where the Rego of one cannot be read.
func Policies(before, after *bundles.Effective, compare CompareRego) (Changes, error) {
	d := differ{compare: compare}
	steps := []func(a, b *bundles.Effective) error{d.layers, d.settings, d.said, d.data, d.rules, d.access, d.detectors, d.knowledge, d.rego}
	for _, step := range steps {
		if err := step(before, after); err != nil {
			return Changes{}, err
		}
	}
	order, err := bundles.SettingsOrder()
	if err != nil {
		return Changes{}, err
	}
	sortChanges(d.all, order)
	return Changes{standOf(before), standOf(after), countDirections(d.all), append([]Change{}, d.all...)}, nil
}

// differ collects the differences between two policies.
type differ struct {
	compare CompareRego
	all     []Change
}

func (d *differ) add(c Change) {
	c.Why = whyUndecided(c)
	d.all = append(d.all, c)
}

func standOf(e *bundles.Effective) Snapshot {
	s := Snapshot{Digest: e.Digest, Layers: []SnapshotLayer{}}
	for _, l := range e.Layers {
		m := l.Manifest.Metadata
		s.Layers = append(s.Layers, SnapshotLayer{l.Layer, m.Name, m.Version, m.Sequence, l.Digest})
	}
	return s
}

func sortChanges(all []Change, order bundles.KeyOrder) {
	slices.SortStableFunc(all, func(a, b Change) int {
		byKind := cmp.Compare(slices.Index(Kinds(), a.Kind), slices.Index(Kinds(), b.Kind))
		if byKind == 0 && (a.Kind == KindSetting || a.Kind == KindUnused) {
			return order.Compare(a.Name, b.Name)
		}
		return cmp.Or(byKind, strings.Compare(a.Name, b.Name), strings.Compare(a.Did, b.Did))
	})
}

func countDirections(all []Change) DirectionCounts {
	var n DirectionCounts
	for _, c := range all {
		switch c.Direction {
		case Tightened:
			n.Tightened++
		case Loosened:
			n.Loosened++
		case Mixed:
			n.Mixed++
		case Undecided:
			n.Undecided++
		case Unaffected:
			n.Unaffected++
		}
	}
	return n
}

// together returns the direction of a change from those of its parts: if one part is
// undecided, the change is.
func together(all []Direction) Direction {
	switch has := func(d Direction) bool { return slices.Contains(all, d) }; {
	case has(Undecided):
		return Undecided
	case has(Mixed), has(Tightened) && has(Loosened):
		return Mixed
	case has(Tightened):
		return Tightened
	case has(Loosened):
		return Loosened
	}
	return Unaffected
}

// reversed returns the direction of the opposite change.
func (d Direction) reversed() Direction {
	switch d {
	case Tightened:
		return Loosened
	case Loosened:
		return Tightened
	}
	return d
}

// stricter returns the direction of a change of rank; a higher rank is stricter.
func stricter(before, after float64) Direction {
	switch {
	case after > before:
		return Tightened
	case after < before:
		return Loosened
	}
	return Unaffected
}

// grown returns the direction of a change of a set in which more items are stricter.
func grown(before, after []any) Direction {
	more := slices.ContainsFunc(after, func(v any) bool { return !slices.ContainsFunc(before, same(v)) })
	less := slices.ContainsFunc(before, func(v any) bool { return !slices.ContainsFunc(after, same(v)) })
	switch {
	case more && less:
		return Mixed
	case more:
		return Tightened
	case less:
		return Loosened
	}
	return Unaffected
}

// did returns the kind of change from the presence of the entry before and after.
func did(before, after bool) string {
	switch {
	case !before:
		return Added
	case !after:
		return Removed
	}
	return Altered
}

// bothKeys lists the keys of two maps in order.
func bothKeys[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// asList returns a value as a list; nil if it is not one.
func asList(v any) []any {
	l, _ := v.([]any)
	return l
}
