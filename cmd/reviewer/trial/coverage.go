package trial

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
)

// The kinds of what can be covered, in the order in which they are reported.
const (
	regoLines   = report.RegoLines
	celBranches = report.CELBranches
	matrixCells = "matrix cells"
	ruleIDs     = "rules"
	patternIDs  = "patterns"
	detectorIDs = "detectors"
	accessIDs   = "access rules"
)

// reached is what tests reached and have expectations about: a rule that fired
// without being expected proves nothing.
type reached struct {
	mu  sync.Mutex
	ids map[[2]string]bool // kind, name
}

func (r *reached) add(kind, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil {
		r.ids = map[[2]string]bool{}
	}
	r.ids[[2]string{kind, name}] = true
}

func (r *reached) has(kind, name string) bool { return r.ids[[2]string{kind, name}] }

// by notes the expectations and the results of a case.
func (r *reached) by(result Result) {
	for _, s := range result.Seen {
		r.decision(s)
		r.findings(s)
		if s.Record.Action != nil {
			for id := range s.Record.Action.Detected {
				r.add(detectorIDs, id)
			}
		}
	}
}

func (r *reached) decision(s Seen) {
	d := s.Record.Decision
	if d == nil {
		return
	}
	for _, id := range d.RuleIDs() {
		if slices.Contains(said(s.Expect), id) {
			r.add(ruleIDs, id)
			r.add(accessIDs, id)
		} else {
			r.add(unexpected, id)
		}
	}
	if d.Risk != nil && d.Rationality != nil && s.Expect.Decision == d.Decision {
		r.add(matrixCells, d.Risk.Level+"/"+d.Rationality.Level)
	}
}

func (r *reached) findings(s Seen) {
	for _, f := range s.Record.Findings {
		if slices.Contains(s.Expect.Found(), f.ID) || slices.Contains(said(s.Expect), f.ID) {
			r.example(f)
		} else {
			r.add(unexpected, f.ID)
			r.add(unexpected, f.ID+" "+f.Level)
		}
		if s.Expect.Decision == engine.Allow && s.Record.Decision != nil && s.Record.Decision.Decision == engine.Allow {
			r.add(allowing, f.ID)
		}
	}
}

// example notes a finding that was expected.
func (r *reached) example(f engine.Finding) {
	r.add(patternIDs, f.ID)
	r.add(accessIDs, f.ID)
	if f.Level != "" {
		r.add(patternIDs, f.ID+" "+f.Level)
	}
}

// coverage returns the parts of the layer under test that the tests reached.
func (t *trial) coverage() (*report.Coverage, error) {
	c := &report.Coverage{}
	b := t.bundle()
	if b == nil {
		return nil, fmt.Errorf("coverage needs a policy: give its folder, which contains its tests")
	}
	lines, err := t.runner.cover.rego.Lines(t.modules())
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		l := lines[name]
		c.Files = append(c.Files, report.FileLines{File: t.file(name), Covered: l.Covered, Missed: l.Missed})
	}
	c.Cells = slices.Concat(t.branches(), t.matrix(b), t.rules(b), t.detectors(b), t.access(b))
	c.Kinds = Kinds(c)
	return c, nil
}

// Kinds counts what is covered, by kind and in their fixed order. A kind
// that a policy has none of is left out.
func Kinds(c *report.Coverage) []report.Kind {
	counts := map[string]*report.Kind{}
	for _, name := range []string{regoLines, celBranches, matrixCells, ruleIDs, patternIDs, detectorIDs, accessIDs} {
		counts[name] = &report.Kind{Name: name}
	}
	for _, f := range c.Files {
		counts[regoLines].Covered += len(f.Covered)
		counts[regoLines].Total += len(f.Covered) + len(f.Missed)
	}
	for _, cell := range c.Cells {
		counts[cell.Kind].Total++
		if cell.Covered {
			counts[cell.Kind].Covered++
		}
	}
	var all []report.Kind
	for _, name := range []string{regoLines, celBranches, matrixCells, ruleIDs, patternIDs, detectorIDs, accessIDs} {
		if counts[name].Total > 0 {
			all = append(all, *counts[name])
		}
	}
	return all
}

// Under lists the kinds whose coverage is below a threshold in percent.
func Under(c *report.Coverage, threshold float64) []report.KindMissing {
	var all []report.KindMissing
	for _, k := range c.Kinds {
		if percent := 100 * float64(k.Covered) / float64(k.Total); percent < threshold {
			all = append(all, report.KindMissing{Kind: k.Name, Percent: percent, Threshold: threshold})
		}
	}
	return all
}

func (t *trial) cell(kind, name string, at spotter) report.Cell {
	return report.Cell{Place: t.place(at, "", 0, 0), Kind: kind, Name: name, Covered: t.reached.has(kind, name)}
}

// spotter reports where a part of a row is written: bundles.Rule and AccessRule.
type spotter interface {
	Spot(key string, line, col int) (file string, row, column int)
}

func (t *trial) place(at spotter, key string, line, col int) report.Place {
	file, line, col := at.Spot(key, line, col)
	return report.Place{File: t.file(file), Line: line, Col: col}
}

