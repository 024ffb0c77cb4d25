package explaincmd

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego"
)

// page is an explanation for a person to read.
type page struct {
	w     io.Writer
	p     term.Paint
	all   bool
	width int // of a line
}

const (
	pageWidth  = 80 // if neither COLUMNS nor a terminal determines the width
	pageColumn = 16 // of texts, after their labels
)

func (g page) print(x *explanation) {
	g.call(x)
	g.verdict(x)
	g.means(x)
	g.findings(x)
	g.fired(x)
	g.nearMisses(x)
	g.scores(x)
}

func (g page) head(text string) { fmt.Fprintf(g.w, "\n%s\n", g.p.Colour("1", text)) }

// row prints a label in its column and a string next to it, wrapped over several lines.
func (g page) row(word, text string) {
	if word != "" && utf8.RuneCountInString(word) > pageColumn-3 {
		fmt.Fprintf(g.w, "  %s\n", word)
		word = ""
	}
	for i, line := range wrapped(text, g.width-pageColumn) {
		if i > 0 {
			word = ""
		}
		fmt.Fprintln(g.w, strings.TrimRight("  "+term.Pad(word, pageColumn-2)+line, " "))
	}
}

// wrapped breaks a string into lines at spaces. A word that is longer than a line
// stays whole.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(term.OneLine(text, 2000)) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

func (g page) call(x *explanation) {
	in := x.Input
	what := cmp.Or(in.Action.Resource, in.Event.Name)
	for _, line := range wrapped(what, g.width) {
		fmt.Fprintln(g.w, g.p.Colour("1", line))
	}
	where := []string{in.Event.Tool, string(in.Phase), in.Event.CWD,
		fmt.Sprintf("%s %02d:%02d UTC", in.Time.Weekday, in.Time.Hour, in.Time.Minute)}
	if in.Event.Mode != "" {
		where = append(where, "mode "+in.Event.Mode)
	}
	if in.Agent != engine.MainAgent && in.Agent != "" {
		where = append(where, "agent "+in.Agent)
	}
	where = slices.DeleteFunc(where, func(s string) bool { return s == "" })
	for _, line := range wrapped(strings.Join(where, ", "), g.width) {
		fmt.Fprintln(g.w, g.p.Faint(line))
	}
}

func (g page) verdict(x *explanation) {
	d := x.Decision
	fmt.Fprintln(g.w)
	scores := d.Reason
	if d.Explanation != "" {
		scores += " (" + d.Explanation + ")"
	}
	reason := scores
	rule := x.decides()
	if rule != nil {
		reason = "by rule " + rule.ID + term.After(": ", rule.Message)
	}
	for i, line := range wrapped(reason, g.width-pageColumn) {
		word := term.Pad("", pageColumn-2)
		if i == 0 {
			word = g.p.Verdict(term.Pad(string(d.Decision), pageColumn-2))
		}
		fmt.Fprintf(g.w, "  %s%s\n", word, line)
	}
	switch {
	case rule == nil:
	case d.Reason != rule.Message:
		g.row("by the scores", scores)
	case d.Explanation != "": // the reason is that of the rule, and is written above
		g.row("by the scores", d.Explanation)
	}
	switch {
	case d.Enforced != d.Decision:
		g.row("answered", fmt.Sprintf("%s, since the policy does not enforce it", x.Answer))
	case x.Answer != d.Decision:
		g.row("answered", fmt.Sprintf("%s, since it could not run in a safer form", x.Answer))
	}
	if d.Obliges(engine.ObligationSave) && d.Otherwise != nil {
		g.row("saved first", fmt.Sprintf("the files that it destroys; if that fails, the answer is %s", d.Otherwise.Effect))
	}
	if d.Intervention != nil {
		g.row("intervention", made(d.Intervention))
	}
	if x.Form != "" {
		g.row("runs as", x.Form)
	}
	if x.Missing != "" {
		g.row("not known", x.Missing+"; another policy made this record")
	}
	for _, e := range d.Errors {
		g.row("failed", fmt.Sprintf("rule %s: %s", e.Rule, e.Message))
	}
	for _, safer := range x.Safer {
		g.row("safer", safer)
	}
}

func (g page) means(x *explanation) {
	in, act := x.Input, &x.Input.Action
	g.head("What the call means")
	if len(act.Types) > 0 {
		g.row("types", strings.Join(sortedTexts(act.Types), ", "))
	}
	for _, e := range act.Effects {
		g.row(string(e.Kind), fmt.Sprintf("%s %s%s", e.Verb, term.OneLine(effectName(e), 120), traits(e)))
	}
	g.known(x)
	if len(act.Signals) > 0 {
		g.row("signals", strings.Join(sortedTexts(act.Signals), ", "))
	}
	for _, id := range slices.Sorted(maps.Keys(act.Detected)) {
		g.row("detected", fmt.Sprintf("%s %s", id, engine.Counted(act.Detected[id], "time", "times")))
	}
	for _, o := range act.Opaque {
		g.row("not known", o.Reason+": "+o.Where)
	}
	if len(in.Facts) > 0 {
		g.row("facts", strings.Join(in.Facts, ", "))
	}
	g.row("history", historyOf(in))
}

