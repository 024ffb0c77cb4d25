package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Deciding lists the changes that may change an answer: not those of names, of texts
// for people, or of settings without effect.
func (c Changes) Deciding() []Change {
	return slices.DeleteFunc(slices.Clone(c.List), func(d Change) bool {
		ofSetting := d.Kind == KindRow && !slices.ContainsFunc(layersOf(d), func(l string) bool { return slices.Contains(bundles.Layers(), l) })
		return ofSetting || d.Kind == KindLayer || d.Kind == KindManifest || d.Kind == KindUnused || d.Direction == Unaffected
	})
}

// Without returns the later of two policies without some of the changes that lead
// to it. Rego and its data change together: if one of these is undone, all are.
func Without(before, after *bundles.Effective, changes []Change) (*bundles.Effective, error) {
	settings, _ := bundles.Normal(after.Document).(map[string]any)
	then, _ := bundles.Normal(before.Document).(map[string]any)
	u := undoing{before: before, after: after, settings: settings, then: then, layers: map[string]*bundles.Bundle{}}
	for _, c := range changes {
		if err := u.change(c); err != nil {
			return nil, fmt.Errorf("undo %s %s: %w", c.Kind, c.Name, err)
		}
	}
	var layers []*bundles.Bundle
	for _, name := range bundles.Layers() {
		if l := cmp.Or(u.layers[name], after.Layer(name)); l != nil {
			layers = append(layers, l)
		}
	}
	return after.With(layers, u.settings)
}

// undoing is a policy of which some changes are undone.
type undoing struct {
	before, after  *bundles.Effective
	settings, then map[string]any
	layers         map[string]*bundles.Bundle // copies of those that differ from after's
}

func (u *undoing) change(c Change) error {
	switch c.Kind {
	case KindSetting:
		u.setting(c.Name)
	case KindRule, KindPattern:
		u.rule(c)
	case KindAccess:
		u.access(c)
	case KindDetector:
		u.detector(c)
	case KindRow:
		return u.row(c)
	case KindRego, KindData:
		u.rego()
	default:
		return fmt.Errorf("a change of kind %s cannot be undone on its own", c.Kind)
	}
	return nil
}

// layer returns a layer to change: a copy of the later policy's, or an empty one if
// only the earlier policy has it.
func (u *undoing) layer(name string) *bundles.Bundle {
	if l := u.layers[name]; l != nil {
		return l
	}
	var own bundles.Bundle
	if l := u.after.Layer(name); l != nil {
		own = *l
	} else if l := u.before.Layer(name); l != nil {
		own = bundles.Bundle{Layer: l.Layer, Manifest: l.Manifest, Digest: l.Digest}
	}
	u.layers[name] = &own
	return &own
}

// setting restores the earlier value of a setting.
func (u *undoing) setting(path string) {
	keys, value, there := lookUp(u.then, path)
	if !there {
		if keys, _, there = lookUp(u.settings, path); there {
			remove(u.settings, keys)
		}
		return
	}
	doc := u.settings
	for _, key := range keys[:len(keys)-1] {
		next, _ := doc[key].(map[string]any)
		if next == nil {
			next = map[string]any{}
			doc[key] = next
		}
		doc = next
	}
	doc[keys[len(keys)-1]] = value
}

// lookUp finds a value by its path. A key may contain dots, as ids of rules do.
func lookUp(doc map[string]any, path string) (keys []string, value any, there bool) {
	if v, ok := doc[path]; ok {
		return []string{path}, v, true
	}
	for key, v := range doc {
		rest, ok := strings.CutPrefix(path, key+".")
		sub, isMap := v.(map[string]any)
		if !ok || !isMap {
			continue
		}
		if keys, value, there := lookUp(sub, rest); there {
			return append([]string{key}, keys...), value, true
		}
	}
	return nil, nil, false
}

func remove(doc map[string]any, keys []string) {
	for _, key := range keys[:len(keys)-1] {
		doc, _ = doc[key].(map[string]any)
	}
	delete(doc, keys[len(keys)-1])
}

// rule replaces the later version of a rule by the earlier one.
func (u *undoing) rule(c Change) {
	for _, name := range layersOf(c) {
		l := u.layer(name)
		l.Rules = back(l.Rules, ofLayer(u.before, name).Rules, func(r bundles.Rule) bool { return r.ID == c.Name })
	}
}

func (u *undoing) detector(c Change) {
	for _, name := range layersOf(c) {
		l := u.layer(name)
		l.Detectors = back(l.Detectors, ofLayer(u.before, name).Detectors, func(d bundles.Detector) bool { return d.ID == c.Name })
	}
}

// access undoes the change of a list, or of one of its rules.
func (u *undoing) access(c Change) {
	for _, name := range u.accessLayers(c) {
		l, was := u.layer(name), ofLayer(u.before, name)
		l.Access = slices.Clone(l.Access)
		for i := range l.Access {
			u.rowOfAccess(&l.Access[i], was, c)
		}
		whole := func(a bundles.AccessList) bool { return "access."+a.ID == c.Name }
		if c.Did == Added || c.Did == Removed {
			l.Access = back(l.Access, was.Access, whole)
		}
	}
}

