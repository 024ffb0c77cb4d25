package rows

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Token describes the format of an issuer's secrets. The name of the row is the kind of
// the secret, which replaces it.
//
//	shop_token:
//	  forms:
//	    - shop_live_ alnum 24
//	  examples:
//	    match:
//	      - shop_live_{alnum 24}
//
// Rows of any layer add forms; none can remove forms.
type Token struct {
	About    string         `json:"about,omitempty" yaml:"about"`
	Forms    []string       `json:"forms,omitempty" yaml:"forms"`   // a prefix, characters, their number, words: see ParseForm
	Inside   []string       `json:"inside,omitempty" yaml:"inside"` // characters and their number, a marker, characters and their number, words
	Named    []string       `json:"named,omitempty" yaml:"named"`   // a word in the name that the token is assigned to, characters and their number, words
	Go       string         `json:"go,omitempty" yaml:"go"`         // a function that finds tokens that forms cannot describe
	Examples *TokenExamples `json:"examples,omitempty" yaml:"examples"`
}

// TokenExamples are texts with and without such a secret. {alnum 24} stands for generated
// characters, so that a file with examples contains no secret.
type TokenExamples struct {
	Match   []string `json:"match,omitempty" yaml:"match"`
	NoMatch []string `json:"no_match,omitempty" yaml:"no_match"`
}

// Tokens returns the rows of tokens of all sets. Rows that two sets share are listed once,
// and rows that cannot be parsed are left out: checking a policy reports them.
func Tokens(sets ...*Set) []Entry[Token] {
	var list []Entry[Token]
	seen := map[string]bool{}
	for _, s := range sets {
		if s == nil {
			continue
		}
		for _, b := range s.folder(TokensFolder).all {
			if seen[b.text] {
				continue
			}
			seen[b.text] = true
			row, err := parseToken(b.text)
			if err != nil {
				continue
			}
			list = append(list, Entry[Token]{b.named, row, b.place, b.adds})
		}
	}
	return list
}

func parseToken(text string) (Token, error) {
	if v, ok := plain(text, "forms", "inside", "named", "go"); ok {
		return Token{Forms: v.list("forms"), Inside: v.list("inside"), Named: v.list("named"), Go: v.text("go")}, nil
	}
	return parse[Token](text)
}

// Form is the format of a token: Prefix followed by characters, or Mark with characters on
// both sides.
type Form struct {
	Prefix string
	Before Run // of Mark only
	Mark   string
	After  Run
	Words  []string
}

