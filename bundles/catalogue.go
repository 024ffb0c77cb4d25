package bundles

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Entry is a rule as a catalogue lists it.
type Entry struct {
	ID          string   `json:"id"`
	Family      string   `json:"family"` // the folder or file of its row
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Severity    string   `json:"severity"`
	Decision    string   `json:"decision,omitempty"` // empty: it is a finding only
	Harm        string   `json:"harm,omitempty"`     // of a block: what the call would do, one of engine.Harms
	Unattended  string   `json:"unattended,omitempty"`
	Message     string   `json:"message,omitempty"`
	Remediation string   `json:"remediation,omitempty"`
	References  []string `json:"references,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Layer       string   `json:"layer"`
	Overridable []string `json:"overridable,omitempty"` // layers that may make exceptions
	Enforcement string   `json:"enforcement"`           // how far it goes: off, observe, warn, enforce
	File        string   `json:"file"`
	Line        int      `json:"line"`
}

// Off is the Enforcement of a rule that the settings switch off.
const Off = "off"

// Catalogue lists the rules of all layers by family and id, with what the
// settings make of each.
func (e *Effective) Catalogue() []Entry {
	var all []Entry
	for _, l := range e.Layers {
		for _, r := range l.Rules {
			file, line, _ := r.Spot("id", 0, 0)
			all = append(all, Entry{
				ID: r.ID, Family: familyOf(file), Title: r.Title, Description: r.Description, Severity: r.Severity,
				Decision: r.Decision, Harm: r.Harm, Unattended: r.Unattended, Message: r.Message, Remediation: r.Remediation, References: r.References, Tags: r.Tags,
				Layer: l.Layer, Overridable: r.Overridable, Enforcement: e.enforcement(l.Layer, r), File: file, Line: line,
			})
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Family, b.Family), strings.Compare(a.ID, b.ID))
	})
	return all
}

// familyOf is git of rules/git/git.yaml, and shop of rules/shop.yaml.
func familyOf(file string) string {
	dir := path.Base(path.Dir(file))
	if path.Dir(file) == "rules" {
		return strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	return dir
}

// enforcement says what the settings make of a rule, as policy does: the mildest
// of what they say of all rules, and of what they or its row say of this one.
func (e *Effective) enforcement(layer string, r Rule) string {
	strongest := Enforcements()[len(Enforcements())-1]
	if r.Always {
		return strongest
	}
	rules, _ := e.Settings["rules"].(map[string]any)
	if layer == Base && switchedOff(rules, r) || e.Settings["enabled"] == false {
		return Off
	}
	own := r.Enforcement
	modes, _ := rules["enforcement"].(map[string]any)
	if mode, ok := modes[r.ID].(string); ok {
		own = mode
	}
	general, _ := e.Settings["enforcement"].(string)
	mildest := len(Enforcements()) - 1
	for _, word := range []string{general, own} {
		if at := slices.Index(Enforcements(), word); at >= 0 {
			mildest = min(mildest, at)
		}
	}
	return Enforcements()[mildest]
}

// switchedOff says that the settings leave a base rule out.
func switchedOff(rules map[string]any, r Rule) bool {
	disabled, _ := rules["disabled"].([]any)
	if slices.Contains(disabled, any(r.ID)) {
		return true
	}
	switch rules["builtin"] {
	case "none":
		return true
	case "essential":
		return !slices.Contains(r.Tags, "essential")
	}
	return false
}

const rulesHead = `# Rules

<!-- Made of bundles/default/rules: go generate ./schemas -->

The rules of the policy that ships. ` + "`reviewer policy rules`" + ` lists those that are active,
with the layer of each and how far it goes; ` + "`reviewer policy explain`" + ` says of a call which
spoke, and which nearly did.

A rule that blocks names the harm of the call at hand: loss (what goes, nobody brings
back), secret (a secret, or data, leaves), code (code of unknown origin runs), guard
(reviewer itself, or what guards the machine), place (a place or a service that is
closed), policy (an organisation or a person forbade it), limit (there were too many
before it), repeat (another way to what was denied).

A rule that is overridable can be taken back by an exception of the layers that it
names. *essential* are those that ` + "`rules: {builtin: essential}`" + ` leaves; the other tags
name the controls of OWASP's list for agentic applications, of MITRE ATLAS and ATT&CK,
and of SOC 2 that a rule is a part of.
`

// RulesDoc describes rules in Markdown, by family.
func RulesDoc(list []Entry) string {
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

// markdown is a paragraph about the rule, and a list of what else there is to say.
func (r Entry) markdown() string {
	does := r.Decision
	if does == "" {
		does = "finding"
	}
	if r.Harm != "" {
		does += " (" + r.Harm + ")"
	}
	text := fmt.Sprintf("\n### `%s`: %s\n\n**%s**, %s.", r.ID, plainText(r.Title), does, r.Severity)
	if r.Description != "" {
		text += " " + plainText(r.Description)
	}
	text += "\n\n"
	for _, line := range [][2]string{
		{"says", r.Message}, {"safer", r.Remediation}, {"controls", strings.Join(r.Tags, ", ")},
		{"overridable by", strings.Join(r.Overridable, ", ")}, {"see", strings.Join(r.References, ", ")},
	} {
		if line[1] != "" {
			text += fmt.Sprintf("- %s: %s\n", line[0], plainText(line[1]))
		}
	}
	return text
}

// plainText keeps a text on one line, and its signs from being taken for
// Markdown's.
func plainText(s string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`).Replace(strings.Join(strings.Fields(s), " "))
}

// ShippedRulesDoc describes the rules of the policy that ships.
func ShippedRulesDoc() (string, error) {
	base, err := Default()
	if err != nil {
		return "", err
	}
	e, err := Assemble(base)
	if err != nil {
		return "", err
	}
	return RulesDoc(e.Catalogue()), nil
}
