package mask

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// This file finds other spellings of the secrets in a call: split into words, in lower
// case, encoded.

// longWord is the minimum length of a word of a secret that is masked by itself: a
// line of a private key, but not the "KEY" in its first one.
const longWord = 16

// knowWords remembers the words of a secret that has several: a shell splits a key
// into its lines.
func (m *Masker) knowWords(secret, with string) {
	words := strings.FieldsFunc(lineEnds.Replace(secret), func(r rune) bool { return strings.ContainsRune(" \t\r\n;\"'`", r) })
	for _, w := range words {
		for _, part := range []string{w, w[strings.LastIndexByte(w, '/')+1:]} { // also the name of a program in a path
			if part != secret && len(part) >= longWord && len(part) <= maxPiece {
				m.know(part, with)
			}
		}
	}
}

// lineEnds decodes the line ends of a string in a literal.
var lineEnds = strings.NewReplacer(`\n`, "\n", `\r`, "\n")

// Folded returns a masker for the same secrets in lower case, as host names are
// written.
func (m *Masker) Folded() *Masker {
	f := &Masker{Mac: m.Mac, known: map[string]string{}}
	for secret, with := range m.known {
		low := strings.ToLower(secret)
		if old, there := f.known[low]; low != secret && len(low) >= shortSecret && (!there || with < old) {
			f.known[low] = with
		}
	}
	return f
}

// Host masks the name of a host.
func (m *Masker) Host(folded *Masker, s string) string { return folded.replaceKnown(m.Text(s)) }

// minCoded is the least length of an encoded secret: whole bytes in hex and in base64.
const minCoded = 20

// learnCoded remembers secrets that are encoded in a string in base64 or hex, and the
// encoded text: a reader of the log could decode it.
func (m *Masker) learnCoded(text string) {
	for at := 0; at < len(text); {
		end := Run(text, at, len(text), Base64Char)
		code := text[at:end]
		if i := strings.LastIndexByte(strings.TrimRight(code, "="), '='); i >= 0 {
			code = code[i+1:] // after the name of what it is assigned to
		}
		m.learnCode(code)
		at = end + 1
	}
}

func (m *Masker) learnCode(code string) {
	text, ok := textOfCode(code)
	if !ok {
		return
	}
	found := m.find(text)
	i := slices.IndexFunc(found, func(s span) bool { return s.Kind != KindMasked })
	if i < 0 {
		return
	}
	m.Remember(text)
	with := m.Replacement(found[i].Kind, code)
	for len(code) > maxPiece {
		m.know(code[:maxPiece], with)
		code = code[maxPiece:]
	}
	if len(code) >= shortSecret {
		m.know(code, with)
	}
}

// textOfCode decodes a string in hex, or in base64 of either alphabet.
func textOfCode(code string) (string, bool) {
	bare := strings.TrimRight(code, "=")
	if len(bare) < minCoded {
		return "", false
	}
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		begin, err := decode(bare[:minCoded]) // most of what looks like base64 is not
		if err != nil || !Printed(begin) {
			continue
		}
		if b, err := decode(bare); err == nil && utf8.Valid(b) && Printed(b) {
			return string(b), true
		}
	}
	return "", false
}
