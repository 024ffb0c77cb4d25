package bundles

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
)

// WithFile returns the bundle with another content of one file with rows or
// data. An error means that the content is not valid there.
func (b *Bundle) WithFile(name string, content []byte) (*Bundle, error) {
	changed := *b
	changed.Files, changed.checked, changed.rowsOK = maps.Clone(b.Files), false, false
	changed.Files[name] = content
	one := &Bundle{Layer: b.Layer, Modules: map[string]string{}, Data: map[string]any{}}
	errs := []error{one.add(name, content, parseRules(map[string][]byte{name: content}))}
	switch FileKind(name) {
	case SettingsFile:
		changed.Settings = one.Settings
	case Definitions:
		changed.Definitions = one.Definitions
	case RegoFile:
		changed.Modules = maps.Clone(b.Modules)
		maps.Copy(changed.Modules, one.Modules)
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

// Tightened returns a layer's bundle with what another version of it tightens: the settings whose x-merge shows
// that the version's value is stricter, as for the project's layer, and its new files with rules, patterns
// and access lists. what lists both. below are the layers before this one.
func Tightened(below []*Bundle, b, version *Bundle) (_ *Bundle, what []string, err error) {
	stricter, err := stricterSettings(below, b, version)
	if err != nil {
		return b, nil, err
	}
	files := maps.Clone(b.Files)
	if len(stricter) > 0 {
		if files[settingsName], err = b.settingsWith(stricter); err != nil {
			return b, nil, err
		}
	}
	for _, s := range stricter {
		what = append(what, strings.Join(s.keys, "."))
	}
	settings, known := maps.Clone(files), len(what)
	for _, name := range slices.Sorted(maps.Keys(version.Files)) {
		kind := FileKind(name)
		if _, there := files[name]; !there && (kind == RulesFile || kind == AccessFile) {
			files[name], what = version.Files[name], append(what, name)
		}
	}
	if len(what) == 0 {
		return b, nil, nil
	}
	made, err := over(below, files, b.Layer)
	if err != nil && len(what) > known { // a new file may repeat an id
		what = what[:known]
		made, err = over(below, settings, b.Layer)
	}
	if err != nil {
		return b, nil, err
	}
	return made, what, nil
}

// over makes a bundle from files, and checks that it can be assembled.
func over(below []*Bundle, files map[string][]byte, layer string) (*Bundle, error) {
	b, err := FromFiles(files, layer)
	if err != nil {
		return nil, err
	}
	_, err = Assemble(append(slices.Clip(below), b)...)
	return b, err
}

// settingsName is the file with the settings of a layer above the base.
const settingsName = "settings.yaml"

// settingsWith returns the layer's settings file with other values.
func (b *Bundle) settingsWith(values []settingAt) ([]byte, error) {
	doc := map[string]any{}
	if content, there := b.Files[settingsName]; there {
		var err error
		if doc, err = decodeYAML(settingsName, content); err != nil {
			return nil, err
		}
	}
	for _, v := range values {
		at := doc
		for _, key := range v.keys[:len(v.keys)-1] {
			next, ok := at[key].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[key] = next
			}
			at = next
		}
		at[v.keys[len(v.keys)-1]] = v.value
	}
	return json.MarshalIndent(doc, "", "  ") // which YAML reads
}