// rowOfAccess changes a list whose own parts, order or rule changed.
func (u *undoing) rowOfAccess(a *bundles.AccessList, was *bundles.Bundle, c Change) {
	at := slices.IndexFunc(was.Access, func(o bundles.AccessList) bool { return o.ID == a.ID })
	if at < 0 {
		return
	}
	then := was.Access[at]
	switch {
	case "access."+a.ID != c.Name:
		a.Rules = back(a.Rules, then.Rules, func(r bundles.AccessRule) bool { return a.FindingID(r.ID) == c.Name })
	case c.Did == Reordered:
		order := func(r bundles.AccessRule) int {
			return slices.IndexFunc(then.Rules, func(o bundles.AccessRule) bool { return o.ID == r.ID })
		}
		a.Rules = slices.SortedStableFunc(slices.Values(a.Rules), func(x, y bundles.AccessRule) int { return cmp.Compare(order(x), order(y)) })
	case c.Did == Altered:
		rules := a.Rules
		*a = then
		a.Rules = rules
	}
}

// accessLayers are the layers of an access list; a change of order names none.
func (u *undoing) accessLayers(c Change) []string {
	if names := layersOf(c); len(names) > 0 {
		return names
	}
	var all []string
	for _, l := range u.after.Layers {
		all = append(all, l.Layer)
	}
	return all
}

// row restores the texts of a row, file by file.
func (u *undoing) row(c Change) error {
	folder, name, ok := strings.Cut(c.Name, "/")
	if rest, converted := strings.CutPrefix(c.Name, rows.ConvertedFolder); converted {
		folder, name, ok = strings.TrimSuffix(rows.ConvertedFolder, "/"), rest, true
	}
	if !ok {
		return fmt.Errorf("it names no row of a folder")
	}
	for _, layer := range layersOf(c) {
		l, was := u.layer(layer), ofLayer(u.before, layer)
		files := maps.Clone(l.Rows)
		if files == nil {
			files = map[string][]byte{}
		}
		for _, file := range bothKeys(l.Rows, was.Rows) {
			if within(file, folder+"/") {
				files[file] = rowBack(files[file], was.Rows[file], name)
			}
		}
		l.Rows = files
	}
	return nil
}

// within reports whether a file is in a folder of rows. Converted rows are a folder of
// their own.
func within(file, folder string) bool {
	converted := strings.HasPrefix(file, rows.ConvertedFolder)
	return strings.HasPrefix(file, folder) && converted == (folder == rows.ConvertedFolder)
}

// rowBack returns a file of rows in which those with a name are replaced by those of
// another file.
func rowBack(now, then []byte, name string) []byte {
	var b strings.Builder
	for _, block := range rows.Split(string(now)) {
		others := slices.DeleteFunc(slices.Clone(block.Names), func(n string) bool { return n == name })
		writeRow(&b, block, others)
	}
	for _, block := range rows.Split(string(then)) {
		if slices.Contains(block.Names, name) {
			writeRow(&b, block, []string{name})
		}
	}
	return []byte(b.String())
}

// writeRow writes a block for some of its names.
func writeRow(b *strings.Builder, block rows.Block, names []string) {
	if len(names) == 0 {
		return
	}
	if len(names) == len(block.Names) {
		b.WriteString(strings.TrimRight(block.Text, "\n") + "\n")
		return
	}
	_, text, _ := strings.Cut(block.Text, ":")
	fmt.Fprintf(b, "%q:%s\n", strings.Join(names, " "), strings.TrimRight(text, "\n"))
}

// rego restores the modules and data of every layer.
func (u *undoing) rego() {
	for _, name := range bundles.Layers() {
		if u.after.Layer(name) == nil && u.before.Layer(name) == nil {
			continue
		}
		l, was := u.layer(name), ofLayer(u.before, name)
		l.Modules = was.Modules
		if name != bundles.Base {
			l.Data = was.Data
		}
	}
}

// layersOf returns the layers that a change names.
func layersOf(c Change) []string {
	var names []string
	for _, v := range []*Version{c.Before, c.After} {
		if v != nil {
			names = append(names, v.Layers...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ofLayer is a layer of a policy, or an empty one.
func ofLayer(e *bundles.Effective, name string) *bundles.Bundle {
	return cmp.Or(e.Layer(name), &bundles.Bundle{Layer: name})
}

// back returns a list in which one item is restored to its earlier value and position,
// or removed.
func back[T any](now, then []T, meant func(T) bool) []T {
	at, was := slices.IndexFunc(now, meant), slices.IndexFunc(then, meant)
	now = slices.Clone(now)
	switch {
	case at >= 0 && was >= 0:
		now[at] = then[was]
	case at >= 0:
		now = slices.Delete(now, at, at+1)
	case was >= 0:
		now = slices.Insert(now, min(was, len(now)), then[was])
	}
	return now
}
