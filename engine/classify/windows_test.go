package classify

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/windows"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/google/go-cmp/cmp"
)

var updateWindows = flag.Bool("update-windows", false, "rewrite the expectations in testdata/windows")

// TestWindows runs the cases in testdata/windows, written as those of the shell.
func TestWindows(t *testing.T) {
	for name, interpret := range windowsLanguages() {
		t.Run(name, func(t *testing.T) { runWindowsCases(t, "testdata/windows/"+name+".txt", interpret) })
	}
}

func windowsLanguages() map[string]func(string, shell.Input) abstract.Script {
	return map[string]func(string, shell.Input) abstract.Script{"cmd": windows.InterpretCmd, "powershell": windows.InterpretPowerShell}
}

func runWindowsCases(t *testing.T, file string, interpret func(string, shell.Input) abstract.Script) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		head, src, want := splitShellCase(block)
		if src == "" {
			out = append(out, block)
			continue
		}
		got := renderScript(interpret(src, shellCaseInput()))
		out = append(out, strings.Join(slices.Concat(head, got), "\n"))
		if diff := cmp.Diff(want, got); diff != "" && !*updateWindows {
			t.Errorf("%s\n(-want +got):\n%s", src, diff)
		}
	}
	if *updateWindows {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func windowsSources(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/windows/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for block := range strings.SplitSeq(string(data), "\n\n") {
		if _, src, _ := splitShellCase(block); src != "" {
			list = append(list, src)
		}
	}
	return list
}

// A wrapping must not lose an effect: neither one of cmd's own nor another shell.
func TestWindowsWrappings(t *testing.T) {
	for _, src := range windowsSources(t, "cmd") {
		if strings.ContainsAny(src, "\n%!^:\"'") {
			continue // read once more, or quoted once more, they mean something else
		}
		plain := windows.InterpretCmd(src, shellCaseInput())
		for name, wrapped := range map[string]string{
			"cmd /c": `cmd /c "` + src + `"`,
			"parens": "(\n" + src + "\n)",
			"if":     "if exist x (" + src + ") else echo no",
			"later":  "rem nothing\n:label\n" + src,
		} {
			keepsEffects(t, name, plain, windows.InterpretCmd(wrapped, shellCaseInput()), src)
		}
		keepsEffects(t, "bash", plain, shell.Interpret("cmd /c "+shell.Quote(src), shellCaseInput()), src)
	}
	for _, src := range windowsSources(t, "powershell") {
		if strings.ContainsAny(src, "\n#") {
			continue
		}
		plain := windows.InterpretPowerShell(src, shellCaseInput())
		if incomplete(plain) {
			continue
		}
		for name, wrapped := range map[string]string{
			"block": "& {\n" + src + "\n}",
			"try":   "try {\n" + src + "\n} catch { }",
			"iex":   "iex '" + strings.ReplaceAll(src, "'", "''") + "'",
		} {
			keepsEffects(t, name, plain, windows.InterpretPowerShell(wrapped, shellCaseInput()), src)
		}
		keepsEffects(t, "bash", plain, shell.Interpret("pwsh -c "+shell.Quote(src), shellCaseInput()), src)
	}
}

func keepsEffects(t *testing.T, name string, plain, wrapped abstract.Script, src string) {
	t.Helper()
	have := map[string]bool{}
	for _, e := range wrapped.Effects {
		have[renderRaw(e)] = true
	}
	for _, e := range plain.Effects {
		if !have[renderRaw(e)] {
			t.Errorf("%s loses %s of %s", name, renderRaw(e), src)
		}
	}
	for id := range plain.Signals {
		if !wrapped.Signals[id] {
			t.Errorf("%s loses the signal %s of %s", name, id, src)
		}
	}
}

func fuzzWindows(f *testing.F, name string) {
	for _, src := range windowsSources(f, name) {
		f.Add(src)
	}
	interpret := windowsLanguages()[name]
	f.Fuzz(func(t *testing.T, src string) {
		a := interpret(src, shellCaseInput())
		if diff := cmp.Diff(renderScript(a), renderScript(interpret(src, shellCaseInput()))); diff != "" {
			t.Fatalf("two runs differ on %q:\n%s", src, diff)
		}
		for _, e := range a.Effects {
			if e.Command < -1 || e.Command >= len(a.Commands) {
				t.Fatalf("effect of command %d of %d in %q", e.Command, len(a.Commands), src)
			}
		}
	})
}

func FuzzCmd(f *testing.F) { fuzzWindows(f, "cmd") }

func FuzzPowerShell(f *testing.F) { fuzzWindows(f, "powershell") }

// Code that is nested or grows without end is ended by a budget, soon, and what
// was not looked at is reported.
func TestWindowsBudget(t *testing.T) {
	for src, interpret := range map[string]func(string, shell.Input) abstract.Script{
		"set x=aaaaaaaaaaaaaaaa\n" + strings.Repeat("set x=%x%%x%\n", 60) + "del %x%": windows.InterpretCmd,
		strings.Repeat("(", 5001):                                            windows.InterpretCmd,
		strings.Repeat("if a==b ", 5000):                                     windows.InterpretCmd,
		strings.Repeat("for %i in (a b) do ", 300):                           windows.InterpretCmd,
		strings.Repeat("cmd /c ", 3000) + "del x":                            windows.InterpretCmd,
		strings.Repeat(`$("`, 3000):                                          windows.InterpretPowerShell,
		strings.Repeat("(", 5000):                                            windows.InterpretPowerShell,
		strings.Repeat("@{a=", 3000):                                         windows.InterpretPowerShell,
		strings.Repeat("powershell -c ", 2000) + "rm x":                      windows.InterpretPowerShell,
		"function f { f; f; f }; f":                                          windows.InterpretPowerShell,
		strings.Repeat("while (1) {", 40) + "rm x" + strings.Repeat("}", 40): windows.InterpretPowerShell,
	} {
		begin := osfile.ProcessTime()
		s := interpret(src, shellCaseInput())
		if took := osfile.ProcessTime() - begin; took > 20*time.Second {
			t.Errorf("%.40s… took %v of processor time", src, took)
		}
		if !slices.ContainsFunc(s.Opaque, func(o engine.Opaque) bool { return o.Reason == "budget" }) && !blindScript(s) {
			t.Errorf("%.40s… is not reported: %v", src, s.Opaque)
		}
	}
}

// blindScript says that what is deleted is unknown.
func blindScript(s abstract.Script) bool {
	return slices.ContainsFunc(s.Effects, func(e abstract.RawEffect) bool { return e.Target.Sure != abstract.Literal })
}
