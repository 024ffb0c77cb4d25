package mask

import (
	"encoding/base64"
	"strings"
)

// keyBegin and keyEnd delimit a private key; the words between BEGIN and PRIVATE KEY
// name its format.
const (
	keyBegin = "-----BEGIN "
	keyWord  = "PRIVATE KEY"
	keyEnd   = "-----END "
)

// appendKeyBlocks finds PEM private keys, even where a JSON or shell string contains their line
// ends as \n, and where the end or the beginning is missing.
func appendKeyBlocks(found []span, s string) []span {
	last := 0 // end of the block before
	lastEnd := strings.LastIndex(s, keyEnd)
	for from := 0; ; {
		i := strings.Index(s[from:], "-----")
		if i < 0 {
			return found
		}
		i += from
		from = i + len("-----")
		mark := s[i:min(len(s), i+48)]
		switch {
		case !strings.Contains(mark, keyWord):
		case strings.HasPrefix(mark, keyBegin):
			block := keyBody(s, i+strings.Index(mark, keyWord)+len(keyWord), lastEnd)
			if block.End-block.Start >= 16 {
				found = append(found, block)
			}
			from = max(from, block.End)
			last = from
		case strings.HasPrefix(mark, keyEnd):
			if start := keyLinesBefore(s, last, i); i-start >= 16 {
				found = append(found, span{start, start + len(strings.TrimRight(s[start:i], "\r\n \t")), "private_key"})
			}
			last = i
		}
	}
}

// keyBody is the body of a key whose first line ends after i; the last end of a
// key in the text is at lastEnd, so that none is searched for after it.
func keyBody(s string, i, lastEnd int) span {
	body := Run(s, i, len(s), func(c byte) bool { return c == '-' || c == ' ' || Alnum(c) })
	end := body
	if body <= lastEnd {
		end = body + strings.Index(s[body:], keyEnd)
	} else {
		end = keyLines(s, body)
	}
	body = Run(s, body, end, func(c byte) bool { return spacing(c) })
	return span{body, max(body, body+len(strings.TrimRight(s[body:end], "\r\n"))), "private_key"}
}

// appendPutty finds the private lines of PuTTY's files and their MAC.
func appendPutty(found []span, s string) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], "Private-Lines:")
		if i < 0 {
			return found
		}
		from += i + len("Private-Lines:")
		begin := Run(s, from, min(len(s), from+8), func(c byte) bool { return Digit(c) || spacing(c) })
		end := keyLines(s, begin)
		if j := strings.Index(s[begin:end], "Private-"); j >= 0 {
			end = begin + j
		}
		if body := strings.TrimRight(s[begin:end], "\r\n \t"); len(body) >= 16 {
			found = append(found, span{begin, begin + len(body), "private_key"})
		}
		from = max(from, end)
	}
}

// keyLines returns the end of the lines of base64 that begin at i, indented or
// not.
func keyLines(s string, i int) int {
	for {
		start := Run(s, i, len(s), spacing)
		end := Run(s, start, len(s), func(c byte) bool { return Base64Char(c) || c == '\\' })
		if end == start || end < len(s) && !spacing(s[end]) {
			return end
		}
		if i = Run(s, end, len(s), Blank); i == len(s) || s[i] != '\n' && s[i] != '\r' {
			return end // words follow
		}
	}
}

// keyLinesBefore returns the beginning of the lines of base64 that end before
// i: all but the last of them are long.
func keyLinesBefore(s string, least, i int) int {
	start := i
	for {
		end := len(strings.TrimRight(s[least:start], "\r\n \t")) + least
		line := end
		for line > least && (Base64Char(s[line-1]) || s[line-1] == '\\') {
			line--
		}
		if line == end || end-line < 32 && start != i || line > least && !spacing(s[line-1]) && strings.IndexByte("\"'`", s[line-1]) < 0 {
			return start
		}
		start = line
		if line == least || s[line-1] == '"' || s[line-1] == '\'' {
			return start
		}
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
		end := Run(s, begin, limit, func(c byte) bool { return strings.IndexByte("/ \t\r\n\"'`<>\\;|", c) < 0 })
		if i := strings.IndexAny(s[begin:end], "?#"); i >= 0 && strings.ContainsAny(s[begin+i:end], "=&") {
			end = begin + i // of a query, not of a password
		}
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
		if colon >= 16 && entropy(info[:colon]) >= 3 && HasDigit(info[:colon]) { // TOKEN:x-oauth-basic@
			found = append(found, span{begin, begin + colon, "url_user"})
		}
	}
}

