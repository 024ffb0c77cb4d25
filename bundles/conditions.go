package bundles

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
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
	Severity    string       `json:"severity" yaml:"severity"`           // one of Severities
	Decision    string       `json:"decision,omitempty" yaml:"decision"` // one of engine.Verdicts
	Message     string       `json:"message,omitempty" yaml:"message"`   // template: see MessageFields
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
		return engine.Signals()
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
	return []string{"target", "command", "host", "tool", "rule", "opaque", "workspace", "operations", "place", "deleted", "details", "deletions"}
}

// Conditional says that the row has a condition of its own. Without one it
// describes a rule that is judged in Rego.
func (r Rule) Conditional() bool {
	m := r.Match
	return r.When != "" || r.Measure != "" ||
		len(m.Phases)+len(m.Tools)+len(m.Types)+len(m.Signals)+len(m.Actions)+len(m.Commands)+len(m.Detected)+len(m.Facts) > 0
}

// texts is where the texts of a row are written.
type texts struct {
	file  string
	lines map[string]int // of the row itself (""), and of the text of each key's value
	cols  map[string]int // the same, of its first character; 0: not known
}

// Place returns file:line for a line (from 1) of the text of one of the row's
// keys, such as "when"; line 0 or a key that is not there: of the row.
func (t texts) Place(key string, line int) string {
	at, ok := t.lines[key]
	if !ok {
		at = t.lines[""]
	}
	return t.file + ":" + strconv.Itoa(at+max(0, line-1))
}

// Spot returns file, line and column for a place in the text of one of the row's
// keys, as Place does; column 0 where it is not known. Lines below the first of
// a text that is not a block are folded, and their columns lost.
func (t texts) Spot(key string, line, col int) (string, int, int) {
	at, ok := t.lines[key]
	if !ok {
		return t.file, t.lines[""], t.cols[""]
	}
	if first, block := t.cols[key], t.cols[blockKey+key] > 0; first > 0 && (line <= 1 || block) {
		return t.file, at + max(0, line-1), first + max(0, col-1)
	}
	return t.file, at + max(0, line-1), 0
}

func (t texts) at(key string) spot {
	file, line, col := t.Spot(key, 0, 0)
	return spot{"", file, line, col}
}

// blockKey marks in columns the keys whose text is a block below a |.
const blockKey = "|"

// note takes down where the texts of a row's keys are.
func (p *rowParser) note(row *yaml.Node) texts {
	lines, cols := map[string]int{"": row.Line}, map[string]int{"": row.Column}
	for key, value := range values(row) {
		lines[key], cols[key] = textLine(value), value.Column
		switch {
		case value.Style&yaml.LiteralStyle != 0:
			cols[key], cols[blockKey+key] = p.indent(lines[key])+1, 1
		case value.Style&yaml.FoldedStyle != 0:
			cols[key] = 0
		case value.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
			cols[key]++
		}
	}
	return texts{p.file, lines, cols}
}

// indent counts the spaces that a line of the file begins with.
func (p *rowParser) indent(line int) int {
	if line > len(p.lines) {
		return 0
	}
	return len(p.lines[line-1]) - len(bytes.TrimLeft(p.lines[line-1], " "))
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

// parse calls take for each document that holds more than comments, and returns
// all that is wrong with them.
func (p *rowParser) parse(data []byte, take func(*yaml.Node)) error {
	p.lines = bytes.Split(data, []byte("\n"))
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := d.Decode(&doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			p.problems = append(p.problems, syntaxError(p.file, data, err))
			break
		}
		if n := doc.Content[0]; n.Kind != yaml.ScalarNode || n.Tag != "!!null" {
			take(n)
		}
	}
	return errors.Join(p.problems...)
}

// rowParser reads the rows of one file.
type rowParser struct {
	file     string
	seen     map[string]int // id -> line
	problems []error
	lines    [][]byte
}

// ruleParser reads the rules of one file.
type ruleParser struct {
	rowParser
	rules  []Rule
	broken []string // ids of rows that are wrong, as far as they can be read
}

func (p *rowParser) wrong(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, nodeAt(p.file, n).wrong(format, args...))
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
		p.broken = append(p.broken, idOf(n))
		return
	}
	r := Rule{texts: p.note(n)}
	if err := n.Decode(&r); err != nil {
		p.wrong(n, "%v", err)
		return
	}
	nodes := values(n)
	p.validate(r, n, nodes)
	p.rules = append(p.rules, r)
}

// idOf is what stands where a row has its id; empty: nothing.
func idOf(row *yaml.Node) string {
	if row.Kind != yaml.MappingNode {
		return ""
	}
	if id := values(row)["id"]; id != nil {
		return id.Value
	}
	return ""
}

// values returns the values of an object by their keys.
func values(n *yaml.Node) map[string]*yaml.Node {
	nodes := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		nodes[n.Content[i].Value] = n.Content[i+1]
	}
	return nodes
}

// textLine is where the text of a value begins: below the | of a block.
func textLine(n *yaml.Node) int {
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return n.Line + 1
	}
	return n.Line
}

