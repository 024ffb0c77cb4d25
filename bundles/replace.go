package bundles

import (
	"errors"
	"maps"
	"slices"
)

// WithFile returns the bundle with another content of one file with rows or
// data. An error means that the content is not valid there.
func (b *Bundle) WithFile(name string, content []byte) (*Bundle, error) {
	changed := *b
	changed.Files, changed.checked, changed.rowsOK = maps.Clone(b.Files), false, false
	changed.Files[name] = content
	one := &Bundle{Layer: b.Layer, Data: map[string]any{}}
	errs := []error{one.add(name, content, parseRules(map[string][]byte{name: content}))}
	switch FileKind(name) {
	case SettingsFile:
		changed.Settings = one.Settings
	case DataFile:
		changed.Data = map[string]any{}
		for _, file := range slices.Sorted(maps.Keys(changed.Files)) {
			if FileKind(file) == DataFile {
				errs = append(errs, changed.addData(file, changed.Files[file]))
			}
		}
	}
	changed.Rules = replaced(b.Rules, one.Rules, func(r Rule) bool { return r.file == name })
	changed.Access = replaced(b.Access, one.Access, func(l AccessList) bool { return l.file == name })
	changed.Detectors = replaced(b.Detectors, one.Detectors, func(d Detector) bool { return d.file == name })
	var err error
	changed.Digest, err = digest(changed.Files)
	return &changed, errors.Join(append(errs, err)...)
}

// RowsChecked returns the layers of a policy that Assemble accepted, marked so that it
// does not check their rows again when a case adds something to them.
func RowsChecked(layers []*Bundle) []*Bundle {
	var all []*Bundle
	for _, l := range layers {
		marked := *l
		marked.rowsOK = true
		all = append(all, &marked)
	}
	return all
}

// replaced replaces the rows of one file.
func replaced[T any](list, others []T, ofFile func(T) bool) []T {
	at := slices.IndexFunc(list, ofFile)
	if at < 0 {
		return list
	}
	rest := slices.DeleteFunc(slices.Clone(list), ofFile)
	return slices.Insert(rest, at, others...)
}

// RowsOf returns the rules and access lists of a file.
func (b *Bundle) RowsOf(file string) ([]Rule, []AccessList) {
	var rules []Rule
	for _, r := range b.Rules {
		if r.file == file {
			rules = append(rules, r)
		}
	}
	var access []AccessList
	for _, l := range b.Access {
		if l.file == file {
			access = append(access, l)
		}
	}
	return rules, access
}