// effectName is the target, as policy compares it.
func effectName(e engine.Effect) string {
	if e.Short != "" && e.Certainty != engine.CertaintyPrefix {
		e.Target = e.Short
	}
	return nameOf(e)
}

func historyOf(in *engine.Input) string {
	words := []string{strings.Join(in.History.Follows, " and ")}
	if in.History.FirstTime {
		words = append(words, "the first of its kind")
	}
	if s := in.History.Similar; s.Count > 0 {
		words = append(words, fmt.Sprintf("%s before, %d failed", term.Counted(int(s.Count), "like it", "like it"), s.Failed))
	}
	for _, p := range in.History.Presupposes {
		if !p.Met {
			words = append(words, "false assumptions: "+p.What)
		}
	}
	words = append(words, term.Counted(int(in.Session.Actions), "call", "calls")+" before in the session")
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), ", ")
}

func (g page) findings(x *explanation) {
	if len(x.Findings) == 0 {
		return
	}
	g.head("Conditions that are true")
	for _, f := range x.Findings {
		text := f.ID
		if f.Level != "" {
			text += fmt.Sprintf(" %s, measured %v", f.Level, f.Measure)
		}
		if f.Error != "" {
			text += ", since it could not be evaluated: " + f.Error
		}
		head := "  " + term.Pad(term.OneLine(text, 200), 40)
		if term.Width(head)+2+term.Width(f.Place) > g.width {
			head = strings.TrimRight(head, " ") + "\n" + strings.Repeat(" ", pageColumn-2)
		}
		fmt.Fprintf(g.w, "%s%s\n", head, g.p.Faint("  "+f.Place))
		if f.Note != "" {
			g.row("", f.Note)
		}
	}
}

func (g page) fired(x *explanation) {
	g.head("Rules that fired")
	if len(x.Fired) == 0 {
		fmt.Fprintln(g.w, "  none")
	}
	for _, r := range x.Fired {
		g.rule(r)
		if r.Message != "" { // a record that was too long has the first ones
			g.row("", r.Message)
		}
	}
	for _, x := range x.Excepted {
		word := "not"
		if x.Ended {
			word = "ended"
		}
		g.rule(firedRule{ID: x.ID, Decision: word, Place: x.Place})
		g.row("", x.text())
	}
}

func (g page) rule(r firedRule) {
	word := cmp.Or(r.Decision, "finding")
	name := r.ID
	if r.Severity != "" {
		name += ", " + r.Severity
	}
	if r.Enforcement != "" {
		name += " (" + r.Enforcement + ")"
	}
	line := name + "  " + r.Place
	if utf8.RuneCountInString(line) <= g.width-pageColumn {
		fmt.Fprintf(g.w, "  %s%s  %s\n", g.p.Verdict(term.Pad(word, pageColumn-2)), name, g.p.Faint(r.Place))
		return
	}
	fmt.Fprintf(g.w, "  %s%s\n", g.p.Verdict(term.Pad(word, pageColumn-2)), name)
	fmt.Fprintf(g.w, "  %s%s\n", term.Pad("", pageColumn-2), g.p.Faint(r.Place))
}

// mostNearly bounds how many rules are listed that did not fire.
const mostNearly = 8

func (g page) nearMisses(x *explanation) {
	if len(x.Nearly) == 0 {
		return
	}
	title := "Near misses"
	if g.all {
		title = "Rules that did not fire, the nearest first"
	}
	g.head(title)
	for i, r := range x.Nearly {
		if i == mostNearly && !g.all {
			fmt.Fprintf(g.w, "  and %d more; --all lists them\n", len(x.Nearly)-i)
			break
		}
		g.rule(r)
		if r.CEL != nil {
			g.condition(r.CEL)
		} else {
			g.ended(r.Rego)
		}
	}
}

// condition prints the parts of a condition, each with its value.
func (g page) condition(a *cel.Answer) {
	for _, m := range a.Match {
		g.mark(false, fmt.Sprintf("match.%s: found %s; expected one of %s", m.List, listOr(m.Got, "nothing"), strings.Join(m.Wanted, ", ")))
	}
	for _, q := range a.Parts {
		g.mark(q.Holds, q.Text)
		if q.Error != "" {
			g.row("", q.Error)
		}
		for _, v := range q.Values {
			if !q.Holds {
				g.row("", fmt.Sprintf("%s is %s", v.Text, term.OneLine(v.Value, g.width-pageColumn)))
			}
		}
		for _, inner := range q.Within {
			if !q.Holds {
				g.row("", fmt.Sprintf("%s: %s", inner.Text, map[bool]string{true: "true for some element", false: "true for no element"}[inner.Holds]))
			}
		}
	}
	if a.Measure != nil {
		g.mark(*a.Measure >= a.Threshold, fmt.Sprintf("measure is %v, the threshold %v", *a.Measure, a.Threshold))
	}
}

