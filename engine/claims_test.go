package engine

import "testing"

func TestCheckFailed(t *testing.T) {
	check := reads("./a")
	check.Check = true
	passes := func(s *tale) *tale { return s.ran(check, "x") }
	fails := func(s *tale) *tale { return s.failedBy(check, TroubleSyntax) }
	for name, test := range map[string]struct {
		tale *tale
		want bool
	}{
		"nothing":              {newTale(), false},
		"passed":               {passes(newTale()), false},
		"failed":               {fails(newTale()), true},
		"failed, then edited":  {fails(newTale()).ran(edits("./b"), "y"), true},
		"failed, then passed":  {passes(fails(newTale())), false},
		"passed, then failed":  {fails(passes(newTale())), true},
		"another call failed":  {newTale().failedBy(edits("./b"), TroubleSyntax), false},
		"failed, then denied":  {fails(newTale()).answered(check, Block), true},
		"failed, then running": {fails(newTale()).asked(check), false},
		"another agent's":      {fails(newTale().by("sub")).by(""), false},
	} {
		if got := test.tale.next(reads("./c")).History.CheckFailed; got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
