package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// tested counts what the cases and examples of a policy expect of its rules.
type tested struct {
	speaks, silent map[string]int
}

// tests looks at the cases of the layers that are checked, and at the rules that
// none of them is about.
func (p *policy) tests() {
	known := p.ids()
	seen := tested{map[string]int{}, map[string]int{}}
	for _, b := range p.effective.Layers {
		for _, r := range b.Rules {
			seen.speaks[r.ID] += len(r.Examples.Match)
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

// ids lists all under which something can speak, as far as it is written out.
func (p *policy) ids() []string {
	ids := slices.Concat(p.effective.Broken(), sortedKeys(p.spoken.IDs))
	for _, r := range p.effective.Rules() {
		ids = append(ids, r.ID)
	}
	for _, a := range p.effective.Access() {
		ids = append(ids, a.Speakers()...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (p *policy) untested(layer string, spot placer, id string, threshold bool, seen tested) {
	switch {
	case seen.speaks[id] == 0:
		p.warn(layer, spot, "id", "rule.untested", "rule %s has no case that expects it to speak", id)
	case threshold && seen.silent[id] == 0:
		p.warn(layer, spot, "threshold", "rule.untested", "rule %s has no case that expects it not to speak, so its threshold is not tested", id)
	}
}

// cases reads the cases of a layer and says what is wrong with them.
func (p *policy) cases(l Layer, known []string, seen tested) {
	if _, err := fs.Stat(l.Files, "cases"); errors.Is(err, fs.ErrNotExist) {
		return
	}
	list, err := cases.LoadBelow(l.Files, "cases", "")
	for _, wrong := range each[*cases.Problem](err) {
		p.add(&engine.Problem{File: l.Name + "/" + wrong.File, Line: wrong.Line, Col: wrong.Col, Code: "case", Message: wrong.Message})
	}
	open := len(p.spoken.Open) > 0
	for _, c := range list {
		p.story(l, c, known, open, seen)
	}
}

// story looks at one case. Where a policy speaks for ids that are not written
// out, any may be meant.
func (p *policy) story(l Layer, c cases.Case, known []string, open bool, seen tested) {
	own := p.layersOf(l, c)
	known = slices.Concat(known, own)
	steps, err := c.Steps()
	var wrong *cases.Problem
	if errors.As(err, &wrong) {
		p.add(&engine.Problem{File: l.Name + "/" + wrong.File, Line: wrong.Line, Code: "case", Message: wrong.Message})
	}
	for _, s := range steps {
		if why := wiring.UnknownTool(p.rows, s.Event.Tool); why != nil {
			why.File, why.Line = l.Name+"/"+c.File, max(s.Line, c.Line)
			p.add(why)
		}
		if s.Expect == nil {
			continue
		}
		speak := slices.Concat(s.Expect.Rules, s.Expect.RulesExactly)
		if s.Expect.Rule != "" {
			speak = append(speak, s.Expect.Rule)
		}
		speak, silent := slices.Concat(speak, s.Expect.Found()), slices.Concat(s.Expect.NotRules, s.Expect.NotFindings)
		seen.count(speak, silent)
		if open || len(c.Layers) > 0 && len(own) == 0 {
			continue
		}
		for _, id := range slices.Concat(speak, silent) {
			if !slices.Contains(known, id) && !slices.Contains(scores(), id) {
				w := &engine.Problem{File: l.Name + "/" + c.File, Line: s.Line, Code: "case.rule", Message: "there is no rule with this id"}
				p.add(w.NotOneOf(id, known))
			}
		}
	}
}

// scores lists the ids under which policy itself speaks beside its rules.
func scores() []string { return []string{"matrix"} }

func (t tested) count(speak, silent []string) {
	for _, id := range speak {
		t.speaks[id]++
	}
	for _, id := range silent {
		t.silent[id]++
	}
}

// layersOf reads the layers that a case brings along, and returns the ids of
// their rules.
func (p *policy) layersOf(l Layer, c cases.Case) []string {
	var ids []string
	for _, layer := range sortedKeys(c.Layers) {
		if !slices.Contains(bundles.Layers()[1:], layer) {
			w := &engine.Problem{File: l.Name + "/" + c.File, Line: c.Line, Code: "case", Message: "layers: there is no such layer"}
			p.add(w.NotOneOf(layer, bundles.Layers()[1:]))
			continue
		}
		files := map[string][]byte{}
		for name, text := range c.Layers[layer] {
			files[name] = []byte(text)
		}
		b, err := bundles.FromFiles(files, layer)
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			p.add(&engine.Problem{File: l.Name + "/" + c.File, Line: c.Line, Code: "case", Message: fmt.Sprintf("layers.%s: %s", layer, first)})
			continue
		}
		for _, r := range b.Rules {
			ids = append(ids, r.ID)
		}
		for _, a := range b.Access {
			ids = append(ids, a.Speakers()...)
		}
	}
	return ids
}
