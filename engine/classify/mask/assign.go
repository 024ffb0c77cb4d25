package mask

import (
	"math"
	"strings"
	"sync"
)

// Keyword is a word in the name of a variable: a value that is assigned to such a name
// may be a secret.
type Keyword struct {
	Word  string
	kind  string
	plain bool // the value is a password: people choose it, so it need not look random
	weak  bool // the name often means something else: the value has to look random
}

// Keywords are the words in the name of a variable that indicate that its value
// is a secret.
var Keywords = []Keyword{
	{"password", "password", true, false}, {"passwd", "password", true, false}, {"passphrase", "password", true, false}, {"pwd", "password", true, false},
	{"passwort", "password", true, false}, {"db_pass", "password", true, false}, {"_pass", "password", true, false}, {"userpass", "password", true, false},
	{"storepass", "password", true, false}, {"keypass", "password", true, false}, {"sshpass", "password", true, false}, {"requirepass", "password", true, false},
	{"masterauth", "password", true, false}, {"psk=", "password", true, false}, {"identified by", "password", true, false}, {"contribsys__com", "password", true, false},
	{"secret", "secret", false, false}, {"token", "token", false, false}, {"credential", "secret", false, false},
	{"api_key", "api_key", false, false}, {"api-key", "api_key", false, false}, {"apikey", "api_key", false, false}, {"api key", "api_key", false, false},
	{"access_key", "access_key", false, false}, {"access-key", "access_key", false, false}, {"accesskey", "access_key", false, false},
	{"secret_key", "secret", false, false}, {"private_key", "secret", false, false}, {"privatekey", "secret", false, false}, {"private key", "secret", false, false}, {"privkey", "secret", false, false},
	{"account_key", "access_key", false, false}, {"accountkey", "access_key", false, false}, {"encryption_key", "secret", false, false}, {"encryption-key", "secret", false, false},
	{"encryptionkey", "secret", false, false}, {"signing_key", "secret", false, false}, {"signingkey", "secret", false, false}, {"service_key", "secret", false, false}, {"servicekey", "secret", false, false},
	{"auth_key", "token", false, false}, {"authkey", "token", false, false}, {"auth-key", "token", false, false},
	{"client_id", "client_id", false, false}, {"client-id", "client_id", false, false}, {"clientid", "client_id", false, false},
	{"app_key", "api_key", false, false}, {"appkey", "api_key", false, false}, {"license_key", "secret", false, false}, {"licensekey", "secret", false, false}, {"webhook_key", "secret", false, false},
	{"x-amz-signature", "signature", false, false}, {"sig=", "signature", false, false}, {"signature=", "signature", false, false},
	{"_pat=", "token", false, false}, {"ext_pat", "token", false, false}, {"?code=", "oauth_code", false, true}, {"&code=", "oauth_code", false, true},
	{",pass=", "password", true, false}, {"&pass=", "password", true, false}, {"?pass=", "password", true, false},
	{"mnemonic", "mnemonic", false, false}, {"seed_phrase", "mnemonic", false, false}, {"seed phrase", "mnemonic", false, false}, {"recovery phrase", "mnemonic", false, false},
	{"hmac", "secret", false, false}, {"_auth", "token", false, false}, {"art-api", "api_key", false, false}, {"_session=", "cookie", false, false}, {"phpsessid=", "cookie", false, false}, {"jsessionid=", "cookie", false, false},
	{"master_key", "secret", false, false}, {"master-key", "secret", false, false}, {"masterkey", "secret", false, false}, {"storage_key", "secret", false, false}, {"shared_key", "secret", false, false}, {"sharedkey", "secret", false, false},
	{"_key", "secret", false, true}, {"-key", "secret", false, true}, {"key=", "secret", false, true},
}

var keywordsByPair = sync.OnceValue(func() *byPair[Keyword] {
	var p byPair[Keyword]
	for _, k := range Keywords {
		p.add(k.Word, k)
	}
	return &p
})

