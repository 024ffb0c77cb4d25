package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCommandLines: what Windows says about processes reads as elsewhere, so that an
// agent is found by the same names.
func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
		agent string
	}{
		{[]string{`C:\Users\kim\.local\bin\claude.exe`, "-c"}, "c:/users/kim/.local/bin/claude -c", "claude"},
		{[]string{`C:\Program Files\nodejs\node.exe`, `C:\Users\Kim K\npm\node_modules\@anthropic-ai\claude-code\cli.js`},
			"c:/program_files/nodejs/node C:/Users/Kim_K/npm/node_modules/@anthropic-ai/claude-code/cli.js", "claude-code"},
		{[]string{"CLAUDE.EXE"}, "claude", "claude"},
		{[]string{`C:\Windows\System32\cmd.exe`, "/d", "/c", `echo a\b`}, `c:/windows/system32/cmd /d /c echo_a\b`, ""},
	} {
		got := commandLine(c.words)
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
		if name := agentName(got, []string{"claude", "claude-code"}); name != c.agent {
			t.Errorf("%s: agent %q, want %q", got, name, c.agent)
		}
	}
}

// TestNumbersGivenAgain: a process that began after its child is not its parent.
func TestNumbersGivenAgain(t *testing.T) {
	table := map[int]process{
		9: {9, 8, "reviewer", 90_000}, 8: {8, 7, "cmd", 80_000}, 7: {7, 1, "claude", 500_000},
	}
	if list := above(table, 9); len(list) != 1 || list[0].command != "cmd" {
		t.Errorf("above it are %v, want cmd alone", list)
	}
}

// TestNewWindows: on Windows too, an agent may be able to type into a terminal that
// was opened while it worked.
func TestNewWindows(t *testing.T) {
	scene := func(began int64) Scene {
		return Scene{Terminal: true, sessions: []span{{"s1", 50_000, 60_000}}, Ancestors: []process{
			{8, 7, "c:/windows/system32/cmd", began + 1}, {7, 6, "c:/program_files/windowsapps/windowsterminal", began}, {6, 5, "c:/windows/explorer", 10_000}}}
	}
	if err := scene(55_000).RequirePerson("a test", nil); err == nil || !strings.Contains(err.Error(), "windowster") {
		t.Errorf("a terminal from the session: %v", err)
	}
	if err := scene(20_000).RequirePerson("a test", nil); err != nil {
		t.Errorf("a terminal from before: %v", err)
	}
}

// TestProcessesOfMacOS: the agent above a hook is found in what ps lists there, up to
// launchd, which starts all.
func TestProcessesOfMacOS(t *testing.T) {
	const list = `    1     0 12-03:04:05 /sbin/launchd
  501     1    02:00:00 /Applications/Utilities/Terminal.app/Contents/MacOS/Terminal
  612   501    01:00:00 -zsh
  640   612       30:00 /opt/homebrew/bin/node /opt/homebrew/lib/node_modules/@anthropic-ai/claude-code/cli.js
  700   640       00:01 /opt/homebrew/bin/reviewer hook claude-code PreToolUse
`
	now := time.UnixMilli(2_000_000_000_000)
	table := psTable(list, now)
	found := len(table)
	chain := above(table, 700)
	if found != 5 || len(chain) < 3 || chain[0].pid != 640 || now.UnixMilli()-chain[0].started != 30*60*1000 {
		t.Fatalf("%d processes, above the hook %+v", found, chain)
	}
	if name := agentName(chain[0].command, []string{"claude", "claude-code"}); name != "claude-code" {
		t.Errorf("the agent is %q", name)
	}
}

// TestUsualStateHome: each system has a place for what a user's programs keep.
func TestUsualStateHome(t *testing.T) {
	for _, c := range []struct{ system, home, local, want string }{
		{"linux", "/home/kim", "", "/home/kim/.local/state/reviewer"},
		{"linux", "/home/kim", "/x", "/home/kim/.local/state/reviewer"},
		{"darwin", "/Users/kim", "", "/Users/kim/.local/state/reviewer"},
		{"windows", "C:/Users/kim", "D:/local", "D:/local/reviewer"},
		{"windows", "C:/Users/kim", "", "C:/Users/kim/AppData/Local/reviewer"},
	} {
		if got := filepath.ToSlash(usualStateHome(c.system, c.home, c.local)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
