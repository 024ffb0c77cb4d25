package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/detect"
)

// detectors compiles the patterns, and checks them against their examples.
func (p *policy) detectors() {
	set, err := wiring.Detectors(p.effective)
	for _, wrong := range each[*detect.Error](err) {
		for _, l := range p.effective.Layers {
			for _, d := range l.Detectors {
				if d.ID == wrong.ID {
					p.add(&engine.Problem{File: l.Layer + "/" + d.File(), Line: d.PatternLine(wrong.Pattern),
						Col: columnOf(p.layers[l.Layer], d.File(), d.PatternLine(wrong.Pattern), patternOf(d,
							wrong.Pattern)), Code: "detector.pattern", Message: wrong.Error()})
				}
			}
		}
	}
	if err != nil || set == nil {
		return
	}
	row := 0
	for _, l := range p.effective.Layers {
		for _, d := range l.Detectors {
			for at, pattern := range d.All() {
				if c := engine.ControlIn(pattern); c != "" {
					p.add(&engine.Problem{File: l.Layer + "/" + d.File(), Line: d.PatternLine(at), Code: "text.control", Warning: true,
						Message: fmt.Sprintf(engine.ControlMessage, c, "the pattern in single quotes")})
				}
			}
			p.examples(l, d, func(text string) bool { return set.Finds(row, text) })
			row++
		}
	}
}

// undetected warns about a rule that waits for detectors which search no text of its phases.
func (p *policy) undetected(layer string, r bundles.Rule) {
	for _, l := range p.effective.Layers {
		for _, d := range l.Detectors {
			searched := func(phase string) bool {
				places := detect.PlacesOf(engine.Phase(phase))
				return slices.ContainsFunc(places, func(at engine.Place) bool { return len(d.In) == 0 || slices.Contains(d.In, string(at)) })
			}
			if slices.Contains(r.Match.Detected, d.ID) && slices.ContainsFunc(r.Match.Phases, searched) {
				return
			}
		}
	}
	if len(r.Match.Detected) > 0 && len(r.Match.Phases) > 0 {
		p.warn(layer, r.Spot, "match", "rule.never", "match: no text of phase %s is searched for %s, so this rule can never fire: detectors "+
			"search arguments and contents in phase pre, and results in phase post; change phases, or the in of the detector",
			strings.Join(r.Match.Phases, ", "), strings.Join(r.Match.Detected, ", "))
	}
}

func (p *policy) examples(l *bundles.Bundle, d bundles.Detector, finds func(string) bool) {
	for i, text := range slices.Concat(d.Examples.Match, d.Examples.NoMatch) {
		should := i < len(d.Examples.Match)
		if finds(text) == should {
			continue
		}
		message := fmt.Sprintf("detector %s matches this example, but should not", d.ID)
		if should {
			message = fmt.Sprintf("detector %s does not match this example", d.ID)
		}
		p.add(&engine.Problem{File: l.Layer + "/" + d.File(), Line: d.ExampleLine(i),
			Col: columnOf(p.layers[l.Layer], d.File(), d.ExampleLine(i), text), Code: "detector.example", Message: message})
	}
}

// unusable finds rules about actions of no tool, and expired rules.
func (p *policy) unusable() {
	actions, tools := classify.Actions(p.rows), sortedKeys(classify.Tools(p.rows))
	for _, l := range p.effective.Layers {
		for _, r := range l.Rules {
			p.actions(l.Layer, r.Spot, "match", r.Match.Actions, actions)
			p.tools(l.Layer, r.Spot, "match", r.Match.Tools, tools)
			p.programs(l.Layer, r)
			p.undetected(l.Layer, r)
			p.exampleTools(l.Layer, r)
		}
		for _, a := range l.Access {
			for _, r := range a.Rules {
				p.actions(l.Layer, r.Spot, "actions", r.Actions, actions)
				p.tools(l.Layer, r.Spot, "tools", r.Tools, tools)
			}
		}
	}
	p.objects()
	for _, end := range wiring.Endings(p.effective, p.now) {
		code := "rule.ends"
		if end.Over {
			code = "rule.over"
		}
		p.add(&engine.Problem{File: end.Layer + "/" + end.File, Line: end.Line, Col: end.Col, Code: code, Warning: true, Message: end.String()})
	}
}

func (p *policy) warn(layer string, spot placer, key, code, format string, args ...any) *engine.Problem {
	file, line, col := spot(key, 0, 0)
	w := &engine.Problem{File: layer + "/" + file, Line: line, Col: col, Code: code, Warning: true, Message: fmt.Sprintf(format,
		args...)}
	p.add(w)
	return w
}

// actions warns about patterns that match no tool's action: a rule that denies one
// would deny nothing.
func (p *policy) actions(layer string, spot placer, key string, patterns, known []string) {
	for _, pattern := range patterns {
		if !fits(pattern, known) {
			w := p.warn(layer, spot, key, "rule.action", "no known tool has the action %q", pattern)
			w.Suggestion = engine.Nearest(pattern, known)
		}
	}
}

