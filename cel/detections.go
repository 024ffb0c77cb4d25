package cel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// oneDetection finds a place where an expression reads the result of one detector by its id, or of those whose ids begin
// with a text.
var oneDetection = engine.Regexp(`\baction\.detected\["([^"\\]+)"\]|"([^"\\]+)" in action\.detected\b|` +
	`\baction\.detected\.exists\((\w+), (\w+)\.startsWith\("([^"\\]+)"\)\)`)

// anyDetection finds other places where it may read results of detectors: of all, or the whole action.
var anyDetection = engine.Regexp(`\bdetected\b|\baction\b\s*(?:[^.\s]|$)`)

// oddText finds texts whose end quotedText may miss.
var oddText = engine.Regexp(`\b[rRbB]+["']|"""|\'\'\'`)

// ReadsDetection reports whether the expressions of the condition may read the result of a detector, and whether they read
// that of any. Its Match does not count.
func (c *Condition) ReadsDetection(id string) (this, some bool) {
	text := c.expressions()
	rest := oneDetection().ReplaceAllStringFunc(text, func(place string) string {
		found := oneDetection().FindStringSubmatch(place)
		if found[3] != found[4] {
			return "detected"
		}
		some = true
		this = this || id == cmp.Or(found[1], found[2]) || found[5] != "" && strings.HasPrefix(id, found[5])
		return ""
	})
	if !oddText().MatchString(rest) {
		rest = quotedText().ReplaceAllString(rest, "")
	}
	if anyDetection().MatchString(rest) {
		return true, true
	}
	return this, some
}

// expressions joins the expressions of the condition and of the definitions that they use.
func (c *Condition) expressions() string {
	text := strings.Join([]string{c.When, c.Measure, c.Confidence, c.Details}, "\n")
	if c.Names == nil {
		return text
	}
	for _, d := range slices.Backward(c.Names.Definitions) { // a definition uses those before it
		if strings.Contains(text, d.ID) {
			text += "\n" + d.Text
		}
	}
	return text
}
