package classify

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// signalsOf are the signals of a command in a workspace.
func tampersBy(t *testing.T, command string) bool {
	t.Helper()
	return tampers(bashOf(t, command))
}

func bashOf(t *testing.T, command string) *engine.Action {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return actionOf(t, "Bash", args)
}

// tampers says that the guard is touched: by what a program or a variable says about
// itself, or by the state of files and processes afterwards.
func tampers(a *engine.Action) bool {
	return slices.Contains(a.Signals, engine.SignalGuardTamper) ||
		slices.ContainsFunc(a.Effects, func(e engine.Effect) bool { return e.Guard != "" })
}

func actionOf(t *testing.T, tool string, args json.RawMessage) *engine.Action {
	t.Helper()
	c := &Classifier{Rows: classifytest.Rows(), World: place.World{Home: "/home/anna", Guard: []string{"/home/anna/.local/state/reviewer"}}, MAC: func([]byte) string { return strings.Repeat("0", 32) }}
	facts, err := c.Classify(context.Background(), engine.Event{Phase: engine.PhasePre, Tool: tool, Args: args, CWD: "/srv/shop"}, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	return facts.Action
}

// What guards a session is touched by processes, names, variables and code that
// runs later, and not by what only looks so.
func TestTampering(t *testing.T) {
	for command, want := range map[string]bool{
		"kill $(pgrep reviewer)":                                           true,
		"ps aux | grep '[r]eviewer' | awk '{print $2}' | xargs kill":       true,
		"kill $(pgrep vite)":                                               false,
		"pgrep reviewer; kill 4711":                                        false, // a number that is known was not asked for
		"pgrep -f vite | xargs kill":                                       false,
		"grep reviewer README.md | xargs kill":                             false,
		"prlimit --pid $PPID --nofile=3":                                   true,
		"prlimit --nofile=30 go test ./...":                                false,
		"prlimit --fsize=0 rm ~/.local/state/reviewer/key":                 true,
		"strace -p $(pidof reviewer)":                                      true,
		"strace -p 4711":                                                   false,
		"echo $PPID":                                                       false,
		"fuser -k ~/.local/state/reviewer/log":                             true,
		"fuser ~/.local/state/reviewer/log":                                false,
		"fuser -k 8080/tcp":                                                false,
		"mount -t tmpfs none /home":                                        true,
		"mount -t tmpfs none /mnt":                                         false,
		"bwrap --bind / / --tmpfs /home/anna/.claude claude -p hi":         true,
		"bwrap --ro-bind / / claude -p hi":                                 false,
		"bwrap --bind / / rm /home/anna/.claude/settings.json":             true,
		"bwrap --tmpfs /tmp go test ./...":                                 false,
		"env -u REVIEWER_HOME make":                                        true,
		"env -u GOFLAGS make":                                              false,
		"HOME=/tmp/h claude -p hi":                                         true,
		"HOME=/tmp/h npm test":                                             false,
		"NODE_OPTIONS=--max-old-space-size=4096 claude -p hi":              false,
		"NODE_OPTIONS='--require /tmp/x.js' npx @anthropic-ai/claude-code": true,
		"alias reviewer=true":                                              true,
		"alias review=true":                                                false,
		"alias claude='claude --model opus'":                               false,
		"echo 'rm ~/.claude/settings.json' >> ~/.bashrc":                   true,
		"echo 'rm ~/.claude/settings.json' >> notes.txt":                   false,
		"echo 'export PATH=$PATH:~/bin' >> ~/.bashrc":                      false,
		"sed -i '/reviewer/d' ~/.zshrc":                                    true,
		"sed -i '/nvm/d' ~/.zshrc":                                         false,
		"sed '/reviewer/d' ~/.zshrc":                                       false,
		"reviewer policy activate a.tar.gz":                                true,
		"reviewer policy rollback --to none --reason x":                    true,
		"reviewer policy pull oci://h/r:1 -o a.tar.gz --activate":          true,
		"reviewer policy pull oci://h/r:1 -o a.tar.gz":                     false,
		"reviewer policy status":                                           false,
		"reviewer policy list":                                             false,
		"cp x /usr/local/bin/reviewer":                                     true,
		"cp x /srv/shop/bin/reviewer":                                      false,
		"cp x /usr/share/doc/reviewer":                                     false,
		"go install ./cmd/reviewer":                                        true,
		"go install example.com/cmd/reviewer@v1.2.3":                       true,
		"go install example.com/cmd/review@v1.2.3":                         false,
		"npm i -g @anthropic-ai/claude-code@1.0.0":                         true,
		"npm i -g @anthropic-ai/claude-code@latest":                        false,
		"npm rm -g @anthropic-ai/claude-code":                              true,
		"npm rm @anthropic-ai/claude-code":                                 false,
		"git config core.hooksPath /dev/null":                              true,
		"git config core.hooksPath .husky":                                 false,
		"git stash push -- .claude/settings.json":                          true,
		"git stash push -- src/a.go":                                       false,
		"cd ~/.claude && cpio -i < /tmp/a":                                 true,
		"cpio -it < /tmp/a":                                                false,
		"ls | cpio -o > /tmp/a":                                            false,
		"echo x > .claude/worktrees/a/.claude/settings.json":               true,
		"echo x > .claude/worktrees/a/src/settings.json":                   false,
		"echo x > .github/hooks/a.json":                                    true,
		"echo x > .github/hooks.md":                                        false,
	} {
		if got := tampersBy(t, command); got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}

// A client with other settings is one without its guards, unless all of them are
// known to be harmless.
func TestOtherSettings(t *testing.T) {
	for command, want := range map[string]bool{
		`claude --settings '{"model":"opus"}' -p hi`:                               true,
		`claude --settings '{"model":"opus","hooks":{}}' -p hi`:                    false,
		`claude --settings '{"model":"opus"' -p hi`:                                false,
		`claude --settings "$S" -p hi`:                                             false,
		`claude --settings /tmp/none.json -p hi`:                                   false,
		`echo '{"model":"opus"}' > a.json; claude --settings a.json -p hi`:         true,
		`echo '{"disableAllHooks":true}' > a.json; claude --settings a.json -p hi`: false,
		`claude --setting-sources user,project -p hi`:                              true,
		`claude --setting-sources project -p hi`:                                   false,
		`claude --safe-mode -p hi`:                                                 false,
	} {
		if got := slices.Contains(bashOf(t, command).Signals, engine.SignalAgentUnguarded); got == want {
			t.Errorf("%s: unguarded is %v", command, got)
		}
	}
}

// Tools that write files are looked into as the shell is.
func TestStartupByTools(t *testing.T) {
	for args, want := range map[string]bool{
		`{"file_path":"/home/anna/.bashrc","old_string":"export REVIEWER_HOME=/a\n","new_string":""}`: true,
		`{"file_path":"/home/anna/.bashrc","old_string":"x","new_string":"unset REVIEWER_HOME"}`:      true,
		`{"file_path":"/home/anna/.bashrc","old_string":"x","new_string":"alias ll='ls -l'"}`:         false,
		`{"file_path":"/srv/shop/a.sh","old_string":"x","new_string":"unset REVIEWER_HOME"}`:          false,
	} {
		if got := tampers(actionOf(t, "Edit", json.RawMessage(args))); got != want {
			t.Errorf("%s: %v, want %v", args, got, want)
		}
	}
}

// Wherever the guard keeps its files, code that runs later and takes them away is
// noticed.
func TestStartupAgainstTheGuardsOwnPlace(t *testing.T) {
	c := &Classifier{World: place.World{Home: "/home/anna", Guard: []string{"/var/guard"}}, MAC: classifytest.MAC, Rows: classifytest.Rows()}
	for code, want := range map[string]bool{"rm -rf /var/guard": true, "rm -rf /var/other": false} {
		args, err := json.Marshal(map[string]string{"file_path": "/home/anna/.bashrc", "old_string": "x", "new_string": code})
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.Classify(t.Context(), engine.Event{Phase: engine.PhasePre, Tool: "Edit", CWD: "/srv/shop", Args: args}, "/srv/shop")
		if err != nil {
			t.Fatal(err)
		}
		if got := tampers(f.Action); got != want {
			t.Errorf("%s: %t, want %t", code, got, want)
		}
	}
}

// Code that writes itself to where it runs later is looked into once.
func TestLaterEnds(t *testing.T) {
	quine := `s='s=%s%s%s; printf "$s" "\047" "$s" "\047" >> ~/.bashrc; alias claude="$(printf "$s" "\047" "$s" "\047")"'; printf "$s" "\047" "$s" "\047" >> ~/.bashrc; alias claude="$s"`
	if !tampersBy(t, quine+"; unset REVIEWER_HOME") {
		t.Error("a change behind code that writes itself is not seen")
	}
	many := "for i in " + strings.Repeat("1 2 3 4 5 6 7 8 ", 200) + "; do echo \"alias a$i='ls'\" >> ~/.bashrc; alias claude=\"claude $i\"; done"
	if tampersBy(t, many) {
		t.Error("names that change nothing are taken for a change")
	}
}

// A patch changes the files that it names, by whatever line.
func TestPatched(t *testing.T) {
	for text, want := range map[string][]string{
		"--- a/x/y\n+++ b/x/y\n@@ -1 +1 @@\n-a\n+b\n":                   {"x/y"},
		"--- /dev/null\n+++ b/new\t2026-01-01\r\n":                      {"new"},
		"diff --git a/x b/.claude/settings.json\nBinary files differ\n": {".claude/settings.json"},
		"rename from a b\nrename to c\n":                                {"a b", "c"},
		"*** old/x\n--- new/x\n":                                        {"old/x", "new/x"},
		"Index: x\n":                                                    {"x"},
		"--- \"a/\\303\\244\"\n":                                        nil,
		"diff --git \"a/x\" \"b/x\"\n":                                  nil,
		"no patch":                                                      {},
	} {
		list, ok := languages.Patched(abstract.Word(text))
		var got []string
		for _, a := range list {
			got = append(got, a.Text)
		}
		if ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v, want %q", text, got, ok, want)
		}
	}
	for command, want := range map[string]bool{
		"git apply <<'E'\n--- a/.claude/settings.json\n+++ b/.claude/settings.json\nE":         true,
		"git apply -p2 <<'E'\n--- a/x/.claude/settings.json\n+++ b/x/.claude/settings.json\nE": false, // not known, and asked about as such
		"cd .claude && patch <<'E'\n--- a/x/settings.json\n+++ b/x/settings.json\nE":           true,
		"patch <<'E'\n--- a/src/a.go\n+++ b/src/a.go\nE":                                       false,
	} {
		if got := tampersBy(t, command); got != want {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}
