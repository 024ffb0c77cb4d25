package trial

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// Subject is a policy and the tests to run against it.
type Subject struct {
	Layers []*bundles.Bundle // the policy, base first
	Layer  string            // the layer under test: its examples are run, its lines count; empty: none is
	At     string            // the folder of that layer, as the person gave it: places are under it
	Tests  map[string]string // Rego tests: layer/path -> source
	Cases  []cases.Case      // their files are named with At

	OnlyCases bool // the layer's own tests and examples do not run

	Rule      string          // only what is about this rule runs; empty: everything
	regoTests map[string]bool // with Rule, the Rego tests that name it
}

// Load reads the tests of a layer from its folder: *_test.rego, and the files below
// cases/. The error contains the problems of all of them.
func Load(fsys fs.FS, at, layer string, layers ...*bundles.Bundle) (Subject, error) {
	return load(fsys, at, layer, cases.Naming(""), layers...)
}

// load is Load for the files of cases with a wanted text.
func load(fsys fs.FS, at, layer string, wanted func(text string) bool, layers ...*bundles.Bundle) (Subject, error) {
	s := Subject{Layers: layers, Layer: layer, At: at, Tests: map[string]string{}}
	list, wrong := loadCases(fsys, at, wanted)
	s.Cases = list
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == casesDir || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.rego"):
			return nil
		}
		src, err := bundles.ReadFile(fsys, name)
		s.Tests[layer+"/"+name] = string(src)
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s%w", below(at), err))
		}
		return nil
	})
	return s, errors.Join(wrong, err)
}

// casesDir is where a bundle keeps its cases.
const casesDir = "cases"

// loadCases reads the cases of a bundle; none if it has no folder for them.
func loadCases(bundle fs.FS, at string, wanted func(text string) bool) ([]cases.Case, error) {
	if _, err := fs.Stat(bundle, casesDir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return cases.LoadSome(bundle, casesDir, at, func(content []byte) bool { return wanted(string(content)) })
}

// file names a file of the layer under test as the person would.
func (s *Subject) file(name string) string {
	return path.Join(s.At, strings.TrimPrefix(name, s.Layer+"/"))
}

// below returns the prefix of the names of a folder's files.
func below(at string) string {
	if at == "" || at == "." {
		return ""
	}
	return at + "/"
}

// name names a file without the folder that it is in, as --run does.
func (s *Subject) name(file string) string {
	return strings.TrimPrefix(file, below(s.At))
}

// bundle returns the layer under test; nil: none is.
func (s *Subject) bundle() *bundles.Bundle {
	for _, b := range s.Layers {
		if b.Layer == s.Layer {
			return b
		}
	}
	return nil
}

// modules returns the modules of the layer under test, layer/path -> source.
func (s *Subject) modules() map[string]string {
	all := map[string]string{}
	if b := s.bundle(); b != nil {
		for _, name := range slices.Sorted(maps.Keys(b.Modules)) {
			all[b.Layer+"/"+name] = b.Modules[name]
		}
	}
	return all
}
