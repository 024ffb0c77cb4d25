package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/rego"
)

// tested counts what the cases and examples of a policy expect of its rules.
type tested struct {
	fires, silent map[string]int
}

// tests checks the cases of the checked layers, and reports rules without cases.
func (p *policy) tests() {
	known := p.ids()
	seen := tested{map[string]int{}, map[string]int{}}
	for _, b := range p.effective.Layers {
		for _, r := range b.Rules {
			seen.fires[r.ID] += len(r.Examples.Match)
			seen.silent[r.ID] += len(r.Examples.NoMatch)
		}
		if l := p.layers[b.Layer]; l.Given {
			p.cases(l, known, seen)
		}
	}
	for _, b := range p.effective.Layers {
		for _, r := range b.Rules {
			p.untested(b.Layer, r.Spot, r.ID, r.Threshold != nil, seen)
		}
		for _, a := range b.Access {
			for _, r := range a.Rules {
				if r.Effect != bundles.EffectAllow {
					p.untested(b.Layer, r.Spot, a.FindingID(r.ID), false, seen)
				}
			}
		}
	}
}

// otherLayers completes what is said about unknown rules, which the organisation's layer may have if it is not there.
func (p *policy) otherLayers() {
	if !p.effective.WithoutOrganisation() {
		return
	}
	for _, f := range p.found {
		layer, _, _ := strings.Cut(f.File, "/")
		unknown := f.Code == "case.rule" || f.Code == "rule.unknown" && strings.HasSuffix(f.Message, rego.NoException)
		if unknown && f.Suggestion == "" && layer != bundles.Base {
			f.Message += "; if another layer has it, name both, as in `reviewer policy check ./org+./team`"
		}
	}
}

