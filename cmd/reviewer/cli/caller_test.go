package cli

import "testing"

func TestCalledBy(t *testing.T) {
	agents := []string{"claude", "claude-code"}
	list := func(commands ...string) []process {
		var above []process
		for i, c := range commands {
			above = append(above, process{pid: 100 - i, parent: 99 - i, command: c})
		}
		return above
	}
	for _, c := range []struct {
		name  string
		above []process
		want  bool
	}{
		{"the client", list("claude -c", "-zsh", "sshd"), true},
		{"by its launcher", list("/opt/x/claude", "node /usr/bin/claude", "bash"), true},
		{"with a shell in between", list("sh -c /opt/reviewer hook claude-code UserPromptSubmit || exit 2", "node /usr/lib/claude-code/cli.js"), true},
		{"a shell of its tool", list("/bin/zsh -c echo x | reviewer hook claude-code", "zsh", "claude"), false},
		{"a program of its tool", list("python3 x.py", "zsh -c python3 x.py", "claude"), false},
		{"a program that takes its name", list("claude x", "zsh -c ./x", "claude", "zsh"), false},
		{"nobody", nil, false},
		{"what was left behind", list("python3 x.py", "/sbin/init"), false},
	} {
		if got := calledBy(c.above, agents, agents); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
