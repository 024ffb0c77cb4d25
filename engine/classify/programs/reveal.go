package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// revealing are the subcommands by which a program shows what a store of
// secrets keeps; several words are separated by a blank, subcommands by a bar.
// Stores that have a place in the tables of programs say it there.
func revealing(name string) string {
	switch name {
	case "lpass":
		return "show|export"
	case "gopass", "keepassxc-cli", "rbw":
		return "show|get|export"
	case "keyctl":
		return "read|print|pipe"
	case "doppler":
		return "secrets"
	case "infisical":
		return "secrets|export"
	case "chamber":
		return "read|export|env"
	case "sops":
		return "decrypt"
	case "ansible-vault":
		return "view|decrypt"
	case "az":
		return "account get-access-token"
	case "heroku":
		return "config:get"
	case "vercel":
		return "env pull"
	case "dotnet":
		return "user-secrets list"
	case "rails":
		return "credentials:show"
	case "eyaml":
		return "decrypt"
	}
	if strings.HasPrefix(name, "docker-credential-") || strings.HasPrefix(name, "git-credential-") {
		return "get"
	}
	return ""
}

// reveals notes that a program shows secrets: those of a store, or those in the
// environment of other processes.
func reveals(c *shell.Call) {
	words := shell.JoinWords(c.Opts.Operands).Text + " "
	for sub := range strings.SplitSeq(revealing(c.Name), "|") {
		if sub != "" && strings.HasPrefix(words, sub+" ") && !strings.HasPrefix(words, sub+" set ") && !strings.HasPrefix(words, sub+" delete ") {
			c.Signal(engine.SignalCredential)
		}
	}
	switch c.Name {
	case "sops":
		c.Shell.SignalIf(c.Opts.Has("-d", "--decrypt"), engine.SignalCredential)
	case "kubectl":
		c.Shell.SignalIf(strings.HasPrefix(words, "config view ") && c.Opts.Has("--raw"), engine.SignalCredential)
	case "npm", "pnpm", "yarn":
		c.Shell.SignalIf(strings.HasPrefix(words, "config get ") && strings.Contains(words, "_auth"), engine.SignalCredential)
	case "ps":
		first := c.Opts.Operand(0).Text // without a dash: letters of BSD, of which e shows the environment
		c.Shell.SignalIf(strings.Contains(first, "e") && strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") == "", engine.SignalEnvDump)
	}
}

// unlocks notes subcommands that let others into this machine, of programs that
// mostly do something else.
func unlocks(c *shell.Call) {
	first := c.Opts.Operand(0)
	switch c.Name {
	case "code", "code-insiders", "cursor":
		if first.Is("tunnel") {
			opensTunnel(c)
		}
	case "devtunnel":
		if first.Is("host") {
			opensTunnel(c)
		}
	}
}

// bindOptions name the address at which a server waits.
var bindOptions = []string{"--host", "--hostname", "--bind", "--bind-address", "--bind_ip", "--listen", "--listen-address",
	"--address", "--addr", "--ip", "--http", "-b", "-H", "-S", "-a", "-l", "-p", "--publish"}

// exposes notes that an option binds a program to all addresses of this
// machine: whatever the program is, other machines reach it.
func exposes(c *shell.Call) {
	if c.Shell.Frame.Isolated {
		return
	}
	containers := slices.Contains([]string{"docker", "podman", "nerdctl"}, c.Name) // all but -p is what runs inside
	for i, a := range c.Args {
		name, value, glued := strings.Cut(a.Text, "=")
		if !glued && i+1 < len(c.Args) {
			value = c.Args[i+1].Text
		}
		if slices.Contains(bindOptions, name) && everyAddress(value) && (!containers || slices.Contains([]string{"-p", "--publish"}, name)) {
			c.Listens(abstract.Word("0.0.0.0"), nil)
			return
		}
	}
	if c.Name == "vite" && len(c.Args) > 0 && c.Args[len(c.Args)-1].Is("--host") {
		c.Listens(abstract.Word("0.0.0.0"), nil)
	}
}

// everyAddress tells whether an address, with or without ports, is the one that
// stands for all of a machine's.
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
