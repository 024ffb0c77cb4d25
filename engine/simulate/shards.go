package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Merge combines the shards of one comparison. The result does not depend on
// their order, and equals that of an unsplit comparison. It rejects parts of
// other comparisons, and an incomplete set.
func Merge(parts []*Impact) (*Impact, error) {
	missing, err := together(parts)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("shards are missing: %s", list(missing))
	}
	if err != nil {
		return nil, err
	}
	return sum(parts)
}

// MergeSome combines consecutive shards into a larger one, so that many can be merged in
// a tree.
func MergeSome(parts []*Impact) (*Impact, error) {
	missing, err := together(parts)
	if err != nil {
		return nil, err
	}
	own := *parts[0].Shard
	covered := 0
	for _, p := range parts {
		own.Index, own.To = min(own.Index, p.Shard.Index), max(own.To, p.Shard.Last())
		covered += p.Shard.Last() - p.Shard.Index + 1
	}
	if covered != own.To-own.Index+1 {
		return nil, fmt.Errorf("the parts are not consecutive shards; missing: %s", list(missing))
	}
	if own.To == own.Index {
		own.To = 0
	}
	m, err := sum(parts)
	if err == nil {
		m.Shard = &own
	}
	return m, err
}

// MergeFound combines the shards that are present. If some are missing, the result is
// marked as a part.
func MergeFound(parts []*Impact) (*Impact, error) {
	missing, err := together(parts)
	if err != nil {
		return nil, err
	}
	m, err := sum(parts)
	if err == nil && len(missing) > 0 {
		m.Partial = "shards are missing: " + list(missing)
	}
	return m, err
}

func sum(parts []*Impact) (*Impact, error) {
	p := parts[0]
	m := newImpact(p.Baseline, p.Candidate, p.Env, p.Selection)
	m.Causes = unmet(p.Causes)
	for i, part := range parts {
		if err := m.alike(part); err != nil {
			return nil, fmt.Errorf("part %d of %d belongs to another comparison: %w", i+1, len(parts), err)
		}
		m.Add(part)
	}
	return m, nil
}

// together returns an error unless the parts are shards of one split, each once and
// complete; and the shards of it that are missing.
func together(parts []*Impact) (missing []string, err error) {
	if len(parts) == 0 {
		return nil, errors.New("no parts to merge; give the files that --shard i/n wrote")
	}
	for i, p := range parts {
		if err := belongs(p, parts[0], i+1, len(parts)); err != nil {
			return nil, err
		}
	}
	ordered := slices.SortedFunc(slices.Values(parts), func(a, b *Impact) int { return cmp.Compare(a.Shard.Index, b.Shard.Index) })
	next := 1
	for _, p := range ordered {
		if p.Shard.Index < next {
			return nil, fmt.Errorf("shard %s occurs twice", *p.Shard)
		}
		missing = append(missing, between(next, p.Shard.Index-1, p.Shard.Of)...)
		next = p.Shard.Last() + 1
	}
	return append(missing, between(next, parts[0].Shard.Of, parts[0].Shard.Of)...), nil
}

// belongs returns an error unless a part is a whole shard of the split of the first part.
func belongs(p, first *Impact, number, of int) error {
	switch {
	case p.Shard == nil:
		return fmt.Errorf("part %d of %d is not a shard; give the files that --shard i/n wrote", number, of)
	case p.Shard.Of != first.Shard.Of:
		return fmt.Errorf("shard %s does not belong to the split of the first part, which has %d shards", *p.Shard, first.Shard.Of)
	case p.Shard.Manifest != first.Shard.Manifest:
		return fmt.Errorf("shard %s read %s, and the first part %s; run all shards with one manifest", *p.Shard, inputsOf(p), inputsOf(first))
	case p.Partial != "":
		return fmt.Errorf("shard %s is incomplete (%s); run it again", *p.Shard, p.Partial)
	}
	return nil
}

func inputsOf(p *Impact) string {
	if p.Shard.Manifest == "" {
		return "inputs without a manifest"
	}
	return fmt.Sprintf("the inputs of manifest %.12s", p.Shard.Manifest)
}

func between(first, last, of int) (names []string) {
	for i := first; i <= last; i++ {
		names = append(names, fmt.Sprintf("%d/%d", i, of))
	}
	return names
}

// list names the first few.
func list(names []string) string {
	const most = 5
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
