package classify

import (
	"math"
	"strings"
)

// keyBegin and keyEnd frame a private key; the words between BEGIN and
// PRIVATE KEY name its format.
const (
	keyBegin = "-----BEGIN "
	keyWord  = "PRIVATE KEY"
	keyEnd   = "-----END "
)

// appendKeyBlocks finds PEM private keys, also where a JSON or shell string
// holds their line ends as \n, and where the end is missing.
func appendKeyBlocks(found []span, s string) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], keyBegin)
		if i < 0 {
			return found
		}
		i += from
		from = i + len(keyBegin)
		head := s[from:min(len(s), from+40)]
		word := strings.Index(head, keyWord)
		if word < 0 {
			continue
		}
		body := run(s, from+word+len(keyWord), len(s), func(c byte) bool { return c == '-' || c == ' ' || alnum(c) })
		end := body
		if j := strings.Index(s[body:], keyEnd); j >= 0 {
			end = body + j
		} else {
			end = run(s, body, len(s), func(c byte) bool { return base64Char(c) || c == '\n' || c == '\r' || c == '\\' })
		}
		body = run(s, body, end, func(c byte) bool { return c == '\n' || c == '\r' || c == ' ' })
		tail := end
		for tail > body && (s[tail-1] == '\n' || s[tail-1] == '\r') {
			tail--
		}
		if tail-body >= 16 {
			found = append(found, span{body, tail, "private_key"})
		}
		from = end
	}
}

// appendUserInfo finds the password, or a user name that is a token, in URLs.
func appendUserInfo(found []span, s string) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], "://")
		if i < 0 {
			return found
		}
		begin := from + i + 3
		from = begin
		limit := min(len(s), begin+judged)
		end := run(s, begin, limit, func(c byte) bool { return strings.IndexByte("/?# \t\r\n\"'`<>\\;|", c) < 0 })
		at := strings.LastIndexByte(s[begin:end], '@')
		if at < 0 {
			continue
		}
		info := s[begin : begin+at]
		colon := strings.IndexByte(info, ':')
		switch {
		case colon < 0 && len(info) >= 16 && entropy(info) >= 3:
			found = append(found, span{begin, begin + at, "url_user"})
		case colon >= 0 && len(info)-colon > 1 && !placeholder(info[colon+1:]):
			found = append(found, span{begin + colon + 1, begin + at, "url_password"})
		}
		if colon >= 16 && entropy(info[:colon]) >= 3 && hasDigit(info[:colon]) { // TOKEN:x-oauth-basic@
			found = append(found, span{begin, begin + colon, "url_user"})
		}
	}
}

// headers announce a secret by the words before it.
var headers = []struct{ lead, kind string }{
	{"bearer ", "bearer"},
	{"authorization: basic ", "basic_auth"},
	{"authorization: token ", "bearer"},
	{"authorization: apikey ", "bearer"},
	{"authorization:basic ", "basic_auth"},
	{"cookie: ", "cookie"},
}

func appendHeaders(found []span, s string) []span {
	low := lower(s)
	for _, h := range headers {
		for from := 0; ; {
			i := strings.Index(low[from:], h.lead)
			if i < 0 {
				break
			}
			begin := run(s, from+i+len(h.lead), len(s), func(c byte) bool { return c == ' ' })
			end := run(s, begin, len(s), func(c byte) bool { return headerChar(c) || h.kind == "cookie" && strings.IndexByte("; ", c) >= 0 })
			from = end
			if value := s[begin:end]; len(value) >= 12 && !placeholder(value) && (hasDigit(value) || entropy(value) >= 3.5) {
				found = append(found, span{begin, end, h.kind})
			}
		}
	}
	return found
}

// headerChar are the characters of a header's secret up to the quote that ends it.
func headerChar(c byte) bool { return base64Char(c) || strings.IndexByte(".~:%!*", c) >= 0 }

