package prompt

import (
	"strings"
	"testing"
)

// TestStem: the forms of a word are one word.
func TestStem(t *testing.T) {
	for _, forms := range []string{
		"test tests testing tested", "remove removes removed removing", "migrate migrates migrated migrating migration migrations", "stop stopped stopping stops", "query queries", "cart carts", "deploy deploys deployed deploying", "fix fixes fixed fixing",
	} {
		list := strings.Fields(forms)
		for _, w := range list {
			if Stem(w) == "" || Stem(w) != Stem(list[0]) {
				t.Errorf("%s: %q, %s: %q", w, Stem(w), list[0], Stem(list[0]))
			}
		}
	}
	for _, w := range []string{"the", "and", "42", "go", "please"} {
		if got := Stem(w); got != "" {
			t.Errorf("%s: %q", w, got)
		}
	}
	if Stem("cart") == Stem("card") || Stem("press") == Stem("pres") {
		t.Error("two words are one")
	}
}
