package classify

import (
	"slices"
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
			if stem(w) == "" || stem(w) != stem(list[0]) {
				t.Errorf("%s: %q, %s: %q", w, stem(w), list[0], stem(list[0]))
			}
		}
	}
	for _, w := range []string{"the", "and", "42", "go", "please"} {
		if got := stem(w); got != "" {
			t.Errorf("%s: %q", w, got)
		}
	}
	if stem("cart") == stem("card") || stem("press") == stem("pres") {
		t.Error("two words are one")
	}
}

// TestSharedWords: an action that is about what the prompt is about shares its words.
func TestSharedWords(t *testing.T) {
	goal := wordHashes([]string{"Fix the rounding of cart totals in the checkout service"}, maxGoalWords)
	about := shellAction(t, "Bash", "grep -rn roundTotal src/checkout/cart.go").Words
	other := shellAction(t, "Bash", "kubectl scale deployment weather --replicas=3").Words
	in := func(words []string) (n int) {
		for _, w := range words {
			if slices.Contains(goal, w) {
				n++
			}
		}
		return n
	}
	if in(about) < 4 || in(other) != 0 {
		t.Errorf("%d of %d words, and %d of %d of another", in(about), len(about), in(other), len(other))
	}
}

// TestWordsOfAction: what files hold is no word of an action, nor are secrets.
func TestWordsOfAction(t *testing.T) {
	a := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Write", `{"file_path":"src/invoice.go","content":"package kangaroo"}`).Action
	if !slices.Contains(a.Words, hashWord("invoic")) || slices.Contains(a.Words, hashWord("kangaroo")) {
		t.Errorf("words %v", a.Words)
	}
	secret := "hq7Zk2" + strings.Repeat("w9", 10)
	a = shellAction(t, "Bash", "deploytool --password "+secret+" invoices")
	for _, w := range []string{secret, strings.ToLower(secret), stem(strings.ToLower(secret))} {
		if slices.Contains(a.Words, hashWord(w)) {
			t.Errorf("the hash of %s is among the words", w)
		}
	}
	if !slices.Contains(a.Words, hashWord("invoic")) {
		t.Errorf("words %v", a.Words)
	}
	if a = shellAction(t, "Bash", "echo "+strings.Repeat("alpha beta gamma delta ", 100)+strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyz", ""), "word ")); len(a.Words) != maxActionWords {
		t.Errorf("%d words", len(a.Words))
	}
	if got := wordHashes([]string{"REDACTED_github_0a1b2c3d xREDACTED_github_0a1b2c3d"}, 9); got != nil {
		t.Errorf("words of what is masked: %v", got)
	}
}
