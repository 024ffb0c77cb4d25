package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
)

// TestSharedWords: an action that is about what the prompt is about shares its words.
func TestSharedWords(t *testing.T) {
	goal := prompt.WordHashes([]string{"Fix the rounding of cart totals in the checkout service"}, prompt.MaxGoalWords)
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

// TestWordsOfAction: what files hold is not a word of an action, nor are secrets.
func TestWordsOfAction(t *testing.T) {
	a := classifyCall(t, nowhere(), "/srv/shop", "/srv/shop", "Write", `{"file_path":"src/invoice.go","content":"package kangaroo"}`).Action
	if !slices.Contains(a.Words, prompt.HashWord("invoic")) || slices.Contains(a.Words, prompt.HashWord("kangaroo")) {
		t.Errorf("words %v", a.Words)
	}
	secret := "hq7Zk2" + strings.Repeat("w9", 10)
	a = shellAction(t, "Bash", "deploytool --password "+secret+" invoices")
	for _, w := range []string{secret, strings.ToLower(secret), prompt.Stem(strings.ToLower(secret))} {
		if slices.Contains(a.Words, prompt.HashWord(w)) {
			t.Errorf("the hash of %s is among the words", w)
		}
	}
	if !slices.Contains(a.Words, prompt.HashWord("invoic")) {
		t.Errorf("words %v", a.Words)
	}
	if a = shellAction(t, "Bash", "echo "+strings.Repeat("alpha beta gamma delta ", 100)+strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyz", ""), "word ")); len(a.Words) != prompt.MaxActionWords {
		t.Errorf("%d words", len(a.Words))
	}
	if got := prompt.WordHashes([]string{"REDACTED_github_0a1b2c3d xREDACTED_github_0a1b2c3d"}, 9); got != nil {
		t.Errorf("words of what is masked: %v", got)
	}
}
