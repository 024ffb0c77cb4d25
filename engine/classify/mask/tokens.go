package mask

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// issuedToken is a secret that its issuer made recognisable by a prefix.
type issuedToken struct {
	kind   string
	prefix string
	chars  *rows.Class
	min    int               // characters after the prefix
	max    int               // below 0: no limit; otherwise a longer run is not such a token
	start  bool              // only where no letter or digit is before
	check  func(string) bool // of what follows the prefix; nil: it is not filler
	header bool              // the prefix begins a header, after which a payload may begin in the same way
	alone  bool              // not part of base64
}

// judged is the length of the part of a run that decides whether it is a token.
// It bounds the work on a string made of prefixes; the longest headers of
// tokens are shorter.
const judged = rows.MaxRun

// awsID rejects the ids in Amazon's documentation and blanked ones.
func awsID(rest string) bool {
	return !strings.HasSuffix(rest, "EXAMPLE") && strings.Trim(rest, "X") != "" && strings.Trim(rest, "0") != ""
}

// routable is GitLab's later form: a payload, a dot and nine characters or more.
func routable(rest string) bool {
	i := strings.IndexByte(rest, '.')
	return i >= 20 && len(rest)-i > 9 && !filler(rest)
}

// artifactory's keys have no fixed length. Filler counts too: nothing else has this
// prefix and only letters and digits.
func artifactory(rest string) bool {
	return len(rest) > 0 && (mixed(rest) || repetitive(rest[1:])) && !nameLike(rest)
}

// artifactoryPassword is one of those whose first digit is hexadecimal.
func artifactoryPassword(rest string) bool {
	return len(rest) > 0 && strings.IndexByte("0123456789ABCDEF", rest[0]) >= 0 && artifactory(rest)
}

// twilioForm is hexadecimal, or filler in its place.
func twilioForm(rest string) bool {
	return strings.Trim(rest, "0123456789abcdef") == "" || strings.Trim(rest, "x") == ""
}

func lowerDigit(rest string) bool { return rest == Lower(rest) && HasDigit(rest) && !identifier(rest) }

// keyWithout is a key with OpenAI's prefix sk-, which others use too: without mixed
// characters it is a name.
func keyWithout(rest string) bool {
	for _, own := range []string{"proj-", "svcacct-", "admin-", "ant-"} {
		if strings.HasPrefix(rest, own) {
			return false // judged by its own row
		}
	}
	return mixed(rest) || strings.Trim(rest, "0123456789abcdef") == ""
}

// openaiForm has a marker in the middle of its 48 characters. Newer keys are longer
// and truncated ones shorter; both may lack it.
func openaiForm(rest string) bool {
	return !filler(rest) && (len(rest) != 48 || strings.Contains(rest, "T3BlbkFJ"))
}

// upperGroups are the groups of a 1Password key.
func upperGroups(rest string) bool {
	return strings.Count(rest, "-") >= 4 && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == "" && HasDigit(rest)
}

func harnessForm(rest string) bool {
	parts := strings.Split(rest, ".")
	return len(parts) == 3 && len(parts[0]) == 22 && len(parts[1]) == 24 && len(parts[2]) == 20
}

func infisicalForm(rest string) bool { return strings.Count(rest, ".") >= 2 && mixed(rest) }

func authressForm(rest string) bool {
	parts := strings.Split(rest, ".")
	return len(parts) == 4 && strings.HasPrefix(parts[2], "acc") && len(parts[3]) >= 30
}

func airtableForm(rest string) bool {
	return len(rest) > 15 && rest[14] == '.' && strings.Trim(rest[15:], "0123456789abcdef") == ""
}

// jwtForm has a header or a signed payload that is JSON: other text begins with
// eyJ too.
func jwtForm(rest string) bool {
	head, body, ok := strings.Cut(rest, ".")
	if !ok || body == "" || strings.Count(body, ".") > 3 {
		return false
	}
	payload, signature, _ := strings.Cut(body, ".")
	return holdsJSON("eyJ"+head) || len(signature) >= leastSignature && holdsJSON(payload) // a header may be damaged
}

