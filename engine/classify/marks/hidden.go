package marks

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// short collects the words of an action that could be short secrets.
func (l *literals) short(text string, rank int) {
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || quotes.has(r) }) {
		l.shortPart(p, rank)
		for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return betweenShort.has(r) }) {
			l.shortPart(part, rank)
		}
		if i := strings.IndexByte(p, '='); i >= 0 {
			l.shortPart(p[i+1:], rank)
		}
	}
}

func (l *literals) shortPart(p string, rank int) {
	p = strings.Trim(p, ".,;")
	if len(p) < secretValue || len(p) > 512 || strings.HasPrefix(p, "-") || strings.HasPrefix(p, "/") ||
		HostName(mask.Lower(p)) || FileName(p) {
		return
	}
	if mask.HasDigit(p) || strings.ToLower(p) != p && strings.ToUpper(p) != p || strings.ContainsAny(p, "!$%^&*+#@~") || rare(p) {
		l.add(rank, p)
	}
}

// decoded collects the literals of a string that is encoded in base64, hexadecimal or percent
// encoding, or reversed.
func (l *literals) decoded(text string) {
	for at := 0; at < len(text); {
		end := mask.Run(text, at, len(text), mask.Base64Char)
		l.decodedRun(text[at:end])
		at = end + 1
	}
	if plain, err := url.PathUnescape(text); err == nil && plain != text {
		l.hidden(plain, rankDecoded)
	} else if err != nil && strings.Contains(text, "%") {
		l.hidden(unescapeSome(text), rankDecoded)
	}
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || quotes.has(r) }) {
		l.backwards(p)
		if parts := strings.FieldsFunc(p, func(r rune) bool { return r == '=' || r == '&' || r == ',' }); len(parts) > 1 {
			for _, part := range parts {
				l.backwards(part)
			}
		}
	}
}

// decodedRun decodes a run of base64 characters, and the parts between its slashes: it may
// be the path of an address.
func (l *literals) decodedRun(code string) {
	for _, plain := range decodings(code) {
		l.hidden(plain, rankDecoded)
	}
	if !strings.Contains(code, "/") {
		return
	}
	for part := range strings.SplitSeq(code, "/") {
		for _, plain := range decodings(part) {
			l.hidden(plain, rankDecoded)
		}
	}
}

func (l *literals) backwards(p string) {
	if len(p) >= secretValue && len(p) <= maxBackwards && !l.full(rankReversed) {
		l.hidden(abstract.Reversed(p), rankReversed)
	}
}

// hidden collects the literals of a decoded text.
func (l *literals) hidden(plain string, rank int) {
	l.text(plain, rank)
	l.short(plain, rank)
}

// decodings decodes a run of characters as base64 and as hexadecimal, with and without what
// precedes an = in it.
func decodings(code string) []string {
	var out []string
	bare := strings.TrimRight(code, "=")
	if i := strings.LastIndexByte(bare, '='); i >= 0 {
		bare = bare[i+1:]
	}
	if len(bare) < secretValue || len(bare) > maxMarked {
		return nil
	}
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if b, err := decode(bare); err == nil && len(b) >= secretValue-2 && mask.Printed(b) && !slices.Contains(out, string(b)) {
			out = append(out, string(b))
		}
	}
	return out
}

// unescapeSome decodes the percent signs of a string that also contains others.
func unescapeSome(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && mask.HexChar(text[i+1]) && mask.HexChar(text[i+2]) {
			if c, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
