package diff

import (
	"reflect"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// leaf is a setting of a policy, with its description in the schema.
type leaf struct {
	value any
	node  *bundles.SchemaNode // nil: this version's schema does not have it
}

// leavesBelow lists the settings below a node by their paths: everything without keys
// of its own, known or not.
func leavesBelow(s *bundles.SchemaNode, at string, doc map[string]any, into map[string]leaf) {
	for key, v := range doc {
		path := strings.TrimPrefix(at+"."+key, ".")
		var node *bundles.SchemaNode
		if s != nil {
			node = s.Child(key)
		}
		if sub, ok := v.(map[string]any); ok && len(sub) > 0 {
			leavesBelow(node, path, sub, into)
			continue
		}
		into[path] = leaf{v, node}
	}
}

// leavesOf lists the effective settings of a policy.
func leavesOf(e *bundles.Effective, tree *bundles.SchemaNode) map[string]leaf {
	all := map[string]leaf{}
	doc, _ := bundles.Normal(e.Document).(map[string]any)
	for _, made := range []string{bundles.CatalogueKey, bundles.AccessKey, bundles.DetectorsKey} {
		delete(doc, made) // rows, which are compared separately
	}
	leavesBelow(tree, "", doc, all)
	return all
}

// saidBy lists the layers that contribute to a setting.
func saidBy(e *bundles.Effective, path string) []string {
	for at := path; at != ""; at = at[:max(0, strings.LastIndexByte(at, '.'))] {
		if from := e.Sources[at]; len(from) > 0 {
			return from
		}
	}
	return []string{bundles.Base}
}

// Settings compares only the settings of two policies; changes that loosen come first.
func Settings(before, after *bundles.Effective) ([]Change, error) {
	d := differ{}
	if err := d.settings(before, after); err != nil {
		return nil, err
	}
	order, err := bundles.SettingsOrder()
	if err != nil {
		return nil, err
	}
	sortChanges(d.all, order)
	loosening := func(c Change) int {
		return slices.Index([]Direction{Loosened, Mixed, Undecided, Tightened, Unaffected}, c.Direction)
	}
	slices.SortStableFunc(d.all, func(a, b Change) int { return loosening(a) - loosening(b) })
	return d.all, nil
}

func (d *differ) settings(a, b *bundles.Effective) error {
	tree, err := bundles.SettingsSchema()
	if err != nil {
		return err
	}
	before, after := leavesOf(a, tree), leavesOf(b, tree)
	for _, path := range bothKeys(before, after) {
		was, wasThere := before[path]
		is, isThere := after[path]
		fromA, fromB := saidBy(a, path), saidBy(b, path)
		if emptied(was.value, path, after) || emptied(is.value, path, before) {
			continue // the added keys are the change, not the object
		}
		if reflect.DeepEqual(was.value, is.value) && wasThere == isThere && slices.Equal(fromA, fromB) {
			continue
		}
		c := Change{Kind: KindSetting, Name: path, Did: did(wasThere, isThere)}
		if wasThere {
			c.Before = &Version{Value: was.value, Layers: fromA}
		}
		if isThere {
			c.After = &Version{Value: is.value, Layers: fromB}
		}
		d.setting(&c, was, is, unsaid{a, b})
	}
	return nil
}

// emptied reports whether a value is an object without keys, in which the other
// policy has some.
func emptied(v any, path string, other map[string]leaf) bool {
	object, isObject := v.(map[string]any)
	if !isObject || len(object) > 0 {
		return false
	}
	for name := range other {
		if strings.HasPrefix(name, path+".") {
			return true
		}
	}
	return false
}

// unsaid returns the values that apply in two policies if a setting is absent.
type unsaid struct{ before, after *bundles.Effective }

// setting adds a changed setting with its direction, and the items of a list.
func (d *differ) setting(c *Change, was, is leaf, without unsaid) {
	node := was.node
	if node == nil {
		node = is.node
	}
	if node == nil {
		node = &bundles.SchemaNode{}
	}
	c.Direction = direction(node, c, was.value, is.value, without)
	if a, b := asList(was.value), asList(is.value); a != nil && b != nil && c.Did == Altered {
		c.Parts = items(a, b, ofItem(node))
		if len(c.Parts) == 0 && !reflect.DeepEqual(a, b) {
			c.Did = Reordered
		}
	}
	d.add(*c)
}

// direction determines from the schema whether one value is stricter than another.
func direction(s *bundles.SchemaNode, c *Change, was, is any, without unsaid) Direction {
	a, isNumber := was.(float64)
	b, isNumberToo := is.(float64)
	switch s.Merge {
	case "min", "max":
		if !isNumber || !isNumberToo {
			return Undecided
		}
		if s.Merge == "min" {
			return stricter(b, a)
		}
		return stricter(a, b)
	case "union", "intersect", "narrow":
		return listDirection(s, was, is)
	case "strictest":
		return ranked(s, without.value(c.Name, s, was, without.before), without.value(c.Name, s, is, without.after))
	}
	return unranked(s, was, is)
}

// unranked returns the direction of a setting whose values have no order: free text is
// only for people, and the same value from another layer does not count.
func unranked(s *bundles.SchemaNode, was, is any) Direction {
	_, text := was.(string)
	_, textToo := is.(string)
	if reflect.DeepEqual(was, is) || s.Merge == "replace" && s.Enum == nil && text && textToo {
		return Unaffected
	}
	return Undecided
}

func ranked(s *bundles.SchemaNode, was, is any) Direction {
	a, b := s.Rank(was), s.Rank(is)
	if a < 0 || b < 0 {
		return Undecided
	}
	return stricter(float64(a), float64(b))
}

func listDirection(s *bundles.SchemaNode, was, is any) Direction {
	a, b := asList(was), asList(is)
	switch {
	case a == nil || b == nil:
		return Undecided
	case s.Merge == "union":
		return grown(a, b)
	case s.Merge == "intersect":
		return grown(a, b).reversed()
	}
	return placesDirection(bundles.CleanPlaces(a), bundles.CleanPlaces(b))
}

// placesDirection compares lists of places, of which fewer are stricter: a folder
// includes everything under it.
func placesDirection(a, b []any) Direction {
	within := func(inner, outer []any) bool {
		return !slices.ContainsFunc(inner, func(v any) bool {
			return !slices.ContainsFunc(outer, func(o any) bool { return bundles.ContainsPlace(o, v) })
		})
	}
	switch bInA, aInB := within(b, a), within(a, b); {
	case bInA && aInB:
		return Unaffected
	case bInA:
		return Tightened
	case aInB:
		return Loosened
	}
	return Mixed
}

// ofItem returns the direction of an item that was added to a list.
func ofItem(s *bundles.SchemaNode) Direction {
	switch s.Merge {
	case "union":
		return Tightened
	case "intersect":
		return Loosened
	}
	return Undecided
}

// value returns a setting, or the default for a rule's mode: that of its row, else the
// strictest.
func (unsaid) value(path string, s *bundles.SchemaNode, v any, e *bundles.Effective) any {
	if v != nil || s.Within == "" {
		return v
	}
	for _, r := range e.Rules() {
		if strings.HasSuffix(path, "."+r.ID) && r.Enforcement != "" {
			return r.Enforcement
		}
	}
	return s.Strictest()
}

// items lists the added and removed items of a list. came is the direction of an added
// item.
func items(a, b []any, came Direction) []Part {
	var parts []Part
	for _, v := range missing(b, a) {
		parts = append(parts, Part{Name: "item", Before: v, Direction: came.reversed()})
	}
	for _, v := range missing(a, b) {
		parts = append(parts, Part{Name: "item", After: v, Direction: came})
	}
	return parts
}

// ListChanges lists the removed and added items of a list, each as a part named item
// with an undecided direction.
func ListChanges(before, after []any) []Part { return items(before, after, Undecided) }

// missing lists the items of others that a list lacks, as often as it lacks them.
func missing(have, others []any) []any {
	rest := slices.Clone(have)
	var lacks []any
	for _, v := range others {
		at := slices.IndexFunc(rest, same(v))
		if at < 0 {
			lacks = append(lacks, v)
			continue
		}
		rest = slices.Delete(rest, at, at+1)
	}
	return lacks
}

func same(v any) func(any) bool {
	return func(o any) bool { return reflect.DeepEqual(o, v) }
}

// said compares the own settings of the layers above the base where the effective
// value is unchanged: a value that another layer overrides now may become effective
// later.
func (d *differ) said(a, b *bundles.Effective) error {
	shown := map[string]bool{}
	for _, c := range d.all {
		shown[c.Name] = shown[c.Name] || c.Kind == KindSetting
	}
	for _, layer := range bundles.Layers()[1:] {
		before, after := ownLeaves(a.Layer(layer)), ownLeaves(b.Layer(layer))
		for _, path := range bothKeys(before, after) {
			was, wasThere := before[path]
			is, isThere := after[path]
			if shown[path] || wasThere == isThere && reflect.DeepEqual(was.value, is.value) {
				continue
			}
			c := Change{Kind: KindUnused, Name: path, Did: did(wasThere, isThere), Direction: Unaffected}
			if wasThere {
				c.Before = &Version{Value: was.value, Layers: []string{layer}}
			}
			if isThere {
				c.After = &Version{Value: is.value, Layers: []string{layer}}
			}
			d.add(c)
		}
	}
	return nil
}

// ownLeaves lists the settings of a layer above the base.
func ownLeaves(l *bundles.Bundle) map[string]leaf {
	all := map[string]leaf{}
	if l != nil {
		doc, _ := bundles.Normal(l.Settings).(map[string]any)
		leavesBelow(nil, "", doc, all)
	}
	return all
}

// data compares the data of layers above the base.
func (d *differ) data(a, b *bundles.Effective) error {
	for _, layer := range bundles.Layers()[1:] {
		before, after := ownData(a.Layer(layer)), ownData(b.Layer(layer))
		for _, path := range bothKeys(before, after) {
			was, wasThere := before[path]
			is, isThere := after[path]
			if wasThere == isThere && reflect.DeepEqual(was.value, is.value) {
				continue
			}
			c := Change{Kind: KindData, Name: "policies." + layer + "." + path, Did: did(wasThere, isThere), Direction: Undecided}
			if wasThere {
				c.Before = &Version{Value: was.value, Layers: []string{layer}}
			}
			if isThere {
				c.After = &Version{Value: is.value, Layers: []string{layer}}
			}
			if la, lb := asList(was.value), asList(is.value); la != nil && lb != nil {
				c.Parts = items(la, lb, Undecided)
			}
			d.add(c)
		}
	}
	return nil
}

// ownData lists a layer's data.
func ownData(l *bundles.Bundle) map[string]leaf {
	all := map[string]leaf{}
	if l == nil {
		return all
	}
	doc, _ := bundles.Normal(l.OwnData()).(map[string]any)
	leavesBelow(nil, "", doc, all)
	return all
}
