// Package catalogue lists the rules of a policy, with their effective enforcement, and describes them in Markdown.
// When a rule fires is not its business.
package catalogue

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// Entry is a rule as a catalogue lists it.
type Entry struct {
	ID          string   `json:"id"`
	Family      string   `json:"family"` // the folder or file of its row
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Severity    string   `json:"severity"`
	Decision    string   `json:"decision,omitempty"` // empty: it is a finding only
	Harm        string   `json:"harm,omitempty"`     // what the call would do, one of engine.Harms, or none
	Limit       bool     `json:"limit,omitempty"`    // it excludes calls whatever they do
	Unattended  string   `json:"unattended,omitempty"`
	Message     string   `json:"message,omitempty"`
	Remediation string   `json:"remediation,omitempty"`
	References  []string `json:"references,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Layer       string   `json:"layer"`
	Overridable []string `json:"overridable,omitempty"` // layers that may make exceptions
	Enforcement string   `json:"enforcement"`           // off, observe, warn or enforce
	File        string   `json:"file"`
	Line        int      `json:"line"`

	Conditions []string `json:"conditions,omitempty"` // layer/file:line of each condition with which it fires
}

// Off is the Enforcement of a rule that the settings disable.
const Off = "off"

// Of lists the rules of all layers by family and id, with their effective
// enforcement.
func Of(e *bundles.Effective) []Entry {
	var all []Entry
	for _, l := range e.Layers {
		for _, r := range l.Rules {
			file, line, _ := r.Spot("id", 0, 0)
			var conditions []string
			if r.Conditional() {
				key := "match"
				switch {
				case r.When != "":
					key = "when"
				case r.Measure != "":
					key = "measure"
				}
				_, at, _ := r.Spot(key, 0, 0)
				conditions = []string{fmt.Sprintf("%s/%s:%d", l.Layer, file, at)}
			}
			all = append(all, Entry{
				ID: r.ID, Family: FamilyOf(file), Title: r.Title, Description: r.Description, Severity: r.Severity,
				Decision: r.Decision, Harm: e.Harm(r.Harm), Limit: r.Limit, Unattended: r.Unattended, Message: r.Message, Remediation: r.Remediation, References: r.References, Tags: r.Tags,
				Layer: l.Layer, Overridable: r.Overridable, Enforcement: enforcement(e, l.Layer, r), File: file, Line: line, Conditions: conditions,
			})
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Family, b.Family), strings.Compare(a.ID, b.ID))
	})
	return all
}

// FamilyOf returns git for rules/git/git.yaml, and shop for rules/shop.yaml.
func FamilyOf(file string) string {
	dir := path.Base(path.Dir(file))
	if path.Dir(file) == "rules" {
		return strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	return dir
}

// enforcement returns the effective enforcement of a rule, as policy computes
// it: the mildest of the settings for all rules, and those for this rule or its
// row.
func enforcement(e *bundles.Effective, layer string, r bundles.Rule) string {
	strongest := bundles.Enforcements()[len(bundles.Enforcements())-1]
	if r.Always {
		return strongest
	}
	if layer == bundles.Base && switchedOff(e, r) || !e.Settings.Enabled {
		return Off
	}
	own := cmp.Or(e.Settings.Rules.Enforcement[r.ID], r.Enforcement)
	mildest := len(bundles.Enforcements()) - 1
	for _, word := range []string{e.Settings.Enforcement, own} {
		if at := slices.Index(bundles.Enforcements(), word); at >= 0 {
			mildest = min(mildest, at)
		}
	}
	return bundles.Enforcements()[mildest]
}

// switchedOff reports whether the settings disable a base rule.
func switchedOff(e *bundles.Effective, r bundles.Rule) bool {
	if slices.Contains(e.Settings.Rules.Disabled, r.ID) {
		return true
	}
	switch e.Settings.Rules.Builtin {
	case "none":
		return true
	case "essential":
		return !slices.Contains(r.Tags, "essential")
	}
	return false
}

const rulesHead = `# Rules

A rule that can hold up a call names the call's harm. A limit
excludes calls whatever they do. none: the rule is about the course of the session, and not about a
harm of the call.

An overridable rule can be lifted by an exception in the layers that it names. The tag
*essential* marks the rules that remain with ` + "`rules: {builtin: essential}`" + `; other tags name the
controls that a rule implements: OWASP's list for agentic applications, MITRE ATLAS and ATT&CK,
and SOC 2.
`

// Markdown describes rules in Markdown, by family.
func Markdown(list []Entry) string {
	var b strings.Builder
	b.WriteString(rulesHead)
	family := ""
	for _, r := range list {
		if r.Family != family {
			fmt.Fprintf(&b, "\n## %s\n", r.Family)
		}
		family = r.Family
		b.WriteString(r.markdown())
	}
	return b.String()
}

// markdown returns a paragraph about the rule, and a list of its other properties.
func (r Entry) markdown() string {
	does := r.Decision
	if does == "" {
		does = "finding"
	}
	if r.Harm != "" {
		does += " (" + r.Harm + map[bool]string{true: ", a limit"}[r.Limit] + ")"
	}
	text := fmt.Sprintf("\n### `%s`: %s\n\n**%s**, %s.", r.ID, plainText(r.Title), does, r.Severity)
	if r.Description != "" {
		text += " " + plainText(r.Description)
	}
	text += "\n\n"
	for _, line := range [][2]string{
		{"message", r.Message}, {"safer", r.Remediation}, {"controls", strings.Join(r.Tags, ", ")},
		{"overridable by", strings.Join(r.Overridable, ", ")}, {"see", strings.Join(r.References, ", ")},
	} {
		if line[1] != "" {
			text += fmt.Sprintf("- %s: %s\n", line[0], plainText(line[1]))
		}
	}
	return text
}

// plainText returns a string on one line, with Markdown's characters escaped.
func plainText(s string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`).Replace(strings.Join(strings.Fields(s), " "))
}