// branches makes two cells of each question of the layer's conditions.
func (t *trial) branches() []report.Cell {
	host, ok := t.policy.Matcher.(*cel.Host)
	if !ok {
		return nil
	}
	rows := t.spotters()
	var all []report.Cell
	for _, b := range host.Branches() {
		row, own := rows[b.ID]
		if !own {
			continue
		}
		at := t.place(row, b.Part, b.Line, b.Column)
		all = append(all,
			report.Cell{Place: at, Kind: celBranches, Name: branchName(b, "true", b.True), Covered: b.True},
			report.Cell{Place: at, Kind: celBranches, Name: branchName(b, "false", b.False), Covered: b.False})
	}
	return all
}

// branchName names the answer that a condition never had.
func branchName(b cel.Branch, answer string, seen bool) string {
	if !seen {
		answer = "never " + answer
	}
	return fmt.Sprintf("%s: %s is %s", b.ID, b.Text, answer)
}

// spotters finds the rows of the layer under test by the ids of their conditions.
func (t *trial) spotters() map[string]spotter {
	all := map[string]spotter{}
	b := t.bundle()
	if b == nil {
		return all
	}
	for _, r := range b.Rules {
		all[r.ID] = r
	}
	for _, l := range b.Access {
		for _, r := range l.Rules {
			all[l.FindingID(r.ID)] = r
		}
	}
	return all
}

// rules makes a cell of each rule that decides, and of each pattern: for one
// with levels, a cell for each level.
func (t *trial) rules(b *bundles.Bundle) []report.Cell {
	var all, patterns []report.Cell
	for _, r := range b.Rules {
		if r.Decision != "" {
			all = append(all, t.expectedCell(ruleIDs, r.ID, r, "rules"))
		}
		if r.Decision == "" && len(r.Levels) == 0 {
			patterns = append(patterns, t.expectedCell(patternIDs, r.ID, r, "findings"))
		}
		for _, l := range r.Levels {
			patterns = append(patterns, t.expectedCell(patternIDs, r.ID+" "+l.Level, r, "findings"))
		}
	}
	return append(all, patterns...)
}

// allowing are the findings of calls that a case expects to be allowed, and that are.
const allowing = "allowing"

// unexpected are rules and patterns that fired in a case that does not name them.
const unexpected = "unexpected"

// expectedCell is that of a rule or a pattern. One that fired where no case expects it is
// not covered: a case would not notice if it no longer did.
func (t *trial) expectedCell(kind, name string, at spotter, key string) report.Cell {
	c := t.cell(kind, name, at)
	if !c.Covered && t.reached.has(unexpected, name) {
		c.Name += " (it fired, and no case expects it: name it under " + key + ")"
	}
	return c
}

func (t *trial) detectors(b *bundles.Bundle) []report.Cell {
	var all []report.Cell
	for _, d := range b.Detectors {
		file, line := splitPlace(d.PatternPlace(0))
		all = append(all, report.Cell{
			Place: report.Place{File: t.file(file), Line: line}, Kind: detectorIDs, Name: d.ID, Covered: t.reached.has(detectorIDs, d.ID),
		})
	}
	return all
}

func (t *trial) access(b *bundles.Bundle) []report.Cell {
	var all []report.Cell
	for _, l := range b.Access {
		for _, r := range l.Rules {
			id := l.FindingID(r.ID)
			key := "rules or findings"
			if r.Effect == bundles.EffectAllow {
				key = "findings" // it is not among the rules of a decision
			}
			c := t.expectedCell(accessIDs, id, r, key)
			// What a rule allows is all that it does.
			if r.Effect == bundles.EffectAllow && l.Default != bundles.EffectAllow && t.reached.has(allowing, id) {
				c.Name, c.Covered = id, true
			}
			all = append(all, c)
		}
	}
	return all
}

// matrix makes a cell of each combination that the layer's matrix has, where
// it is written: in data of the base layer, in settings of the others.
func (t *trial) matrix(b *bundles.Bundle) []report.Cell {
	path := []string{"matrix"}
	if b.Layer == bundles.Base {
		path = []string{"reviewer", "matrix"}
	}
	var all []report.Cell
	for _, name := range []string{"data.yaml", "settings.yaml"} {
		var doc yaml.Node
		if yaml.Unmarshal(b.Files[name], &doc) != nil || len(doc.Content) == 0 {
			continue
		}
		for risk, row := range pairs(under(doc.Content[0], path...)) {
			for rationality := range pairs(row) {
				all = append(all, t.matrixCell(name, risk, rationality))
			}
		}
	}
	return all
}

func (t *trial) matrixCell(file string, risk, rationality *yaml.Node) report.Cell {
	name := risk.Value + "/" + rationality.Value
	return report.Cell{
		Place: report.Place{File: t.file(file), Line: rationality.Line, Col: rationality.Column},
		Kind:  matrixCells, Name: name, Covered: t.reached.has(matrixCells, name),
	}
}

// under follows keys; nil: they are not there.
func under(n *yaml.Node, path ...string) *yaml.Node {
	if len(path) == 0 {
		return n
	}
	for key, value := range pairs(n) {
		if key.Value == path[0] {
			return under(value, path[1:]...)
		}
	}
	return nil
}

// pairs walks the keys of an object, as they are written.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}
