package mask

import (
	"slices"
	"strings"
)

// leastRandom is the length from which random characters after a name can be a secret.
const leastRandom = 20

// leastPassword is the length from which a value after a name that means password can be one that somebody uses.
const leastPassword = 8

// leastExample is the length of a word that marks an issuer's token as an example: random characters contain shorter ones.
const leastExample = 4

// LiveWords are the words by which Live recognises what nobody uses or everybody may know.
type LiveWords struct {
	Examples []string // parts of examples
	Public   []string // parts of the names of public keys
	Unclear  []string // kinds of tokens that expire, or are public as often as not
}

// Live returns the kind of the first secret in a string that looks as if somebody used it: a token of a known issuer, a private key,
// or a password that is not one of the usual ones of development. Empty: none.
func (m *Masker) Live(text string, words LiveWords) string {
	for _, s := range m.Secrets(text) {
		value := text[s.Start:s.End]
		if s.Kind == KindMasked { // what it was is not known
			if kind := maskedKind(value); m.formats().issuers[kind] && !slices.Contains(words.Unclear, kind) {
				return kind
			}
			continue
		}
		if filler(value) || placeholder(value) || commented(text[s.End:], words.Examples) || namedPublic(text[:s.Start], words.Public) {
			continue
		}
		issued := m.formats().issuers[s.Kind] && !slices.Contains(words.Unclear, s.Kind) ||
			slices.Contains([]string{"private_key", "jwk_private_key", "aws_secret"}, s.Kind)
		used := usedValue(s.Kind, value) || s.Kind == "url_password" && usedValue("password", value) && elsewhere(text[s.End:])
		if issued && !exampleValue(value, words.Examples, leastExample) || used && !exampleValue(value, words.Examples, 1) {
			return s.Kind
		}
	}
	return ""
}

// usedValue reports whether a value that is a secret by its name alone looks as if it were in use: a password that is not a word, or
// long random characters.
func usedValue(kind, value string) bool {
	switch kind {
	case "password":
		return len(value) >= leastPassword && madeUp(value) && !counted(value) && !phrase(value)
	case "secret", "token", "api_key", "access_key":
		return len(value) >= leastRandom && mixed(value) && drawn(value) && Run(value, 0, len(value), Base64Char) == len(value)
	}
	return false
}

// elsewhere reports whether the rest of an address, behind its password, is on a machine with a name of several parts: names of
// this machine and of containers on it have one part.
func elsewhere(rest string) bool {
	host, found := strings.CutPrefix(rest, "@")
	if host = host[:Run(host, 0, len(host), dotted)]; !found {
		return false
	}
	name := Lower(host)
	return strings.Contains(name, ".") && strings.Trim(name, "0123456789.") != "" && !strings.HasSuffix(name, ".local") &&
		!strings.HasSuffix(name, ".internal") && !strings.Contains(name, "example")
}

// exampleValue reports whether a value contains one of the words that have some length.
func exampleValue(value string, words []string, least int) bool {
	low := Lower(value)
	return slices.ContainsFunc(words, func(w string) bool { return len(w) >= least && strings.Contains(low, w) })
}

// commented reports whether a comment in the rest of a line contains one of the words.
func commented(rest string, words []string) bool {
	rest, _, _ = strings.Cut(rest, "\n")
	for _, mark := range []string{"#", " //", "--", "/*", "<!--"} {
		_, comment, found := strings.Cut(rest, mark)
		parts := strings.FieldsFunc(Lower(comment), func(r rune) bool { return r < 'a' || r > 'z' })
		if found && slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) }) {
			return true
		}
	}
	return false
}

// namedPublic reports whether a name before a value, in its line, contains one of the words.
func namedPublic(before string, words []string) bool {
	names := strings.FieldsFunc(before[strings.LastIndexByte(before, '\n')+1:], func(r rune) bool {
		return !identifierChar(r)
	})
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return len(name) > len(w) && strings.Contains(Lower(name), w) })
	})
}

func identifierChar(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
