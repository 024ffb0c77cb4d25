package simulate

import (
	"fmt"
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

// Exceeded describes by how much an Impact exceeds the budget; empty: it does
// not. Calls after the first difference of their session count, too.
func (b Budget) Exceeded(m *Impact) string {
	n := m.Calls.States[b.state] + m.Calls.After[b.state]
	if b.state == "" {
		n = b.changed(m.Calls.Matrix)
	}
	if n <= b.most {
		return ""
	}
	return fmt.Sprintf("%s: %s, at most %d", b.text, engine.Counted(n, "call", "calls"), b.most)
}

// changed counts the calls in matching cells: * stands for any other verdict.
func (b Budget) changed(matrix []Cell) int64 {
	var n int64
	for _, c := range matrix {
		other := c.From != c.To || b.from == b.to && b.from != "*"
		if other && matches(b.from, c.From) && matches(b.to, c.To) {
			n += c.Count + c.After
		}
	}
	return n
}

func matches(word string, v engine.Verdict) bool { return word == "*" || word == string(v) }
