package bundles

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// Rule is one row of a bundle's rules: when it applies, and what it decides then. A
// row without a decision is only a finding, for other rules to use; one without any of
// match, when and measure describes a rule that is written in Rego.
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
	ID          string `json:"id" yaml:"id"`                             // unique id: words joined by . _ or -, the first naming the family
	Title       string `json:"title,omitempty" yaml:"title"`             // a few words for lists and reports
	Description string `json:"description,omitempty" yaml:"description"` // purpose and limits of the rule; for people
	Severity    string `json:"severity" yaml:"severity"`                 // how bad it is when the rule applies
	// Decision of the rule; absent: the condition is a finding that other rules
	// can use.
	Decision string `json:"decision,omitempty" yaml:"decision"`
	Harm     string `json:"harm,omitempty" yaml:"harm"`   // harm of the call; required where the decision is modify, ask or block
	Limit    bool   `json:"limit,omitempty" yaml:"limit"` // the rule is a limit, which excludes calls whatever they do and counts towards no stop; its harm is closed or forbidden
	// allow: where nobody can be asked, ask becomes a warning if all effects are known, in scope,
	// reversible and local.
	Unattended  string   `json:"unattended,omitempty" yaml:"unattended"`
	Message     string   `json:"message,omitempty" yaml:"message"`         // what the agent is told; a template with placeholders
	Remediation string   `json:"remediation,omitempty" yaml:"remediation"` // safer way, for the agent; a template with placeholders
	References  []string `json:"references,omitempty" yaml:"references"`   // links for people
	// Labels for lists and reports, such as control ids; essential keeps a base rule in rules.builtin
	// essential.
	Tags        []string `json:"tags,omitempty" yaml:"tags"`
	Overridable []string `json:"overridable,omitempty" yaml:"overridable"` // layers that may make exceptions to the rule
	// Enforcement of the rule: observe (only record), warn (never stricter than
	// a warning), enforce; absent: the setting enforcement applies.
	Enforcement string `json:"enforcement,omitempty" yaml:"enforcement"`
	Always      bool   `json:"always,omitempty" yaml:"always"` // the rule cannot be disabled and permits no exceptions
	// Cheap test before the expressions: each given list must match, with at least one of its words.
	Match      RuleMatch   `json:"match,omitempty" yaml:"match"`
	When       string      `json:"when,omitempty" yaml:"when"`             // condition in CEL, a bool
	Measure    string      `json:"measure,omitempty" yaml:"measure"`       // value in CEL, a number: makes the row a pattern
	Threshold  *float64    `json:"threshold,omitempty" yaml:"threshold"`   // minimum value of measure for the pattern to be found
	Levels     []RuleLevel `json:"levels,omitempty" yaml:"levels"`         // severities, and the minimum measures for them; ascending
	Confidence string      `json:"confidence,omitempty" yaml:"confidence"` // confidence in CEL, a number from 0 to 1
	Details    string      `json:"details,omitempty" yaml:"details"`       // text in CEL that fills {details} in the message
	// Number of actions during which the pattern is not reported again unless it gets worse;
	// absent: setting patterns.hysteresis.
	Hysteresis *int `json:"hysteresis,omitempty" yaml:"hysteresis"`
	// The threshold does not follow the setting patterns.sensitivity.
	Fixed bool `json:"fixed,omitempty" yaml:"fixed"`
	// Factor on threshold and levels in a session that was resumed with limits; 0: none.
	// It comes from the settings.
	Limited   float64 `json:"-" yaml:"-"`
	Owner     string  `json:"owner,omitempty" yaml:"owner"`           // person or team who answers for the rule; for people
	Reason    string  `json:"reason,omitempty" yaml:"reason"`         // reason why the rule exists, or why it ends; for people
	ExpiresAt string  `json:"expires_at,omitempty" yaml:"expires_at"` // end of the rule: RFC 3339, or a date (its midnight UTC)
	// Calls for which the condition must be true, or the rule in Rego must fire, and calls for which it must not;
	// run by policy test.
	Examples RuleExamples `json:"examples,omitempty" yaml:"examples"`

	texts   `json:"-" yaml:"-"`
	expires int64 // ExpiresAt in Unix ms; 0: never
}

// Expires returns when the rule ends, in Unix milliseconds: from then on it does not fire; 0: never.
func (r Rule) Expires() int64 { return r.expires }

