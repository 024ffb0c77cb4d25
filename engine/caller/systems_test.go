package caller

import (
	"os"
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
		if name := AgentName(got, []string{"claude", "claude-code"}); name != c.agent {
			t.Errorf("%s: agent %q, want %q", got, name, c.agent)
		}
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
	chain := above(table, 700)[1:]
	if found != 5 || len(chain) < 3 || chain[0].Pid != 640 || now.UnixMilli()-chain[0].Began != 30*60*1000 {
		t.Fatalf("%d processes, above the hook %+v", found, chain)
	}
	if name := AgentName(chain[0].Command, []string{"claude", "claude-code"}); name != "claude-code" {
		t.Errorf("the agent is %q", name)
	}
}

func TestElapsed(t *testing.T) {
	for text, want := range map[string]string{"07": "7s", "01:07": "1m7s", "03:01:07": "3h1m7s", "2-03:01:07": "51h1m7s"} {
		if got := elapsed(text).String(); got != want {
			t.Errorf("elapsed(%q) = %s, want %s", text, got, want)
		}
	}
}

// What is above this test was started before now, and not with the system. Nobody is above a process that does not run.
func TestRead(t *testing.T) {
	if os.Getppid() == 0 {
		t.Skip("wine: no program of Windows started this one")
	}
	f, err := Read(os.Getpid(), nil)
	if err != nil || len(f.Chain) < 2 || f.Chain[0].Pid != os.Getpid() || f.Chain[1].Pid != os.Getppid() {
		t.Fatalf("%+v, %v", f, err)
	}
	now := time.Now().UnixMilli()
	if at := f.Chain[1].Began; at == 0 || at > now+2000 || at < now-24*3600*1000 {
		t.Errorf("%s was started at %d, now is %d", f.Chain[1].Command, at, now)
	}
	if self := f.client(&f.Chain[0]); !Runs(self) || !f.Runs(self) {
		t.Errorf("this process does not run: %+v", self)
	}
	ended := f.client(&f.Chain[0])
	ended.Start -= 1_000_000
	if Runs(ended) || f.Runs(ended) || Runs(nil) {
		t.Error("a process with this number that was started earlier still runs")
	}
	if _, err := Read(-1, nil); err == nil {
		t.Error("a process that is not listed has nobody above")
	}
}
