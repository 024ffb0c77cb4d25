package mask

import "strings"

// leastPiece is the shortest piece of a secret that is masked everywhere: shorter ones
// occur in too many words.
const leastPiece = 4

// LearnPieces remembers the pieces of secrets that only appear when several texts are
// joined, such as text typed into a terminal in several steps.
func (m *Masker) LearnPieces(parts []string) {
	if len(parts) < 2 {
		return
	}
	whole := strings.Join(parts, "")
	for _, s := range m.find(whole) {
		if s.Kind != KindMasked {
			m.knowPieces(parts, s, m.Replacement(s.Kind, whole[s.Start:s.End]))
		}
	}
}

// knowPieces remembers which part of a secret is in each text.
func (m *Masker) knowPieces(parts []string, s span, with string) {
	at := 0
	for _, part := range parts {
		from, to := max(s.Start-at, 0), min(s.End-at, len(part))
		if at += len(part); to-from >= leastPiece && to-from < s.End-s.Start {
			m.know(part[from:to], with)
		}
	}
}

// Replace replaces text that is already masked, whose original is no longer known.
func (m *Masker) Replace(text, with string) string { return m.formats().replaceMasked(text, with) }
