package mask

import "strings"

// leastPiece is the shortest piece of a secret that is masked wherever it
// stands: of a shorter one the same letters are in too many words.
const leastPiece = 4

// LearnPieces takes down the pieces of secrets that only show when some texts are put
// together, such as what is typed into a terminal in several steps.
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

// knowPieces takes down what of a secret is in each part.
func (m *Masker) knowPieces(parts []string, s span, with string) {
	at := 0
	for _, part := range parts {
		from, to := max(s.Start-at, 0), min(s.End-at, len(part))
		if at += len(part); to-from >= leastPiece && to-from < s.End-s.Start {
			m.know(part[from:to], with)
		}
	}
}

// Replace replaces what was masked before: what a text held there is no longer known.
func (m *Masker) Replace(text, with string) string { return m.formats().replaceMasked(text, with) }
