package bundles

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// AccessList says who may do what: the first of its rules that holds is the
// list's answer, and what none of them matches gets Default. Of several lists
// the strictest answer counts. It is a document of access/**.yaml:
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
	ID      string       `json:"id" yaml:"id"` // of no other list, in any layer
	Title   string       `json:"title,omitempty" yaml:"title,omitempty"`
	Default string       `json:"default,omitempty" yaml:"default,omitempty"` // one of Effects; absent: deny
	Rules   []AccessRule `json:"rules" yaml:"rules"`

	file      string
	line, col int
}

// AccessRule is one row of a list. It holds where everything that it asks for
// holds; one that asks for nothing holds always.
type AccessRule struct {
	ID          string          `json:"id" yaml:"id"`         // of no other rule of the list
	Effect      string          `json:"effect" yaml:"effect"` // one of Effects
	Description string          `json:"description,omitempty" yaml:"description,omitempty"`
	Message     string          `json:"message,omitempty" yaml:"message,omitempty"` // template: see MessageFields
	Actions     []string        `json:"actions,omitempty" yaml:"actions,omitempty"` // names of actions, exact or ending in *
	Tools       []string        `json:"tools,omitempty" yaml:"tools,omitempty"`     // exact or ending in *
	When        string          `json:"when,omitempty" yaml:"when,omitempty"`       // CEL, bool
	Schedule    *AccessSchedule `json:"schedule,omitempty" yaml:"schedule,omitempty"`
	ExpiresAt   string          `json:"expires_at,omitempty" yaml:"expires_at,omitempty"` // RFC 3339, or a date: its midnight UTC

	texts   `json:"-" yaml:"-"`
	expires int64 // ExpiresAt in Unix ms; 0: never
}

// AccessSchedule is when a rule holds, in UTC; outside it is as if the rule
// were not there.
type AccessSchedule struct {
	Hours    []int64  `json:"hours,omitempty" yaml:"hours,omitempty,flow"`       // [start, end), over midnight where start > end
	Weekdays []string `json:"weekdays,omitempty" yaml:"weekdays,omitempty,flow"` // of the moment itself, also past midnight
}

// The effects of access rules.
const (
	EffectAllow   = "allow"
	EffectApprove = "require_approval"
	EffectDeny    = "deny"
)

// Effects lists what an access rule may say, mildest first.
func Effects() []string { return []string{EffectAllow, EffectApprove, EffectDeny} }

// accessDefault is the name under which a list's default speaks.
const accessDefault = "default"

// Vocabulary lists what a key may hold, nil where that is open.
func (AccessList) Vocabulary(key string) []string {
	if key == "default" {
		return Effects()
	}
	return nil
}

// Vocabulary lists what a key may hold, nil where that is open.
func (AccessRule) Vocabulary(key string) []string {
	if key == "effect" {
		return Effects()
	}
	return nil
}

// Vocabulary lists what the items of a key may be, nil where that is open.
func (AccessSchedule) Vocabulary(key string) []string {
	if key == "weekdays" {
		return engine.Weekdays()
	}
	return nil
}

// FindingID is the id under which a rule of the list is found, and under which
// it speaks.
func (l AccessList) FindingID(rule string) string { return "access." + l.ID + "." + rule }

// Place returns file:line of the list.
func (l AccessList) Place() string { return l.file + ":" + strconv.Itoa(l.line) }

// Speakers lists the ids under which the list can speak.
func (l AccessList) Speakers() []string {
	ids := []string{l.FindingID(accessDefault)}
	for _, r := range l.Rules {
		ids = append(ids, l.FindingID(r.ID))
	}
	return ids
}

// Expires returns when the rule ends, in Unix milliseconds: from then on it is
// as if it were not there. 0: never.
func (r AccessRule) Expires() int64 { return r.expires }

// ParseAccess reads the lists of one file, each a YAML document. It is strict:
// whatever is not understood is an error, and all errors are returned together,
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

// accessList reads a list. What it returns counts only if nothing is wrong.
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
			p.wrong(row, "rule %s holds always, so the rules after it can never speak; put it last, or say when it holds", l.Rules[i].ID)
		}
	}
	return l
}