// RuleMatch is what an input must have before a rule's expressions are
// examined; one word of each list is enough, and an empty list accepts
// everything.
type RuleMatch struct {
	Phases   []string `json:"phases,omitempty" yaml:"phases"`     // phases of the session
	Tools    []string `json:"tools,omitempty" yaml:"tools"`       // names of tools, exact or ending in *
	Types    []string `json:"types,omitempty" yaml:"types"`       // types of actions
	Signals  []string `json:"signals,omitempty" yaml:"signals"`   // signals of the action
	Actions  []string `json:"actions,omitempty" yaml:"actions"`   // names of actions, exact or ending in *
	Commands []string `json:"commands,omitempty" yaml:"commands"` // names of programs
	Detected []string `json:"detected,omitempty" yaml:"detected"` // ids of detectors
	Facts    []string `json:"facts,omitempty" yaml:"facts"`       // names in input.facts
}

// RuleLevel is the severity of a finding whose measure reaches At.
type RuleLevel struct {
	At    float64 `json:"at" yaml:"at"`       // minimum value of measure for the level
	Level string  `json:"level" yaml:"level"` // severity of the finding
}

// RuleExamples are events (tool, args, phase, …) to which the rule must apply
// and must not apply.
type RuleExamples struct {
	Match   []map[string]any `json:"match,omitempty" yaml:"match"`       // calls for which the rule must apply, written as in cases
	NoMatch []map[string]any `json:"no_match,omitempty" yaml:"no_match"` // calls for which the rule must not apply
}

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Rule) Vocabulary(key string) []string {
	switch key {
	case "severity":
		return Severities()
	case "decision":
		return engine.Verdicts()
	case "harm":
		return engine.RuleHarms()
	case "unattended":
		return []string{string(engine.Allow)}
	case "enforcement":
		return Enforcements()
	case "overridable":
		return Layers()[1:] // of a rule of the base layer; never by that layer itself
	}
	return nil
}

// Vocabulary lists the values that the items of a key may have, nil if any are allowed.
func (RuleMatch) Vocabulary(key string) []string {
	switch key {
	case "phases":
		return engine.Phases()
	case "types":
		return engine.Types()
	case "signals":
		return append(engine.Signals(), engine.LegacySignals()...)
	case "facts":
		return engine.FactNames()
	}
	return nil
}

// Vocabulary lists the values of a level.
func (RuleLevel) Vocabulary(key string) []string {
	if key == "level" {
		return Severities()
	}
	return nil
}

// Severities lists the severities of rules, mildest first.
func Severities() []string { return engine.Severities() }

// Enforcements lists the enforcement modes of a rule, mildest first.
func Enforcements() []string { return []string{"observe", "warn", "enforce"} }

// MessageFields lists the placeholders of the message of a rule with a
// condition. A rule in Rego may have more: its policy fills them in.
func MessageFields() []string {
	return []string{"target", "command", "host", "tool", "rule", "opaque", "workspace", "operations", "place", "deleted", "details",
		"deletes", "deletion", "deletions", "said", "act", "deleted_outside", "guarded", "written", "limits", "tokens", "seconds", "late",
		"late_reason", "instruction", "instructed"}
}

// Conditional reports whether the row has a condition of its own. Without one
// it describes a rule that is judged in Rego.
func (r Rule) Conditional() bool {
	m := r.Match
	return r.When != "" || r.Measure != "" ||
		len(m.Phases)+len(m.Tools)+len(m.Types)+len(m.Signals)+len(m.Actions)+len(m.Commands)+len(m.Detected)+len(m.Facts) > 0
}

// InRego reports whether the row is the METADATA of a rule in Rego.
func (r Rule) InRego() bool { return FileKind(r.file) == RegoFile }