// check compares a node with the type that it is to become, and its words with
// those known, where there are such.
func (p *rowParser) check(n *yaml.Node, name string, t reflect.Type, known []string) {
	switch {
	case n.Kind == yaml.AliasNode:
		p.wrong(n, "%s: aliases are not read here; write the value out", name)
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		p.wrong(n, "%s is empty; give it a value or leave it out", name)
	case t.Kind() == reflect.Pointer:
		p.check(n, name, t.Elem(), known)
	case t.Kind() == reflect.Struct:
		p.object(n, name, t)
	case t.Kind() == reflect.Slice:
		p.list(n, name, t, known)
	case t.Kind() == reflect.Map:
		p.entries(n, name, t.Elem())
	case n.Kind != yaml.ScalarNode:
		p.wrong(n, "%s: expected %s, got %s", name, wanted(t), kind(n))
	case t.Kind() == reflect.Float64:
		p.number(n, name)
	case t.Kind() == reflect.Int64:
		if n.Tag != "!!int" {
			p.wrong(n, "%s: expected a whole number, got %q", name, n.Value)
		}
	case t.Kind() == reflect.Bool:
		if n.Tag != "!!bool" {
			p.wrong(n, "%s: expected true or false, got %q", name, n.Value)
		}
	default:
		p.word(n, name, known)
	}
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float64:
		return "a number"
	case reflect.Int64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return "text"
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values (quote a text that holds ': ' or begins with {)"
	case yaml.SequenceNode:
		return "a list (quote a text that begins with [ or -)"
	}
	return strconv.Quote(n.Value)
}

func (p *rowParser) object(n *yaml.Node, name string, t reflect.Type) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "%s: expected keys with values, got %s", name, kind(n))
		return
	}
	fields := map[string]engine.JSONField{}
	var known, missing []string
	for _, f := range engine.JSONFields(t) {
		fields[f.Name] = f
		known = append(known, f.Name)
		if !f.Omit {
			missing = append(missing, f.Name)
		}
	}
	p.unique(n)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		f, ok := fields[key.Value]
		if !ok {
			p.wrong(key, "unknown key %s", unknown(key.Value, known))
			continue
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == key.Value })
		p.check(n.Content[i+1], key.Value, f.Type, engine.FieldValues(t, f))
	}
	for _, m := range missing {
		p.wrong(n, "%s: %s is missing", name, m)
	}
}

// unique reports keys that stand twice: one of the two values would be lost.
func (p *rowParser) unique(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if line, twice := first[key.Value]; twice {
			p.wrong(key, "%s is given twice, first in line %d", key.Value, line)
		}
		first[key.Value] = key.Line
	}
}

func (p *rowParser) list(n *yaml.Node, name string, t reflect.Type, known []string) {
	if n.Kind != yaml.SequenceNode {
		p.wrong(n, "%s: expected a list such as [a, b], got %s", name, kind(n))
		return
	}
	for _, item := range n.Content {
		p.check(item, name, t.Elem(), known)
	}
}

// free accepts any object without aliases and double keys: an event.
func (p *rowParser) free(n *yaml.Node, name string) {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "%s: expected an event such as {tool: Bash, args: {command: ls}}, got %s", name, kind(n))
		return
	}
	p.plain(n, name)
}

func (p *rowParser) plain(n *yaml.Node, name string) {
	if n.Kind == yaml.AliasNode {
		p.wrong(n, "%s: aliases are not read here; write the value out", name)
		return
	}
	if n.Kind == yaml.MappingNode {
		p.unique(n)
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Tag != "!!str" {
				p.wrong(key, "%s: the key %s is no text; quote it", name, key.Value)
			}
		}
	}
	for _, c := range n.Content {
		p.plain(c, name)
	}
}

func (p *rowParser) number(n *yaml.Node, name string) {
	var f float64
	if err := n.Decode(&f); err != nil || n.Tag == "!!str" {
		p.wrong(n, "%s: expected a number, got %q", name, n.Value)
	} else if math.IsNaN(f) || math.IsInf(f, 0) {
		p.wrong(n, "%s: expected a finite number, got %s", name, n.Value)
	}
}

func (p *rowParser) word(n *yaml.Node, name string, known []string) {
	if strings.TrimSpace(n.Value) == "" {
		p.wrong(n, "%s is empty; give it a value or leave it out", name)
	} else if known != nil && !slices.Contains(known, n.Value) {
		p.wrong(n, "%s: unknown word %s", name, unknown(n.Value, known))
	}
}

// unknown quotes a word that is none of those known, and says what was meant.
func unknown(word string, known []string) string {
	if near := engine.Nearest(word, known); near != "" {
		return fmt.Sprintf("%q; did you mean %q?", word, near)
	}
	return fmt.Sprintf("%q; expected one of %s", word, strings.Join(known, ", "))
}

var idForm = regexp.MustCompile(`^[a-z0-9]+([_.-][a-z0-9]+)*$`)

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// maxHysteresis is how many actions a pattern can be kept quiet.
const maxHysteresis = 1000

// isPattern says that the file holds patterns.
func (p *ruleParser) isPattern() bool { return strings.HasPrefix(p.file, "patterns/") }

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

func (p *rowParser) idForm(n *yaml.Node, id string) {
	if !idForm.MatchString(id) {
		p.wrong(n, "id %q: expected lower-case words joined by . _ or -, such as git.force_push", id)
	}
}

// template reports fields that a message cannot name.
func (p *rowParser) template(n *yaml.Node, message string) {
	for _, m := range placeholder.FindAllStringSubmatch(message, -1) {
		if !slices.Contains(MessageFields(), m[1]) {
			p.wrong(n, "message: unknown field %s", unknown(m[1], MessageFields()))
		}
	}
}

// patterns reports a * that stands elsewhere than at the end, where it would
// mean itself.
func (p *rowParser) patterns(n *yaml.Node, name string, patterns []string) {
	for _, w := range patterns {
		if strings.Contains(strings.TrimSuffix(w, "*"), "*") {
			p.wrong(n, "%s: %q: a * can stand at the end only", name, w)
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
	case p.isPattern() && r.Measure == "":
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
