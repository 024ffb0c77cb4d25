package mask

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/google/go-cmp/cmp"
)

func TestPersonalKinds(t *testing.T) {
	if d := cmp.Diff(engine.PersonalKinds(), slices.Sorted(maps.Keys(personal))); d != "" {
		t.Errorf("kinds that policy can name and those that are found:\n%s", d)
	}
}

func TestPersonal(t *testing.T) {
	all := engine.PersonalKinds()
	for _, c := range []struct{ text, kind, what string }{
		{"mail kim.dahl+shop@mail.example.com now", "email", "kim.dahl+shop@mail.example.com"},
		{"<kim@example.org>", "email", "kim@example.org"}, {"write to kim@example.org.", "email", "kim@example.org"},
		{"card 4111 1111 1111 1111", "card", "4111 1111 1111 1111"}, {"5500-0000-0000-0004,", "card", "5500-0000-0000-0004"}, {`"378282246310005"`, "card", "378282246310005"},
		{"IBAN DE89370400440532013000", "iban", "DE89370400440532013000"}, {"GB82 WEST 1234 5698 7654 32 OF KIM", "iban", "GB82 WEST 1234 5698 7654 32"},
		{"call +49 30 5550123", "phone", "+49 30 5550123"}, {"+4915155501234", "phone", "+4915155501234"}, {"(415) 555-0132", "phone", "(415) 555-0132"}, {"415-555-0132.", "phone", "415-555-0132"},
		{"SSN 219-09-9999", "ssn", "219-09-9999"},
	} {
		m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil), Personal: all}
		want := strings.ReplaceAll(c.text, c.what, m.Replacement(c.kind, c.what))
		if got := m.Text(c.text); got != want || m.Text(got) != got {
			t.Errorf("%q -> %q, want %q", c.text, got, want)
		}
		if got := (&Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}).Text(c.text); got != c.text {
			t.Errorf("without any policy: %q -> %q", c.text, got)
		}
	}
}

func TestPersonalLeaves(t *testing.T) {
	m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil), Personal: engine.PersonalKinds()}
	for _, text := range []string{
		"git clone git@example.com:a/b.git", "scp a kim@db.example.com:b", "npm i left@1.2.3", "@scope/name", "a@b", "user@localhost", "https://kim@example.com/a",
		"4111 1111 1111 1112", "1234567890123456", "id 41111111111111110000", "x4111111111111111", "0.4111111111111111", "20261121150405", "1700000000000",
		"DE89370400440532013001", "COMMIT AB12CDEF0123456789", "10.0.0.1", "2026-11-21 15:04:05", "192.168.100.200", "1-2-3", "+1234", "a+b", "line 415 555", "v415.555.0132",
		"000-12-3456", "900-12-3456", "123-45-67890", "sha 123-45-6789abc", "+0 123 456 789", "@@ -1,3 +1,4 @@", "--- 1 +++ 2",
	} {
		if got := m.Text(text); got != text {
			t.Errorf("%q -> %q, want it as it is", text, got)
		}
	}
}

// TestPersonalMade: numbers with the right check digits are found, and those
// with one digit changed are not.
func TestPersonalMade(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 500 {
		card := "4" + classifytest.Made(r.Uint64(), 14, classifytest.Numerals)
		for d := '0'; d <= '9'; d++ {
			number := card + string(d)
			m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil), Personal: []string{"card"}}
			if got := m.Text("pay "+number) != "pay "+number; got != luhn(number) {
				t.Errorf("%s: found %v, check digit right %v", number, got, luhn(number))
			}
		}
	}
}
