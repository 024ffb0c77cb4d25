package mask

import (
	"cmp"
	"slices"
	"strings"
)

// span is a secret inside a string.
type span struct {
	Start, End int
	Kind       string
}

// KindMasked is the kind of a secret that is already masked.
const KindMasked = "masked"

// scanned is a string and the same in lower case, of the same length.
type scanned struct {
	raw, low string
	formats  *Formats
}

// Find returns the secrets of a string in order, without overlaps.
//
// It is handwritten and does not use regular expressions, because a hook is a
// new process for each call: nothing is compiled, and a string is read once for
// tokens and once for the words that announce a secret.
func (f *Formats) Find(s string) []span {
	t := scanned{s, Lower(s), f}
	var found []span
	found = f.appendMasked(found, s)
	found = f.appendTokens(found, s)
	found = appendPairs(found, s)
	found = appendKeyBlocks(found, s)
	found = appendPutty(found, s)
	found = appendWallets(found, s)
	found = appendCodes(found, s)
	found = appendJWK(found, s)
	found = appendUserInfo(found, s)
	found = f.appendProducts(found, t)
	found = appendAssignments(found, t)
	found = appendHeaders(found, t)
	found = appendOptions(found, s)
	found = appendPiped(found, s)
	found = appendLogins(found, s)
	found = appendManifests(found, t)
	found = appendLines(found, s)
	return settle(found)
}

// settle sorts spans and drops those that overlap an earlier or longer one. Text that
// is already masked always stays as it is.
func settle(found []span) []span {
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b span) int {
		if c := cmp.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		if a.Kind == KindMasked || b.Kind == KindMasked {
			return 0 // it was found first
		}
		return cmp.Compare(b.End, a.End)
	})
	out := found[:1]
	for _, s := range found[1:] {
		last := &out[len(out)-1]
		switch {
		case s.Start >= last.End:
			out = append(out, s)
		case s.End > last.End && (s.Kind == KindMasked || last.Kind == KindMasked):
			s.Start = last.End // never more than what the mask covers
			out = append(out, s)
		case s.End > last.End:
			last.End = s.End // one secret, parts of which were found by two rules
		}
	}
	return out
}

// appendMasked finds text that is already masked: REDACTED_, a kind, and a tag of
// eight digits. Nothing else that begins this way counts, or a secret could hide
// after the word.
func (f *Formats) appendMasked(found []span, s string) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], Redacted)
		if i < 0 {
			return found
		}
		i += from
		from = i + len(Redacted)
		end := Run(s, from, min(len(s), from+maxKind), func(c byte) bool { return c == '_' || lowerDigitChar(c) })
		for at := from; at < end; at++ {
			if s[at] == '_' && f.kinds[s[from:at]] && Run(s, at+1, min(len(s), at+9), lowerHex) == at+9 {
				found = append(found, span{i, at + 9, KindMasked})
				from = at + 9
				break
			}
		}
	}
}

// maxKind bounds the name of a kind and its tag.
const maxKind = 40

// Learn passes all texts of the arguments to the masker before any of them is masked.
func Learn(m *Masker, v any) {
	switch v := v.(type) {
	case string:
		m.Remember(v)
		m.learnCoded(v)
	case []string:
		for _, item := range v {
			m.Remember(item)
		}
	case []any:
		if argv, ok := StringList(v); ok {
			m.Remember(QuoteAll(argv)) // an option and its value may be two items
		}
		for _, item := range v {
			Learn(m, item)
		}
	case map[string]any:
		for k, item := range v {
			m.Remember(k)
			if s, ok := item.(string); ok {
				m.Remember(k + "=" + s)
			}
			Learn(m, item)
		}
	}
}

// StringList returns a list whose items are all strings.
func StringList(list []any) ([]string, bool) {
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, len(out) > 0
}

// QuoteAll writes a list of arguments as one line of shell code.
func QuoteAll(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = QuoteWord(a)
	}
	return strings.Join(quoted, " ")
}

// QuoteWord writes a string as one shell word.
func QuoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
