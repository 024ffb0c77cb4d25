package bundles

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// Rule is one row of a bundle's rules: when it holds, and what it says then. A
// row without a decision is a finding only, for others to judge; one without
// any of match, when and measure describes a rule that is judged in Rego.
//
//	id: git.push_protected
//	title: Force push to a protected branch
//	severity: high
//	decision: ask
//	message: "{command} overwrites what others have"
//	match: {signals: [git_force_push]}
//	when: |
//	  action.commands.exists(c, c.name == "git" && "main" in c.operands)
//	examples:
//	  match: [{tool: Bash, args: {command: git push --force origin main}}]
//	  no_match: [{tool: Bash, args: {command: git push origin main}}]
type Rule struct {
	ID          string       `json:"id" yaml:"id"`
	Title       string       `json:"title,omitempty" yaml:"title"`
	Description string       `json:"description,omitempty" yaml:"description"`
	Severity    string       `json:"severity" yaml:"severity"`               // one of Severities
	Decision    string       `json:"decision,omitempty" yaml:"decision"`     // one of engine.Verdicts
	Harm        string       `json:"harm,omitempty" yaml:"harm"`             // of a block: what the call would do, one of engine.Harms
	Unattended  string       `json:"unattended,omitempty" yaml:"unattended"` // allow: a question that nobody can answer is a warning, where all that the call does is known, can be undone and stays here
	Message     string       `json:"message,omitempty" yaml:"message"`       // template: see MessageFields
	Remediation string       `json:"remediation,omitempty" yaml:"remediation"`
	References  []string     `json:"references,omitempty" yaml:"references"`
	Tags        []string     `json:"tags,omitempty" yaml:"tags"`
	Overridable []string     `json:"overridable,omitempty" yaml:"overridable"` // layers that may make exceptions
	Enforcement string       `json:"enforcement,omitempty" yaml:"enforcement"` // one of Enforcements; empty: as the settings say
	Always      bool         `json:"always,omitempty" yaml:"always"`           // cannot be switched off
	Match       RuleMatch    `json:"match,omitempty" yaml:"match"`
	When        string       `json:"when,omitempty" yaml:"when"`             // CEL, bool
	Measure     string       `json:"measure,omitempty" yaml:"measure"`       // CEL, a number
	Threshold   *float64     `json:"threshold,omitempty" yaml:"threshold"`   // of measure
	Levels      []RuleLevel  `json:"levels,omitempty" yaml:"levels"`         // what a measure is worth
	Confidence  string       `json:"confidence,omitempty" yaml:"confidence"` // CEL, a number from 0 to 1
	Details     string       `json:"details,omitempty" yaml:"details"`       // CEL, a string: what was measured, in words
	Hysteresis  *int         `json:"hysteresis,omitempty" yaml:"hysteresis"` // actions in which it is not told again unless worse; absent: as the settings say
	Fixed       bool         `json:"fixed,omitempty" yaml:"fixed"`           // the threshold does not follow patterns.sensitivity
	Examples    RuleExamples `json:"examples,omitempty" yaml:"examples"`

	texts `json:"-" yaml:"-"`
}

// RuleMatch is what an input must have before a rule's expressions are looked
// at; one word of each list is enough, an empty list asks for nothing.
type RuleMatch struct {
	Phases   []string `json:"phases,omitempty" yaml:"phases"`
	Tools    []string `json:"tools,omitempty" yaml:"tools"` // exact, or ending in *
	Types    []string `json:"types,omitempty" yaml:"types"`
	Signals  []string `json:"signals,omitempty" yaml:"signals"`
	Actions  []string `json:"actions,omitempty" yaml:"actions"`   // names of actions, exact or ending in *
	Commands []string `json:"commands,omitempty" yaml:"commands"` // names of programs
	Detected []string `json:"detected,omitempty" yaml:"detected"` // ids of detectors
	Facts    []string `json:"facts,omitempty" yaml:"facts"`       // see input.facts
}

// RuleLevel is the severity of a finding whose measure reaches At.
type RuleLevel struct {
	At    float64 `json:"at" yaml:"at"`
	Level string  `json:"level" yaml:"level"` // one of Severities
}

// RuleExamples are events (tool, args, phase, …) for which the rule must hold
// and must not hold.
type RuleExamples struct {
	Match   []map[string]any `json:"match,omitempty" yaml:"match"`
	NoMatch []map[string]any `json:"no_match,omitempty" yaml:"no_match"`
}

// Vocabulary lists what a key may hold, nil where that is open.
func (Rule) Vocabulary(key string) []string {
	switch key {
	case "severity":
		return Severities()
	case "decision":
		return engine.Verdicts()
	case "harm":
		return engine.Harms()
	case "unattended":
		return []string{string(engine.Allow)}
	case "enforcement":
		return Enforcements()
	case "overridable":
		return Layers()[1:] // of a rule of the base layer; never by that layer itself
	}
	return nil
}

// Vocabulary lists what the items of a key may be, nil where that is open.
func (RuleMatch) Vocabulary(key string) []string {
	switch key {
	case "phases":
		return engine.Phases()
	case "types":
		return engine.Types()
	case "signals":
		return append(engine.Signals(), engine.FormerSignals()...)
	case "facts":
		return engine.FactNames()
	}
	return nil
}

// Vocabulary lists what a level may be.
func (RuleLevel) Vocabulary(key string) []string {
	if key == "level" {
		return Severities()
	}
	return nil
}

// Severities lists how bad it can be when a rule holds, mildest first.
func Severities() []string { return []string{"low", "medium", "high", "critical"} }

// Enforcements lists how far a rule may go, mildest first: only be watched,
// only warn, or be held to.
func Enforcements() []string { return []string{"observe", "warn", "enforce"} }