// keywords announce a secret when a value is assigned to a name that holds
// one. plain: the value is a password, which people make up, so that it need
// not look random.
var keywords = []struct {
	word  string
	kind  string
	plain bool
}{
	{"password", "password", true}, {"passwd", "password", true}, {"passphrase", "password", true}, {"pwd", "password", true},
	{"passwort", "password", true}, {"db_pass", "password", true}, {"_pass", "password", true}, {"userpass", "password", true},
	{"secret", "secret", false}, {"token", "token", false}, {"credential", "secret", false},
	{"api_key", "api_key", false}, {"api-key", "api_key", false}, {"apikey", "api_key", false}, {"api key", "api_key", false},
	{"access_key", "access_key", false}, {"access-key", "access_key", false}, {"accesskey", "access_key", false},
	{"secret_key", "secret", false}, {"private_key", "secret", false}, {"privatekey", "secret", false},
	{"account_key", "access_key", false}, {"accountkey", "access_key", false}, {"encryption_key", "secret", false}, {"encryption-key", "secret", false},
	{"signing_key", "secret", false}, {"service_key", "secret", false}, {"auth_key", "token", false}, {"authkey", "token", false},
	{"client_id", "client_id", false}, {"client-id", "client_id", false}, {"clientid", "client_id", false},
	{"app_key", "api_key", false}, {"appkey", "api_key", false}, {"license_key", "secret", false}, {"webhook_key", "secret", false},
	{"x-amz-signature", "signature", false}, {"sig=", "signature", false}, {"signature=", "signature", false},
	{"hmac", "secret", false}, {"_auth", "token", false},
	{"master_key", "secret", false}, {"master-key", "secret", false}, {"storage_key", "secret", false},
	{"_key", "secret", false}, {"-key", "secret", false}, {"key=", "secret", false},
}

// starters are the first bytes of keywords, both cases.
const starters = "ptsdcaxhmlew_-kuPTSDCAXHMLEWKU"

func appendAssignments(found []span, s string) []span {
	low := lower(s)
	for i := 0; i < len(low); i++ {
		if strings.IndexByte(starters, low[i]) < 0 {
			continue
		}
		for _, k := range keywords {
			if k.word[0] != low[i] || !strings.HasPrefix(low[i:], k.word) {
				continue
			}
			if a, ok := readAssignment(s, i, len(k.word)); ok && a.secret(k.plain) {
				found = append(found, span{a.start, a.end, k.kind})
				i = a.end - 1
			}
			break
		}
	}
	return found
}

// assignment is a value that is given to a name.
type assignment struct {
	start, end int
	value      string
	quoted     bool
	glued      bool // no space around the sign, as in the shell, in URLs and options
	before     byte // the character before the name
	name       string
	next       byte // the character after the value
}

// maxName bounds the search for the beginning and the end of a name.
const maxName = 48

