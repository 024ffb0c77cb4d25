package rows

import (
	"slices"
	"strings"
	"testing"
)

// TestCarriageReturns: lines that end as on Windows say the same.
func TestCarriageReturns(t *testing.T) {
	const text = "# about\nshop till:\n  takes: --file\n\"far shop\":\n  takes: --to # a comment\n'it''s':\n  {}\nplain: {takes: -x}\n"
	want, got := Split(text), Split(strings.ReplaceAll(text, "\n", "\r\n"))
	if len(want) != len(got) || len(want) != 4 {
		t.Fatalf("%d and %d blocks, want 4", len(want), len(got))
	}
	for i := range want {
		if !slices.Equal(want[i].Names, got[i].Names) || want[i].Line != got[i].Line {
			t.Errorf("block %d: %q in line %d, want %q in line %d", i, got[i].Names, got[i].Line, want[i].Names, want[i].Line)
		}
	}
}