func (p *rowParser) accessRule(r *AccessRule, row *yaml.Node, seen map[string]int) {
	nodes := RowValues(row)
	r.texts = p.note(row)
	p.idForm(nodes["id"], r.ID)
	if r.ID == accessDefault {
		p.wrong(nodes["id"], "id %s is what the list's own default is called; give the rule another", r.ID)
	} else {
		p.once(nodes["id"], seen, "rule", r.ID)
	}
	p.template(nodes["message"], r.Message)
	p.patterns(nodes["actions"], "actions", r.Actions)
	p.patterns(nodes["tools"], "tools", r.Tools)
	p.filled(nodes, "actions", "tools")
	p.schedule(r.Schedule, nodes["schedule"])
	p.expiry(r, nodes["expires_at"])
}

func (p *rowParser) schedule(s *AccessSchedule, n *yaml.Node) {
	if s == nil {
		return
	}
	nodes := RowValues(n)
	p.filled(nodes, "hours", "weekdays")
	switch h := s.Hours; {
	case len(n.Content) == 0:
		p.wrong(n, "schedule: expected hours or weekdays, or both")
	case len(h) == 0:
	case len(h) != 2 || h[0] < 0 || h[0] > 23 || h[1] < 0 || h[1] > 24:
		p.wrong(nodes["hours"], "hours: expected [start, end) in UTC, the start from 0 to 23, the end from 0 to 24, such as [22, 6]")
	case h[0] == h[1]:
		p.wrong(nodes["hours"], "hours: [%d, %d] holds no hour; leave the hours out to mean the whole day", h[0], h[1])
	}
}

func (p *rowParser) expiry(r *AccessRule, n *yaml.Node) {
	if n == nil {
		return
	}
	t, err := time.Parse(time.RFC3339, r.ExpiresAt)
	if err != nil {
		t, err = time.Parse(time.DateOnly, r.ExpiresAt)
	}
	if r.expires = t.UnixMilli(); err != nil {
		p.wrong(n, "expires_at: %q is no date; expected one such as 2027-01-31, or 2027-01-31T18:00:00Z", r.ExpiresAt)
	} else if r.expires <= 0 {
		p.wrong(n, "expires_at: %s is long past; leave the rule out", r.ExpiresAt)
	}
}

// lasting says that the rule holds at any time, or at none.
func (r AccessRule) lasting() bool { return r.Schedule == nil && r.ExpiresAt == "" }

// unasked says that the rule's expression adds nothing.
func (r AccessRule) unasked() bool { return r.When == "" || strings.TrimSpace(r.When) == "true" }

// always says that the rule holds whatever is done, at any time.
func (r AccessRule) always() bool {
	return r.lasting() && r.unasked() && anyWord(r.Actions) && anyWord(r.Tools)
}

// covers says that the rule surely holds wherever the other one does.
func (r AccessRule) covers(o AccessRule) bool {
	return r.lasting() && (r.unasked() || r.When == o.When) && coverAll(r.Actions, o.Actions) && coverAll(r.Tools, o.Tools)
}

// meets says that, by actions and tools, there can be calls for both rules.
func (r AccessRule) meets(o AccessRule) bool {
	return meetAny(r.Actions, o.Actions) && meetAny(r.Tools, o.Tools)
}

// anyWord says that a list of patterns lets every word through.
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

// coversWord says that a pattern matches whatever another one matches.
func coversWord(wide, narrow string) bool {
	if prefix, ok := strings.CutSuffix(wide, "*"); ok {
		return strings.HasPrefix(narrow, prefix)
	}
	return wide == narrow
}

// remarks lists what may well be meant and is worth a look: a rule that can
// never speak, and one that denies or asks for a while only, after which the
// list allows. Each is file:line: what.
func (l AccessList) remarks() []string {
	var all []string
	for i, r := range l.Rules {
		if before := slices.IndexFunc(l.Rules[:i], func(o AccessRule) bool { return o.covers(r) }); before >= 0 {
			all = append(all, fmt.Sprintf("%s: access rule %s can never speak: rule %s before it holds wherever this one does",
				r.Place("", 0), l.FindingID(r.ID), l.Rules[before].ID))
		}
		if then := l.allowsAfter(i); then != "" && r.Effect != EffectAllow && !r.lasting() {
			all = append(all, fmt.Sprintf("%s: access rule %s lapses %s, and then %s allows what it holds up",
				r.Place("", 0), l.FindingID(r.ID), r.lapse(), then))
		}
	}
	return all
}

// allowsAfter names what may allow a call of a rule that has lapsed; empty:
// nothing.
func (l AccessList) allowsAfter(i int) string {
	for _, later := range l.Rules[i+1:] {
		if later.Effect == EffectAllow && later.meets(l.Rules[i]) {
			return "rule " + later.ID
		}
		if later.covers(l.Rules[i]) {
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

// document is what policy sees of a list: everything but its conditions.
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
