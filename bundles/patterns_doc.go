package bundles

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

const patternsHead = `# Patterns

<!-- Made of bundles/default/patterns: go generate ./schemas -->

A pattern looks at how a run goes, and not at one call: the same error again and
again, changes that spread, what was denied in another way. It is a row in the
bundle: a number that is measured (CEL over ` + "`action`, `history`, `session`, `goal`" + `), and
from which number on it is found. What has been measured on recorded runs stands in
[patterns-measured.md](patterns-measured.md).

## How a finding comes about

- **measure** is computed where ` + "`match`" + ` lets the input through and ` + "`when`" + ` holds. The
  pattern is found where the measure reaches **threshold**.
- **levels** say what the measure is worth. The level of the worst pattern that is found
  raises the risk (` + "`risk.active_pattern`" + `); the verdict of the row counts like that of
  any rule.
- **Sensitivity**: ` + "`patterns: {sensitivity: low}`" + ` multiplies thresholds and levels by 1.25,
  ` + "`high`" + ` by 0.8 (` + "`patterns.factors`" + `). A row that is *fixed* does not follow: once is enough.
- **Hysteresis**: a warning is not told again within ` + "`patterns.hysteresis`" + ` actions of the
  agent after it was told, unless the level has risen since. The finding is recorded
  all the same. Who is asked or denied is told so each time, unless the row names a
  hysteresis of its own.
- **Composites**: patterns that are found together, or were a short while ago, multiply
  the risk (` + "`patterns.composites`" + `); the highest factor counts.
- An expression that fails is no 'no': the pattern counts as found, its verdict holds, and
  the record's finding holds the error.
- **One pattern**: ` + "`patterns: {thresholds: {loop: 5}}`" + ` gives it another threshold, with which its
  levels move; ` + "`enabled_patterns: [loop, exfiltration]`" + ` looks at no others (` + "`*`" + ` is all of them). A
  layer above another one can only tighten what that one set.
- ` + "`rules: {disabled: [loop]}`" + ` switches off what a row says, ` + "`patterns: {enabled: false}`" + `
  all patterns of the policy that ships.

## One of your own

    reviewer policy new pattern shop.many_pages --in policy

makes a row in ` + "`policy/patterns/shop/shop.yaml`" + ` and a case beside it. Nothing of it is Go:

    - id: shop.many_pages
      title: Very many pages at once
      severity: medium
      decision: warn
      match: {phases: [pre], facts: [changes_files]}
      measure: history.windows.recent.by_type[?"file_creation"].orValue(0)
      threshold: 6
      levels: [{at: 6, level: medium}, {at: 9, level: high}]
      details: '"many new files in the last 10 actions"'
      message: "{details}."

` + "`history.windows`" + ` are the stretches that ` + "`windows`" + ` in the settings names, by a number of
actions or by time. ` + "`facts`" + ` are yes-or-no questions that are answered before any
expression is looked at: name one, and the pattern costs nothing where it cannot hold.
` + "`reviewer policy test policy --mutate-only policy/patterns`" + ` says which number no case holds.

# The patterns that ship
`

// ShippedPatternsDoc describes the patterns of the policy that ships, in
// Markdown, by the file in which they stand.
func ShippedPatternsDoc() (string, error) {
	base, err := Default()
	if err != nil {
		return "", err
	}
	return PatternsDoc(base.Rules), nil
}

// PatternsDoc describes those of the rows that are patterns.
func PatternsDoc(rows []Rule) string {
	var b strings.Builder
	b.WriteString(patternsHead)
	family := ""
	for _, r := range rows {
		if !r.Pattern() {
			continue
		}
		if name := strings.TrimSuffix(path.Base(r.file), ".yaml"); name != family {
			family = name
			fmt.Fprintf(&b, "\n## %s\n", family)
		}
		b.WriteString(r.patternMarkdown())
	}
	return b.String()
}

// patternMarkdown is a paragraph about the pattern, and a list of what it
// measures and says.
func (r Rule) patternMarkdown() string {
	text := fmt.Sprintf("\n### `%s`: %s\n\n", r.ID, plainText(r.Title))
	if r.Decision == "" {
		text += "Says nothing by itself."
	} else {
		text += "**" + r.Decision + "**."
	}
	if r.Description != "" {
		text += " " + plainText(r.Description)
	}
	text += "\n\n"
	for _, line := range [][2]string{
		{"looks at", codeText(strings.Join(r.Match.Facts, ", "))}, {"when", codeText(r.When)}, {"measures", codeText(r.Measure)},
		{"found from", r.steps()}, {"confidence", codeText(r.Confidence)}, {"says", plainText(r.Message)},
		{"safer", plainText(r.Remediation)}, {"controls", plainText(strings.Join(r.Tags, ", "))},
		{"overridable by", strings.Join(r.Overridable, ", ")}, {"see", plainText(strings.Join(r.References, ", "))},
	} {
		if line[1] != "" {
			text += fmt.Sprintf("- %s: %s\n", line[0], line[1])
		}
	}
	return text
}

// steps says from which number on the pattern is found, and what it is worth.
func (r Rule) steps() string {
	if r.Threshold == nil {
		return ""
	}
	text := shortNumber(*r.Threshold)
	var levels []string
	for _, l := range r.Levels {
		levels = append(levels, l.Level+" from "+shortNumber(l.At))
	}
	if len(levels) > 0 {
		text += " (" + strings.Join(levels, ", ") + ")"
	}
	if r.Fixed {
		text += ", whatever the sensitivity"
	}
	if r.Hysteresis != nil {
		text += fmt.Sprintf(", told again after %d actions", *r.Hysteresis)
	}
	return text
}

func shortNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// codeText is an expression on one line, in Markdown.
func codeText(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return ""
	}
	return "`" + s + "`"
}