// readAssignment reads name, sign and value around a keyword at i.
func readAssignment(s string, i, n int) (assignment, bool) {
	var a assignment
	begin := i
	for begin > 0 && i-begin < maxName && tokenChar(s[begin-1]) {
		begin--
	}
	if begin > 0 {
		a.before = s[begin-1]
	}
	end := i + n
	if s[end-1] == '=' {
		end-- // the sign is part of the keyword
	}
	end = run(s, end, min(len(s), end+maxName), func(c byte) bool { return tokenChar(c) || c == '.' })
	a.name = lower(s[begin:end])
	at := run(s, end, min(len(s), end+3), func(c byte) bool { return strings.IndexByte("\"'`]\\", c) >= 0 })
	sign := run(s, at, min(len(s), at+8), blank)
	gap := sign > at
	j := run(s, sign, min(len(s), sign+3), func(c byte) bool { return c == '=' || c == ':' || c == '>' })
	if j == sign && (!gap || at > end || !strings.HasPrefix(a.name, "--")) {
		return a, false
	}
	if j > sign && s[j-1] == '=' && j-sign >= 2 && s[sign] == '=' { // a comparison
		return a, false
	}
	if a.before == '/' && j > sign && s[sign] == ':' {
		return a, false // the user of a URL
	}
	v := run(s, j, min(len(s), j+8), blank)
	a.glued = !gap && v == j && j > sign && s[sign] == '=' || j == sign
	return a.readValue(s, v)
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// readValue reads a quoted string or a bare word at i.
func (a assignment) readValue(s string, i int) (assignment, bool) {
	for i < len(s) && s[i] == '\\' {
		i++ // an escaped quote of JSON in JSON
	}
	if i >= len(s) {
		return a, false
	}
	a.start = i
	chars := func(c byte) bool { return strings.IndexByte(" \t\r\n\"'`;&|<>()[]{},\\$", c) < 0 }
	if q := s[i]; q == '"' || q == '\'' || q == '`' {
		a.quoted, a.start = true, i+1
		chars = func(c byte) bool { return c != q && c != '\n' && c != '\\' }
	}
	a.end = run(s, a.start, min(len(s), a.start+judged), chars)
	if a.end == a.start+judged && strings.IndexByte(s[a.start:a.end], '=') < 0 {
		a.end = run(s, a.end, len(s), chars)
	}
	a.value = s[a.start:a.end]
	if a.end < len(s) {
		a.next = s[a.end]
	}
	return a, a.value != ""
}

// harmless are ends of names that hold no secret though they name one.
var harmless = []string{
	"_file", "-file", "_path", "-path", "_name", "-name", "_type", "-type", "_url", "-url", "_uri", "-uri", "_length", "-length",
	"_count", "_limit", "_ttl", "_expiry", "_expires", "_field", "_header", "_prefix", "_env", "_stdin", "-stdin", "_size", "_arn",
	"_label", "_hint", "_policy", "_min", "_max", "_regex", "_pattern", "_dir", "-dir", "_enabled", "_class", "_color", "_version",
	"tokens", "tokenizer", "keyword", "keywords", "keyboard", "public_key", "public-key", "publickey", "pub_key", "primary_key", "foreign_key",
	"sort_key", "partition_key", "cache_key", "cache-key", "hotkey", "shortcut_key", "object_key", "row_key", "i18n_key", "oldpwd",
}

// secret says whether the value looks like one.
func (a assignment) secret(plain bool) bool {
	v := a.value
	for _, h := range harmless {
		if strings.HasSuffix(a.name, h) {
			return false
		}
	}
	if len(v) < 6 || a.next == '(' || a.next == '[' && !a.quoted || placeholder(v) || strings.HasPrefix(v, "/") && strings.Count(v, "/") > 1 && plain {
		return false
	}
	if a.quoted && strings.ContainsAny(v, " \t") {
		return plain && len(v) >= 12 && hasDigit(v) && strings.Count(v, " ") < 4 && entropy(v) > 3.5
	}
	switch {
	case plain && (a.glued || a.quoted):
		return !identifier(v) || hasDigit(v) || !a.quoted && a.glued
	case plain:
		return hasDigit(v) && !numeric(v) && !expression(v)
	}
	return len(v) >= 8 && hasDigit(v) && !numeric(v) && !expression(v) && entropy(v) >= entropyFloor(v, a)
}

// entropyFloor is lower where the form of the assignment leaves less doubt.
func entropyFloor(v string, a assignment) float64 {
	if a.glued || a.quoted {
		return 2.8
	}
	return 3.2
}

// identifier says that a text is one word of letters.
func identifier(s string) bool {
	for i := 0; i < len(s); i++ {
		if !alnum(s[i]) && s[i] != '_' || digit(s[i]) {
			return false
		}
	}
	return true
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func numeric(s string) bool {
	return strings.Trim(s, "0123456789.,:_-+%eE") == ""
}

// expression says that a value is code that computes it: a path of names.
func expression(s string) bool {
	if !strings.ContainsAny(s, ".") {
		return false
	}
	for _, part := range strings.Split(s, ".") {
		if part == "" || digit(part[0]) || len(part) > 24 || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return false
		}
		if len(part)-len(strings.Map(dropDigit, part)) > 3 {
			return false
		}
	}
	return true
}

func dropDigit(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// dummies are words by which people mark that a value is none.
var dummies = []string{
	"example", "changeme", "change_me", "change-me", "placeholder", "dummy", "redacted", "your_", "your-", "yourtoken", "yourkey", "<", ">", "...", "***", "xxxx",
	"${", "{{", "$(", "%(", "#{", "insert", "replace_me", "replace-me", "todo", "undefined", "process.env", "os.environ", "getenv", "secretsmanager:", "not-a-secret", "fake",
}

// placeholder says that a value stands for one: a variable, an example, a mask.
func placeholder(v string) bool {
	if v == "" || strings.IndexByte("$%{<*", v[0]) >= 0 || repetitive(v) && !numeric(v) {
		return true
	}
	low := lower(v)
	for _, d := range dummies {
		if strings.Contains(low, d) {
			return true
		}
	}
	switch strings.Trim(low, "\"'") {
	case "none", "null", "true", "false", "string", "secret", "token", "password", "passwd", "username", "required", "optional", "default", "unknown", "empty", "number", "boolean", "object":
		return true
	}
	return false
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

// lower is strings.ToLower for ASCII: offsets stay the same.
func lower(s string) string {
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