// headers are the names of headers that contain a secret.
var headers = []struct {
	name, kind string
	schemed    bool // a word for the scheme is before the secret
}{
	{"authorization", "bearer", true},
	{"cookie", "cookie", false},
	{"bearer ", "bearer", false},
}

// schemes are the words of an Authorization header before the secret.
var schemes = []struct{ word, kind string }{
	{"basic ", "basic_auth"}, {"bearer ", "bearer"}, {"token ", "bearer"}, {"apikey ", "bearer"}, {"api-key ", "bearer"}, {"api-token ", "bearer"}, {"key ", "bearer"},
	{"geniekey ", "bearer"}, {"ssws ", "bearer"}, {"splunk ", "bearer"}, {"digest ", "digest"}, {"negotiate ", "bearer"}, {"sso-key ", "bearer"}, {"bot ", "bearer"}, {"oauth ", "bearer"},
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
			begin = Run(t.raw, begin, len(t.raw), Blank)
			end := Run(t.raw, begin, len(t.raw), func(c byte) bool { return headerChar(c) || kind == "cookie" && strings.IndexByte("; ", c) >= 0 })
			from = end
			if v := t.raw[begin:end]; headerSecret(v, kind) && (!h.schemed || begin > lead || HasDigit(v)) {
				found = append(found, span{begin, end, kind})
			}
		}
	}
	return found
}

// headerValue skips what is between a header's name and its value: a colon, in JSON
// and in code also quotes and commas. It returns -1 if neither is there.
func headerValue(s string, i int) int {
	at := Run(s, i, min(len(s), i+3), func(c byte) bool { return strings.IndexByte("\"'\\]", c) >= 0 })
	at = Run(s, at, min(len(s), at+4), Blank)
	sign := Run(s, at, min(len(s), at+2), func(c byte) bool { return strings.IndexByte(":=,>", c) >= 0 })
	if sign == at {
		return -1
	}
	at = Run(s, sign, min(len(s), sign+4), Blank)
	return Run(s, at, min(len(s), at+3), func(c byte) bool { return strings.IndexByte("\"'`\\", c) >= 0 })
}

func skipScheme(t scanned, i int, kind string) (int, string) {
	for _, scheme := range schemes {
		if strings.HasPrefix(t.low[i:], scheme.word) {
			at := Run(t.low, i+len(scheme.word), len(t.low), Blank)
			joined := Run(t.low, at, min(len(t.low), at+6), func(c byte) bool { return strings.IndexByte("\"'+. ", c) >= 0 })
			if strings.Contains(t.low[at:joined], "+") {
				at = joined // "Bearer " + "x"
			}
			return at, scheme.kind
		}
	}
	return i, kind
}

func headerSecret(v, kind string) bool {
	if kind == "basic_auth" {
		return len(v) >= 8 && !placeholder(v) && (login(v) || HasDigit(v))
	}
	if i := strings.IndexAny(v, "= "); kind == "cookie" && (i < 1 || v[i] != '=') {
		return false // the code that makes one
	}
	return len(v) >= 12 && !placeholder(v) && (HasDigit(v) || entropy(v) >= 3.5)
}

// login reports whether a string is the base64 of user:password.
func login(v string) bool {
	b, err := base64.StdEncoding.DecodeString(v)
	if err != nil {
		b, err = base64.RawStdEncoding.DecodeString(v)
	}
	return err == nil && strings.IndexByte(string(b), ':') >= 0 && strings.IndexFunc(string(b), unprintable) < 0
}

func unprintable(r rune) bool { return r < ' ' || r == 0xfffd }

// headerChar are the characters of a header's secret up to the quote that ends it.
func headerChar(c byte) bool { return Base64Char(c) || strings.IndexByte(".~:%!*", c) >= 0 }

// appendPairs finds the secret half of an Amazon key next to its id.
func appendPairs(found []span, s string) []span {
	for _, f := range found {
		if f.Kind != "aws_key" {
			continue
		}
		for i := max(0, f.Start-nearby); i < min(len(s), f.End+nearby); {
			end := Run(s, i, len(s), amazonChar)
			if end-i == 40 && amazonSecret(s[i:end]) {
				found = append(found, span{i, end, "aws_secret"})
			}
			i = end + 1
		}
	}
	return found
}

// nearby limits the distance between the halves of a pair, in bytes.
const nearby = 200

func amazonChar(c byte) bool { return Alnum(c) || c == '+' || c == '/' }

// amazonSecret reports whether 40 characters are neither a digest nor a path.
func amazonSecret(v string) bool {
	return Run(v, 0, len(v), amazonChar) == len(v) && mixed(v) && entropy(v) >= 3.8
}
