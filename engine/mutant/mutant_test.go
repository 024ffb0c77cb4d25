package mutant

import (
	"slices"
	"testing"
)

func TestSteps(t *testing.T) {
	for number, want := range map[string][2]string{
		"10": {"9", "11"}, "0": {"-1", "1"}, "-1": {"-2", "0"}, "0.75": {"0.74", "0.76"}, "20.5": {"20.4", "20.6"}, "1.0": {"0.9", "1.1"},
	} {
		if below, above, ok := Steps(number); !ok || below != want[0] || above != want[1] {
			t.Errorf("%s: %s, %s, %v, want %v", number, below, above, ok, want)
		}
	}
	if _, _, ok := Steps("ten"); ok {
		t.Error("a word has steps")
	}
}

func TestCompare(t *testing.T) {
	want := []Mutant{{File: "a", Line: 2, Col: 9}, {File: "a", Line: 10, Col: 1}, {File: "a", Line: 10, Col: 3}, {File: "b", Line: 1}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Mutant.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
