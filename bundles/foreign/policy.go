package foreign

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
)

// Policy is an access list under construction, with remarks.
type Policy struct {
	List    bundles.AccessList
	Remarks []Remark
	Counts  Counts

	used  map[string]bool     // ids of rules
	notes map[string][]string // id of a rule -> lines above it; "": below the last
}

// Counts are the numbers of the original's rules, by outcome.
type Counts struct {
	Carried int // they decide here as there
	Left    int // left out, since they cannot be converted exactly
	Idle    int // left out, since they decide nothing there either
}

// Remark is a message to the person who imports a policy.
type Remark struct {
	Rule string // id of a rule of the list; empty: about all of it
	Line int    // of the document
	Text string // what is different, and what to do
}

// Reader reports whether a condition in CEL can be used and, if not, why not. It is a
// function of the caller, because this package does not import the language.
type Reader func(when string) error

// Note adds a remark.
func (p *Policy) Note(rule string, line int, format string, args ...any) {
	p.Remarks = append(p.Remarks, Remark{Rule: rule, Line: line, Text: fmt.Sprintf(format, args...)})
}

// Add appends a rule that was converted exactly, unless it can never fire after
// those before it: such a list does not load. It reports whether the rule is there.
func (p *Policy) Add(r bundles.AccessRule, line int, original string) bool {
	if p.Shadowed(r, line, original) {
		return false
	}
	p.List.Rules = append(p.List.Rules, r)
	p.Counts.Carried++
	return true
}

// Shadowed reports whether a rule can never fire after those of the list. It is then
// left out, with a remark.
func (p *Policy) Shadowed(r bundles.AccessRule, line int, original string) bool {
	for _, o := range p.List.Rules {
		if o.Covers(r) {
			p.Idle(r.ID, line, original, "it never decides anything: rule %s before it matches wherever it does", o.ID)
			return true
		}
	}
	return false
}

// Idle leaves a rule out that decides nothing in the original.
func (p *Policy) Idle(rule string, line int, original, format string, args ...any) {
	p.Counts.Idle++
	p.leave(rule, line, original, fmt.Sprintf(format, args...))
}

// Leave leaves a rule out that cannot be converted exactly. The original is kept as
// a comment.
func (p *Policy) Leave(rule string, line int, original, format string, args ...any) {
	p.Counts.Left++
	p.leave(rule, line, original, fmt.Sprintf(format, args...))
}

func (p *Policy) leave(rule string, line int, original, why string) {
	p.Note(rule, line, "%s is left out: %s", original, why)
	p.Comment(rule, "left out: "+why, original)
}

// Comment writes lines above a rule of the list; for a name that is not a
// rule's they are below the last.
func (p *Policy) Comment(rule string, lines ...string) {
	if p.notes == nil {
		p.notes = map[string][]string{}
	}
	for _, l := range lines {
		if l != "" {
			p.notes[rule] = append(p.notes[rule], oneLine(l))
		}
	}
}

// oneLine returns a string on one line, for use in a comment.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, s))
}

// ID makes a word that no other rule of the list has, as close to a name as the
// form of ids allows.
func (p *Policy) ID(name string) string {
	if p.used == nil {
		p.used = map[string]bool{"default": true} // the id of the list's default
	}
	base := Word(name)
	id := base
	for n := 2; id == "" || p.used[id]; n++ {
		id = strings.TrimPrefix(base+"_"+strconv.Itoa(n), "_")
	}
	p.used[id] = true
	return id
}

const maxWord = 60

var (
	others = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]*[^a-z0-9_.-][^a-z0-9]*`) })
	joints = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[_.-]{2,}`) })
)

// Word makes an id from any name: lower-case words joined by . _ or -; empty if
// nothing of the name remains.
func Word(name string) string {
	w := others().ReplaceAllString(strings.ToLower(name), "_")
	w = joints().ReplaceAllStringFunc(w, func(s string) string { return s[:1] })
	w = strings.Trim(w, "_.-")
	return strings.Trim(w[:min(len(w), maxWord)], "_.-")
}

// YAML writes the list as a file of a layer, below the header's lines.
func (p *Policy) YAML(header ...string) ([]byte, error) {
	var doc yaml.Node
	if err := doc.Encode(p.plain()); err != nil {
		return nil, fmt.Errorf("write access list: %w", err)
	}
	rules := valueOf(&doc, "rules")
	written := map[string]bool{}
	for _, row := range rules.Content {
		id := valueOf(row, "id").Value
		row.HeadComment, written[id] = comment(p.notes[id]), true
	}
	var b bytes.Buffer
	for _, h := range header {
		b.WriteString(strings.TrimRight("# "+oneLine(h), " ") + "\n")
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&doc); err != nil {
		return nil, fmt.Errorf("write access list: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("write access list: %w", err)
	}
	b.WriteString(p.rest(written))
	return b.Bytes(), nil
}

// plain returns the list with single-line texts: others are written as blocks, which
// the encoder does not always read back.
func (p *Policy) plain() bundles.AccessList {
	l := p.List
	l.Title = oneLine(l.Title)
	l.Rules = slices.Clone(l.Rules)
	for i := range l.Rules {
		l.Rules[i].Description = oneLine(l.Rules[i].Description)
	}
	return l
}

// rest returns the comments that are not about a rule of the list.
func (p *Policy) rest(written map[string]bool) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, r := range p.Remarks {
		if lines := p.notes[r.Rule]; len(lines) > 0 && !written[r.Rule] && !seen[r.Rule] {
			seen[r.Rule] = true
			b.WriteString("\n" + comment(lines) + "\n")
		}
	}
	return b.String()
}

func comment(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "# " + strings.Join(lines, "\n# ")
}

func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return &yaml.Node{}
}