func appendAssignments(found []span, t scanned) []span {
	words := keywordsByPair()
	for i := 0; i+1 < len(t.low); i++ {
		for _, k := range words.at(t.low, i) {
			if !strings.HasPrefix(t.low[i:], k.Word) {
				continue
			}
			if s, ok := k.find(t, i); ok {
				found = append(found, s)
				i = max(i, s.End-1)
			}
			break
		}
	}
	return found
}

// readings are the forms of an assignment.
var readings = [...]func(namedSecret, scanned) (assignment, bool){
	namedSecret.assigned, namedSecret.typed, namedSecret.elsewhere, namedSecret.compared, namedSecret.listed, namedSecret.element, namedSecret.block, namedSecret.set,
	namedSecret.said, namedSecret.property, namedSecret.declared, namedSecret.fallback, namedSecret.wrapped, namedSecret.sent,
}

// find returns the value that is assigned to the name around the keyword at i.
func (k Keyword) find(t scanned, i int) (span, bool) {
	n := readName(t, i, len(k.Word))
	for _, read := range readings {
		if a, ok := read(n, t); ok && (a.secret(t.formats, k) || k.plain && n.besideUser(t) && a.logsIn(t.formats)) {
			return span{a.start, a.whole(t.raw), k.kind}, true
		}
	}
	return span{}, false
}

// assignment is a value that is assigned to a name.
type assignment struct {
	start, end int
	value      string
	quoted     bool
	glued      bool // no space around the sign, as in the shell, in URLs and options
	random     bool // the form alone is weak evidence: the value has to look random
	sure       bool // the form is proof: any value is a secret
	name       string
	next       byte // the character after the value
	then       byte // and the one after that
}

// namedSecret is a name that contains a keyword.
type namedSecret struct {
	begin, end int
	name       string
	before     byte // the character before the name
}

// maxName bounds the search for the beginning and the end of a name.
const maxName = 48

func readName(t scanned, i, n int) namedSecret {
	s := t.raw
	begin := i
	for begin > 0 && i-begin < maxName && TokenChar(s[begin-1]) {
		begin--
	}
	end := i + n
	if s[end-1] == '=' {
		end-- // the sign is part of the keyword
	}
	end = Run(s, end, min(len(s), end+maxName), dotted)
	for end > i+n && s[end-1] == '.' && end < len(s) && (s[end] == '=' || s[end] == ' ') {
		end-- // of PHP's .=
	}
	w := namedSecret{begin: begin, end: end, name: t.low[begin:end]}
	if begin > 0 {
		w.before = s[begin-1]
	}
	return w
}

// assigned reads sign and value after a name.
func (w namedSecret) assigned(t scanned) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name}
	at := Run(s, w.end, min(len(s), w.end+3), func(c byte) bool { return strings.IndexByte("\"'`]\\", c) >= 0 })
	at = skipIndex(s, at)
	sign := Run(s, at, min(len(s), at+8), Blank)
	gap := sign > at
	j := Run(s, sign, min(len(s), sign+4), func(c byte) bool { return strings.IndexByte("=:>!?+.~", c) >= 0 })
	for j > sign && strings.IndexByte("+~!", s[j-1]) >= 0 {
		j-- // of the value
	}
	compare := strings.Contains(s[sign:j], "==") || strings.Contains(s[sign:j], "!=")
	switch {
	case j == sign:
		return w.unsigned(t, at, sign)
	case w.before == '/' && s[sign] == ':': // the user of a URL
		return a, false
	case w.before == ':' && s[sign] == ':' && inARN(s, w.begin):
		return a, false
	case !compare && s[j-1] != '=' && s[j-1] != ':' && s[sign:j] != "=>":
		return a, false
	}
	v := Run(s, j, min(len(s), j+8), Blank)
	a.glued = !gap && v == j && s[sign] == '='
	a.random = compare
	if !compare && (gap && s[sign] == '=' || s[sign] == ':') && s[sign:j] != "=>" && w.opensLine(s) {
		if b, ok := a.readLine(s, v); ok {
			return b, true
		}
	}
	if a.glued && v < len(s) && s[v] == w.before && (w.before == '"' || w.before == '\'') && at == w.end {
		return a, false // "PASSWORD=" + x: the quote ends the string
	}
	a, ok := a.readValue(s, v)
	return a, ok && (a.quoted || !compare)
}

