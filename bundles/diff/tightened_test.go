package diff

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// withSetting is a user layer that sets one key, and the policy with it; nil: the value is not valid.
func withSetting(t *testing.T, base *bundles.Bundle, keys []string, v any) (*bundles.Bundle, *bundles.Effective) {
	t.Helper()
	for _, key := range slices.Backward(keys) {
		v = map[string]any{key: v}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundles.FromFiles(map[string][]byte{"settings.yaml": raw}, bundles.User)
	if err != nil {
		return nil, nil
	}
	e, err := bundles.Assemble(base, b)
	if err != nil {
		return nil, nil
	}
	return b, e
}

// others lists values for a setting other than its default: milder, stricter, and neither.
func others(s *bundles.SchemaNode, v any) []any {
	switch v := v.(type) {
	case float64:
		return []any{v / 2, v * 2, v + 1}
	case []any:
		more := append(slices.Clone(v), "zz")
		if len(v) == 0 {
			return []any{more}
		}
		return []any{more, v[1:], append(slices.Clone(v[1:]), "zz")}
	}
	return append(slices.Clone(s.Enum), true, false)
}

// tightenable is a setting of the built-in policy.
type tightenable struct {
	keys  []string
	node  *bundles.SchemaNode
	value any
}

func settingsBelow(keys []string, s *bundles.SchemaNode, doc map[string]any) (list []tightenable) {
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		node, at := s.Child(key), append(slices.Clip(keys), key)
		if sub, ok := doc[key].(map[string]any); ok && node != nil {
			list = append(list, settingsBelow(at, node, sub)...)
		} else if node != nil {
			list = append(list, tightenable{at, node, doc[key]})
		}
	}
	return list
}

// Whatever a changed settings file contains, what counts of it without a signature only tightens; and what tightens does count.
func TestTightened(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	tree, err := bundles.SettingsSchema()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]int{}
	all := settingsBelow(nil, tree, bundles.Normal(plain.Document).(map[string]any))
	for merge, list := range byMerge(all) {
		for _, s := range sweep.Nth(list, (len(list)+1)/2) {
			values := append(others(s.node, s.value), s.value)
			for _, was := range values {
				for _, is := range values {
					if tightens(t, base, s, was, is) {
						tried[merge]++
					}
				}
			}
		}
	}
	for _, merge := range []string{"min", "max", "strictest", "union", "intersect", "narrow", "replace", "extend"} {
		if tried[merge] == 0 {
			t.Errorf("no setting with the merge %s was tried", merge)
		}
	}
}

func byMerge(all []tightenable) map[string][]tightenable {
	by := map[string][]tightenable{}
	for _, s := range all {
		by[s.node.Merge] = append(by[s.node.Merge], s)
	}
	return by
}

// tightens changes an accepted value into another one; false: one of them is not valid.
func tightens(t *testing.T, base *bundles.Bundle, s tightenable, was, is any) bool {
	t.Helper()
	accepted, before := withSetting(t, base, s.keys, was)
	changed, after := withSetting(t, base, s.keys, is)
	if before == nil || after == nil {
		return false
	}
	made, _, err := bundles.Tightened([]*bundles.Bundle{base}, accepted, changed)
	if err != nil {
		t.Fatalf("%v: %v to %v: %v", s.keys, was, is, err)
	}
	now, err := bundles.Assemble(base, made)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range compared(t, before, now) {
		// More patterns are looked for with extend, which has no order in a comparison.
		if c.Direction != Tightened && c.Direction != Unaffected && s.node.Merge != "extend" {
			t.Errorf("%v: %v to %v: %s is %s", s.keys, was, is, c.Name, c.Direction)
		}
	}
	for _, c := range compared(t, before, after) {
		if c.Direction == Tightened && !reflect.DeepEqual(now.Document, after.Document) {
			t.Errorf("%v: %v to %v tightens, and does not count", s.keys, was, is)
		}
	}
	return true
}

func compared(t *testing.T, a, b *bundles.Effective) []Change {
	t.Helper()
	list, err := Settings(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(c Change) bool {
		return c.Before != nil && c.After != nil && reflect.DeepEqual(c.Before.Value, c.After.Value)
	})
}
