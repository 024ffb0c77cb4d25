package mask

import (
	"math"
	"slices"
	"strings"
)

// identifier reports whether a string is one word of letters.
func identifier(s string) bool {
	for i := 0; i < len(s); i++ {
		if !Alnum(s[i]) && s[i] != '_' || Digit(s[i]) {
			return false
		}
	}
	return true
}

// HasDigit reports whether a string contains a digit.
func HasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func numeric(s string) bool { return strings.Trim(s, "0123456789.,:_-+%eE") == "" }

// longNumber is an id of an application that serves as its key: longer than a
// time in milliseconds.
func longNumber(s string) bool {
	return len(s) >= 14 && strings.Trim(s, "0123456789") == "" && !repetitive(s)
}

// madeOfWords reports whether a value is built from words and numbers, as the
// names of objects, files and caches are: item-2024-a1b2,
// exports/2025/report.csv.
func madeOfWords(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("-_./:#,=", r) })
	for _, p := range parts {
		word := strings.TrimRight(p, "0123456789")
		if len(p) > 4 && (word != "" && !identifier(word) || len(p)-len(word) > 4 && word != "" || len(word) > 12) {
			return false
		}
	}
	return len(parts) > 1
}

// published are the beginnings of values that anyone may see: keys in
// browser code, and the public halves of pairs.
var published = []string{"pk_live_", "pk_test_", "ssh-rsa", "ssh-ed25519", "AAAAB3Nza", "AAAAC3Nza"}

func isPublished(v string) bool {
	return slices.ContainsFunc(published, func(p string) bool { return strings.HasPrefix(v, p) })
}

// symbols counts the characters that do not occur in names, paths and numbers.
func symbols(s string) int {
	n, word := 0, false
	for i := 0; i < len(s); i++ {
		word = word || Alnum(s[i])
		if strings.IndexByte("@*?!#^&~%$", s[i]) >= 0 {
			n++
		}
	}
	if !word {
		return 0
	}
	return n
}

// madeUp reports whether a value has characters that words lack.
func madeUp(s string) bool { return HasDigit(s) || symbols(s) >= 3 }

// oneWord reports whether a value is a long row of letters of one case: names
// of that length have capitals or dashes inside.
func oneWord(s string) bool {
	if len(s) < 20 {
		return false
	}
	upper, low := false, false
	for i := 0; i < len(s); i++ {
		upper = upper || s[i] >= 'A' && s[i] <= 'Z'
		low = low || s[i] >= 'a' && s[i] <= 'z'
		if !Alnum(s[i]) || Digit(s[i]) {
			return false
		}
	}
	return upper != low
}

// scrambled reports whether letters of both cases are in an order that does not occur
// in names: the case changes often, and consonants follow each other.
func scrambled(s string) bool {
	changes, row, longest := 0, 0, 0
	for i := 0; i < len(s); i++ {
		if !Alnum(s[i]) {
			return false
		}
		if row++; Digit(s[i]) || strings.IndexByte("aeiouyAEIOUY", s[i]) >= 0 {
			row = 0
		}
		longest = max(longest, row)
		if i > 0 && upperDigit(s[i]) != upperDigit(s[i-1]) {
			changes++
		}
	}
	return len(s) >= 12 && changes >= 5 && longest >= 4
}

// whereabouts reports whether a value names the place of the secret, or a function
// that returns it: a path of words, or a call without arguments.
func whereabouts(v string) bool {
	if strings.HasSuffix(v, ":latest") { // a version of a vault entry
		return true
	}
	if call, ok := strings.CutSuffix(v, "()"); ok {
		return Run(call, 0, len(call), dotted) == len(call)
	}
	i := strings.IndexByte(v, '/')
	if i < 0 || strings.Trim(v[:i], "~.") != "" {
		return false
	}
	for part := range strings.SplitSeq(v[i+1:], "/") {
		if len(part) > 24 || mixed(part) || Digits(part) > 3 || strings.ContainsAny(part, "+=") {
			return false
		}
	}
	return true
}

// folder reports whether a value is a path: pwd also stands for the working
// directory.
func folder(v string) bool {
	return strings.HasPrefix(v, "/") || strings.IndexByte(v, '/') > 0 && symbols(v) == 0 && (v[1] == ':' || !mixed(v))
}

// addressOfWords reports whether a value is the address of a page or an
// endpoint: it has no login and no query, and words and small numbers are its
// path.
func addressOfWords(v string) bool {
	scheme, rest, ok := strings.Cut(v, "://")
	if !ok || !identifier(scheme) || strings.ContainsAny(rest, "@?") {
		return false
	}
	_, path, _ := strings.Cut(rest, "/")
	for part := range strings.SplitSeq(path, "/") {
		if len(part) > 6 && !nameLike(part) && !identifier(part) || len(part) > 24 && !strings.ContainsAny(part, "-_.") {
			return false
		}
	}
	return true
}

