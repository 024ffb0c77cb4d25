package bundles

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// AccessList is an access list: the first of its rules that applies is the list's
// answer; if none applies, Default is. Among several lists, the strictest answer counts.
// It is a document of access/**.yaml:
//
//	id: team
//	title: What agents of the shop team may do
//	default: deny
//	rules:
//	  - id: nights
//	    effect: deny
//	    actions: [code.exec, network.*]
//	    schedule: {hours: [22, 6]}
//	  - id: shell
//	    effect: require_approval
//	    actions: [code.exec]
//	    when: action.commands.exists(c, c.name == "terraform")
//	  - {id: rest, effect: allow}
type AccessList struct {
	ID    string `json:"id" yaml:"id"`                           // unique id over all layers; findings are access.ID.RULE
	Title string `json:"title,omitempty" yaml:"title,omitempty"` // a few words for lists and reports
	// Effect if no rule of the list matches; absent: deny.
	Default string       `json:"default,omitempty" yaml:"default,omitempty"`
	Rules   []AccessRule `json:"rules" yaml:"rules"` // rules in order: the first that matches decides for the list

	file      string
	line, col int
}

// AccessRule is one row of a list. It applies where all its conditions are
// true; one without conditions always applies.
type AccessRule struct {
	ID          string `json:"id" yaml:"id"`                                       // id, unique in the list
	Effect      string `json:"effect" yaml:"effect"`                               // effect of the rule
	Description string `json:"description,omitempty" yaml:"description,omitempty"` // what the rule is for; for people
	// The text for the agent; a template with placeholders; absent: a standard text.
	Message string   `json:"message,omitempty" yaml:"message,omitempty"`
	Actions []string `json:"actions,omitempty" yaml:"actions,omitempty"` // names of actions, exact or ending in *
	Tools   []string `json:"tools,omitempty" yaml:"tools,omitempty"`     // names of tools, exact or ending in *
	// Patterns of shell commands as they are written; * stands for any text. A rule that
	// allows needs a match for every command of the call, others for one.
	Commands []string `json:"commands,omitempty" yaml:"commands,omitempty"`
	When     string   `json:"when,omitempty" yaml:"when,omitempty"` // condition in CEL, a bool
	// When the rule is active, in UTC; at other times it is skipped.
	Schedule *AccessSchedule `json:"schedule,omitempty" yaml:"schedule,omitempty"`
	// End of the rule: RFC 3339, or a date (its midnight UTC).
	ExpiresAt string `json:"expires_at,omitempty" yaml:"expires_at,omitempty"`
	Owner     string `json:"owner,omitempty" yaml:"owner,omitempty"`   // person or team who answers for the rule; for people
	Reason    string `json:"reason,omitempty" yaml:"reason,omitempty"` // reason why the rule exists, or why it ends; for people

	texts   `json:"-" yaml:"-"`
	expires int64 // ExpiresAt in Unix ms; 0: never
}

// AccessSchedule is when a rule is active, in UTC; at other times the rule is
// skipped.
type AccessSchedule struct {
	Hours    []int64  `json:"hours,omitempty" yaml:"hours,omitempty,flow"`       // [start, end) in hours; past midnight where start > end
	Weekdays []string `json:"weekdays,omitempty" yaml:"weekdays,omitempty,flow"` // days of the week
}

// The effects of access rules.
const (
	EffectAllow   = "allow"
	EffectApprove = "require_approval"
	EffectDeny    = "deny"
)

// Effects lists the effects of access rules, mildest first.
func Effects() []string { return []string{EffectAllow, EffectApprove, EffectDeny} }

// accessDefault is the rule name under which a list's default fires.
const accessDefault = "default"

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (AccessList) Vocabulary(key string) []string {
	if key == "default" {
		return Effects()
	}
	return nil
}

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (AccessRule) Vocabulary(key string) []string {
	if key == "effect" {
		return Effects()
	}
	return nil
}

// Vocabulary lists the values that the items of a key may have, nil if any are allowed.
func (AccessSchedule) Vocabulary(key string) []string {
	if key == "weekdays" {
		return engine.Weekdays()
	}
	return nil
}

// FindingID returns the id of the list's findings for a rule, under which the
// rule fires.
func (l AccessList) FindingID(rule string) string { return "access." + l.ID + "." + rule }

// Place returns file:line of the list.
func (l AccessList) Place() string { return l.file + ":" + strconv.Itoa(l.line) }

