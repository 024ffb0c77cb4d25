package classify

import (
	"encoding/base64"
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
		case colon >= 0 && len(info)-colon > 1 && !reference(info[colon+1:]) && !repetitive(info[colon+1:]):
			found = append(found, span{begin + colon + 1, begin + at, "url_password"})
		}
		if colon >= 16 && entropy(info[:colon]) >= 3 && hasDigit(info[:colon]) { // TOKEN:x-oauth-basic@
			found = append(found, span{begin, begin + colon, "url_user"})
		}
	}
}

// headers announce a secret by their names.
var headers = []struct {
	name, kind string
	schemed    bool // a word for the scheme stands before the secret
}{
	{"authorization", "bearer", true},
	{"cookie", "cookie", false},
	{"bearer ", "bearer", false},
}

// schemes are the words of an Authorization header before the secret.
var schemes = []struct{ word, kind string }{
	{"basic ", "basic_auth"}, {"bearer ", "bearer"}, {"token ", "bearer"}, {"apikey ", "bearer"}, {"api-key ", "bearer"}, {"key ", "bearer"},
	{"genie", "bearer"}, {"splunk ", "bearer"}, {"digest ", "digest"}, {"negotiate ", "bearer"}, {"sso-key ", "bearer"}, {"bot ", "bearer"}, {"oauth ", "bearer"},
}

func appendHeaders(found []span, t scanned) []span {
	for _, h := range headers {
		for from := 0; ; {
			i := strings.Index(t.low[from:], h.name)
			if i < 0 {
				break
			}
			from += i + len(h.name)
			begin := from
			if h.name[len(h.name)-1] != ' ' {
				begin = headerValue(t.raw, from)
			}
			if begin < 0 {
				continue
			}
			kind := h.kind
			lead := begin
			if h.schemed {
				begin, kind = skipScheme(t, begin, kind)
			}
			begin = run(t.raw, begin, len(t.raw), blank)
			end := run(t.raw, begin, len(t.raw), func(c byte) bool { return headerChar(c) || kind == "cookie" && strings.IndexByte("; ", c) >= 0 })
			from = end
			if v := t.raw[begin:end]; headerSecret(v, kind) && (!h.schemed || begin > lead || hasDigit(v)) {
				found = append(found, span{begin, end, kind})
			}
		}
	}
	return found
}

// headerValue skips what stands between a header's name and its value: a colon,
// in JSON and in code also quotes and commas. It returns -1 where nothing does.
func headerValue(s string, i int) int {
	at := run(s, i, min(len(s), i+3), func(c byte) bool { return strings.IndexByte("\"'\\]", c) >= 0 })
	at = run(s, at, min(len(s), at+4), blank)
	sign := run(s, at, min(len(s), at+2), func(c byte) bool { return strings.IndexByte(":=,>", c) >= 0 })
	if sign == at {
		return -1
	}
	at = run(s, sign, min(len(s), sign+4), blank)
	return run(s, at, min(len(s), at+3), func(c byte) bool { return strings.IndexByte("\"'`\\", c) >= 0 })
}

func skipScheme(t scanned, i int, kind string) (int, string) {
	for _, scheme := range schemes {
		if strings.HasPrefix(t.low[i:], scheme.word) {
			return run(t.low, i+len(scheme.word), len(t.low), blank), scheme.kind
		}
	}
	return i, kind
}

func headerSecret(v, kind string) bool {
	if kind == "basic_auth" {
		return len(v) >= 8 && !placeholder(v) && (login(v) || hasDigit(v))
	}
	if i := strings.IndexAny(v, "= "); kind == "cookie" && (i < 1 || v[i] != '=') {
		return false // the code that makes one
	}
	return len(v) >= 12 && !placeholder(v) && (hasDigit(v) || entropy(v) >= 3.5)
}

// login says that a text is the base64 of user:password.
func login(v string) bool {
	b, err := base64.StdEncoding.DecodeString(v)
	if err != nil {
		b, err = base64.RawStdEncoding.DecodeString(v)
	}
	return err == nil && strings.IndexByte(string(b), ':') >= 0 && strings.IndexFunc(string(b), unprintable) < 0
}

func unprintable(r rune) bool { return r < ' ' || r == 0xfffd }

// headerChar are the characters of a header's secret up to the quote that ends it.
func headerChar(c byte) bool { return base64Char(c) || strings.IndexByte(".~:%!*", c) >= 0 }

// appendPairs finds the secret half of an Amazon key next to its id.
func appendPairs(found []span, s string) []span {
	for _, f := range found {
		if f.kind != "aws_key" {
			continue
		}
		for i := max(0, f.start-nearby); i < min(len(s), f.end+nearby); {
			end := run(s, i, len(s), amazonChar)
			if end-i == 40 && amazonSecret(s[i:end]) {
				found = append(found, span{i, end, "aws_secret"})
			}
			i = end + 1
		}
	}
	return found
}

// nearby is how far from each other the halves of a pair stand, in bytes.
const nearby = 200

func amazonChar(c byte) bool { return alnum(c) || c == '+' || c == '/' }

// amazonSecret says that 40 characters are no digest and no path.
func amazonSecret(v string) bool {
	return run(v, 0, len(v), amazonChar) == len(v) && mixed(v) && entropy(v) >= 3.8
}