// ids lists the ids of all rules that can fire, as far as they are written out.
func (p *policy) ids() []string {
	ids := slices.Concat(p.effective.Broken(), sortedKeys(p.rules.IDs))
	for _, r := range p.effective.Rules() {
		ids = append(ids, r.ID)
	}
	for _, a := range p.effective.Access() {
		ids = append(ids, a.FindingIDs()...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (p *policy) untested(layer string, spot placer, id string, threshold bool, seen tested) {
	switch {
	case seen.fires[id] == 0:
		p.warn(layer, spot, "id", "rule.untested", "rule %s has no case that expects it to fire", id).About = id
	case threshold && seen.silent[id] == 0:
		p.warn(layer, spot, "threshold", "rule.untested",
			"rule %s has no case that expects it not to fire, so its threshold is not tested", id).About = id
	}
}

// cases reads the cases of a layer and reports their problems.
func (p *policy) cases(l Layer, known []string, seen tested) {
	if _, err := fs.Stat(l.Files, "cases"); errors.Is(err, fs.ErrNotExist) {
		return
	}
	list, err := cases.LoadSome(l.Files, "cases", "", func(content []byte) bool { return p.naming(string(content)) })
	for _, wrong := range each[*cases.Problem](err) {
		p.add(&engine.Problem{File: l.Name + "/" + wrong.File, Line: wrong.Line, Col: wrong.Col, Code: "case.expect",
			Message: wrong.Message})
	}
	open := len(p.rules.Open) > 0
	p.caseNames(l, list)
	for _, c := range list {
		p.story(l, c, known, open, seen)
	}
}

// caseNames warns about two cases of a file with the same name.
func (p *policy) caseNames(l Layer, list []cases.Case) {
	first := map[[2]string]cases.Case{}
	for _, c := range list {
		name := c.ID()
		if name != c.Name { // a row: the first one counts for its table
			table, isFirst := strings.CutSuffix(name, "/1")
			if !isFirst {
				continue
			}
			name = table
		}
		before, twice := first[[2]string{c.File, name}]
		if !twice {
			first[[2]string{c.File, name}] = c
			continue
		}
		line, col := nameOf(l, c, name)
		other, _ := nameOf(l, before, name)
		p.add(&engine.Problem{File: l.Name + "/" + c.File, Line: line, Col: col, Code: "case.name", Warning: true,
			Message: fmt.Sprintf("the case in line %d is called %s too: give each its own name", other, name)})
	}
}

// nameOf returns where a case or its table is named: the rows of a table follow its name.
func nameOf(l Layer, c cases.Case, name string) (line, col int) {
	for line = c.Line; line > 0; line-- {
		if col = columnOf(l, c.File, line, name); col > 0 {
			return line, col
		}
	}
	return c.Line, 0
}

// story checks one case. If a policy computes ids, any id may exist.
func (p *policy) story(l Layer, c cases.Case, known []string, open bool, seen tested) {
	own := p.layersOf(l, c)
	known = slices.Concat(known, own)
	steps, err := c.Steps()
	var wrong *cases.Problem
	if errors.As(err, &wrong) {
		p.add(&engine.Problem{File: l.Name + "/" + wrong.File, Line: wrong.Line, Code: "case.expect", Message: wrong.Message})
	}
	for _, s := range steps {
		if why := wiring.UnknownTool(p.rows, s.Event.Tool); why != nil {
			why.File, why.Line = l.Name+"/"+c.File, max(s.Line, c.Line)
			why.Col = columnOf(l, c.File, why.Line, s.Event.Tool)
			p.add(why)
		}
		if s.Expect == nil {
			continue
		}
		fire := slices.Concat(s.Expect.Rules, s.Expect.RulesExactly)
		if s.Expect.Rule != "" {
			fire = append(fire, s.Expect.Rule)
		}
		fire, silent := slices.Concat(fire, s.Expect.Found()), slices.Concat(s.Expect.NotRules, s.Expect.NotFindings)
		seen.count(fire, silent)
		if open || len(c.Layers) > 0 && len(own) == 0 {
			continue
		}
		for _, id := range slices.Concat(fire, silent) {
			if !slices.Contains(known, id) && !slices.Contains(scores(), id) {
				w := &engine.Problem{File: l.Name + "/" + c.File, Line: s.Line, Col: columnOf(l, c.File, s.Line, id),
					Code: "case.rule", Message: "no rule has this id", About: id}
				p.add(w.ExpectOneOf(id, known))
			}
		}
	}
}

// columnOf returns the column of a word in a line of a file; 0: not found.
func columnOf(l Layer, file string, line int, word string) int {
	text, err := bundles.ReadFile(l.Files, file)
	lines := strings.Split(string(text), "\n")
	if err != nil || line < 1 || line > len(lines) || word == "" {
		return 0
	}
	for at, rest := 0, lines[line-1]; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return 0
		}
		before, _ := utf8.DecodeLastRuneInString(rest[:i])
		after, _ := utf8.DecodeRuneInString(rest[i+len(word):])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return utf8.RuneCountInString(lines[line-1][:at+i]) + 1
		}
		at, rest = at+i+1, rest[i+1:]
	}
}

// scores lists the ids that policy itself reports in addition to those of its rules.
func scores() []string { return []string{"matrix"} }

func (t tested) count(fire, silent []string) {
	for _, id := range fire {
		t.fires[id]++
	}
	for _, id := range silent {
		t.silent[id]++
	}
}

// layersOf reads the layers of a case, and returns the ids of their rules.
func (p *policy) layersOf(l Layer, c cases.Case) []string {
	var ids []string
	for _, layer := range sortedKeys(c.Layers) {
		if !slices.Contains(bundles.Layers()[1:], layer) {
			w := &engine.Problem{File: l.Name + "/" + c.File, Line: c.Line, Code: "case.layer",
				Message: "layers: unknown layer"}
			p.add(w.ExpectOneOf(layer, bundles.Layers()[1:]))
			continue
		}
		files := map[string][]byte{}
		for name, text := range c.Layers[layer] {
			files[name] = []byte(text)
		}
		b, err := bundles.FromFiles(files, layer)
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			p.add(&engine.Problem{File: l.Name + "/" + c.File, Line: c.Line, Code: "case.layer",
				Message: fmt.Sprintf("layers.%s: %s",
					layer, first)})
			continue
		}
		for _, r := range b.Rules {
			ids = append(ids, r.ID)
		}
		for _, a := range b.Access {
			ids = append(ids, a.FindingIDs()...)
		}
	}
	return ids
}