// MessageFields lists what the message of a rule with a condition may name in
// braces. A rule that is judged in Rego may name more: its policy fills them in.
func MessageFields() []string {
	return []string{"target", "command", "host", "tool", "rule", "opaque", "workspace", "operations", "place", "deleted", "details",
		"deletions", "written"}
}

// Conditional says that the row has a condition of its own. Without one it
// describes a rule that is judged in Rego.
func (r Rule) Conditional() bool {
	m := r.Match
	return r.When != "" || r.Measure != "" ||
		len(m.Phases)+len(m.Tools)+len(m.Types)+len(m.Signals)+len(m.Actions)+len(m.Commands)+len(m.Detected)+len(m.Facts) > 0
}

// ParseConditions reads the rules of one file: YAML documents, each a rule or a
// list of them. It is strict: whatever is not understood is an error, and all
// errors are returned together, each as file:line: what is wrong and what was
// expected.
func ParseConditions(file string, data []byte) ([]Rule, error) {
	rows, _, err := parseConditions(file, data)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// parseConditions returns the rows that can be read also where others cannot,
// and the ids of those.
func parseConditions(file string, data []byte) (rows []Rule, broken []string, err error) {
	p := &ruleParser{rowParser: rowParser{file: file, seen: map[string]int{}}}
	err = p.parse(data, p.document)
	return p.rules, p.broken, err
}

// ruleParser reads the rules of one file.
type ruleParser struct {
	rowParser
	rules  []Rule
	broken []string // ids of rows that are wrong, as far as they can be read
}

func (p *ruleParser) document(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.row(n)
		return
	}
	for _, row := range n.Content {
		p.row(row)
	}
}

func (p *ruleParser) row(n *yaml.Node) {
	before := len(p.problems)
	p.check(n, "the rule", reflect.TypeFor[Rule](), nil)
	if len(p.problems) > before {
		p.broken = append(p.broken, RowID(n))
		return
	}
	r := Rule{texts: p.note(n)}
	if err := n.Decode(&r); err != nil {
		p.wrong(n, "%v", err)
		return
	}
	nodes := RowValues(n)
	p.validate(r, n, nodes)
	p.rules = append(p.rules, r)
}

var placeholder = engine.Regexp(`\{([^{}]*)\}`)

// maxHysteresis is how many actions a pattern can be kept quiet.
const maxHysteresis = 1000

// Pattern says that the row measures how a run goes, and follows the settings
// of patterns.
func (r Rule) Pattern() bool { return strings.HasPrefix(r.file, "patterns/") }

// validate says what is wrong with a row whose keys and types are right.
func (p *ruleParser) validate(r Rule, row *yaml.Node, nodes map[string]*yaml.Node) {
	at := func(key string) *yaml.Node { return cmp.Or(nodes[key], row) }
	if line, twice := p.seen[r.ID]; twice {
		p.wrong(at("id"), "id %s is given twice, first in line %d", r.ID, line)
	}
	p.seen[r.ID] = at("id").Line
	p.idForm(at("id"), r.ID)
	if r.Decision != "" && r.Decision != string(engine.Allow) && r.Message == "" {
		p.wrong(row, "%s: message is missing: whoever is told %q must be told why", r.ID, r.Decision)
	}
	p.template(at("message"), r.Message)
	p.patterns(at("match"), "actions", r.Match.Actions)
	p.validateCondition(r, at)
}

// template reports fields that a message cannot name.
func (p *rowParser) template(n *yaml.Node, message string) {
	for _, m := range placeholder().FindAllStringSubmatch(message, -1) {
		if !slices.Contains(MessageFields(), m[1]) {
			p.wrong(n, "message: unknown field %s", engine.Meant(m[1], MessageFields()))
		}
	}
}

func (p *ruleParser) validateCondition(r Rule, at func(string) *yaml.Node) {
	switch {
	case len(r.Examples.Match)+len(r.Examples.NoMatch) > 0 && !r.Conditional():
		p.wrong(at("examples"), "examples: there is no match, when or measure to try them on; rules in Rego have cases")
	case r.Measure != "" && r.Threshold == nil:
		p.wrong(at("measure"), "measure: threshold is missing: say from which value the rule holds")
	case r.Measure == "" && r.Threshold != nil:
		p.wrong(at("threshold"), "threshold: there is no measure to compare with")
	case r.Measure == "" && len(r.Levels) > 0:
		p.wrong(at("levels"), "levels: there is no measure to compare with")
	case r.Measure == "" && r.Confidence != "":
		p.wrong(at("confidence"), "confidence: there is no measure that it could be sure of")
	case r.Measure == "" && (r.Hysteresis != nil || r.Fixed):
		p.wrong(at(cmp.Or(map[bool]string{true: "hysteresis"}[r.Hysteresis != nil], "fixed")), "hysteresis and fixed are for rules that measure")
	case r.Hysteresis != nil && (*r.Hysteresis < 0 || *r.Hysteresis > maxHysteresis):
		p.wrong(at("hysteresis"), "hysteresis: %d is not between 0 and %d", *r.Hysteresis, maxHysteresis)
	case strings.HasPrefix(p.file, "patterns/") && r.Measure == "":
		p.wrong(at("id"), "%s: a pattern measures: measure is missing; rules without one are in rules/**.yaml", r.ID)
	}
	for i, l := range r.Levels {
		if r.Threshold != nil && l.At < *r.Threshold {
			p.wrong(at("levels"), "levels: %s at %v is below the threshold %v and can never be given", l.Level, l.At, *r.Threshold)
		}
		if i > 0 && l.At <= r.Levels[i-1].At {
			p.wrong(at("levels"), "levels: %v after %v: expected rising steps", l.At, r.Levels[i-1].At)
		}
	}
}