// inARN reports whether the word at i is part of an ARN: arn:aws:x.
func inARN(s string, i int) bool {
	lead := s[max(0, i-judged/4):i]
	lead = lead[strings.LastIndexAny(lead, " \t\r\n\"'`=,")+1:]
	return strings.HasPrefix(lead, "arn:")
}

// skipIndex skips the brackets of an array: [], [25] or ["a"].
func skipIndex(s string, i int) int {
	if i >= len(s) || s[i] != '[' {
		return i
	}
	inner := Run(s, i+1, min(len(s), i+maxName), func(c byte) bool { return TokenChar(c) || c == '"' || c == '\'' })
	if inner < len(s) && s[inner] == ']' {
		return inner + 1
	}
	return i
}

// unsigned reads a value that follows a name without a sign: --token x,
// password "x", password("x"), login kim password x.
func (w namedSecret) unsigned(t scanned, at, v int) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name}
	switch {
	case v >= len(s):
		return a, false
	case v > at && at == w.end && strings.HasPrefix(w.name, "-"):
		a.glued = true
		a, ok := a.readValue(s, v)
		return a, ok && a.value[0] != '-' // the next option
	case v > at && at == w.end && w.name == "password" && afterLogin(t.low[max(0, w.begin-2*maxName):w.begin]):
		a.glued = true
		return a.readValue(s, v)
	case v == at && at == w.end && s[v] == '(' && !strings.HasPrefix(w.name, "get"):
		a.random = true
		a, ok := a.readValue(s, v+1)
		return a, ok && a.quoted
	case v > at && at == w.end:
		a.sure = w.inStatement(t)
		a.random = !a.sure
		a, ok := a.readValue(s, v)
		return a, ok && a.quoted
	}
	return a, false
}

// inStatement reports whether the password is in an SQL statement: CREATE USER kim
// WITH PASSWORD 'x'.
func (w namedSecret) inStatement(t scanned) bool {
	if w.name == "identified by" {
		return true
	}
	lead := t.low[max(0, w.begin-2*maxName):w.begin]
	lead = lead[strings.LastIndexByte(lead, ';')+1:]
	return (strings.Contains(lead, "create ") || strings.Contains(lead, "alter ")) &&
		(strings.Contains(lead, " user ") || strings.Contains(lead, " role "))
}

// afterLogin reports whether a string ends as a line of .netrc does before the
// word password: login kim.
func afterLogin(lead string) bool {
	f := strings.Fields(lead)
	return len(f) >= 2 && f[len(f)-2] == "login"
}

// opensLine reports whether nothing but indentation, quotes and the dash of a
// list is before the name.
func (w namedSecret) opensLine(s string) bool {
	for i := w.begin; i > 0 && w.begin-i < judged; i-- {
		switch s[i-1] {
		case '\n':
			return true
		case ' ', '\t', '"', '\'', '-':
		default:
			return false
		}
	}
	return w.begin < judged
}

// readLine reads a bare value up to the end of its line, if the value contains
// characters that would end it in the shell or in code but cannot be either:
// unbalanced brackets, or many signs.
func (a assignment) readLine(s string, i int) (assignment, bool) {
	end := Run(s, i, min(len(s), i+judged), func(c byte) bool { return c != '\n' && c != '\r' })
	line := strings.TrimRight(s[i:end], " \t")
	if line == "" || strings.IndexByte("\"'`@", line[0]) >= 0 || strings.HasSuffix(line, ";") {
		return a, false
	}
	v := strings.TrimRight(line, ",\"'`")
	if strings.ContainsAny(v, " \t|") || !crossed(v) && symbols(v) < 4 {
		return a, false
	}
	a.start, a.end, a.value = i, i+len(v), v
	return a, true
}

