package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxDecision limits a decision's JSON so that facts and decision fit a line.
const maxDecision = 5 << 9

// Settle validates what policy returned and limits its size, deterministically.
func (p *Policy) Settle(d *engine.Decision) error {
	return settle(d, slices.Sorted(maps.Keys(p.Settings.Interventions.Kinds))...)
}

// settle is Settle; own are the kinds of intervention that the policy has defined.
func settle(d *engine.Decision, own ...string) error {
	for _, v := range []engine.Verdict{d.Decision, d.Enforced} {
		if v.Strictness() == engine.Block.Strictness() && v != engine.Block {
			return fmt.Errorf("policy returned %q, which is not one of %s", v, strings.Join(engine.Verdicts(), ", "))
		}
	}
	for _, op := range d.Rewrite {
		if !slices.Contains(engine.Operations(), op.Op) {
			return fmt.Errorf("policy returned the operation %q, which is not one of %s", op.Op, strings.Join(engine.Operations(), ", "))
		}
	}
	kinds := append(engine.Interventions(), own...)
	if i := d.Intervention; i != nil && !slices.Contains(kinds, i.Kind) {
		return fmt.Errorf("policy returned the intervention %q, which is not one of %s", i.Kind, strings.Join(kinds, ", "))
	}
	if i := d.Intervention; i != nil {
		for _, what := range i.Does {
			if !slices.Contains(engine.Duties(), what) {
				return fmt.Errorf("policy returned an intervention that does %q, which is not one of %s", what, strings.Join(engine.Duties(), ", "))
			}
		}
	}
	limits := []limit{{480, 8, uncut}, {240, 8, uncut}, {120, 5, uncut}, {60, 3, uncut}, {30, 1, uncut},
		{30, 1, 960}, {30, 1, 240}, {30, 1, 60}}
	whole := *d
	for i := 0; ; i++ {
		b, err := engine.Marshal(d)
		if err != nil {
			return fmt.Errorf("encode decision: %w", err)
		}
		switch n := i - longest; {
		case len(b) <= maxDecision:
			return nil
		case n < 0:
			leaveOut(d, &whole, longest-i)
		case n < len(limits):
			shorten(d, limits[n])
		default:
			return fmt.Errorf("policy returned a decision of more than %d bytes, even with its texts cut", maxDecision)
		}
	}
}

// longest is the length of the longest list of which a part is left out before any text is cut.
const longest = 5

// leaveOut keeps n texts of each list that only the log contains, whole, and says how many are missing. At last the
// explanation goes too. All rules stay, and the first messages.
func leaveOut(d, whole *engine.Decision, n int) {
	d.Reasons, d.Alternatives = firstOf(whole.Reasons, n), firstOf(whole.Alternatives, n)
	if whole.Rationality != nil {
		r := *whole.Rationality
		r.Issues, r.Suggestions = firstOf(r.Issues, n), firstOf(r.Suggestions, n)
		d.Rationality = &r
	}
	if whole.SideEffects != nil {
		e := *whole.SideEffects
		e.Mitigations = firstOf(e.Mitigations, n)
		d.SideEffects = &e
	}
	d.Rules = slices.Clone(whole.Rules)
	for i := max(n, 2); i < len(d.Rules); i++ {
		d.Rules[i].Message = "" // the policy has it
	}
	if n == 1 {
		d.Explanation = ""
	}
}

// firstOf returns the first texts of a list, and how many are missing.
func firstOf(list []string, n int) []string {
	if len(list) <= n+1 {
		return list
	}
	return append(slices.Clone(list[:n]), fmt.Sprintf("… %d more", len(list)-n))
}

// limit shortens a decision to fit a line where leaving out is not enough: first texts and lists that only the
// log contains, and the agent's text only if nothing else is left to cut.
type limit struct{ text, list, told int }

const uncut = maxDecision

// shorten limits texts (bytes in JSON) and lists. Ids and obligations stay
// whole: part of one would be a different one.
func shorten(d *engine.Decision, l limit) {
	text, list := l.text, l.list
	d.Reason, d.Explanation = engine.ClipJSON(d.Reason, text), engine.ClipJSON(d.Explanation, text)
	d.Text, d.Notice = clipText(d.Text, l.told), clipText(d.Notice, l.told)
	d.Reasons, d.Alternatives = clipList(d.Reasons, text, list), clipList(d.Alternatives, text, list)
	if o := d.Otherwise; o != nil {
		d.Otherwise = &engine.Fallback{Effect: o.Effect, Text: clipText(o.Text, l.told)}
	}
	d.Code = d.Code[:min(len(d.Code), list)]
	d.Rules = d.Rules[:min(len(d.Rules), list)]
	for i := range d.Rules {
		d.Rules[i].Message = engine.ClipJSON(d.Rules[i].Message, text)
	}
	d.Errors = d.Errors[:min(len(d.Errors), list)]
	for i := range d.Errors {
		d.Errors[i].Message = engine.ClipJSON(d.Errors[i].Message, text)
	}
	shortenScores(d, text, list)
	if d.Intervention != nil {
		d.Intervention.Reason = engine.ClipJSON(d.Intervention.Reason, text)
	}
}

func shortenScores(d *engine.Decision, text, list int) {
	if r := d.Risk; r != nil {
		r.Factors = clipList(r.Factors, text, list)
	}
	if r := d.Rationality; r != nil {
		r.Issues, r.Suggestions = clipList(r.Issues, text, list), clipList(r.Suggestions, text, list)
	}
	if e := d.SideEffects; e != nil {
		e.Severities = e.Severities[:min(len(e.Severities), list)]
		e.Kinds, e.Mitigations = clipList(e.Kinds, text, list), clipList(e.Mitigations, text, list)
	}
}

func clipList(s []string, text, list int) []string {
	s = s[:min(len(s), list)]
	for i := range s {
		s[i] = engine.ClipJSON(s[i], text)
	}
	return s
}

// clipText cuts the middle of a string down to about n bytes in JSON: the end of a denial tells
// the agent what to do next.
func clipText(s string, n int) string {
	if engine.JSONLen(s) <= n {
		return s
	}
	end := len(s)
	for size := 0; end > 0; {
		r, width := utf8.DecodeLastRuneInString(s[:end])
		if size += engine.JSONLen(string(r)) - 2; size > n/2 {
			break
		}
		end -= width
	}
	return engine.ClipJSON(s[:end], n-n/2) + " " + s[end:]
}
