package simulate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Budget is a limit on the changes of a candidate, beyond which it must be
// examined.
type Budget struct {
	text     string
	from, to string // verdicts, or *
	state    State  // instead of both
	most     int64
}

// ParseBudget reads FROM->TO>N: more than N calls that change from one verdict
// to another exceed it. Either may be * for any other; a state may stand for
// both, such as loosened>0.
func ParseBudget(text string) (Budget, error) {
	b := Budget{text: text}
	cut := strings.LastIndex(text, ">")
	if cut < 0 || strings.HasSuffix(text[:cut], "-") {
		return b, b.wrong("it has no number")
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text[cut+1:]), 10, 64)
	if err != nil || n < 0 {
		return b, b.wrong(fmt.Sprintf("%q is not a number of calls", strings.TrimSpace(text[cut+1:])))
	}
	b.most = n
	from, to, change := strings.Cut(text[:cut], "->")
	if b.from, b.to = strings.TrimSpace(from), strings.TrimSpace(to); change {
		return b, b.checkVerdicts()
	}
	b.state = State(b.from)
	if !slices.Contains(States(), b.from) {
		return b, b.wrong(unknownWord(b.from, "state", States()))
	}
	return b, nil
}

func (b Budget) checkVerdicts() error {
	for _, v := range []string{b.from, b.to} {
		if v != "*" && !slices.Contains(engine.Verdicts(), v) {
			return b.wrong(unknownWord(v, "verdict", engine.Verdicts()))
		}
	}
	return nil
}

func unknownWord(word, what string, known []string) string {
	text := fmt.Sprintf("%q is not a %s; expected one of %s", word, what, strings.Join(known, ", "))
	if near := engine.Nearest(word, known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

func (b Budget) wrong(why string) error {
	return fmt.Errorf("budget %q: %s; write it as 'block->allow>0' or 'loosened>0'", b.text, why)
}

// Loosening is what the candidate may allow that the baseline does not. Calls after the first
// difference of their session count, too.
func (m *Impact) Loosening() engine.Loosening {
	l := engine.Loosening{Settings: m.Candidate.loosened()}
	var unclear int64
	for _, t := range []*Tally{&m.Calls, &m.Events} {
		l.Decisions += t.Total
		l.Loosened += t.Count(Loosened)
		l.Maybe += t.Count(Maybe)
		for _, c := range t.Matrix {
			l.Maybe -= c.Sure
		}
		for _, c := range t.unclear() {
			if unclear += c.Count; !c.Sure {
				l.Unknown += c.Count
			}
		}
	}
	if unclear >= l.Decisions {
		l.Unknown = l.Decisions
	}
	return l
}

// loosened lists the loosened settings that apply to all decisions: those at the top, and
// switches.
func (n Named) loosened() []string {
	var list []string
	for _, s := range n.Settings {
		isSwitch := slices.Contains([]string{"true", "false"}, s.Before) || slices.Contains([]string{"true", "false"}, s.After)
		if (isSwitch || !strings.Contains(s.Key, ".")) && (s.Direction == "loosened" || s.Direction == "mixed") {
			list = append(list, s.Key)
		}
	}
	return list
}

// Count returns how many decisions have a state.
func (t *Tally) Count(s State) int64 { return t.States[s] + t.After[s] }

// unclear lists the decisions that could not be compared, with those that failed and those of
// reports without details.
func (t *Tally) unclear() []OpenCell {
	rest := t.Count(Unknown) + t.Count(Incomparable) + t.Failed
	for _, c := range t.Open {
		rest -= c.Count
	}
	return append(slices.Clone(t.Open), OpenCell{Count: rest})
}

// Exceeded describes by how much an Impact may exceed the budget; empty: it does
// not. Calls after the first difference of their session count, too, and so does what could not
// be compared if it may be a change that the budget limits. Nothing is within a budget if nothing
// could be compared.
func (b Budget) Exceeded(m *Impact) string {
	l, most := m.Loosening(), b.most
	if b.state != Loosened {
		if most = math.MaxInt64; !b.limits(OpenCell{}, milder) {
			l.Settings = nil
		}
	}
	if why := l.Above(most); why != "" {
		return fmt.Sprintf("%s: the simulation %s", b.text, why)
	}
	if n := b.calls(&m.Calls); b.state != Loosened && n > b.most {
		return fmt.Sprintf("%s: %s, at most %d", b.text, engine.Counted(n, "call", "calls"), b.most)
	}
	return ""
}

// calls counts the calls that are changed as the budget says, or may be.
func (b Budget) calls(t *Tally) int64 {
	var n int64
	if b.state != "" {
		n = t.Count(b.state)
	}
	for _, c := range t.Matrix {
		switch {
		case b.state != "":
		case b.matches(c.From, c.To):
			n += c.Count + c.After
		case b.limits(OpenCell{From: c.From}, milder):
			n += c.Maybe - c.Sure
		}
	}
	for _, c := range t.unclear() {
		if b.limits(c, func(from, to engine.Verdict) bool { return !c.Sure || !milder(from, to) }) {
			n += c.Count
		}
	}
	return n
}

func milder(from, to engine.Verdict) bool { return to.Strictness() < from.Strictness() }

// limits reports whether the budget limits a change, among those that may be, for which a
// condition is true.
func (b Budget) limits(may OpenCell, condition func(from, to engine.Verdict) bool) bool {
	for _, f := range engine.Verdicts() {
		for _, t := range engine.Verdicts() {
			from, to := engine.Verdict(f), engine.Verdict(t)
			if may.From != "" && may.From != from || may.To != "" && may.To != to {
				continue
			}
			if b.matches(from, to) && condition(from, to) {
				return true
			}
		}
	}
	return false
}

// matches reports whether the budget limits a change: * stands for any other verdict.
func (b Budget) matches(from, to engine.Verdict) bool {
	word := func(word string, v engine.Verdict) bool { return word == "*" || word == string(v) }
	switch b.state {
	case "":
		other := from != to || b.from == b.to && b.from != "*"
		return other && word(b.from, from) && word(b.to, to)
	case Loosened:
		return milder(from, to)
	case Tightened:
		return milder(to, from)
	}
	return false
}