// elsewhere reads the value of a pair whose name is itself a value, as in lists
// of environment variables and of settings: name: TOKEN, value: x.
func (w namedSecret) elsewhere(t scanned) (assignment, bool) {
	from := max(0, w.begin-12)
	lead := strings.TrimRight(t.low[from:w.begin], " \t\"'\\")
	sure := strings.HasSuffix(t.low[from:w.begin], `key="`)
	if name, ok := strings.CutSuffix(lead, ":"); ok {
		name = strings.TrimRight(name, "\"\\")
		sure = sure || strings.HasSuffix(name, "name") || strings.HasSuffix(name, "key")
	}
	if !sure {
		return assignment{}, false
	}
	at := Run(t.low, w.end, min(len(t.low), w.end+judged/8), func(c byte) bool { return strings.IndexByte(" \t\r\n\"'\\,-", c) >= 0 })
	if !strings.HasPrefix(t.low[at:], "value") {
		return assignment{}, false
	}
	at += len("value")
	v := Run(t.raw, at, min(len(t.raw), at+8), func(c byte) bool { return strings.IndexByte("\"'\\", c) >= 0 })
	sign := Run(t.raw, v, min(len(t.raw), v+8), func(c byte) bool { return strings.IndexByte(" :=", c) >= 0 })
	if sign == v {
		return assignment{}, false
	}
	return assignment{name: w.name, glued: true}.readValue(t.raw, sign)
}

// compared reads a literal that is before the name: "x" == password.
func (w namedSecret) compared(t scanned) (assignment, bool) {
	s := t.raw
	a := assignment{name: w.name, quoted: true, random: true}
	i := w.begin
	for i > 0 && Blank(s[i-1]) && w.begin-i < 8 {
		i--
	}
	sign := i
	for i > 0 && (s[i-1] == '=' || s[i-1] == '!') && sign-i < 4 {
		i--
	}
	if sign-i < 2 {
		return a, false
	}
	for i > 0 && Blank(s[i-1]) && sign-i < 8 {
		i--
	}
	if i < 2 || s[i-1] != '"' && s[i-1] != '\'' {
		return a, false
	}
	a.end = i - 1
	open := strings.LastIndexByte(s[max(0, a.end-judged):a.end], s[i-1])
	if open < 0 {
		return a, false
	}
	a.start = max(0, a.end-judged) + open + 1
	a.value = s[a.start:a.end]
	return a, a.value != "" && !strings.Contains(a.value, "\n")
}

// readValue reads a quoted string or a bare word at i.
func (a assignment) readValue(s string, i int) (assignment, bool) {
	for i < len(s) && s[i] == '\\' {
		i++ // an escaped quote of JSON in JSON
	}
	if i+1 < len(s) && strings.IndexByte("@bfru$L", s[i]) >= 0 && (s[i+1] == '"' || s[i+1] == '\'') {
		i++ // a literal's prefix
	}
	if i >= len(s) {
		return a, false
	}
	a.start = i
	if q := s[i]; q == '"' || q == '\'' || q == '`' {
		a.quoted, a.start = true, i+1
	}
	a.end = Run(s, a.start, min(len(s), a.start+judged), a.chars(s))
	if !a.quoted && a.end > a.start && s[a.end-1] == ':' && (a.end == len(s) || Blank(s[a.end])) {
		a.end-- // of the sentence: api_key=abc: not found
	}
	a.value = s[a.start:a.end]
	if a.end < len(s) {
		a.next = s[a.end]
	}
	if a.end+1 < len(s) {
		a.then = s[a.end+1]
	}
	return a, a.value != ""
}

// chars returns the characters of a value up to its end.
func (a assignment) chars(s string) func(byte) bool {
	if !a.quoted {
		return func(c byte) bool { return strings.IndexByte(" \t\r\n\"'`;&|<>()[]{},\\$", c) < 0 }
	}
	q := s[a.start-1]
	return func(c byte) bool { return c != q && c != '\n' && c != '\\' }
}

// whole returns the end of a secret of which only the beginning was examined.
func (a assignment) whole(s string) int {
	if a.end != a.start+judged {
		return a.end
	}
	return Run(s, a.end, len(s), a.chars(s))
}