// TokenKind reports whether a name is valid for a kind of secret: it becomes part of the
// replacement.
func TokenKind(name string) bool {
	return len(name) > 1 && len(name) <= 30 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

const nameChars = digits + capital + small + "_-"

// Narrow reports why the user's and the project's layer cannot have a form: rules cannot
// see what is masked, so the forms of these layers must not match names, hosts or paths.
func (f Form) Narrow() error {
	switch {
	case len(f.Prefix) < 3 || f.After.Min < 16 || !f.After.Class.within(nameChars) || strings.Trim(f.Prefix, nameChars) != "":
		return fmt.Errorf("%s: in this layer a token consists of letters, digits, _ and -: a prefix of three and 16 or more after it", f.Prefix)
	case slices.Contains(f.Words, "exclusive") || slices.Contains(f.Words, "any"):
		return fmt.Errorf("%s: the words exclusive and any are only allowed in the organisation's layer", f.Prefix)
	}
	return nil
}

// Run is a number of characters of a class.
type Run struct {
	Class    *Class
	Min, Max int // Max < 0: no limit
}

// MaxRun limits the number of characters in a form.
const MaxRun = 512

// ParseForm parses "shop_live_ alnum 24", where 24+ means 24 or more, and 16-26 a range.
// Words may follow: word (no letter or digit before it), alone (not part of base64),
// exclusive (only this issuer's values start like this: a value that does not match is not
// a secret), and the checks of [TokenChecks].
func ParseForm(text string) (Form, error) {
	return parseForm(text, "word", "exclusive", formWords)
}

// ParseNamed parses "shop alnum 24": a lower-case word that is part of the name to which
// the value is assigned, and the characters of the value. Besides that word, the name must
// indicate a key, unless the word bare follows. Checks may follow too.
func ParseNamed(text string) (Form, error) {
	form, err := parseForm(text, "bare", "bare", TokenChecks)
	if err == nil && (len(form.Prefix) < 3 || form.Prefix != strings.ToLower(form.Prefix)) {
		err = fmt.Errorf("%q: the word of a name needs at least three lower-case letters", form.Prefix)
	}
	return form, err
}

func parseForm(text, a, b string, more func() []string) (Form, error) {
	fields := strings.Fields(text)
	if len(fields) < 3 {
		return Form{}, fmt.Errorf("%q: expected a prefix, characters and a count, such as shop_live_ alnum 24", text)
	}
	f := Form{Prefix: fields[0], Words: fields[3:]}
	if len(f.Prefix) < 2 || strings.ContainsFunc(f.Prefix, func(r rune) bool { return r > 0x7e }) {
		return f, fmt.Errorf("%q: a prefix needs at least two characters, all ASCII", f.Prefix)
	}
	var err error
	f.After, err = parseRun(fields[1], fields[2])
	return f, orUnknown(err, f.Words, a, b, more)
}

// ParseInside parses "hex 32 -us digit 1-2 alone": characters, a marker, and characters
// after it. Words may follow: alone (not part of a longer word), word (no letter or digit
// before it), after_digit (the marker follows one).
func ParseInside(text string) (Form, error) {
	fields := strings.Fields(text)
	if len(fields) < 5 {
		return Form{}, fmt.Errorf("%q: expected characters and a count, a separator, characters and a count, such as hex 32 -us digit 1-2", text)
	}
	f := Form{Mark: fields[2], Words: fields[5:]}
	var err error
	if f.Before, err = parseRun(fields[0], fields[1]); err == nil {
		f.After, err = parseRun(fields[3], fields[4])
	}
	if err == nil && (f.Before.Max < 0 || f.After.Max < 0 || len(f.Mark) < 2 && strings.Trim(f.Mark, nameChars) == "") {
		err = fmt.Errorf("%q: a separator is a punctuation sign or at least two characters, and both sides need a limited length", text)
	}
	return f, orUnknown(err, f.Words, "alone", "word", func() []string { return []string{"after_digit"} })
}

// orUnknown returns an error, or the first word that is neither a nor b nor one of more.
func orUnknown(err error, words []string, a, b string, more func() []string) error {
	for _, w := range words {
		if err == nil && w != a && w != b && !slices.Contains(more(), w) {
			return fmt.Errorf("unknown word %q: expected one of %s, %s, %s", w, a, b, strings.Join(more(), ", "))
		}
	}
	return err
}

func parseRun(class, count string) (Run, error) {
	c, err := ParseClass(class)
	if err != nil {
		return Run{}, err
	}
	r := Run{Class: c}
	low, high, ranged := strings.Cut(count, "-")
	low, open := strings.CutSuffix(low, "+")
	r.Min, err = strconv.Atoi(low)
	switch {
	case err == nil && ranged:
		r.Max, err = strconv.Atoi(high)
	case open:
		r.Max = -1
	default:
		r.Max = r.Min
	}
	if err != nil || ranged && (open || r.Max < r.Min) || r.Min < 0 || r.Min > MaxRun || r.Max > MaxRun {
		return r, fmt.Errorf("%q: expected a number of characters, such as 24, 24+ or 16-26, at most %d", count, MaxRun)
	}
	return r, nil
}

// tokenChecks are the names of the checks that a form may name.
var tokenChecks = strings.Fields(`airtable anthropic any artifactory artifactory_password authress aws_id clickup digit drawn harness infisical jwt jwt_in_base64 lower
	mixed mixed_or_scrambled notion openai openai_old routable sentry slack slack_app slack_bot slack_config slack_user sourcegraph sumo
	twilio upper_groups uuid`)

// formWordList are all words that a form may have.
var formWordList = append([]string{"alone"}, tokenChecks...)

func formWords() []string { return formWordList }

// TokenChecks lists the checks that a form may name, for what characters and their number
// cannot express. They are in the package mask.
func TokenChecks() []string { return tokenChecks }

// TokenFunctions lists the Go functions that a row of a token may name.
func TokenFunctions() []string { return []string{"discord"} }
