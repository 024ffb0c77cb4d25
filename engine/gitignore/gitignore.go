// Package gitignore matches paths against the lines of .gitignore files.
//
// Out of scope: finding and reading the files, and which of several files
// decides.
package gitignore

import (
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Rule is a line of a .gitignore file, as gitignore(5) describes it.
type Rule struct {
	parts   []string // of the pattern
	negated bool
	dirOnly bool
	rooted  bool // it matches relative to the file's directory; else any name below it
}

// MaxFile bounds a .gitignore file that is read, in bytes.
const MaxFile = 256 << 10

// Parse returns the rules of a file. Lines that match nothing are left out.
func Parse(text string) []Rule {
	var rules []Rule
	for line := range strings.Lines(text) {
		if r, ok := parseLine(strings.TrimRight(line, "\r\n")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseLine(line string) (Rule, bool) {
	var r Rule
	if !strings.HasSuffix(line, `\ `) {
		line = strings.TrimRight(line, " ")
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	if line[0] == '!' {
		r.negated, line = true, line[1:]
	}
	line = strings.TrimPrefix(line, `\`)
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly, line = true, rest
	}
	r.rooted = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	r.parts = strings.Split(line, "/")
	for _, p := range r.parts {
		if wildcard.Check(strings.ReplaceAll(p, "[!", "[^")) != nil {
			return r, false // matches nothing
		}
	}
	if r.rooted && r.parts[len(r.parts)-1] == "**" {
		r.parts = append(r.parts, "*") // a/** is what is in a, not a itself
	}
	return r, true
}

// matches reports whether the rule applies to rel, a path relative to its file.
func (r Rule) matches(rel string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if !r.rooted {
		return wildcard.Match(r.parts[0], path.Base(rel))
	}
	return wildcard.Path(r.parts, strings.Split(rel, "/"))
}

// Decide returns the decision of the rules of one file about a path relative to the file's
// directory. The last rule that matches decides; found is false if there is none.
func Decide(rules []Rule, rel string, dir bool) (ignored, found bool) {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(rel, dir) {
			return !rules[i].negated, true
		}
	}
	return false, false
}
