package engine

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// CodeAlphabet is the characters of approval codes: 32, without those that are easily confused: I, L, O and U.
const CodeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// An approval code has 12 characters in 3 groups: 50 random bits, and 10 bits by which a text can be recognised as a
// code without trying it.
const (
	CodeLength = 12
	CodeRandom = 10 // characters
	CodeGroup  = 4
)

// PlainCode returns an approval code without what people add or confuse when they type it.
func PlainCode(code string) string {
	return strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(code))
}

// CodeCheck returns the last characters of a code that begins with the given ones.
func CodeCheck(random string) string {
	sum := sha256.Sum256([]byte("reviewer code " + random))
	return string([]byte{CodeAlphabet[sum[0]%32], CodeAlphabet[sum[1]%32]})
}

// HasCodeForm reports whether a text is an approval code of any machine.
func HasCodeForm(text string) bool {
	code := PlainCode(text)
	return len(code) == CodeLength && strings.Trim(code, CodeAlphabet) == "" && CodeCheck(code[:CodeRandom]) == code[CodeRandom:]
}

// CodesIn returns where a text has approval codes, as start and end. One that is written without hyphens must be a whole
// word with digits and letters of one case, and no hexadecimal number, or ids and hashes would be found; with spaces, it
// must be in upper case.
func CodesIn(text string) [][2]int {
	var found [][2]int
	for i := 0; i+CodeLength <= len(text); {
		end := wordEnd(text, i)
		if end == i {
			i++
			continue
		}
		if last := codeAt(text, i, end); last > 0 {
			found, end = append(found, [2]int{i, last}), last
		}
		i = end
	}
	return found
}

// codeAt returns the end of the code that begins with a word; 0: none does.
func codeAt(text string, at, end int) int {
	grouped := end-at == CodeGroup && end < len(text)
	if grouped {
		sep := text[end]
		for n := 1; n < CodeLength/CodeGroup && grouped; n++ {
			grouped = end < len(text) && text[end] == sep && (sep == '-' || sep == ' ') && wordEnd(text, end+1) == end+1+CodeGroup
			end += 1 + CodeGroup
		}
	}
	if !grouped && end-at != CodeLength || joins(text, at-1) || joins(text, end) || !HasCodeForm(text[at:end]) {
		return 0
	}
	code := text[at:end]
	upper, digits := strings.ToUpper(code) == code, strings.ContainsAny(code, "0123456789")
	switch {
	case strings.Contains(code, "-"):
		return end
	case !digits, !upper && (strings.Contains(code, " ") || strings.ToLower(code) != code), strings.Trim(code, "0123456789abcdefABCDEF ") == "":
		return 0
	}
	return end
}

// wordEnd returns where the letters and digits from a place on end.
func wordEnd(text string, at int) int {
	for at < len(text) && (text[at] >= '0' && text[at] <= '9' || text[at]|0x20 >= 'a' && text[at]|0x20 <= 'z') {
		at++
	}
	return at
}

// joins reports whether the byte at a place makes the word next to it a part of a longer one, such as a UUID.
func joins(text string, at int) bool {
	return at >= 0 && at < len(text) && (text[at] == '-' || text[at] == '_' || text[at] >= 0x80)
}

// PersonKey is the public part of the key with which a person signs. Only their approval code yields
// the other part, which is stored nowhere.
type PersonKey struct {
	Public string `json:"public"` // ed25519, 64 hex digits
	Salt   string `json:"salt"`   // of argon2id, hex
	Passes uint32 `json:"passes"`
	Memory uint32 `json:"memory"` // KiB
}

// Fingerprint returns 32 hex digits that identify the key.
func (k *PersonKey) Fingerprint() string {
	sum := sha256.Sum256([]byte("reviewer key v1\n" + k.Public))
	return hex.EncodeToString(sum[:16])
}

// IsFingerprint reports whether a text is the fingerprint of a key.
func IsFingerprint(text string) bool {
	return len(text) == 32 && strings.Trim(text, "0123456789abcdef") == ""
}

// Signature shows that a person made a choice. It covers the whole record, and so its place in the
// chain: the same choice at another place, or in another chain, needs another signature.
type Signature struct {
	Key     string `json:"key"`               // fingerprint of the key
	Home    string `json:"home"`              // chain id of the ledger, which identifies the installation
	Answers string `json:"answers,omitempty"` // hash of the record that Control.Record names
	Policy  string `json:"policy,omitempty"`  // digest of the active policy
	Expires int64  `json:"expires,omitempty"` // Unix milliseconds after which it permits nothing; 0: never
	Sig     string `json:"sig"`               // ed25519 over SignedBytes, hex
}

// Loosens reports whether a choice makes policy milder. Such a choice counts only with a person's
// signature; an unknown choice does as well.
func (c *Control) Loosens() bool {
	switch c.Do {
	case ControlStop, ControlAbort, ControlDeny, ControlUnscope, ControlClose, ControlRestore, ControlUsed, ControlExpire:
		return false
	case ControlKey:
		return c.Key != nil
	}
	return true
}

// SignedBytes returns what a person's signature of a control record covers: all of the record but the
// signature's own bytes.
func (r *Record) SignedBytes() ([]byte, error) {
	if r.Control == nil || r.Control.Signed == nil {
		return nil, fmt.Errorf("record %s has no signature", r.ID())
	}
	unsigned, choice, s := *r, *r.Control, *r.Control.Signed
	s.Sig, choice.Signed, unsigned.Control = "", &s, &choice
	b, err := CanonicalOf(&unsigned)
	return append([]byte("reviewer act v1\n"), b...), err
}

// SignedBy reports whether a control record has a signature by a key.
func (r *Record) SignedBy(k *PersonKey) bool {
	if k == nil || r.Control == nil || r.Control.Signed == nil || r.Control.Signed.Key != k.Fingerprint() {
		return false
	}
	public, err := hex.DecodeString(k.Public)
	sig, err2 := hex.DecodeString(r.Control.Signed.Sig)
	if err != nil || err2 != nil || len(public) != ed25519.PublicKeySize {
		return false
	}
	statement, err := r.SignedBytes()
	return err == nil && ed25519.Verify(public, statement, sig)
}
