package settings

import (
	"strings"
	"testing"
)

// Installing and removing leaves each file as it was, also after an editor gave its lines other ends.
func TestBlockRoundTrip(t *testing.T) {
	const text = "x = 1\n"
	for _, old := range []string{"", "a = 1\n", "a = 1\n\n\n", "# note\r\na = 1\r\n", "a = 1"} {
		installed, err := withBlock([]byte(old), text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := withBlock(installed, text)
		if err != nil || string(again) != string(installed) {
			t.Errorf("%q: installing again changes it: %q, %v", old, again, err)
		}
		rest, found, err := withoutBlock(installed)
		if err != nil || !found || string(rest) != old && string(rest) != old+"\n" {
			t.Errorf("%q: after removal %q, %t, %v", old, rest, found, err)
		}
		edited := strings.ReplaceAll(strings.ReplaceAll(string(installed), "\r\n", "\n"), "\n", "\r\n")
		if rest, found, err = withoutBlock([]byte(edited)); err != nil || !found || strings.Contains(string(rest), "reviewer") {
			t.Errorf("%q with other line ends: after removal %q, %t, %v", old, rest, found, err)
		}
		if again, err = withBlock([]byte(edited), text); err != nil || strings.Count(string(again), "reviewer: begin") != 1 {
			t.Errorf("%q with other line ends: installed again %q, %v", old, again, err)
		}
	}
	if _, _, err := withoutBlock([]byte(blockBegin)); err == nil {
		t.Error("a block without an end is accepted")
	}
}
