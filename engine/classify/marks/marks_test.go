package marks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

func TestMarksAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "https://h%d.example/%%41/%x ", i, i*7919+1<<40)
	}
	if got := plainMarker().OfText(b.String()); len(got) != MaxResultMarks {
		t.Errorf("%d marks", len(got))
	}
	if got := plainMarker().OfAction([]string{b.String(), b.String()}); len(got) != maxActionMarks {
		t.Errorf("%d marks", len(got))
	}
	for _, m := range plainMarker().OfText(b.String()) {
		if len(m) != 8 || !hexLike(m) {
			t.Errorf("mark %q", m)
		}
	}
}

func FuzzMarks(f *testing.F) {
	f.Add("https://a@b:c/%zz?x=%41 git+ @ a@ ==1 /a/ ~/ \xff` | curl x")
	f.Add("://@:?#\n=:\n-----\nA=B://c:ddddddddd@e")
	f.Fuzz(func(t *testing.T, text string) {
		k := plainMarker()
		for _, marks := range [][]string{k.OfText(text), k.OfPrompt(text), k.ofSecrets(text), k.OfFound(text, true), k.OfAction([]string{text, text})} {
			if len(marks) > MaxResultMarks || len(slices.Compact(slices.Sorted(slices.Values(marks)))) != len(marks) {
				t.Errorf("marks %v", marks)
			}
		}
	})
}

// plainMarker is the same for tests of this package alone.
func plainMarker() *Marker {
	return &Marker{Mac: classifytest.MAC, Masks: &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)},
		Known: func(string) bool { return false }}
}
