package cmdline

import (
	"strings"
	"testing"
)

func TestAny(t *testing.T) {
	for _, test := range []struct {
		pattern  string
		yes, not []string
	}{
		{"rm -rf*", []string{"rm -rf", "rm -rfv x", "a && rm -rf x", "a|rm -rf x", "a\nrm -rf x", "$(rm -rf x)", "`rm -rf x`", "X=1 rm -rf x", "f() { rm -rf x; }",
			"time rm -rf x | a", "time -p rm -rf x", "rm -rf x >y", "while rm -rf x; do :; done", "nohup nice -n 5 rm -rf x", `echo "$(rm -rf x)"`},
			[]string{"rm x", "rm -r -f x", "echo 'rm -rf x'", "echo \"; rm -rf x\"", "cat <<E\nrm -rf x\nE", "# rm -rf x", "sudo rm -rf x", "timeout rm -rf x", "", "rmx"}},
		{"ls *", []string{"ls", "ls -la", "ls  -la"}, []string{"lsof"}},
		{"ls", []string{"ls", "( ls )", "ls > x", "command ls", "command -p ls"}, []string{"ls x", "command -v ls"}},
		{"* --force", []string{"git push --force"}, []string{"--force", "git push --force x"}},
		{"timeout 5 *", []string{"timeout 5 ls"}, []string{"timeout 6 ls"}},
		{"xargs *", []string{"xargs -n1 ls"}, nil},
		{"echo a?[b]", []string{"echo a?[b]"}, []string{"echo axb"}},
		{"export *", []string{"export A=1"}, []string{"exports"}},
		{"> x", nil, []string{"> x", "ls > x"}},
		{"rm x", []string{"echo 'open; rm x", "if a; then X=1 rm x"}, []string{"echo 'rm x"}}, // code that does not parse
	} {
		for _, code := range append(test.yes, test.not...) {
			if got, want := Any(code, []string{"-", test.pattern}), strings.Contains("\x00"+strings.Join(test.yes, "\x00")+"\x00", "\x00"+code+"\x00"); got != want {
				t.Errorf("%q, %q: %v, want %v", code, test.pattern, got, want)
			}
		}
	}
}

func TestAnyOfUnknownPrograms(t *testing.T) {
	for code, want := range map[string]bool{
		"rtk git add -A": true, "rtk -v --mode x git add -A .": true, "/opt/bin/rtk git add -A": true, "X=1 rtk git add -A": true, "timeout 5 rtk git add -A": true,
		"a && rtk git add -A": true, "git add -A": true,
		"rtk git add a.txt": false, "rtk 'git add -A'": false, `rtk note "please run git add -A"`: false, "ls git add -A": false, "rtk; ls": false, "X=1": false,
	} {
		if got := Any(code, []string{"git add -A*"}, "rtk"); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}

func TestAll(t *testing.T) {
	patterns := []string{"npm *", "git status", "find *", "watch ls", "time -p *"}
	for _, code := range []string{"npm", "npm test && git status", "npm a | npm b; npm c & npm d\nnpm e", "npm a 2>&1", "time npm a | npm b", "timeout 5 npm a",
		"git status", "find . -name x", "watch ls", "npm $X", "time -p ls # comment"} {
		if !All(code, patterns) {
			t.Errorf("%q: false", code)
		}
	}
	for _, code := range []string{"", "#", "ls", "npm && ls", "npm a > x", "npm < x", "npm a >&x", "npm $(ls)", "npm `ls`", "npm <(ls)", "(npm a)", "{ npm a; }", "! npm a", "X=1 npm a",
		"npm  a", "if npm a; then npm b; fi", "find . -exec ls", "find . -delete", "watch ls x", "nohup find . -exec x", "npm 'a", "npms", "f() { npm a; }", "npm a <<E\nx\nE", "> x"} {
		if All(code, patterns) {
			t.Errorf("%q: true", code)
		}
	}
}

func TestLoose(t *testing.T) {
	for _, test := range []struct {
		pattern string
		want    bool
	}{
		{"git push *", true}, {"git push --force*", true}, {"timeout *", true}, {"/usr/bin/git push", true}, {"git -c a", true}, {"git 'x y' push", true},
		{"git pull", false}, {"git push --tags", false}, {"push", false},
	} {
		if got := Loose(test.pattern, []string{"timeout", "git"}, []string{"push", "--force-with-lease", "-c=a"}); got != test.want {
			t.Errorf("%q: %v, want %v", test.pattern, got, test.want)
		}
	}
}

// Whatever the code, nothing panics, and what is allowed alone is found.
func FuzzCode(f *testing.F) {
	for _, s := range []string{"a && b", "time", "time -p a|b", "x=1", "((1))", "[[ a ]]", "let x", "coproc a", "a <<E\nE", "function f { a; }", "case x in a) b;; esac", "'", "$(", "timeout", "nice -n", "\f"} {
		f.Add(s, "a *")
	}
	f.Fuzz(func(t *testing.T, code, pattern string) {
		if All(code, []string{pattern}) && !Any(code, []string{pattern}) {
			t.Errorf("%q: all commands match %q, and none does", code, pattern)
		}
	})
}
