package classify

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// codeCases are the commands of files in testdata/shell.
func codeCases(t testing.TB, names ...string) []string {
	t.Helper()
	var out []string
	for _, name := range names {
		data, err := os.ReadFile("testdata/shell/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(data), "\n\n") {
			if _, src, _ := splitShellCase(block); src != "" {
				out = append(out, src)
			}
		}
	}
	return out
}

// Code that is cut off anywhere is read to its end: no part of it is out of
// bounds, and none is gone through again and again.
func TestExtractCutOff(t *testing.T) {
	for _, src := range codeCases(t, "python", "languages") {
		for n := len(src) - 1; n > 8; n -= 9 {
			shell.Interpret(src[:n]+"'", shellCaseInput())
		}
	}
}

// Reading code takes time in proportion to its length, whatever it repeats.
func TestExtractLinear(t *testing.T) {
	for lang, parts := range map[string][]string{
		"python": {"[", "(", "f(", "lambda: ", "x = [x for x in ", "def f():\n ", "a.", "f\"{", "not ", "x if x else ", "[1] + ", "f(f,", "class C:\n "},
		"node":   {"(", "{", "`${", "x => ", "function f() {", "a?.", "f(() => {", "function ", "a ? ", "...", "f(f,"},
		"perl":   {"unlink for ", "qw(", "s{", "$x = ", "open ", "sub f {", "<a/", "\"$a"},
		"ruby":   {"%w[", "each { |f| ", "\"#{", "a do |b| ", "f x "},
		"php":    {"foreach ($a as $b) ", "$a(", "\"{$a", "fn() => "},
	} {
		for _, part := range parts {
			code := strings.Repeat(part, (48<<10)/len(part))
			begin := osfile.ProcessTime()
			c := &shell.Call{Shell: shell.New(shellCaseInput()), Name: lang}
			c.Extract(lang, abstract.Word(code), "test")
			if took := osfile.ProcessTime() - begin; took > 4*time.Second {
				t.Errorf("%s: %q again and again takes %s of CPU time", lang, part, took)
			}
		}
	}
}

// FuzzExtract looks for code that the readers cannot stand.
func FuzzExtract(f *testing.F) {
	for _, src := range codeCases(f, "python", "languages") {
		f.Add(src)
	}
	langs := []string{"python", "node", "perl", "ruby", "php", "lua", "groovy", "rscript", "osascript"}
	f.Fuzz(func(t *testing.T, code string) {
		for _, lang := range langs {
			c := &shell.Call{Shell: shell.New(shellCaseInput()), Name: lang}
			c.Extract(lang, abstract.Word(code), "fuzz")
		}
	})
}