// FindingIDs lists the ids under which the list can fire.
func (l AccessList) FindingIDs() []string {
	ids := []string{l.FindingID(accessDefault)}
	for _, r := range l.Rules {
		ids = append(ids, l.FindingID(r.ID))
	}
	return ids
}

// Expires returns when the rule ends, in Unix milliseconds: from then on it is
// skipped. 0: never.
func (r AccessRule) Expires() int64 { return r.expires }

// ParseAccess reads the lists of one file, each a YAML document. It is strict:
// unknown syntax is an error, and all errors are returned together,
// each as file:line: what is wrong and what was expected.
func ParseAccess(file string, data []byte) ([]AccessList, error) {
	p := &rowParser{file: file, seen: map[string]int{}}
	var lists []AccessList
	err := p.parse(data, func(n *yaml.Node) { lists = append(lists, p.accessList(n)) })
	if err != nil {
		return nil, err
	}
	return lists, nil
}

// accessList reads a list. Its result is valid only if there are no errors.
func (p *rowParser) accessList(n *yaml.Node) AccessList {
	l := AccessList{file: p.file, line: n.Line, col: n.Column}
	before := len(p.problems)
	p.check(n, "the list", reflect.TypeFor[AccessList](), nil)
	if len(p.problems) > before {
		return l
	}
	if err := n.Decode(&l); err != nil {
		p.wrong(n, "%v", err)
		return l
	}
	l.Default = cmp.Or(l.Default, EffectDeny)
	nodes := RowValues(n)
	p.idForm(nodes["id"], l.ID)
	p.once(nodes["id"], p.seen, "id", l.ID)
	seen := map[string]int{accessDefault: 0}
	for i, row := range nodes["rules"].Content {
		p.accessRule(&l.Rules[i], row, seen)
		if i < len(l.Rules)-1 && l.Rules[i].always() {
			p.wrongAs("rule.shadowed", row,
				"rule %s always applies, so the rules after it can never fire; put it last, or add a condition",
				l.Rules[i].ID)
		}
	}
	return l
}

func (p *rowParser) accessRule(r *AccessRule, row *yaml.Node, seen map[string]int) {
	nodes := RowValues(row)
	r.texts = p.note(row)
	p.idForm(nodes["id"], r.ID)
	if r.ID == accessDefault {
		p.wrongAs("row.id", nodes["id"], "id %s is reserved for the list's own default; give the rule another id", r.ID)
	} else {
		p.once(nodes["id"], seen, "rule", r.ID)
	}
	p.template(nodes["message"], r.Message)
	p.patterns(nodes["actions"], "actions", r.Actions)
	p.patterns(nodes["tools"], "tools", r.Tools)
	for _, c := range r.Commands {
		if strings.TrimSpace(c) != c || strings.Trim(c, "* ") == "" {
			p.wrongAs("row.word", nodes["commands"], "commands: %q: expected a command or its beginning with a *, such as \"git push *\"; "+
				"to match every command, use tools or actions instead", c)
		}
	}
	p.filled(nodes, "actions", "tools", "commands")
	p.schedule(r.Schedule, nodes["schedule"])
	r.expires = p.expiry(r.ExpiresAt, nodes["expires_at"])
}

func (p *rowParser) schedule(s *AccessSchedule, n *yaml.Node) {
	if s == nil {
		return
	}
	nodes := RowValues(n)
	p.filled(nodes, "hours", "weekdays")
	switch h := s.Hours; {
	case len(n.Content) == 0:
		p.wrongAs("row.date", n, "schedule: expected hours or weekdays, or both")
	case len(h) == 0:
	case len(h) != 2 || h[0] < 0 || h[0] > 23 || h[1] < 0 || h[1] > 24:
		p.wrongAs("row.date", nodes["hours"],
			"hours: expected [start, end) in UTC, the start from 0 to 23, the end from 0 to 24, such as [22, 6]")
	case h[0] == h[1]:
		p.wrongAs("row.date", nodes["hours"], "hours: [%d, %d] contains no hour; omit hours to mean the whole day", h[0],
			h[1])
	}
}

// expiry returns the moment that the text of expires_at names, in Unix milliseconds; 0: there is none.
func (p *rowParser) expiry(text string, n *yaml.Node) int64 {
	if n == nil {
		return 0
	}
	ms, err := engine.Moment(text)
	if err != nil {
		p.wrongAs("row.date", n, "expires_at: %v", err)
	} else if ms <= 0 {
		p.wrongAs("row.date", n, "expires_at: the rule expired at %s; remove it", text)
	}
	return ms
}

