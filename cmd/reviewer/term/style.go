package term

import "strings"

// The colours of a terminal, as SGR sequences have them.
const (
	Bold  = "1"
	Faint = "2"
	Good  = "32"
	Warn  = "33"
	Held  = "33;1" // a call that waits for an answer, or runs in another form
	Bad   = "31;1"
)

// Paint colours words on a terminal; it does nothing in a pipe, or if NO_COLOR is set.
type Paint struct{ On bool }

// Colour returns text in a colour; an empty colour is that of the terminal.
func (p Paint) Colour(colour, text string) string {
	if !p.On || colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// Bad colours text as an error.
func (p Paint) Bad(text string) string { return p.Colour(Bad, text) }

// Good colours text as a success.
func (p Paint) Good(text string) string { return p.Colour(Good, text) }

// Warn colours text as a warning.
func (p Paint) Warn(text string) string { return p.Colour(Warn, text) }

// Faint colours text that only helps to read the rest.
func (p Paint) Faint(text string) string { return p.Colour(Faint, text) }

// Bold colours text as a headline.
func (p Paint) Bold(text string) string { return p.Colour(Bold, text) }

// Verdict colours a verdict, or the result of a check, by its severity.
func (p Paint) Verdict(word string) string {
	return p.Colour(VerdictColour(strings.TrimSpace(word)), word)
}

// VerdictColour is the colour of a verdict or of the word of a check; empty: it
// is neither.
func VerdictColour(word string) string {
	switch word {
	case "block", "fail":
		return Bad
	case "ask", "modify":
		return Held
	case "warn":
		return Warn
	case "allow", "ok":
		return Good
	}
	return ""
}

// LevelColour is the colour of a severity or a level of risk; empty: it has none.
func LevelColour(level string) string {
	switch level {
	case "critical", "high":
		return Bad
	case "medium":
		return Warn
	}
	return ""
}