// harmless are ends of names whose values are not secrets, although the names contain
// a keyword.
var harmless = []string{
	"_file", "-file", "_path", "-path", "_name", "-name", "_type", "-type", "_url", "-url", "_uri", "-uri", "_length", "-length",
	"_count", "_limit", "_ttl", "_expiry", "_expires", "_field", "_header", "_prefix", "_env", "_stdin", "-stdin", "_size", "_arn",
	"_label", "_hint", "_policy", "_min", "_max", "_regex", "_pattern", "_dir", "-dir", "_enabled", "_class", "_color", "_version",
	"tokens", "tokenizer", "keyword", "keywords", "keyboard", "public_key", "public-key", "publickey", "pub_key", "primary_key", "foreign_key",
	"sort_key", "sortkey", "partition_key", "cachekey", "primarykey", "foreignkey", "idempotency_key", "idempotency-key", "lookup_key", "translation_key", "key_id", "keyid", "partitionkey", "cache_key", "cache-key", "hotkey", "shortcut_key", "object_key", "row_key", "i18n_key", "oldpwd",
	"site_key", "site-key", "sitekey", "secret-id", "secretname", "recv-keys", "recv-key", "send-keys", "secret-keys", "default-key",
	"credentialsid", "credentialid", "credentials_id", "credential_id", "credentials-id", "credential-id", "_sock",
	"label", "_subject", "_message", "_title", "_text", "_description", "placeholder",
}

// secret reports whether the value looks like one.
func (a assignment) secret(f *Formats, k Keyword) bool {
	a.value = f.unmasked(a.value)
	v := a.value
	for _, h := range harmless {
		if strings.HasSuffix(a.name, h) {
			return false
		}
	}
	if strings.Contains(a.name, "tokenizer") || k.Word == "_auth" && strings.Contains(a.name, "_author") || k.Word == "pwd" && folder(v) {
		return false
	}
	if strings.Contains(a.name, "aws") && len(a.value) == 40 && amazonSecret(a.value) {
		return true
	}
	if isPublished(v) || k.weak && madeOfWords(v) || a.itself() || !a.sure && a.names(k) {
		return false
	}
	if len(v) < 6 || a.next == '(' || a.next == '[' && !a.quoted || placeholder(v) ||
		strings.HasPrefix(v, "/") && strings.Count(v, "/") > 1 && k.plain || whereabouts(v) {
		return false
	}
	switch {
	case a.sure:
		return true
	case a.quoted && strings.ContainsAny(v, " \t"):
		return a.spaced(k)
	case f.unissued(v):
		return false
	case !k.weak && (longNumber(v) || oneWord(v) && !nameLike(v) && entropy(v) >= 3.2) ||
		scrambled(v) && !nameLike(v) && (!k.weak || len(v) >= 24):
		return true
	case a.random:
		return (longEnough(v) || k.plain && len(v) >= 8) && madeUp(v) && !numeric(v) && !expression(v) && (k.plain || entropy(v) >= a.floor())
	case k.plain && (a.glued || a.quoted):
		return !identifier(v) && strings.IndexFunc(v, isWord) >= 0 || HasDigit(v) || !a.quoted && a.glued
	case k.plain:
		return madeUp(v) && !numeric(v) && !expression(v)
	}
	return longEnough(v) && madeUp(v) && !numeric(v) && !expression(v) && entropy(v) >= a.floor()
}

// longEnough reports whether a value has the length of a key: the shortest have ten
// characters, or eight of mixed kinds. Shorter ones are names of keys, or tests.
func longEnough(v string) bool { return len(v) >= 10 || len(v) >= 8 && mixed(v) }

// unmasked returns a value without the parts that are already masked.
func (f *Formats) unmasked(v string) string { return f.replaceMasked(v, "") }

// replaceMasked replaces the parts that are already masked.
func (f *Formats) replaceMasked(v, with string) string {
	if !strings.Contains(v, Redacted) {
		return v
	}
	at, rest := 0, ""
	for _, s := range f.appendMasked(nil, v) {
		rest += v[at:s.Start] + with
		at = s.End
	}
	return rest + v[at:]
}