// constant reports whether the rule applies at all times, or never.
func (r AccessRule) constant() bool { return r.Schedule == nil && r.ExpiresAt == "" }

// unasked reports whether the rule's expression adds nothing.
func (r AccessRule) unasked() bool { return r.When == "" || strings.TrimSpace(r.When) == "true" }

// always reports whether the rule applies to everything at any time.
func (r AccessRule) always() bool {
	return r.constant() && r.unasked() && anyWord(r.Actions) && anyWord(r.Tools) && r.Commands == nil
}

// Covers reports whether the rule certainly applies wherever the other one
// does.
func (r AccessRule) Covers(o AccessRule) bool {
	return r.constant() && (r.unasked() || r.When == o.When) && coverAll(r.Actions, o.Actions) && coverAll(r.Tools, o.Tools) &&
		r.coversCommands(o)
}

// coversCommands reports whether the rule's patterns of commands match wherever those of
// the other one do. A rule that allows needs more of a call than others.
func (r AccessRule) coversCommands(o AccessRule) bool {
	if r.Commands == nil {
		return true
	}
	all := !slices.ContainsFunc(o.Commands, func(c string) bool { return !slices.Contains(r.Commands, c) })
	return o.Commands != nil && all && (r.Effect != EffectAllow || o.Effect == EffectAllow)
}

// anyWord reports whether a list of patterns matches every word.
func anyWord(patterns []string) bool { return len(patterns) == 0 || slices.Contains(patterns, "*") }

func coverAll(wide, narrow []string) bool {
	if anyWord(wide) || anyWord(narrow) {
		return anyWord(wide)
	}
	return !slices.ContainsFunc(narrow, func(n string) bool {
		return !slices.ContainsFunc(wide, func(w string) bool { return coversWord(w, n) })
	})
}

func meetAny(a, b []string) bool {
	return anyWord(a) || anyWord(b) || slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return coversWord(x, y) || coversWord(y, x) })
	})
}

// coversWord reports whether a pattern matches everything that another one matches.
func coversWord(wide, narrow string) bool {
	if prefix, ok := strings.CutSuffix(wide, "*"); ok {
		return strings.HasPrefix(narrow, prefix)
	}
	return wide == narrow
}

// remarks lists valid but suspicious rules: one that can never fire, and one
// that denies or asks for a limited time, after which the list allows. Each is
// file:line: message.
func (l AccessList) remarks() []string {
	var all []string
	for i, r := range l.Rules {
		if before := slices.IndexFunc(l.Rules[:i], func(o AccessRule) bool { return o.Covers(r) }); before >= 0 {
			all = append(all, fmt.Sprintf("%s: access rule %s can never fire: rule %s before it applies wherever this one does",
				r.Place("", 0), l.FindingID(r.ID), l.Rules[before].ID))
		}
		if then := l.allowsAfter(i); then != "" && r.Effect != EffectAllow && !r.constant() {
			all = append(all, fmt.Sprintf("%s: access rule %s stops applying %s; then %s allows what it holds up",
				r.Place("", 0), l.FindingID(r.ID), r.lapse(), then))
		}
	}
	return all
}

// allowsAfter names what may allow a call of a rule that has expired; empty:
// nothing.
func (l AccessList) allowsAfter(i int) string {
	for _, later := range l.Rules[i+1:] {
		if later.Effect == EffectAllow && meetAny(later.Actions, l.Rules[i].Actions) && meetAny(later.Tools, l.Rules[i].Tools) {
			return "rule " + later.ID
		}
		if later.Covers(l.Rules[i]) {
			return ""
		}
	}
	if l.Default == EffectAllow {
		return "the default"
	}
	return ""
}

func (r AccessRule) lapse() string {
	switch {
	case r.ExpiresAt == "":
		return "outside its schedule"
	case r.Schedule == nil:
		return "at " + r.ExpiresAt
	}
	return "outside its schedule, and at " + r.ExpiresAt
}

// document is the form of a list that policy sees: everything but its conditions.
func (l AccessList) document() map[string]any {
	rules := map[string]any{}
	for _, r := range l.Rules {
		row := map[string]any{"effect": r.Effect}
		if r.Message != "" {
			row["message"] = r.Message
		}
		if r.Description != "" {
			row["description"] = r.Description
		}
		rules[l.FindingID(r.ID)] = row
	}
	doc := map[string]any{"default": l.Default, "rules": rules}
	if l.Title != "" {
		doc["title"] = l.Title
	}
	return doc
}
