package gitignore

import "testing"

func TestIgnoreRules(t *testing.T) {
	for _, c := range []struct {
		rule, path string
		dir, want  bool
	}{
		{"*.log", "a/b.log", false, true}, {"*.log", "a/b.logs", false, false}, {"build/", "build", true, true}, {"build/", "build", false, false},
		{"/build", "build", true, true}, {"/build", "a/build", true, false}, {"a/b", "a/b", false, true}, {"a/b", "x/a/b", false, false},
		{"**/b", "x/y/b", false, true}, {"**/b", "b", false, true}, {"a/**/b", "a/b", false, true}, {"a/**/b", "a/x/y/b", false, true},
		{"a/**", "a/x/y", false, true}, {"a/**", "a", true, false}, {"[!a].c", "b.c", false, true}, {"[!a].c", "a.c", false, false}, {`\#x`, "#x", false, true},
		{"[a", "[a", false, false}, {"x/[", "x/[", false, false}, {"/**", "a/b", false, true}, {"**", "a", true, true},
	} {
		r, ok := parseLine(c.rule)
		if got := ok && r.matches(c.path, c.dir); got != c.want {
			t.Errorf("rule %q, path %q: %v, want %v", c.rule, c.path, got, c.want)
		}
	}
	for _, line := range []string{"", "# x", "   ", "/"} {
		if _, ok := parseLine(line); ok {
			t.Errorf("line %q is a rule", line)
		}
	}
}

func TestDecide(t *testing.T) {
	rules := Parse("*.log\n!keep.log\n")
	for rel, want := range map[string][2]bool{"a.log": {true, true}, "keep.log": {false, true}, "a.txt": {false, false}} {
		if ignored, found := Decide(rules, rel, false); ignored != want[0] || found != want[1] {
			t.Errorf("%s: ignored %v, found %v", rel, ignored, found)
		}
	}
}