// phrase reports whether a string of several words is a pass phrase instead of a
// sentence: four or more short words, none of them common in sentences.
func phrase(s string) bool {
	words := strings.Fields(s)
	if len(words) < 4 || len(words) > 24 {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		return w != Lower(w) || !identifier(w) || strings.Contains(sentenceWords, " "+w+" ")
	})
}

const sentenceWords = " a an the is are was be been not no or if in on at of to for from by as it this that your you we i my our their " +
	"must may should can cannot could will would please enter type use used does do did has have too short long only required invalid " +
	"missing wrong failed error field forgot reset new old change confirm match matches choose set update generate create password " +
	"token secret key "

// expression reports whether a value is code that computes it: a path of names.
func expression(s string) bool {
	if !strings.ContainsAny(s, ".") {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || Digit(part[0]) || len(part) > 24 || !name(part) || Digits(part) > 3 {
			return false
		}
	}
	return true
}

func name(s string) bool { return Run(s, 0, len(s), TokenChar) == len(s) && !strings.Contains(s, "-") }

// Digits counts the digits of a string.
func Digits(s string) int { return len(s) - len(strings.Map(DropDigit, s)) }

// DropDigit is a mapping for strings.Map that removes digits.
func DropDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// crossed reports whether a bracket closes one of another kind, which never happens in
// code.
func crossed(s string) bool {
	var open []byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case '{':
			open = append(open, '}')
		case ')', ']', '}':
			if len(open) == 0 {
				continue
			}
			if open[len(open)-1] != c {
				return true
			}
			open = open[:len(open)-1]
		}
	}
	return false
}

// dummies are words that mark a placeholder.
var dummies = []string{"example", "changeme", "change_me", "change-me", "placeholder", "dummy", "redacted", "your_", "your-",
	"yourtoken", "yourkey", "...", "***", "xxxx", "####", "insert", "replace_me", "replace-me", "todo", "undefined",
	"process.env", "os.environ", "getenv", "secretsmanager:", "not-a-secret", "fake"}

// placeholder reports whether a value is a placeholder: a variable, an example, a
// mask.
func placeholder(v string) bool {
	if reference(v) || (repetitive(v) || counted(v)) && !numeric(v) {
		return true
	}
	low := Lower(v)
	for _, d := range dummies {
		if strings.Contains(low, d) {
			return true
		}
	}
	return slices.Contains([]string{"none", "null", "true", "false", "string", "secret", "token", "password", "passwd", "username",
		"required", "optional", "default", "unknown", "empty", "number", "boolean", "object"}, strings.Trim(low, "\"'"))
}

// reference reports whether a value names or computes the secret, or contains a part
// to fill in.
func reference(v string) bool {
	if v == "" || v[0] == '$' || strings.Trim(v, "*") == "" {
		return true
	}
	if v[0] == '%' && (len(v) <= 3 || v[len(v)-1] == '%') || v[0] == '[' && v[len(v)-1] == ']' && identifier(v[1:len(v)-1]) {
		return true
	}
	for _, t := range templates {
		if t.in(v) {
			return true
		}
	}
	return false
}

// template is a part of a string between two marks.
type template struct{ open, shut string }

var templates = []template{{"${", "}"}, {"{{", "}}"}, {"$(", ")"}, {"#{", "}"}, {"%(", ")"}, {"%{", "}"}, {"<", ">"}, {"{", "}"}}

// in reports whether v contains the template with a name or a call between its marks.
func (t template) in(v string) bool {
	i := strings.Index(v, t.open)
	if i < 0 {
		return false
	}
	inner, _, ok := strings.Cut(v[i+len(t.open):], t.shut)
	if !ok {
		return false
	}
	inner = strings.ReplaceAll(inner, "$.", ".") // of Helm
	return strings.Trim(inner, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:- ?/|'\"!=,()[]%@") == "" && inner != "" &&
		(len(t.open) > 1 || !mixed(inner))
}

// entropy is Shannon's, in bits per byte.
func entropy(s string) float64 {
	if s == "" {
		return 0
	}
	var n [256]int
	for i := 0; i < len(s); i++ {
		n[s[i]]++
	}
	h := 0.0
	for _, c := range n {
		if c > 0 {
			p := float64(c) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}

// Lower is strings.ToLower for ASCII: offsets stay the same.
func Lower(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