// itself reports whether a value is a variable or a field with the name of its target:
// password = password1; and a.password=b.password.
func (a assignment) itself() bool {
	if a.quoted {
		return false
	}
	value := Lower(a.value)
	field := strings.LastIndexByte(value, '.')
	if field < 0 && (a.next == 0 || strings.IndexByte(";,)", a.next) < 0) {
		return false
	}
	own := a.name[strings.LastIndexByte(a.name, '.')+1:]
	return strings.TrimRight(value[field+1:], "0123456789") == own
}

// spaced judges a value of several words: a pass phrase, not a sentence.
func (a assignment) spaced(k Keyword) bool {
	v := a.value
	if phrase(v) && !a.random && !k.weak {
		return true
	}
	return k.plain && len(v) >= 12 && HasDigit(v) && !strings.Contains(Lower(v), k.Word) && strings.Count(v, " ") < 4 && entropy(v) > 3.5
}

// floor is the least entropy of a secret: lower if the form of the assignment is
// strong evidence, and if a short value or few digits allow no more.
func (a assignment) floor() float64 {
	most := 3.2
	if (a.glued || a.quoted) && !a.random {
		most = 2.8
	}
	if len(a.value) >= 16 && strings.Trim(a.value, "0123456789abcdef:-") == "" {
		most = min(most, 2.4)
	}
	return min(most, 0.8*math.Log2(float64(len(a.value))))
}

// names reports whether the value is the name of something: of a type, a variable or a
// field in code, of a file, or a placeholder for a secret. Passwords can be words too,
// so for a password the form of the assignment decides.
func (a assignment) names(k Keyword) bool {
	if rest, joined := strings.CutPrefix(a.value, "+"); addressOfWords(a.value) || joined && (identifier(rest) || expression(rest)) {
		return true
	}
	code := a.next == ')' || a.next == ',' && (a.then == ' ' || a.then == '\n')
	if !nameLike(a.value) && !(code && !a.quoted && expression(a.value)) {
		return false
	}
	switch {
	case a.quoted:
		return !k.plain && (strings.ContainsAny(a.value, "./") || a.describes(k))
	case a.glued && k.plain:
		return code && compound(a.value)
	case a.glued:
		return code || k.weak || a.describes(k)
	case k.plain:
		return compound(a.value) && (code || a.next == ';' || a.next == ',' || ofType(a.value))
	}
	return true
}

// describes reports whether a value describes itself: client-token-1, encryptionKey2.
func (a assignment) describes(k Keyword) bool {
	if word := strings.ReplaceAll(k.Word, "_", ""); (len(word) > 6 || word == "hmac") && strings.Contains(Lower(a.value), word) {
		return true
	}
	value := strings.ReplaceAll(Lower(a.value), "-", "_")
	return strings.Contains(value, "_") && strings.Contains(value, strings.TrimPrefix(k.kind, "api_"))
}

// Distinct reports whether a secret that was found in a string is a secret in any other
// text too. A token of a known issuer is. One that was found only by the name before
// it must look random: otherwise a common word would be masked everywhere.
func Distinct(kind, value string) bool {
	switch {
	case !announced()[kind] || strings.ContainsAny(value, " \t"):
		return true
	case kind == "password" || kind == "url_password":
		return madeUp(value) && !nameLike(value) || phrase(strings.NewReplacer("-", " ", "_", " ", ".", " ").Replace(value))
	}
	return len(value) >= leastDistinct && (HasDigit(value) || scrambled(value) || oneWord(value)) && !numeric(value) && !nameLike(value)
}

// leastDistinct is the minimum length of a value of letters and digits that
// can be considered random.
const leastDistinct = 12

// announced are the kinds of secrets that are found by the text before them.
var announced = sync.OnceValue(func() map[string]bool {
	kinds := map[string]bool{"password": true, "url_password": true, "url_user": true, "bearer": true, "cookie": true}
	for _, k := range Keywords {
		kinds[k.kind] = true
	}
	return kinds
})

// Placeholder reports whether a value stands for one: a variable, an example, a
// mask.
func Placeholder(v string) bool { return placeholder(v) }
