package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// exposes records that an option binds a program to all addresses of this machine: other
// machines can reach it, regardless of the program.
func exposes(c *shell.Call) {
	if c.Shell.Frame.Isolated {
		return
	}
	options := c.Shell.In.Rows.Words("programs.binding")
	containers := slices.Contains([]string{"docker", "podman", "nerdctl"}, c.Name) // options other than -p belong to what runs inside
	for i, a := range c.Args {
		name, value, glued := strings.Cut(a.Text, "=")
		if !glued && i+1 < len(c.Args) {
			value = c.Args[i+1].Text
		}
		if slices.Contains(options, name) && everyAddress(value) && (!containers || slices.Contains([]string{"-p", "--publish"}, name)) {
			c.Listens(abstract.Word("0.0.0.0"), nil)
			return
		}
	}
	if c.Name == "vite" && len(c.Args) > 0 && c.Args[len(c.Args)-1].Is("--host") {
		c.Listens(abstract.Word("0.0.0.0"), nil)
	}
}

// everyAddress reports whether an address, with or without ports, stands for all addresses
// of a machine.
func everyAddress(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "tcp://"), "http://")
	for _, all := range []string{"0.0.0.0", "[::]", "*"} {
		if rest, ok := strings.CutPrefix(text, all); ok &&
			(rest == "" || strings.HasPrefix(rest, ":") && strings.Trim(rest, ":0123456789/tcpud") == "") {
			return text != "*" || all != "*"
		}
	}
	return text == "::"
}

// unchecked records that git accepts data from anyone.
func unchecked(c *shell.Call) {
	words := strings.ReplaceAll(strings.ToLower(shell.JoinWords(c.Args).Text), " ", "=")
	c.Shell.SignalIf(c.Name == "git" && strings.Contains(words, "http.sslverify=false"), engine.SignalUnchecked)
}
