package mask

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// Printed reports whether bytes are text, except for a character that is cut at
// the end.
func Printed(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 && len(b) >= utf8.UTFMax || !unicode.IsPrint(r) && !unicode.IsSpace(r) && r != utf8.RuneError {
			return false
		}
		b = b[n:]
	}
	return true
}

// ContentOf describes a string that is not stored.
func (m *Masker) ContentOf(text string) engine.ContentFacts {
	f := engine.ContentFacts{Bytes: int64(len(text)), Lines: countLines(text), Secrets: m.Count(text)}
	if text != "" {
		f.MAC = m.Mac([]byte(text))
	}
	return f
}

// countLines counts lines as people do: a last line without its end is one.
func countLines(text string) int64 {
	n := int64(strings.Count(text, "\n"))
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// Masker replaces secrets in every string that leaves the process with
// REDACTED_kind_tag. The replacement consists of letters, digits and _ only, so that
// a masked command or URL still parses as the raw one did.
type Masker struct {
	Mac      func([]byte) string
	Formats  *Formats          // of tokens; nil: only secrets without an issuer's format
	Personal []string          // kinds of personal data that count as secrets
	known    map[string]string // secret found in the event -> its replacement
	all      *strings.Replacer // of known; nil: must be built again
}

func (m *Masker) formats() *Formats {
	if m.Formats == nil {
		return noFormats()
	}
	return m.Formats
}

// find returns what is to be replaced in a string, in order, without overlaps.
func (m *Masker) find(text string) []span {
	found := m.Secrets(text)
	if len(m.Personal) == 0 {
		return found
	}
	return settle(appendPersonal(found, text, m.Personal))
}

// Redacted begins each text that replaces a secret.
const Redacted = "REDACTED_"

// Replacement names a secret by kind and by 32 bits of its MAC: enough to recognise
// the same secret, too few to guess it.
func (m *Masker) Replacement(kind, secret string) string {
	return Redacted + kind + "_" + m.Mac([]byte(secret))[:8]
}

// Remember remembers the secrets of a string, so that they are also replaced where
// nothing around them identifies them: `--password x` is recognised in the command,
// but not in the list of its operands.
func (m *Masker) Remember(text string) {
	m.remember(text)
	if strings.ContainsAny(text, `'"\`) {
		m.remember(strings.NewReplacer(`'`, "", `"`, "", "\\", "").Replace(text))
	}
}

// LearnName remembers the secrets of a tool's name, also as the name of its
// action spells them.
func (m *Masker) LearnName(name string) {
	m.Remember(name)
	for _, part := range append([]string{name}, strings.Split(name, "__")...) { // mcp__SERVER__TOOL: a word begins after each
		for _, s := range m.find(part) {
			if secret := part[s.Start:s.End]; s.Kind != KindMasked {
				m.know(secret, m.Replacement(s.Kind, secret))
				m.know(DottedName(secret), m.Replacement(s.Kind, secret))
			}
		}
	}
}

func (m *Masker) remember(text string) {
	for _, s := range m.find(text) {
		secret := text[s.Start:s.End]
		if s.Kind == KindMasked {
			continue
		}
		with := m.Replacement(s.Kind, secret)
		m.knowWords(secret, with)
		for len(secret) > maxPiece {
			m.know(secret[:maxPiece], with)
			secret = secret[maxPiece:]
		}
		if len(secret) >= shortSecret || s.End-s.Start == len(secret) {
			m.know(secret, with) // but no short rest of a long secret
		}
	}
}

// maxPiece limits the piece of a secret that is searched for at once, in
// bytes: the time to prepare a search grows with the square of the length.
const maxPiece = 512

func (m *Masker) know(secret, with string) {
	if _, ok := m.known[secret]; ok {
		return
	}
	if m.known == nil {
		m.known = map[string]string{}
	}
	m.known[secret] = with
	m.all = nil
}

// Text returns s without secrets, and as valid UTF-8: other bytes are replaced
// as JSON replaces them, so that policy sees the same live and from the log.
// Masking the result again changes nothing.
func (m *Masker) Text(s string) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	for range maxRounds {
		spans := m.find(s)
		if !slices.ContainsFunc(spans, func(s span) bool { return s.Kind != KindMasked }) {
			return m.between(s, spans)
		}
		s = m.between(s, spans)
	}
	return s
}

