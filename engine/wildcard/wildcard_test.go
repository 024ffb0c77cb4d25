package wildcard

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		path, plain   bool
	}{
		{"", "", true, true}, {"*", "", true, true}, {"?", "", false, false}, {"a", "", false, false}, {"", "a", false, false},
		{"*.go", "a.go", true, true}, {"*.go", "a/b.go", false, true}, {"a?c", "a/c", false, true}, {"a[^x]c", "a/c", false, true}, {"a[/]c", "a/c", false, true},
		{`a\/c`, "a/c", true, true}, {"a/*", "a/", true, true}, {"*/*", "a/b", true, true}, {"a*/b*c", "ax/bdc", true, true}, {"a*c/d", "abcd/d", false, false},
		{"?", "é", true, true}, {"[à-ü]", "é", true, true}, {"[!à-ü]", "é", false, false}, {"*é", "caffé", true, true},
		{"[a-c]x", "bx", true, true}, {"[!a-c]x", "bx", false, false}, {"[^a-c]x", "dx", true, true}, {"[]a]", "]", true, true}, {"[!]a]", "b", true, true},
		{"[a-]", "-", true, true}, {"[-a]", "-", true, true}, {`[\]]`, "]", true, true}, {`[\!a]`, "!", true, true}, {`[a\-c]`, "b", false, false},
		{"[", "[", true, true}, {"[a", "[a", true, true}, {"[]", "[]", true, true}, {"[[a]", "[", true, true}, {`a\`, `a\`, true, true}, {`\*`, "*", true, true}, {`\*`, "a", false, false},
		{"**", "a", true, true}, {"**", "a/b", false, true}, {"a**b", "ab", true, true},
	} {
		if got := Match(c.pattern, c.text); got != c.path {
			t.Errorf("Match(%q, %q) = %t", c.pattern, c.text, got)
		}
		if got := Text(c.pattern, c.text); got != c.plain {
			t.Errorf("Text(%q, %q) = %t", c.pattern, c.text, got)
		}
	}
}

func TestPath(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"**", "a", true}, {"**", "a/b/c", true}, {"a/**", "a", true}, {"a/**", "a/b/c", true}, {"a/**", "b/c", false}, {"**/b", "b", true}, {"**/b", "a/a/b", true},
		{"a/**/b", "a/b", true}, {"a/**/b", "a/x/y/b", true}, {"a/**/b", "a/x/y/c", false}, {"**/a/**/b", "x/a/a/x/b", true}, {"*/b", "a/a/b", false}, {"a*/**/**", "ab", true},
		{"a**", "a/b", false}, {"a", "a/b", false}, {"a/b", "a", false},
	} {
		if got := Path(strings.Split(c.pattern, "/"), strings.Split(c.path, "/")); got != c.want {
			t.Errorf("Path(%q, %q) = %t", c.pattern, c.path, got)
		}
	}
}

func TestCheck(t *testing.T) {
	for pattern, good := range map[string]bool{"a*[b-c]?": true, `\[`: true, "[": false, "[]": false, `a\`: false, "[b": false} {
		if err := Check(pattern); (err == nil) != good {
			t.Errorf("Check(%q): %v", pattern, err)
		}
	}
}

// Hostile patterns take no longer than the product of the lengths.
func TestMatchTime(t *testing.T) {
	for _, p := range []string{strings.Repeat("*a", 2000) + "b", "*" + strings.Repeat("[", 4000), "*" + strings.Repeat(`[\]`, 1500), "*" + strings.Repeat("[a-b]", 800) + "c", strings.Repeat("?*", 2000) + "b"} {
		start := osfile.ProcessTime()
		if Text(p, strings.Repeat("a", 4000)) {
			t.Errorf("%.9q matches", p)
		}
		if took := osfile.ProcessTime() - start; took > 20*time.Second {
			t.Errorf("%.9q takes %s of processor time", p, took)
		}
	}
	many := strings.Split(strings.Repeat("**/a/", 300)+"b", "/")
	if Path(many, strings.Split(strings.Repeat("a/", 1000)+"a", "/")) {
		t.Error("300 times ** matches")
	}
}

// What a well-formed pattern matches is what the standard library says, and what
// the regular expression matches.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{{"a/*.go", "a/b.go"}, {"[a-c]?*", "bxé"}, {`\*[\]x]`, "*]"}, {"[^a]b", "cb"}, {"*a*b", "aab"}, {"[z-a]", "b"}, {"[!a]", "!"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern)+len(name) > 500 || !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			return
		}
		got := Match(pattern, name)
		if want, err := path.Match(pattern, name); err == nil && got != want && comparable(pattern, name) {
			t.Errorf("Match(%q, %q) = %t, path.Match says %t", pattern, name, got, want)
		}
		if strings.Contains(pattern+name, "/") {
			return
		}
		if text := Text(pattern, name); text != got {
			t.Errorf("Text(%q, %q) = %t without any slash", pattern, name, text)
		}
		if path := Path([]string{pattern}, []string{name}); pattern != "**" && path != got {
			t.Errorf("Path(%q, %q) = %t, Match says %t", pattern, name, path, got)
		}
		re, err := regexp.Compile("(?s)^" + Regexp(pattern) + "$")
		if err != nil || re.MatchString(name) != got {
			t.Errorf("%q: the regular expression %s says %t of %q, Match %t (%v)", pattern, re, !got, name, got, err)
		}
	})
}

// comparable reports whether path.Match means the same: with it ! is a character of
// a set, a set matches slashes, and * also stops between the bytes of a character.
func comparable(pattern, name string) bool {
	sets := strings.Contains(pattern, "[")
	return !strings.Contains(pattern, "[!") && !(sets && strings.Contains(name, "/")) &&
		strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// FuzzPath: the plain recursive definition says the same.
func FuzzPath(f *testing.F) {
	f.Add("**/a/**/b", "x/a/a/x/b")
	f.Add("a/**", "a")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, n := strings.Split(pattern, "/"), strings.Split(name, "/")
		if len(pattern)+len(name) > 500 || strings.Count(pattern, "**") > 4 || len(n) > 9 {
			return
		}
		if got, want := Path(p, n), pathByDefinition(p, n); got != want {
			t.Errorf("Path(%q, %q) = %t", pattern, name, got)
		}
	})
}

func pathByDefinition(pattern, path []string) bool {
	if len(pattern) == 0 {
		return len(path) == 0
	}
	if pattern[0] == "**" {
		return pathByDefinition(pattern[1:], path) || len(path) > 0 && pathByDefinition(pattern, path[1:])
	}
	return len(path) > 0 && Text(pattern[0], path[0]) && pathByDefinition(pattern[1:], path[1:])
}
