package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/engine"
)

const patternsHead = `# Patterns

<!-- Generated from bundles/default/patterns: go generate ./schemas -->

A pattern describes how a session goes rather than a single call: the same error repeated,
changes that spread, another attempt at what was denied. It is a row in the bundle with a measured
number (CEL over ` + "`action`, `history`, `session`, `goal`" + `) and a threshold.
[patterns-measured.md](patterns-measured.md) has measurements on recorded sessions.

## How a pattern is found

- **measure** is computed if ` + "`match`" + ` accepts the input and ` + "`when`" + ` is true. The pattern is
  found if the measure reaches **threshold**.
- **levels** rate the measure. The highest level of any pattern found whose row does not modify,
  ask or block raises the risk (` + "`risk.active_pattern`" + `); the verdict of the row counts like that of any rule.
- **Sensitivity**: ` + "`patterns: {sensitivity: low}`" + ` multiplies thresholds and levels by 1.25,
  ` + "`high`" + ` by 0.8 (` + "`patterns.factors`" + `). A *fixed* row ignores the sensitivity: one occurrence is enough.
- **Hysteresis**: a warning is not repeated within ` + "`patterns.hysteresis`" + ` actions of the agent
  unless the level has risen since. The finding is recorded anyway. Questions and denials are
  repeated each time, unless the row has a hysteresis of its own.
- **Composites**: patterns that are found together, or shortly after each other, multiply
  the risk (` + "`patterns.composites`" + `, to which a layer adds its own); the highest factor applies.
- If an expression fails, the pattern counts as found, its verdict applies, and the finding in the
  record contains the error.
- **One pattern**: ` + "`patterns: {thresholds: {loop: 5}}`" + ` sets its threshold and
  scales its levels; ` + "`enabled_patterns: [loop, exfiltration]`" + ` disables all others (` + "`*`" + ` or ` + "`all`" + ` stands for all patterns). Later
  layers can only tighten what earlier ones set.
- ` + "`rules: {disabled: [loop]}`" + ` disables a pattern, ` + "`patterns: {enabled: false}`" + `
  all patterns; those that always apply stay enabled.

## Adding a pattern

    reviewer policy new pattern shop.many_pages --in policy

adds a row to ` + "`policy/patterns/shop/shop.yaml`" + ` and a case to ` + "`policy/cases/shop/shop.yaml`" + `, as
a start. Edited, the row could be:

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

` + "`history.windows`" + ` has the windows named by the setting ` + "`windows`" + `, each a number of actions or
a duration. ` + "`facts`" + ` are boolean properties that are known before any expression is evaluated:
name one, and the pattern costs nothing where it cannot apply.
` + "`reviewer policy test policy --mutate-only policy/patterns`" + ` reports the numbers that no case
tests.

# The built-in patterns
`

// patternsPage describes the patterns of the built-in policy, in Markdown, by file.
func patternsPage() (string, error) {
	base, err := bundles.Default()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(patternsHead)
	family := ""
	for _, r := range base.Rules {
		if !r.Pattern() {
			continue
		}
		file, _, _ := r.Spot("id", 0, 0)
		if name := catalogue.FamilyOf(file); name != family {
			family = name
			fmt.Fprintf(&b, "\n## %s\n", family)
		}
		b.WriteString(patternMarkdown(r))
	}
	return b.String(), nil
}

// patternMarkdown returns a paragraph about the pattern, and a list of its properties.
func patternMarkdown(r bundles.Rule) string {
	text := fmt.Sprintf("\n### `%s`: %s\n\n", r.ID, catalogue.PlainText(r.Title))
	if r.Decision == "" {
		text += "No verdict of its own."
	} else {
		text += "**" + r.Decision + "**."
	}
	if r.Description != "" {
		text += " " + catalogue.PlainText(r.Description)
	}
	text += "\n\n"
	for _, line := range [][2]string{
		{"facts", codeText(strings.Join(r.Match.Facts, ", "))}, {"when", codeText(r.When)}, {"measure", codeText(r.Measure)},
		{"threshold", steps(r)}, {"confidence", codeText(r.Confidence)}, {"message", catalogue.PlainText(r.Message)},
		{"safer", catalogue.PlainText(r.Remediation)}, {"controls", catalogue.PlainText(strings.Join(r.Tags, ", "))},
		{"overridable by", strings.Join(r.Overridable, ", ")}, {"see", catalogue.PlainText(strings.Join(r.References, ", "))},
	} {
		if line[1] != "" {
			text += fmt.Sprintf("- %s: %s\n", line[0], line[1])
		}
	}
	return text
}

// steps describes the threshold and levels of a pattern.
func steps(r bundles.Rule) string {
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
		text += ", fixed"
	}
	if r.Hysteresis != nil {
		text += ", reported again after " + engine.Counted(*r.Hysteresis, "action", "actions")
	}
	return text
}

func shortNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// codeText formats an expression on one line, in Markdown.
func codeText(s string) string {
	if s = strings.Join(strings.Fields(s), " "); s == "" {
		return ""
	}
	return "`" + s + "`"
}
