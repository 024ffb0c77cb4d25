// Package lint says all that is wrong with a policy at once, and what is worth
// a look: files that cannot be read, Rego and CEL that do not compile, words and
// names that there are not, rules that can never speak, rules that nothing
// tests. Each problem has its place.
//
// Not its business: where a policy lies on this machine, and how what was found
// is shown; running any test (trial).
package lint

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/rego"
)

// Layer is one layer of the policy to look at.
type Layer struct {
	Name  string // of bundles.Layers
	Files fs.FS
	At    string // the folder, as the person gave it: places are below it
	Given bool   // it is what is to be checked; false: it is there to be built on
}

// Result is what was found, and what the conditions cost.
type Result struct {
	Problems []report.Problem
	Costs    []cel.Cost // of what is to be checked, dearest first
	Rules    int        // rows and access rules that were looked at
}

// Policy checks the layers of one policy, base first. The time is now, in Unix
// milliseconds: rules that are over by then are told.
func Policy(now int64, layers ...Layer) Result {
	p := &policy{layers: map[string]Layer{}, now: now}
	var read []*bundles.Bundle
	for _, l := range layers {
		p.layers[l.Name] = l
		b, wrong := bundles.Inspect(l.Files, l.Name)
		p.add(wrong...)
		read = append(read, b)
	}
	e, wrong := bundles.AssembleAll(read...)
	p.effective, p.rows = e, classify.NewRows(e.RowLayers())
	p.add(wrong...)
	p.add(e.CheckRules()...)
	p.detectors()
	costs := p.conditions()
	p.modules()
	p.remarks()
	p.tests()
	return Result{p.reported(), costs, len(wiring.AllConditions(e))}
}

type policy struct {
	layers    map[string]Layer
	effective *bundles.Effective
	rows      engine.Rows
	found     []*engine.Problem // files are named layer/file
	spoken    rego.Spoken
	now       int64
}

func (p *policy) add(list ...*engine.Problem) { p.found = append(p.found, list...) }

// reported is what was found, by the names of files that the person knows. Of a
// layer that is only built on, what is merely worth a look is left out.
func (p *policy) reported() []report.Problem {
	var all []report.Problem
	for _, f := range engine.SortProblems(p.found) {
		name, file, _ := strings.Cut(f.File, "/")
		if f.Warning && !p.layers[name].Given {
			continue
		}
		q := report.Problem{
			Place: report.Place{File: path.Join(p.layers[name].At, file), Line: f.Line, Col: f.Col}, Severity: report.SeverityError,
			Code: f.Code, Message: f.Message, Found: f.Found, Expected: f.Expected, Suggestion: f.Suggestion,
		}
		if f.Warning {
			q.Severity = report.SeverityWarning
		}
		all = append(all, q)
	}
	r := report.Report{Problems: all}
	r.Sort()
	return r.Problems
}

// placer finds the place of a text of a rule.
type placer func(key string, line, col int) (string, int, int)

// places returns where each condition is written, by its id.
func (p *policy) places() map[string]placer {
	all := map[string]placer{}
	for _, l := range p.effective.Layers {
		in := func(spot placer) placer {
			return func(key string, line, col int) (string, int, int) {
				file, line, col := spot(key, line, col)
				return l.Layer + "/" + file, line, col
			}
		}
		for _, r := range l.Rules {
			all[r.ID] = in(r.Spot)
		}
		for _, a := range l.Access {
			for _, r := range a.Rules {
				all[a.FindingID(r.ID)] = in(r.Spot)
			}
		}
	}
	return all
}

// conditions looks at what is written in CEL. Conditions that cannot be taken
// at all are left out for the others.
func (p *policy) conditions() []cel.Cost {
	places := p.places()
	wrong := map[string]bool{}
	note := func(e *cel.Error) {
		wrong[e.ID] = true
		if spot := places[e.ID]; spot != nil && e.Part != "id" { // an id that is there twice was said of its files
			file, line, col := spot(e.Part, e.Line, e.Column)
			p.add(&engine.Problem{File: file, Line: line, Col: col, Code: "cel." + e.Part, Message: e.Message})
		}
	}
	list := wiring.AllConditions(p.effective)
	host, err := cel.Compile(list)
	if err != nil {
		for _, e := range each[*cel.Error](err) {
			note(e)
		}
		list = slices.DeleteFunc(list, func(c cel.Condition) bool { return wrong[c.ID] })
		if host, err = cel.Compile(list); err != nil {
			return nil // ids that are there twice, which is said
		}
	}
	for _, e := range host.Inspect(p.effective.Vocabulary()) {
		note(e)
	}
	costs := slices.DeleteFunc(host.Costs(), func(c cel.Cost) bool { return !p.given(places[c.ID]) })
	slices.SortStableFunc(costs, func(a, b cel.Cost) int {
		if a.Max == b.Max {
			return strings.Compare(a.ID, b.ID)
		}
		if a.Max > b.Max {
			return -1
		}
		return 1
	})
	return costs
}

// given says that what is written at a place is to be checked, and not there to
// be built on.
func (p *policy) given(spot placer) bool {
	if spot == nil {
		return false
	}
	file, _, _ := spot("id", 0, 0)
	layer, _, _ := strings.Cut(file, "/")
	return p.layers[layer].Given
}

// each takes the errors of one type out of joined ones.
func each[T error](err error) []T {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []T
		for _, e := range joined.Unwrap() {
			list = append(list, each[T](e)...)
		}
		return list
	}
	var one T
	if errors.As(err, &one) {
		return []T{one}
	}
	return nil
}

// modules looks at what is written in Rego, and at the rows that it speaks for.
func (p *policy) modules() {
	modules := p.effective.Modules()
	for name, l := range p.layers {
		if l.Given {
			p.testModules(name, l, modules)
		}
	}
	found, spoken := rego.Check(rego.Sources{
		Modules: modules, Data: p.effective.Data, Words: p.effective.Vocabulary(), Broken: p.effective.Broken(), MayHold: p.effective.MayHold,
	})
	p.spoken = spoken
	p.add(found...)
	for _, l := range p.effective.Layers {
		for _, r := range l.Rules {
			if !r.Conditional() && !spoken.IDs[r.ID] && !spoken.Open[l.Layer] {
				file, line, col := r.Spot("id", 0, 0)
				p.add(&engine.Problem{File: l.Layer + "/" + file, Line: line, Col: col, Code: "rule.never",
					Message: "rule " + r.ID + " can never speak: its row has no match, when or measure, and no Rego speaks for it"})
			}
		}
	}
}

// testModules adds the Rego tests of a layer, which no bundle holds.
func (p *policy) testModules(name string, l Layer, modules map[string]string) {
	err := fs.WalkDir(l.Files, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (file == "cases" || file != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, "_test.rego"):
			return nil
		}
		src, err := bundles.ReadFile(l.Files, file)
		if err != nil {
			p.add(bundles.Problems("bundle", err, name)...)
			return nil
		}
		modules[name+"/"+file] = string(src)
		return nil
	})
	if err != nil {
		p.add(&engine.Problem{File: name + "/", Code: "bundle", Message: "the tests cannot be read: " + err.Error()})
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
