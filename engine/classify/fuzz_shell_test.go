package classify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/google/go-cmp/cmp"
)

// shellCaseSources are the commands of all case files.
func shellCaseSources(t testing.TB) []string {
	files, err := filepath.Glob("testdata/shell/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		data, err := os.ReadFile(file)
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

// shellWrappings are ways to run the same code that must not hide what it does.
func shellWrappings(src string) map[string]string {
	return map[string]string{
		"comment":   "# all is well\n" + src,
		"group":     "{\n" + src + "\n}",
		"condition": "if true\nthen\n" + src + "\nfi",
		"sh -c":     "sh -c -- " + shell.Quote(src),
		"sudo":      "sudo -u root sh -c -- " + shell.Quote(src),
		"env":       "env -i nice -n 5 bash -c -- " + shell.Quote(src),
		"eval":      "eval " + shell.Quote(src),
		"nested":    "bash -c -- " + shell.Quote("sh -c -- "+shell.Quote(src)),
	}
}

// TestShellWrappings: no wrapping of a case loses one of its effects.
func TestShellWrappings(t *testing.T) {
	for _, src := range shellCaseSources(t) {
		checkWrappings(t, src)
	}
}

func FuzzShell(f *testing.F) {
	for _, src := range shellCaseSources(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		a, b := shell.Interpret(src, shellCaseInput()), shell.Interpret(src, shellCaseInput())
		if diff := cmp.Diff(renderScript(a), renderScript(b)); diff != "" {
			t.Fatalf("two runs differ on %q:\n%s", src, diff)
		}
		for _, e := range a.Effects {
			if e.Command < -1 || e.Command >= len(a.Commands) {
				t.Fatalf("effect of command %d of %d in %q", e.Command, len(a.Commands), src)
			}
		}
		if len(src) < 4096 {
			checkWrappings(t, src)
		}
	})
}

func checkWrappings(t *testing.T, src string) {
	t.Helper()
	plain := shell.Interpret(src, shellCaseInput())
	if incomplete(plain) || strings.HasSuffix(src, `\`) || strings.ContainsAny(src, abstract.Holes+"\x00") {
		return
	}
	for name, code := range shellWrappings(src) {
		wrapped := shell.Interpret(code, shellCaseInput())
		if incomplete(wrapped) {
			continue
		}
		have := effectSet(wrapped)
		for e := range effectSet(plain) {
			if !have[e] {
				t.Errorf("%s loses %q\nof %s", name, renderRaw(e), src)
			}
		}
	}
}

// incomplete reports whether something was not looked at: then nothing is
// promised but that it says so.
func incomplete(s abstract.Script) bool {
	return slices.ContainsFunc(s.Opaque, func(o engine.Opaque) bool {
		return o.Reason == "syntax" || o.Reason == "budget" || o.Reason == "encoding"
	})
}

func effectSet(s abstract.Script) map[abstract.RawEffect]bool {
	set := map[abstract.RawEffect]bool{}
	for _, e := range s.Effects {
		e.Command, e.Privileged = 0, false
		set[e] = true
	}
	return set
}

// TestShellBudget: what is too large is said to be too large, and the worst of
// what was seen stays.
func TestShellBudget(t *testing.T) {
	x := strings.Repeat("x", 1000)
	for name, src := range map[string]string{
		"commands":     "rm -rf /opt/x; " + strings.Repeat("echo a b;", 20_000),
		"source":       "rm -rf /opt/x\n" + strings.Repeat("# padding\n", 40_000),
		"nesting":      "rm -rf /opt/x; " + strings.Repeat("(", 1000) + "ls" + strings.Repeat(")", 1000),
		"substitution": "rm -rf /opt/x; " + strings.Repeat("$(", 1000) + "ls" + strings.Repeat(")", 1000),
		"eval":         "rm -rf /opt/x; f() { eval \"f $1 $1\"; f \"$1$1\"; eval 'eval \"eval f a\"'; }; f " + x,
		"doubling":     "rm -rf /opt/x; a=" + x + "; " + strings.Repeat("a=$a$a$a$a; ", 50) + strings.Repeat("echo $a; ", 5000),
		"loops":        "rm -rf /opt/x; " + strings.Repeat("for a in 1 2 3 4 5 6 7 8; do cd $a; ", 40) + "ls" + strings.Repeat("; done", 40),
		"braces":       "rm -rf /opt/x; echo " + strings.Repeat("{a,b,c,d}", 5000),
		"functions":    "rm -rf /opt/x; a() { echo; }; b() { a; a; a; a; }; c() { b; b; b; b; }; d() { c; c; c; c; }; e() { d; d; d; d; }; f() { e; e; e; e; }; g() { f; f; f; f; }; h() { g; g; g; g; }; i() { h; h; h; h; }; i; i; i; i",
		"arithmetic":   "rm -rf /opt/x; echo $((" + strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000) + "))",
	} {
		s := shell.Interpret(src, shellCaseInput())
		if len(s.Effects) == 0 || s.Effects[0].Target.Text != "/opt/x" {
			t.Errorf("%s: the first effect is lost", name)
		}
		if len(s.Commands) > shell.MaxCommands || len(s.Effects) > shell.MaxEffects {
			t.Errorf("%s: %d commands, %d effects", name, len(s.Commands), len(s.Effects))
		}
		if slices.Contains([]string{"source", "nesting", "substitution", "doubling"}, name) && !incomplete(s) {
			t.Errorf("%s: not reported as over budget", name)
		}
	}
}

// BenchmarkShell is 64 KiB of an ordinary script.
func BenchmarkShell(b *testing.B) {
	line := "cd api && go test ./... 2>&1 | tee \"$OUT/test.log\" || exit 1; for f in a b; do cp \"$f\" /tmp/x; done\n"
	src := strings.Repeat(line, 64<<10/len(line))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		shell.Interpret(src, shellCaseInput())
	}
}
