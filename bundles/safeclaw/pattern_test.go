package safeclaw

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// What JavaScript says of patterns and texts (V8, without flags).
func TestTranslate(t *testing.T) {
	for _, test := range []struct{ source, finds, not string }{ // texts apart by |
		{`^git\s+push`, "git push|git\u00a0push|git\ufeff\vpush", "gitpush|a git push|git\u180epush"},
		{`a.c`, "abc|a\tc|a…c", "a\nc|a\rc|a\u2028c|ac"},
		{`^\d+$`, "12", "1a||٣"},
		{`\bword\b`, "a word.|word|wordä", "sword|words"},
		{`a{,2}`, "xa{,2}", "aa"},
		{`a{2}b{0,1}?`, "aa", "a"},
		{`]}{`, "]}{", "]{}"},
		{`[]`, "", "a|]"},
		{`[^]`, "\n|a", ""},
		{`[\w-]+@`, "a-b@|_@", "@|+@"},
		{`^[\w-z]$`, "-|z|5", "{|y-"},
		{`[a\-z]`, "-|a|z", "b"},
		{`^[\b]$`, "\b", "b"},
		{`[\]\\]`, "]|\\", "["},
		{`^\u0041\x42\103$`, "ABC", "u0041"},
		{`^\u{3}$`, "uuu", "\u0003"},
		{`^\x4$`, "x4", "\x04"},
		{`^\1$`, "\x01", "1"},
		{`^\8$`, "8", "\x08"},
		{`^(?<n>a|b)(c)\3$`, "ac\x03", "ac3"},
		{`^\cA\c$`, "", "cA"},
		{`^\cJ$`, "\n", "J"},
		{`\c!`, `\c!`, "!"},
		{`^\k$`, "k", ""},
		{`\p{L}`, "p{L}", "L"},
		{`(?:a|)b|^c`, "b|c", "dc"},
		{`^\ud83d\ude00$`, "😀", "\ufffd"},
		{`[\u0000-\uffff]`, "a|😀", ""},
		{`\/etc\/`, "/etc/", "etc"},
		{`^[\s]$`, "\u2003|\u2029|\ufeff", "\u180e|a|\u200b"},
		{`^[^\S]$`, "\u3000", "a"},
		{`^[\d\D]$`, "a|1|\n", ""},
		{`a+?b*?$`, "aab|a", "b"},
	} {
		got, err := translate(test.source)
		if err != nil {
			t.Errorf("%s: %v", test.source, err)
			continue
		}
		re, err := regexp.Compile(got)
		if err != nil {
			t.Errorf("%s is made %s: %v", test.source, got, err)
			continue
		}
		for text := range strings.SplitSeq(test.finds, "|") {
			if test.finds != "" && !re.MatchString(text) {
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

func TestTranslateRefuses(t *testing.T) {
	for source, want := range map[string]error{
		`(`: errInvalid, `a)`: errInvalid, `[a`: errInvalid, `a**`: errInvalid, `+`: errInvalid, `{1}`: errInvalid, `^*`: errInvalid, `\b+`: errInvalid,
		`[b-a]`: errInvalid, `x{2,1}`: errInvalid, `\`: errInvalid, `a|?`: errInvalid, `x{1}{2}`: errInvalid, `(?<n>a)[\k]`: errInvalid, `(?<n`: errInvalid,
		`(?=a)`: errForeign, `(?!a)b`: errForeign, `(?<=a)b`: errForeign, `(?<!a)b`: errForeign, `(a)\1`: errForeign, `\1(a)`: errForeign,
		`(?<n>a)\k<n>`: errForeign, `(?i:a)`: errForeign, `(?i)a`: errInvalid, `(?)a`: errInvalid, `a{1001}`: errForeign, `a{99999999999999999999}`: errForeign,
		`😀+`: errForeign, `[😀]`: errForeign, `\ud83d`: errForeign, `[\ud800-\udbff]`: errForeign, `(?<n>a)(?<n>b)`: errForeign,
	} {
		if got, err := translate(source); !errors.Is(err, want) {
			t.Errorf("%s: %q, %v; want: %v", source, got, err, want)
		}
	}
}

// The short form of \s is JavaScript's, character by character.
func TestShortForms(t *testing.T) {
	for _, letter := range "dDwWsS" {
		set, _ := (&pattern{src: []rune{letter}}).shorthand()
		short, long := regexp.MustCompile(shortForms[letter]), regexp.MustCompile(set.expression(false))
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if r >= lowSurrogate && r <= highSurrogate {
				continue
			}
			if s := string(r); short.MatchString(s) != long.MatchString(s) {
				t.Fatalf(`\%c: %q (%U) is not in both`, letter, r, r)
			}
		}
	}
}

// What is carried over compiles, and what is not says why.
func FuzzTranslate(f *testing.F) {
	for _, s := range []string{`a{,2}`, `[\w-z]`, `\c`, `(?<n>a)\k`, `[^]`, `\u{3}`, `(a|b)*?c$`, `\377\400`, `[]-a]`, `😀?`, "[\\ud83d\\ude00]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got, err := translate(source)
		if err != nil {
			if errors.Is(err, errInvalid) == errors.Is(err, errForeign) {
				t.Errorf("%q: %v is neither invalid nor foreign", source, err)
			}
			return
		}
		if _, err := regexp.Compile(got); err != nil && !strings.Contains(err.Error(), "repeat count") && !strings.Contains(err.Error(), "too large") && !strings.Contains(err.Error(), "nests too deeply") {
			t.Errorf("%q is made %q: %v", source, got, err)
		}
	})
}
