package mask

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// Masked text is valid text, and survives JSON unchanged.
func TestTextIsValid(t *testing.T) {
	m := &Masker{Mac: func([]byte) string { return "0123456789abcdef" }}
	for _, in := range []string{"caf\xe9/menu.txt", "\xff\xfe", "a\xc3", "plain"} {
		got := m.Text(in)
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if got != want || !utf8.ValidString(got) {
			t.Errorf("text(%q) = %q, want %q", in, got, want)
		}
	}
}
