package safeclaw

import (
	"regexp"
	"strings"
	"testing"
)

// What JavaScript says about patterns and texts (V8, without flags).
func TestTranslate(t *testing.T) {
	for _, test := range []struct{ source, finds, not string }{ // texts apart by |
		{`^git\s+push`, "git push|git\u00a0push|git\ufeff\vpush", "gitpush|a git push|git\u180epush"},
		{`a.c`, "abc|a\tc|a…c", "a\nc|a\rc|a\u2028c|ac"},
		{`^\d+$`, "12", "1a||٣"},
		{`\bword\b`, "a word.|word|wordä", "sword|words"},
		{`a{,2}`, "xa{,2}", "aa"},
		{`a{2}b{0,1}?`, "aa", "a"},
		{`]}{`, "]}{", "]{}"},
		{`^{"a`, `{"a`, "a"},
		{`[\w-]+@`, "a-b@|_@", "@|+@"},
		{`^[\w-z]$`, "-|z|5", "{|y-"},
		{`[a\-z]`, "-|a|z", "b"},
		{`[\]\\]`, "]|\\", "["},
		{`[[.]`, "[|.", "a"},
		{`^\u0041\x42$`, "AB", "u0041"},
		{`^(?:a|b)(c)$`, "ac", "a"},
		{`(?:a|)b|^c`, "b|c", "dc"},
		{`\/etc\/`, "/etc/", "etc"},
		{`^[\s]$`, "\u2003|\u2029|\ufeff", "\u180e|a|\u200b"},
		{`^[^\s]$`, "a", "\u3000"},
		{`^\S$`, "a", "\u3000|\ufeff"},
		{`^[\d\D]$`, "a|1|\n", ""},
		{`a+?b*?$`, "aab|a", "b"},
	} {
		got, err := translate(test.source)
		if err != nil {
			t.Errorf("%s: %v", test.source, err)
			continue
		}
		re := regexp.MustCompile(got)
		for text := range strings.SplitSeq(test.finds, "|") {
			if !re.MatchString(text) {
				t.Errorf("%s, made %s, does not find %q", test.source, got, text)
			}
		}
		for text := range strings.SplitSeq(test.not, "|") {
			if test.not != "" && re.MatchString(text) {
				t.Errorf("%s, made %s, finds %q", test.source, got, text)
			}
		}
	}
}

// Refused is what JavaScript does not compile, what RE2 does not have, and what
// both have with another meaning.
func TestTranslateRefuses(t *testing.T) {
	for _, source := range []string{
		`(`, `a)`, `[a`, `a**`, `+`, `{1}`, `^*`, `^{2}`, `\b+`, `[b-a]`, `x{2,1}`, `\`, `a|?`, `x{1}{2}`, `(?<n`, `(?<n>a)`, `a{1001}`,
		`(?=a)`, `(?!a)b`, `(?<=a)b`, `(?<!a)b`, `(a)\1`, `(?<n>a)\k<n>`, `(?i:a)`, `(?i)a`, `(?P<n>a)`, `(?<n>a)(?<n>b)`,
		`[]`, `[^]`, `[]a]`, `[[:alpha:]]`, `[\b]`, `[\S]`, `\c!`, `\cJ`, `\0`, `\8`, `\103`, `\x4`, `\u{3}`, `\p{L}`, `\A`, `\Qa`, `\z`, `\a`, `\é`,
		`😀+`, `[😀]`, `\ud83d`, `[\u0000-\uffff\ud800]`,
	} {
		if got, err := translate(source); err == nil {
			t.Errorf("%s is made %q", source, got)
		}
	}
}

// What is converted compiles.
func FuzzTranslate(f *testing.F) {
	for _, s := range []string{`a{,2}`, `[\w-z]`, `\c`, `(?<n>a)\k`, `[^]`, `\u{3}`, `(a|b)*?c$`, `\377\400`, `[]-a]`, `😀?`, "[\\ud83d\\ude00]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if got, err := translate(source); err == nil {
			if _, err := regexp.Compile(got); err != nil {
				t.Errorf("%q is made %q: %v", source, got, err)
			}
		}
	})
}
