// Package lint reports all problems of a policy at once, and warns about suspicious parts: files
// that cannot be read, Rego and CEL that do not compile, unknown words and names, rules that can
// never fire, rules that nothing tests. Each problem has its place.
//
// Out of scope: where a policy is on this machine, and how findings are shown; running any test
// (trial).
package lint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/rego"
)

// Layer is one layer of the policy to check.
type Layer struct {
	Name  string // of bundles.Layers
	Files fs.FS
	At    string // the folder, as the person gave it: places are under it
	Given bool   // it is to be checked; false: the checked layers are on top of it

	Where func(file string) string // the place of a file if it is not below At; nil: all files are below At
}

// Result contains the findings, and the costs of the conditions.
type Result struct {
	Problems []report.Problem
	Ignored  []report.Ignored
	Costs    []cel.Cost // of the checked layers, most expensive first
	Rules    int        // number of rows and access rules that were checked
}

// Policy checks the layers of one policy, base first. The time is now, in Unix
// milliseconds: rules that have expired by then are reported.
func Policy(now int64, layers ...Layer) Result { return Rule(now, "", layers...) }

// Rule is Policy for the rule with an id, in a fraction of the time: its row, the modules and cases that name it
// and what these refer to are checked, and only problems in them are returned. Without an id, it is Policy.
func Rule(now int64, rule string, layers ...Layer) Result {
	p := &policy{layers: map[string]Layer{}, now: now, rule: rule, naming: cases.Naming(rule)}
	var read []*bundles.Bundle
	for _, l := range layers {
		p.layers[l.Name] = l
		b, wrong := bundles.Inspect(l.Files, l.Name)
		p.add(wrong...)
		read = append(read, b)
	}
	if rule != "" {
		read = bundles.RowsChecked(read) // what the policy knows about programs and places is not examined
	}
	e, wrong := bundles.AssembleAll(read...)
	p.effective, p.rows = e, classify.NewRows(e.RowLayers())
	p.add(wrong...)
	p.add(e.CheckRules()...)
	p.add(e.IneffectiveSettings()...)
	p.detectors()
	modules := p.checkedModules() // concurrently with the conditions, which take as long
	costs := p.conditions()
	p.modules(modules())
	p.unusable()
	p.decisions()
	p.definitions()
	p.programRows()
	p.access()
	p.repeats()
	p.tests()
	p.foldConsequences()
	p.otherLayers()
	p.ignoreFindings()
	return Result{p.reported(), p.ignoredFindings(), costs, len(wiring.AllConditions(e))}
}

func (l Layer) place(file string) string {
	if l.Where != nil {
		return l.Where(file)
	}
	return path.Join(l.At, file)
}

type policy struct {
	layers       map[string]Layer
	effective    *bundles.Effective
	rows         engine.Rows
	programNames []string               // that have a row; nil: not listed yet
	rule         string                 // the only one to examine; empty: all
	naming       func(text string) bool // a text names that rule; without one, every text does
	found        []*engine.Problem      // files are named layer/file
	ignored      []ignoredFinding
	rules        rego.RuleSet
	now          int64
}

func (p *policy) add(list ...*engine.Problem) { p.found = append(p.found, list...) }

// reported returns the problems, with files named as the person knows them. Warnings
// about the layers below the checked ones are left out.
func (p *policy) reported() []report.Problem {
	var all []report.Problem
	for _, f := range engine.SortProblems(p.found) {
		if name, _, _ := strings.Cut(f.File, "/"); f.Warning && !p.layers[name].Given || !p.ofRule(f) {
			continue
		}
		all = append(all, p.shown(f))
	}
	r := report.Report{Problems: all}
	r.Sort()
	return r.Problems
}

// shown is a problem as the report has it.
func (p *policy) shown(f *engine.Problem) report.Problem {
	name, file, _ := strings.Cut(f.File, "/")
	q := report.Problem{
		Place: report.Place{File: p.layers[name].place(file), Line: f.Line, Col: f.Col}, Severity: report.SeverityError,
		Code: f.Code, Message: f.Message, Found: f.Found, Expected: f.Expected, Suggestion: f.Suggestion, Follows: f.Consequences,
	}
	if f.Warning {
		q.Severity = report.SeverityWarning
	}
	return q
}

// ignoredFindings are findings that were accepted.
func (p *policy) ignoredFindings() []report.Ignored {
	var all []report.Ignored
	for _, f := range p.ignored {
		if !p.ofRule(f.Problem) {
			continue
		}
		all = append(all, report.Ignored{Problem: p.shown(f.Problem), By: f.by, Reason: f.reason})
	}
	return all
}