// tools warns about names that look like a misspelt tool. Others may belong to an
// unknown agent or server.
func (p *policy) tools(layer string, spot placer, key string, patterns, known []string) {
	for _, pattern := range patterns {
		near := engine.Nearest(pattern, known)
		if tool, _, other := strings.Cut(pattern, "("); other && !strings.Contains(strings.TrimSuffix(pattern, "*"), "*") {
			p.warn(layer, spot, key, "rule.tool", "%q is never the name of a tool: write %s, and ask for its arguments in commands or when",
				pattern, tool)
			continue
		}
		if !fits(pattern, known) && near != "" && !strings.Contains(pattern, "__") {
			p.warn(layer, spot, key, "rule.tool", "no known tool is called %q", pattern).Suggestion = near
		}
	}
}

// fits reports whether a pattern matches a name; a name may be a prefix pattern.
func fits(pattern string, names []string) bool {
	prefix, more := strings.CutSuffix(pattern, "*")
	return slices.ContainsFunc(names, func(name string) bool {
		family, open := strings.CutSuffix(name, "*")
		return name == pattern || more && strings.HasPrefix(name, prefix) || open && strings.HasPrefix(prefix, family)
	})
}

func (p *policy) exampleTools(layer string, r bundles.Rule) {
	for _, event := range slices.Concat(r.Examples.Match, r.Examples.NoMatch) {
		tool, _ := event["tool"].(string)
		if why := wiring.UnknownTool(p.rows, tool); why != nil {
			why.File, why.Line, why.Col = r.Spot("examples", 0, 0)
			why.File = layer + "/" + why.File
			p.add(why)
		}
	}
}

// patternOf returns a pattern of a detector by its number.
func patternOf(d bundles.Detector, number int) string {
	if all := d.All(); number >= 0 && number < len(all) {
		return all[number]
	}
	return ""
}

// programs warns about words of match that are the name of no program.
func (p *policy) programs(layer string, r bundles.Rule) {
	for _, name := range r.Match.Commands {
		if at := strings.LastIndexByte(name, '/'); at >= 0 || strings.ContainsAny(name, " \t") {
			first, _, _ := strings.Cut(name[at+1:], " ")
			p.warn(layer, r.Spot, "match", "rule.program", "commands: %q is never the name of a program: write %s, "+
				"and ask for its subcommands in when, with c.sub", name, first)
		} else if near := p.misspelt(name); near != "" {
			p.warn(layer, r.Spot, "match", "rule.program", "commands: no known program is called %q", name).Suggestion = near
		}
	}
}

// misspelt returns the known program that a word was probably meant to be; empty: the word is known, or nearly no
// known one: two letters are swapped, one is missing or one too many. Another letter is often another program.
func (p *policy) misspelt(word string) string {
	if p.programNames == nil {
		p.programNames = append(classify.Programs(p.rows), "")
	}
	if len(word) < 3 || fits(word, p.programNames) {
		return ""
	}
	near := engine.Nearest(word, p.programNames)
	swapped := slices.Equal(slices.Sorted(strings.SplitSeq(near, "")), slices.Sorted(strings.SplitSeq(word, "")))
	missing := len(near) > 4 && (len(near)-len(word) == 1 || len(word)-len(near) == 1)
	if strings.EqualFold(near, word) || swapped || missing {
		return near
	}
	return ""
}

// namedObject is the object of an effect in a row about a program.
var namedObject = engine.Regexp(`\bobject: ([a-z]{5,})\b`)

// object is a kind of object that a row about a program names.
type object struct {
	file string
	line int
	name string
}

// objectsOf lists the kinds of objects that a layer's rows about programs name.
func objectsOf(files map[string][]byte) (list []object) {
	for _, file := range sortedKeys(files) {
		if !strings.HasPrefix(file, "programs/") {
			continue
		}
		for i, line := range strings.Split(string(files[file]), "\n") {
			for _, found := range namedObject().FindAllStringSubmatch(line, -1) {
				list = append(list, object{file, i + 1, found[1]})
			}
		}
	}
	return list
}

// objects warns about kinds of objects in rows about programs that look misspelt: rules that compare the object of an
// effect would not see them.
func (p *policy) objects() {
	var checked, known []string
	own := map[string][]object{}
	for _, l := range p.effective.RowLayers() {
		if p.layers[l.Name].Given {
			if own[l.Name] = objectsOf(l.Files); len(own[l.Name]) > 0 {
				checked = append(checked, l.Name)
			}
		}
	}
	if len(checked) == 0 {
		return
	}
	for _, l := range p.effective.RowLayers() {
		if p.layers[l.Name].Given {
			continue
		}
		for _, o := range objectsOf(l.Files) {
			known = append(known, o.name)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, layer := range checked {
		for _, o := range own[layer] {
			if near := engine.Nearest(o.name, known); near != "" && !slices.Contains(known, o.name) {
				p.add(&engine.Problem{File: layer + "/" + o.file, Line: o.line, Col: columnOf(p.layers[layer], o.file, o.line, o.name),
					Code: "row.object", Warning: true, Message: fmt.Sprintf("object: no other row has %q", o.name), Suggestion: near})
			}
		}
	}
}