// leastSignature is the length of the shortest signature in use, of 256 bits.
const leastSignature = 43

func holdsJSON(coded string) bool {
	b, err := base64.RawURLEncoding.DecodeString(coded)
	return err == nil && json.Valid(b)
}

// payload reports whether what begins at i is the second part of something that
// looks like a JWT and has a whole header, which was judged. Without its
// header, as where a string was cut, it is judged by itself.
func payload(s string, i int) bool {
	if i == 0 || s[i-1] != '.' {
		return false
	}
	begin := i - 1
	for begin > 0 && i-begin < judged && TokenChar(s[begin-1]) {
		begin--
	}
	return strings.HasPrefix(s[begin:], "eyJ")
}

// wrappedJWT is a JWT in base64 once more.
func wrappedJWT(rest string) bool {
	b, err := base64.RawStdEncoding.DecodeString("ZXlK" + rest[:len(rest)&^3][:min(len(rest)&^3, 256)])
	return err == nil && strings.HasPrefix(string(b), "eyJ") && !filler(rest)
}

func (f *Formats) appendTokens(found []span, s string) []span {
	for i := 0; i+1 < len(s); i++ {
		for _, k := range f.prefixes.at(s, i) {
			if end, ok := k.match(s, i); ok {
				found = append(found, span{i + k.open(), end, k.kind})
				i = end - 1
				break
			}
		}
	}
	return f.appendShapes(found, s)
}

// open returns where the secret begins: the host of a webhook stays.
func (k issuedToken) open() int {
	if strings.IndexByte(k.prefix, '/') > 4 {
		return len(k.prefix)
	}
	return 0
}

func (k issuedToken) match(s string, i int) (end int, ok bool) {
	if !strings.HasPrefix(s[i:], k.prefix) || k.start && !opens(s, i) || k.header && payload(s, i) {
		return 0, false
	}
	begin := i + len(k.prefix)
	end = Run(s, begin, min(len(s), begin+judged), k.chars.Has)
	if end == begin+judged && k.max < 0 && k.plausible(s[begin:end]) {
		end = Run(s, end, len(s), k.chars.Has)
	}
	for end > begin && (s[end-1] == '.' || s[end-1] == '-') && end-begin > k.min { // punctuation of the sentence around it
		end--
	}
	n := end - begin
	if n < k.min || k.max >= 0 && (n > k.max || end < len(s) && Alnum(s[end])) {
		return 0, false
	}
	if (k.alone || len(k.prefix) == 2 && k.max < 0) && inBase64(s, i, end) {
		return 0, false // the prefix is a coincidence
	}
	return end, k.plausible(s[begin:end])
}

// unissued reports whether a value has an issuer's prefix but is not a token: it is
// too short, or has characters that the issuer's tokens never have, as examples do.
func (f *Formats) unissued(v string) bool {
	for _, prefix := range f.exclusive {
		if strings.HasPrefix(v, prefix) {
			return len(f.appendTokens(nil, v)) == 0
		}
	}
	return false
}

// inBase64 reports whether signs of base64 join s[i:end] to the letters around
// it.
func inBase64(s string, i, end int) bool {
	return i >= 2 && strings.IndexByte("+/", s[i-1]) >= 0 && Alnum(s[i-2]) || end+1 < len(s) && strings.IndexByte("+/", s[end]) >= 0 &&
		Alnum(s[end+1])
}

// opens reports whether a word begins at i. Letters may be before it that
// belong to an escape, \n or %3D.
func opens(s string, i int) bool {
	if i == 0 || !Alnum(s[i-1]) && s[i-1] != '_' {
		return i < 2 || s[i-1] != '+' || !Alnum(s[i-2]) // the middle of base64
	}
	if i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0 {
		return true
	}
	return i >= 3 && s[i-3] == '%' && HexChar(s[i-2]) && HexChar(s[i-1])
}

