package engine

import "testing"

func TestStrictness(t *testing.T) {
	for i, v := range Verdicts() {
		if got := Verdict(v).Strictness(); got != i {
			t.Errorf("%s has strictness %d, want %d", v, got, i)
		}
	}
	for _, v := range []Verdict{"", "deny", "Allow"} {
		if v.Strictness() != Block.Strictness() {
			t.Errorf("%q is milder than block", v)
		}
	}
}