// ParseConditions reads the rules of one file: YAML documents, each a rule or a
// list of them. It is strict: anything unknown is an error, and all errors are
// returned together, each as file:line: problem and expectation.
func ParseConditions(file string, data []byte) ([]Rule, error) {
	rows, _, err := parseConditions(file, data)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// parseConditions returns the readable rows, and the ids of the others.
func parseConditions(file string, data []byte) (rows []Rule, broken []string, err error) {
	if p, ok := parsedBefore(file, data); ok {
		return p.Rules, nil, nil
	}
	return readConditions(file, data)
}

// readConditions is parseConditions for any file.
func readConditions(file string, data []byte) (rows []Rule, broken []string, err error) {
	if FileKind(file) == RegoFile {
		return rowsInRego(file, data)
	}
	p := &ruleParser{rowParser: rowParser{file: file, seen: map[string]int{}}}
	err = p.parse(data, p.document)
	return p.rules, p.broken, err
}

// rowsInRego parses the rows in the METADATA of a file in Rego; it returns what readConditions does.
func rowsInRego(file string, source []byte) (found []Rule, broken []string, err error) {
	p := &ruleParser{rowParser: rowParser{file: file, seen: map[string]int{}}}
	err = p.inRego(source, p.row)
	return p.rules, p.broken, err
}

// EachRowInRego calls each for the rows in the METADATA of a file in Rego that has no errors. Lines and columns
// of the nodes are those of the file.
func EachRowInRego(source []byte, each func(row *yaml.Node)) {
	p := &ruleParser{rowParser: rowParser{seen: map[string]int{}}}
	_ = p.inRego(source, each) // reported when the bundle was read
}

func (p *ruleParser) inRego(source []byte, each func(row *yaml.Node)) (err error) {
	for _, m := range metadataOf(source) {
		err = p.parse(m.yaml, func(n *yaml.Node) {
			if row := rowOf(n, m.id); row != nil {
				each(row)
			}
		})
	}
	return err
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
	r.expires = p.expiry(r.ExpiresAt, nodes["expires_at"])
	p.validate(r, n, nodes)
	p.rules = append(p.rules, r)
}

var placeholder = engine.Regexp(`\{([^{}]*)\}`)

// unclosed is the beginning of a placeholder without its end.
var unclosed = engine.Regexp(`\{([a-z_]+)(?:[^a-z_}]|$)`)

// maxHysteresis is the maximum of hysteresis.
const maxHysteresis = 1000

// Pattern reports whether the row measures how a run goes, and follows the
// settings of patterns.
func (r Rule) Pattern() bool { return strings.HasPrefix(r.file, "patterns/") }

// validate reports problems of a row whose keys and types are correct.
func (p *ruleParser) validate(r Rule, row *yaml.Node, nodes map[string]*yaml.Node) {
	at := func(key string) *yaml.Node { return cmp.Or(nodes[key], row) }
	if line, twice := p.seen[r.ID]; twice {
		p.wrongAs("row.id", at("id"), "duplicate id %s, first in line %d", r.ID, line)
	}
	p.seen[r.ID] = at("id").Line
	p.idForm(at("id"), r.ID)
	if r.Decision != "" && r.Decision != string(engine.Allow) && r.Message == "" {
		p.wrongAs("row.missing", row, "%s: message is missing: an answer of %q needs a reason", r.ID, r.Decision)
	}
	p.template(at("message"), r.Message)
	p.patterns(at("match"), "actions", r.Match.Actions)
	if r.Always && r.ExpiresAt != "" {
		p.wrong(at("expires_at"), "expires_at: a rule that is always there does not end; remove expires_at or always")
	}
	p.validateCondition(r, at)
}

// template reports placeholders that a message cannot use.
func (p *rowParser) template(n *yaml.Node, message string) {
	for _, m := range placeholder().FindAllStringSubmatch(message, -1) {
		if !slices.Contains(MessageFields(), m[1]) {
			p.wrongAs("rule.placeholder", n, "message: unknown field %s", engine.Suggest(m[1], MessageFields()))
		}
	}
	for _, m := range unclosed().FindAllStringSubmatch(message, -1) {
		if slices.Contains(MessageFields(), m[1]) {
			p.wrongAs("rule.placeholder", n, "message: {%s is not closed; write {%[1]s}", m[1])
		}
	}
}

func (p *ruleParser) validateCondition(r Rule, at func(string) *yaml.Node) {
	switch {
	case r.InRego() && (r.Conditional() || r.Measure != ""):
		p.wrong(at("id"), "%s: match, when and measure have no effect here: the condition of this rule is its body in Rego", r.ID)
	case r.Measure != "" && r.Threshold == nil:
		p.wrongAs("row.missing", at("measure"), "measure: threshold is missing: give the minimum value for which the rule applies")
	case r.Measure == "" && r.Threshold != nil:
		p.wrong(at("threshold"), "threshold: has no effect without measure")
	case r.Measure == "" && len(r.Levels) > 0:
		p.wrong(at("levels"), "levels: has no effect without measure")
	case r.Measure == "" && r.Confidence != "":
		p.wrong(at("confidence"), "confidence: has no effect without measure")
	case r.Measure == "" && (r.Hysteresis != nil || r.Fixed):
		p.wrong(at(cmp.Or(map[bool]string{true: "hysteresis"}[r.Hysteresis != nil], "fixed")),
			"hysteresis and fixed need measure")
	case r.Hysteresis != nil && (*r.Hysteresis < 0 || *r.Hysteresis > maxHysteresis):
		p.wrong(at("hysteresis"), "hysteresis: %d is not between 0 and %d", *r.Hysteresis, maxHysteresis)
	case strings.HasPrefix(p.file, "patterns/") && r.Measure == "":
		p.wrong(at("id"), "%s: measure is missing: a pattern needs one; put rules without it in rules/**.yaml", r.ID)
	}
	for i, l := range r.Levels {
		if r.Threshold != nil && l.At < *r.Threshold {
			p.wrong(at("levels"), "levels: %s at %v is below the threshold %v and can never be given", l.Level, l.At,
				*r.Threshold)
		}
		if i > 0 && l.At <= r.Levels[i-1].At {
			p.wrong(at("levels"), "levels: %v after %v: expected increasing values", l.At, r.Levels[i-1].At)
		}
	}
}

// RegoFinding is a member of `findings` in the Rego of a layer above the base:
// what a rule says about the action. Fields that it does not set are those of the row with its id.
type RegoFinding struct {
	ID          string   `json:"id"`                    // id of a row of the same layer, or one of its own; absent: LAYER.unnamed
	Decision    string   `json:"decision,omitempty"`    // decision of the rule; absent, and not set by a row: block
	Severity    string   `json:"severity,omitempty"`    // how bad it is; absent, and not set by a row: medium
	Message     string   `json:"message,omitempty"`     // what the agent is told; a template with placeholders
	Remediation string   `json:"remediation,omitempty"` // safer way, for the agent; a template with placeholders
	Harm        string   `json:"harm,omitempty"`        // harm of the call, of a rule that warns, modifies, asks or blocks
	Limit       bool     `json:"limit,omitempty"`       // the rule is a limit, which excludes calls whatever they do
	Unattended  string   `json:"unattended,omitempty"`  // allow: where nobody can be asked, ask becomes a warning, as in rows
	Enforcement string   `json:"enforcement,omitempty"` // enforcement of the rule: observe, warn or enforce; absent: the row or the settings decide
	Overridable []string `json:"overridable,omitempty"` // layers that may make exceptions to the rule
}

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (RegoFinding) Vocabulary(key string) []string { return Rule{}.Vocabulary(key) }

// RegoException is a member of `exceptions` in the Rego of a layer above the
// base: a rule that does not apply to the action.
type RegoException struct {
	Rule      string `json:"rule"`                 // id of the rule that does not apply; it must list the layer in overridable
	Reason    string `json:"reason,omitempty"`     // reason, for people who read the policy
	Owner     string `json:"owner,omitempty"`      // person or team who answers for the exception; for people
	ExpiresAt string `json:"expires_at,omitempty"` // end of the exception: RFC 3339, or a date (its midnight UTC)
}

// definitionsFile is the file of a layer with its definitions.
const definitionsFile = "definitions.yaml"

// Definition is a named expression that the conditions of a layer, and those of the layers above it, share.
//
//	waits:
//	  about: the session waits for something that takes time
//	  type: bool
//	  is: history.similar.count > 3
type Definition struct {
	Name  string `yaml:"-" json:"-"`
	About string `yaml:"about" json:"about,omitempty"` // what the expression means
	Type  string `yaml:"type" json:"type"`             // one of DefinitionTypes
	Is    string `yaml:"is" json:"is"`                 // the expression, in CEL

	texts
}

// DefinitionTypes lists the types of definitions. A list is one of texts.
func DefinitionTypes() []string { return []string{"bool", "int", "double", "string", "list"} }

// Vocabulary lists the words that a field may have.
func (Definition) Vocabulary(field string) []string {
	if field == "type" {
		return DefinitionTypes()
	}
	return nil
}

func (b *Bundle) addDefinitions(file string, data []byte) (err error) {
	p, known := parsedBefore(file, data)
	if b.Definitions = p.Definitions; !known {
		b.Definitions, err = readDefinitions(file, data)
	}
	return err
}

// readDefinitions returns the definitions of a file in its order.
func readDefinitions(file string, data []byte) (list []Definition, err error) {
	root, err := parseYAML(file, data)
	if err != nil || root == nil {
		return nil, err
	}
	p := &rowParser{file: file, seen: map[string]int{}, problems: notJSON(file, root)}
	err = p.parse(data, func(n *yaml.Node) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			list = append(list, p.definition(n.Content[i], n.Content[i+1]))
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// definition reads a definition. Its result is valid only if there are no errors.
func (p *rowParser) definition(key, value *yaml.Node) Definition {
	d := Definition{Name: key.Value}
	before := len(p.problems)
	p.check(value, "definition "+key.Value, reflect.TypeFor[Definition](), nil)
	if len(p.problems) > before {
		return d
	}
	if err := value.Decode(&d); err != nil {
		p.wrong(value, "%v", err)
		return d
	}
	d.texts = p.note(value)
	d.spots.lines[""], d.spots.cols[""] = key.Line, key.Column
	return d
}