// plausible rejects words and examples.
func (k issuedToken) plausible(rest string) bool {
	if k.check != nil {
		return k.check(rest)
	}
	return !filler(rest)
}

// Formats are the formats of tokens that are recognisable by their form, and the names
// of all kinds of secrets.
type Formats struct {
	prefixes  byPair[issuedToken]
	shapes    []shape
	named     []product
	finders   []func(found []span, s string) []span
	exclusive []string        // prefixes that nobody but their issuers use
	kinds     map[string]bool // kinds that a replacement may name
	issuers   map[string]bool // those that rows define
}

// FormatsOf returns the formats of a policy's rows and of least, the rows that always
// apply. Either may be nil.
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

// noFormats finds only secrets without an issuer's format.
var noFormats = sync.OnceValue(newFormats)

func newFormats() *Formats {
	f := &Formats{kinds: map[string]bool{}, issuers: map[string]bool{}}
	for _, k := range []string{"private_key", "url_user", "url_password", "bearer", "basic_auth", "digest", "cookie", "aws_secret",
		"password", "registry_login", "kubernetes_secret", "wallet_key", "jwk_private_key", "approval_code"} {
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

// add adds a row. Parts that cannot be read are left out.
func (f *Formats) add(e rows.Entry[rows.Token]) {
	for _, kind := range e.Names {
		if !rows.TokenKind(kind) {
			continue
		}
		f.kinds[kind], f.issuers[kind] = true, true
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
		for _, text := range e.Row.Named {
			if form, err := rows.ParseNamed(text); err == nil && !e.Adds {
				f.named = append(f.named, newProduct(kind, form))
			}
		}
		if e.Row.Go == "discord" && !e.Adds {
			f.finders = append(f.finders, appendDiscord)
		}
	}
}

// addForm adds a token by its beginning. One of a layer that can only add must contain
// a digit, so that it hides no name, host or path.
func (f *Formats) addForm(kind string, form rows.Form, adds bool) {
	k := issuedToken{kind: kind, prefix: form.Prefix, chars: form.After.Class, min: form.After.Min, max: form.After.Max,
		start: slices.Contains(form.Words, "word"), alone: slices.Contains(form.Words, "alone")}
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
	case "anthropic":
		return anthropicForm
	case "any":
		return func(string) bool { return true }
	case "artifactory":
		return artifactory
	case "artifactory_password":
		return artifactoryPassword
	case "authress":
		return authressForm
	case "aws_id":
		return awsID
	case "clickup":
		return clickupForm
	case "digit":
		return HasDigit
	case "drawn":
		return drawn
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
		return func(rest string) bool { return mixed(rest) && !filler(rest) && !nameLike(rest) }
	case "mixed_or_scrambled":
		return func(rest string) bool { return (mixed(rest) || scrambled(rest)) && !nameLike(rest) }
	case "notion":
		return notionForm
	case "openai":
		return openaiForm
	case "openai_old":
		return keyWithout
	case "routable":
		return routable
	case "sentry":
		return sentryForm
	case "slack", "slack_app", "slack_bot", "slack_config", "slack_user":
		return slackChecks[name]
	case "sourcegraph":
		return sourcegraphForm
	case "sumo":
		return sumoForm
	case "twilio":
		return twilioForm
	case "upper_groups":
		return upperGroups
	case "uuid":
		return uuidForm
	}
	return nil
}

// Tried counts the secrets of each kind that the rows of one set find in a string, for
// their examples.
func Tried(set *rows.Set, text string) (map[string]int, error) {
	text, err := rows.Specimen(text)
	if err != nil {
		return nil, err
	}
	return (&Masker{Formats: FormatsOf(set, nil)}).Count(text), nil
}
