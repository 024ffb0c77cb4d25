package prompt

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// TestTrouble reads testdata/trouble: a block is a kind and then an error's text.
func TestTrouble(t *testing.T) {
	raw, err := os.ReadFile("testdata/trouble/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	n := 0
	for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		if strings.HasPrefix(block, "#") {
			continue
		}
		head, text, _ := strings.Cut(block, "\n")
		want, mode, _ := strings.Cut(head, " ")
		got := string(TroubleOf(classifytest.Rows(), text, mode == "check"))
		if got == "" {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, head)
		}
		seen[want], n = true, n+1
	}
	for _, kind := range engine.Troubles() {
		if !seen[kind] {
			t.Errorf("no case of %s", kind)
		}
	}
	if n < 80 {
		t.Errorf("%d cases", n)
	}
}

func FuzzTrouble(f *testing.F) {
	f.Add("Exit code 99999999999999999999\nerror 4", true)
	f.Add("Exit code \n", false)
	f.Add(strings.Repeat("é", maxTrouble), false)
	f.Fuzz(func(t *testing.T, text string, check bool) {
		got := string(TroubleOf(classifytest.Rows(), text, check))
		if got != "" && !slices.Contains(engine.Troubles(), got) {
			t.Errorf("trouble %q", got)
		}
	})
}
