package engine

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Vocabulary is the vocabulary of one policy, in addition to the words that all
// policies share.
type Vocabulary struct {
	Windows   []string       // names of history's windows
	Lengths   map[string]int // number of events that a window holds at most; none for one of a duration
	Findings  []string       // ids of conditions and access rules: the values of input.findings
	Detectors []string       // ids of detectors: the keys of action.detected

	// Subcommand reports whether the first word after a known program is in the
	// command's sub, and so not in its operands; nil: programs are not known.
	Subcommand func(program, word string) bool
	// Misspelt returns the known program whose name is nearly a word that names no known program; empty:
	// there is none. nil: programs are not known.
	Misspelt func(word string) string
}

// PolicySchema returns the JSON Schema of the document that a policy's Rego
// sees: Input, with the findings, and with the policy's own words as closed
// sets. Unknown windows, findings and detectors are not properties.
func PolicySchema(v Vocabulary) map[string]any {
	root := Schema(Input{}, "Input of this policy")
	defs := root["definitions"].(map[string]any)
	close := func(def, field string, keys []string) {
		schema := defs[def].(map[string]any)["properties"].(map[string]any)[field].(map[string]any)
		schema["properties"] = each(keys, schema["additionalProperties"])
		schema["additionalProperties"] = false
	}
	close("historyFacts", "windows", v.Windows)
	close("historyFacts", "fired", v.Findings)
	close("sessionFacts", "written", append(Locations(), LocationNamed))
	close("action", "detected", v.Detectors)
	close("sessionFacts", "counts_by_type", Types())
	close("windowFacts", "by_type", Types())
	properties := root["properties"].(map[string]any)
	properties["findings"] = map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": sorted(v.Findings)}}
	properties["finding"] = map[string]any{
		"type": "object", "additionalProperties": false, "properties": each(v.Findings, map[string]any{
			"type": "object", "additionalProperties": false, "properties": map[string]any{
				"level":      map[string]any{"type": "string"},
				"measure":    map[string]any{"type": "number"},
				"failed":     map[string]any{"type": "boolean"},
				"confidence": map[string]any{"type": "number"},
				"details":    map[string]any{"type": "string"},
			},
		}),
	}
	root["required"] = append(root["required"].([]string), "findings", "finding")
	return root
}

func each(keys []string, value any) map[string]any {
	all := map[string]any{}
	for _, k := range keys {
		all[k] = value
	}
	return all
}

// sorted returns each word once. It turns nil into an empty list, because a
// missing enum would allow everything.
func sorted(list []string) []string {
	return slices.Compact(append([]string{}, slices.Sorted(slices.Values(list))...))
}

// Form is the form that all values of a field have.
type Form struct {
	Fits   func(text string) bool // a value, or the beginning of one
	Says   string
	Advice func(text string) string // what to write instead; empty: nothing is known
}

// Forms has the fields whose values have a form, by type and field. Nothing changes it.
var Forms = map[string]Form{
	"engine.Effect.short": {shortBegins, "a path begins with ./ (in the workspace), ~/ (in the home directory) or /", inWorkspace},
	"engine.Command.name": {func(text string) bool { return !strings.ContainsAny(text, "/ \t") },
		"it is the base name of one program, and subcommands are in sub", programIn},
	"engine.Command.sub": {func(text string) bool { return !strings.ContainsAny(text, " \t") && !strings.HasPrefix(text, "-") },
		"each item is one word, and options are in flags", nil},
	"engine.Command.flags": {optionBegins, "options are written with their dashes, and other words are in operands", dashed},
	"engine.Action.hosts":  {func(text string) bool { return !strings.ContainsAny(text, "/ ") }, "a host has no scheme and no path", hostIn},
}

func shortBegins(text string) bool {
	return text == "" || strings.HasPrefix(text, "/") || text == "." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "~") ||
		len(text) > 1 && text[1] == ':' || text[0] == '?'
}

func optionBegins(text string) bool {
	return text == "" || strings.ContainsAny(text[:1], `-/+?*"'$`)
}

func inWorkspace(text string) string {
	if home, ok := strings.CutPrefix(text, "$HOME/"); ok {
		return "~/" + home
	}
	return "./" + text
}

func programIn(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return path.Base(first)
}

func dashed(text string) string {
	if len(text) < 3 {
		return "-" + text
	}
	return "--" + text
}

func hostIn(text string) string {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	host, _, _ := strings.Cut(text, "/")
	return host
}

// Range is the smallest and the largest value of a number.
type Range struct{ Low, High float64 }

// RangeOf returns the range of a field of the input, such as history.since.failed, by the lengths of windows. A count
// of a window is at most its length.
func RangeOf(path string, lengths map[string]int) (r Range, known bool) {
	in, field, _ := strings.Cut(path, ".")
	if windowed, is := strings.CutPrefix(path, "history.windows."); is {
		in, field, _ = strings.Cut(windowed, ".")
		counts := []string{"events", "failed", "denied", "max_errors", "distinct", "runs", "edits", "goals", "named"}
		return Range{0, float64(lengths[in])}, lengths[in] > 0 && slices.Contains(counts, field)
	}
	switch {
	case path == "time.hour":
		return Range{0, 23}, true
	case path == "time.minute":
		return Range{0, 59}, true
	case in == "history" && strings.HasPrefix(field, "since."):
		return Range{1, NeverHappened}, true
	}
	return Range{}, false
}

// Allows reports whether a number in the range can be in a relation to another one, as in Demand.Number.
func (r Range) Allows(sign string, n float64) bool {
	d := NewDemand()
	d.Number(">=", r.Low)
	d.Number("<=", r.High)
	d.Number(sign, n)
	return d.Possible()
}

func (r Range) String() string { return fmt.Sprintf("from %v to %v", r.Low, r.High) }

// Present has the phase in which a field of the input is present; others are present in all. Nothing changes it.
var Present = map[string]string{"event.result": string(PhasePost), "event.says": string(PhaseStop),
	"history.call": string(PhasePost), "history.claims": string(PhaseStop)}

// ControlMessage says what is wrong with a text that has a character of ControlIn, and what to write.
const ControlMessage = "%s is a control character here, and no part of an expression: write %s"

// ControlIn returns how a control character other than white space is written in quotes; empty: a text has none.
func ControlIn(text string) string {
	written := map[rune]string{'\a': `\a`, '\b': `\b`, '\f': `\f`, '\v': `\v`}
	if at := strings.IndexAny(text, "\a\b\f\v"); at >= 0 {
		return written[rune(text[at])]
	}
	return ""
}
