package mask

import (
	"slices"
	"sync"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Formats are the forms of secrets that their issuers made recognisable, and the
// names of all kinds of secrets.
type Formats struct {
	prefixes  byPair[issued]
	shapes    []shape
	finders   []func(found []span, s string) []span
	exclusive []string        // prefixes that nobody but their issuers use
	kinds     map[string]bool // what a replacement may be named after
}

// FormatsOf returns the forms that a policy's rows and those of least say: what
// is masked whatever the policy. Either may be nil.
func FormatsOf(set, least *rows.Set) *Formats {
	if set == nil {
		set = least
	}
	if set == nil {
		return noFormats()
	}
	return rows.Once(set, "formats of tokens "+least.RowsDigest(), func() *Formats {
		f := newFormats()
		for _, row := range rows.Tokens(least, set) {
			f.add(row)
		}
		return f
	})
}

// noFormats finds only what no issuer has a say in.
var noFormats = sync.OnceValue(newFormats)

func newFormats() *Formats {
	f := &Formats{kinds: map[string]bool{}}
	for _, k := range []string{"private_key", "url_user", "url_password", "bearer", "basic_auth", "digest", "cookie", "aws_secret",
		"password", "registry_login", "kubernetes_secret"} {
		f.kinds[k] = true
	}
	for k := range personal {
		f.kinds[k] = true
	}
	for _, k := range Keywords {
		f.kinds[k.kind] = true
	}
	return f
}

// add takes in a row. What cannot be read in it is left out.
func (f *Formats) add(e rows.Entry[rows.Token]) {
	for _, kind := range e.Names {
		if !rows.TokenKind(kind) {
			continue
		}
		f.kinds[kind] = true
		for _, text := range e.Row.Forms {
			if form, err := rows.ParseForm(text); err == nil && (!e.Adds || form.Narrow() == nil) {
				f.addForm(kind, form, e.Adds)
			}
		}
		for _, text := range e.Row.Inside {
			if form, err := rows.ParseInside(text); err == nil && !e.Adds {
				f.addShape(kind, form)
			}
		}
		if e.Row.Go == "discord" && !e.Adds {
			f.finders = append(f.finders, appendDiscord)
		}
	}
}

// addForm adds a token by its beginning. One of a layer that only adds has a
// digit: no name, host or path is hidden by it.
func (f *Formats) addForm(kind string, form rows.Form, adds bool) {
	k := issued{kind: kind, prefix: form.Prefix, chars: form.After.Class, min: form.After.Min, max: form.After.Max,
		start: slices.Contains(form.Words, "word")}
	for _, w := range form.Words {
		if check := checkNamed(w); check != nil {
			k.check = check
		}
		k.header = k.header || w == "jwt"
	}
	if adds {
		k.check = narrow(k.check)
	}
	f.prefixes.add(k.prefix, k)
	if slices.Contains(form.Words, "exclusive") && !adds {
		f.exclusive = append(f.exclusive, form.Prefix)
	}
}

func narrow(check func(string) bool) func(string) bool {
	return func(rest string) bool {
		return HasDigit(rest) && !filler(rest) && (check == nil || check(rest))
	}
}

func (f *Formats) addShape(kind string, form rows.Form) {
	has := func(word string) bool { return slices.Contains(form.Words, word) }
	f.shapes = append(f.shapes, shape{kind, form.Before, form.Mark, form.After, has("alone"), has("after_digit"), has("word")})
}

// checkNamed returns the check that a form names; nil: there is none.
func checkNamed(name string) func(string) bool {
	switch name {
	case "airtable":
		return airtableForm
	case "any":
		return func(string) bool { return true }
	case "artifactory":
		return artifactory
	case "authress":
		return authressForm
	case "aws_id":
		return awsID
	case "digit":
		return HasDigit
	case "harness":
		return harnessForm
	case "infisical":
		return infisicalForm
	case "jwt":
		return jwtForm
	case "jwt_in_base64":
		return wrappedJWT
	}
	return moreChecks(name)
}

func moreChecks(name string) func(string) bool {
	switch name {
	case "lower":
		return lowerDigit
	case "mixed":
		return mixed
	case "mixed_or_scrambled":
		return func(rest string) bool { return mixed(rest) || scrambled(rest) }
	case "openai":
		return openaiForm
	case "openai_old":
		return keyWithout
	case "routable":
		return routable
	case "slack":
		return slackForm
	case "twilio":
		return twilioForm
	case "upper_groups":
		return upperGroups
	}
	return nil
}

// Tried returns how many secrets of each kind a text holds by the rows of a set
// alone: what an example of a row comes to.
func Tried(set *rows.Set, text string) (map[string]int, error) {
	text, err := rows.Specimen(text)
	if err != nil {
		return nil, err
	}
	return (&Masker{Formats: FormatsOf(set, nil)}).Count(text), nil
}