func listOr(words []string, none string) string {
	if len(words) == 0 {
		return none
	}
	return strings.Join(words, ", ")
}

func (g page) mark(holds bool, text string) {
	sign, colour := "no ", "31"
	if holds {
		sign, colour = "yes", "32"
	}
	for i, line := range wrapped(text, g.width-pageColumn-4) {
		lead := term.Pad("", 3)
		if i == 0 {
			lead = g.p.Colour(colour, sign)
		}
		fmt.Fprintf(g.w, "%s%s %s\n", term.Pad("", pageColumn), lead, line)
	}
}

// ended prints where the evaluation of a Rego rule stopped, with the expression there.
func (g page) ended(s *rego.NotFired) {
	for i, at := range append([]rego.Stop{s.At}, s.In...) {
		where := fmt.Sprintf("line %d", at.Line)
		if _, file, _ := strings.Cut(at.File, "/"); at.File != s.At.File {
			where += " of " + file
		}
		g.mark(false, at.Text+"  ("+where+")")
		if i < len(s.In) {
			continue // the nested stop is more informative
		}
		for _, v := range at.Values {
			name, value, _ := strings.Cut(v, " = ")
			g.row("", name+" is "+term.OneLine(value, g.width-pageColumn)) // JSON may have no space to break at
		}
		for _, field := range at.Absent {
			g.row("", field+" is absent")
		}
	}
	if s.Left > 0 {
		g.row("", term.Counted(s.Left, "more line", "more lines")+" after it")
	}
}

func (g page) scores(x *explanation) {
	g.head("Scores")
	if x.Risk == nil {
		g.row("none", "not computed: the prefilter allowed the call (see the prefilter settings)")
		return
	}
	g.score("risk", x.Risk)
	g.score("rationality", x.Reason)
	d := x.Decision
	if s := d.SideEffects; s != nil {
		text := s.Severity
		if !s.Reversible {
			text += ", not reversible"
		}
		g.row("side effects", text)
	}
	m := x.Matrix
	text := fmt.Sprintf("risk %s, rationality %s: %s", m.Risk, m.Rationality, m.Cell)
	if cell := "matrix." + m.Risk + "." + m.Rationality; named(m.Layer, cell) != cell {
		text += " (" + named(m.Layer, cell) + ")"
	}
	if m.Own != "" && m.Own != m.Cell {
		text += fmt.Sprintf("; but %s: %s", m.Own, m.Why)
	}
	g.row("matrix", text)
	g.row("confidence", fmt.Sprintf("%.4g", d.Confidence))
}

func (g page) score(name string, s *explainedScore) {
	of := ""
	if len(s.Parts) > 0 && s.Parts[0].Weight != 0 {
		of = ", the mean by " + name + ".weights"
	}
	g.row(name, fmt.Sprintf("%.4g %s%s", s.Score, s.Level, of))
	for i, p := range s.Parts {
		number := fmt.Sprintf("%.4g", p.Number)
		switch {
		case p.Weight != 0:
			number += fmt.Sprintf(" x %.4g", p.Weight)
		case i > 0 && p.Number > 0:
			number = "+" + number
		}
		origin := named(p.Layer, p.Setting)
		if p.Weight != 0 && origin == p.Setting {
			origin = "" // it is named above
		}
		text := term.Pad(number, 12) + term.Pad(p.Name, 20) + origin
		fmt.Fprintf(g.w, "%s%s\n", term.Pad("", pageColumn), strings.TrimRight(text, " "))
	}
	if b := s.Up; b != nil {
		g.row("", fmt.Sprintf("from %.4g (%.4g higher): %s, %s there (%s)", b.At, b.By, b.Level,
			cmp.Or(b.Decision, "nothing"), named(b.Layer, b.Setting)))
	}
	if b := s.Down; b != nil {
		g.row("", fmt.Sprintf("below %.4g (%.4g lower): %s, %s there (%s)", b.At, b.By, b.Level,
			cmp.Or(b.Decision, "nothing"), named(b.Layer, b.Setting)))
	}
}

// named is a setting with the layer that changed it, unless that is the base layer.
func named(layer, setting string) string {
	if layer == "" || layer == bundles.Base {
		return setting
	}
	return layer + ":" + setting
}