// maxRounds bounds how often a string is searched again: a replacement can show that the
// text next to it is a secret too.
const maxRounds = 4

// between replaces the spans of a string, and known secrets between them.
func (m *Masker) between(s string, spans []span) string {
	if len(spans) == 0 {
		return m.replaceKnown(s)
	}
	var b strings.Builder
	at := 0
	for _, span := range spans {
		b.WriteString(m.replaceKnown(s[at:span.Start]))
		if span.Kind == KindMasked {
			b.WriteString(s[span.Start:span.End])
		} else {
			b.WriteString(m.Replacement(span.Kind, s[span.Start:span.End]))
		}
		at = span.End
	}
	b.WriteString(m.replaceKnown(s[at:]))
	return b.String()
}

// Texts masks each string of a list, in a new list.
func (m *Masker) Texts(list []string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = m.Text(s)
	}
	return out
}

// shortSecret is the length below which a secret is only replaced as a whole word:
// "admin1" inside a longer word is most likely another word.
const shortSecret = 8

func (m *Masker) replaceKnown(s string) string {
	if len(m.known) == 0 || s == "" {
		return s
	}
	if with, ok := m.known[s]; ok {
		return with
	}
	if m.all == nil {
		m.all = m.replacer()
	}
	s = m.all.Replace(s)
	return replaceWords(s, func(word string) (string, bool) {
		if len(word) >= shortSecret {
			return "", false
		}
		with, ok := m.known[word]
		return with, ok
	})
}

// replacer covers the long secrets, the longest first where one begins with another.
func (m *Masker) replacer() *strings.Replacer {
	var secrets []string
	for s := range m.known {
		if len(s) >= shortSecret {
			secrets = append(secrets, s)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range secrets {
		pairs = append(pairs, s, m.known[s])
	}
	return strings.NewReplacer(pairs...)
}

// replaceWords replaces each run of letters and digits with the result of the
// function.
func replaceWords(s string, with func(string) (string, bool)) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !Alnum(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && Alnum(s[j]) {
			j++
		}
		if r, ok := with(s[i:j]); ok {
			b.WriteString(s[done:i])
			b.WriteString(r)
			done = j
		}
		i = j
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// Count returns how many secrets of each kind a string contains; nil: none.
func (m *Masker) Count(text string) map[string]int {
	var n map[string]int
	for _, s := range m.find(text) {
		kind := s.Kind
		if kind == KindMasked {
			kind = maskedKind(text[s.Start:s.End])
		}
		if n == nil {
			n = map[string]int{}
		}
		n[kind]++
	}
	return n
}

// Secrets returns the secrets of a string in order, without overlaps. Personal data do
// not count.
func (m *Masker) Secrets(text string) []span { return m.formats().Find(text) }

// HoldsSecret reports whether a string contains a secret, masked or not: facts must be
// the same before and after masking.
func (m *Masker) HoldsSecret(text string) bool { return len(m.Secrets(text)) > 0 }

// Tokens returns the kinds of tokens in a string whose format identifies their issuer,
// masked or not, each once.
func (m *Masker) Tokens(text string) []string {
	var kinds []string
	for _, s := range m.formats().appendTokens(m.formats().appendMasked(nil, text), text) {
		kind := s.Kind
		if kind == KindMasked {
			kind = maskedKind(text[s.Start:s.End])
		}
		if m.formats().issuers[kind] && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// maskedKind returns the kind of a replacement: REDACTED_kind_tag.
func maskedKind(s string) string {
	s = strings.TrimPrefix(s, Redacted)
	if i := strings.LastIndexByte(s, '_'); i > 0 {
		return s[:i]
	}
	return "secret"
}

// DottedName replaces the dots in a tool's name, which would separate parts of an action's name.
func DottedName(name string) string {
	if name == "" {
		return "tool"
	}
	return strings.Map(func(c rune) rune {
		if c == '.' || c <= ' ' {
			return '_'
		}
		return c
	}, name)
}
