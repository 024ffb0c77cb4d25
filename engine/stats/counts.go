package stats

import (
	"cmp"
	"maps"
	"slices"
)

// Other stands for all names beyond the bounds of a table.
const Other = "(other)"

const (
	maxNames  = 1000  // different rules, patterns, tools and so on that are counted separately
	maxGroups = 10000 // different sessions, agents or days
)

// counts counts by key, for a bounded number of keys.
type counts[K comparable] map[K]int64

// add counts one more; if the bound of different keys is reached, under other.
func (c counts[K]) add(key, other K) {
	if _, known := c[key]; !known && len(c) >= maxNames {
		key = other
	}
	c[key]++
}

// sorted returns the keys, the one with the highest count first; name orders
// those that are as frequent.
func (c counts[K]) sorted(name func(K) string) []K {
	return slices.SortedFunc(maps.Keys(c), func(a, b K) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(name(a), name(b)))
	})
}

// groups counts verdicts by a name.
type groups struct {
	most int
	of   map[string]*Verdicts
}

func newGroups(most int) groups { return groups{most, map[string]*Verdicts{}} }

func (g groups) at(name string) *Verdicts {
	v := g.of[name]
	if v == nil && len(g.of) >= g.most {
		name = Other
		v = g.of[name]
	}
	if v == nil {
		v = &Verdicts{}
		g.of[name] = v
	}
	return v
}

// list returns the groups, the greatest first.
func (g groups) list() []Group {
	list := []Group{}
	for _, name := range slices.Sorted(maps.Keys(g.of)) {
		list = append(list, Group{name, *g.of[name]})
	}
	slices.SortStableFunc(list, func(a, b Group) int { return cmp.Compare(b.Total, a.Total) })
	return list
}