// placer finds the place of a string of a rule.
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
		for _, d := range l.Definitions {
			all[cel.DefinitionID(d.Name)] = in(d.Spot)
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

// conditions checks the CEL conditions. Conditions with invalid parts are left out of
// further checks.
func (p *policy) conditions() []cel.Cost {
	places := p.places()
	wrong := map[string]bool{}
	holds := p.holding()
	note := func(e *cel.Error) {
		if (e.Code == cel.CodeLifted || e.Code == cel.CodeLate) && !holds[e.ID] {
			return // a finding, or a warning
		}
		wrong[e.ID] = wrong[e.ID] || !e.Warning
		if spot := places[e.ID]; spot != nil && e.Part != "id" { // duplicate ids are reported with their files
			file, line, col := spot(e.Part, e.Line, e.Column)
			if e.Line == 0 && p.saidAt(file, line, col) {
				return
			}
			p.add(&engine.Problem{File: file, Line: line, Col: col, Code: e.Code, Warning: e.Warning, Message: e.Message})
		}
	}
	list := wiring.AllConditions(p.effective)
	if p.rule != "" {
		list = slices.DeleteFunc(list, func(c cel.Condition) bool { return c.ID != p.rule })
	}
	host, err := cel.Compile(list)
	if err != nil {
		for _, e := range cel.Problems(err) {
			note(e)
		}
		list = slices.DeleteFunc(list, func(c cel.Condition) bool { return wrong[c.ID] })
		names := *wiring.Names(p.effective.Layers, p.effective.Data)
		names.Definitions = slices.DeleteFunc(names.Definitions, func(d cel.Definition) bool { return wrong[cel.DefinitionID(d.ID)] })
		list = wiring.WithNames(list, &names)
		if host, err = cel.Compile(list); err != nil {
			return nil // duplicate ids, which are reported
		}
	}
	for _, e := range host.Inspect(p.vocabulary()) {
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

// saidAt reports whether an error at a place was already reported: if a row is
// invalid, errors of its condition are not.
func (p *policy) saidAt(file string, line, col int) bool {
	return slices.ContainsFunc(p.found, func(f *engine.Problem) bool {
		return !f.Warning && f.File == file && f.Line == line && f.Col == col
	})
}

// vocabulary returns the vocabulary of the policy, including the ids of rules with
// invalid rows.
func (p *policy) vocabulary() engine.Vocabulary {
	words := p.effective.Vocabulary()
	words.Findings = append(words.Findings, p.effective.Broken()...)
	words.Subcommand = func(program, word string) bool {
		return classify.Subcommand(context.Background(), p.rows, program, word)
	}
	words.Misspelt = p.misspelt
	return words
}

// given reports whether a place is in a checked layer.
func (p *policy) given(spot placer) bool {
	if spot == nil {
		return false
	}
	file, _, _ := spot("id", 0, 0)
	layer, _, _ := strings.Cut(file, "/")
	return p.layers[layer].Given
}

// each iterates over the errors of one type in joined errors.
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

// checkedModules starts checking the Rego modules, and returns a function that waits
// for the result.
func (p *policy) checkedModules() func() ([]*engine.Problem, rego.RuleSet) {
	modules := p.effective.Modules()
	for _, name := range sortedKeys(p.layers) {
		if l := p.layers[name]; l.Given && p.rule == "" {
			p.testModules(name, l, modules)
		}
	}
	if p.rule != "" {
		modules = rego.Needed(modules, p.naming)
	}
	sources := rego.Sources{
		Modules: modules, Data: p.effective.Data, Words: p.vocabulary(), Broken: p.effective.Broken(), MayContain: p.effective.MayContain,
	}
	done := make(chan checkedRego, 1)
	go func() { done <- checks.of(p.digest(modules), sources) }()
	return func() ([]*engine.Problem, rego.RuleSet) {
		r := <-done
		var found []*engine.Problem
		for _, problem := range r.found {
			found = append(found, &problem)
		}
		return found, r.rules
	}
}

// digest identifies what the result of a check of Rego depends on: the files of the layers, and
// their tests, which are among the modules. Empty: a layer has no digest, because of its files' names.
func (p *policy) digest(modules map[string]string) string {
	h := sha256.New()
	for _, l := range p.effective.Layers {
		if l.Digest == "" {
			return ""
		}
		fmt.Fprintf(h, "%q%q", l.Layer, l.Digest)
	}
	for _, name := range sortedKeys(modules) {
		fmt.Fprintf(h, "%q%q", name, modules[name])
	}
	return string(h.Sum(nil))
}

// checkedRego is the result of a check of Rego.
type checkedRego struct {
	found []engine.Problem
	rules rego.RuleSet
}

// checks are the checks of Rego that this process did.
var checks = results{byDigest: map[string]checkedRego{}}

type results struct {
	mu       sync.Mutex
	byDigest map[string]checkedRego
}

// maxResults limits the results that are kept.
const maxResults = 100

func (r *results) of(digest string, sources rego.Sources) checkedRego {
	r.mu.Lock()
	before, there := r.byDigest[digest]
	r.mu.Unlock()
	if there {
		return before
	}
	found, rules := rego.Check(sources)
	result := checkedRego{rules: rules}
	for _, problem := range found {
		result.found = append(result.found, *problem)
	}
	if digest == "" {
		return result
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.byDigest) >= maxResults {
		clear(r.byDigest)
	}
	r.byDigest[digest] = result
	return result
}

// modules adds the problems found in Rego, and checks the rows that no Rego refers to.
func (p *policy) modules(found []*engine.Problem, rules rego.RuleSet) {
	p.rules = rules
	p.add(found...)
	if p.rule != "" { // only some modules were checked
		ids, open := rego.Findings(p.effective.Modules())
		for _, id := range ids {
			rules.IDs[id] = true
		}
		for name := range p.layers {
			rules.Open[name] = rules.Open[name] || open && name != bundles.Base
		}
	}
	for _, l := range p.effective.Layers {
		for _, r := range l.Rules {
			if !r.Conditional() && !rules.IDs[r.ID] && !rules.Open[l.Layer] {
				file, line, col := r.Spot("id", 0, 0)
				p.add(&engine.Problem{File: l.Layer + "/" + file, Line: line, Col: col, Code: "rule.never", About: r.ID,
					Message: "rule " + r.ID + " can never fire: its row has no match, when or measure, and no Rego refers to it"})
			}
		}
	}
}

// testModules adds the Rego tests of a layer, which bundles do not contain.
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
			p.add(bundles.Problems("file.unreadable", err, name)...)
			return nil
		}
		modules[name+"/"+file] = string(src)
		return nil
	})
	if err != nil {
		p.add(&engine.Problem{File: name + "/", Code: "file.unreadable", Message: "the tests cannot be read: " + err.Error()})
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
