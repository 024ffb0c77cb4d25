package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
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
func (c *call) reveals() {
	words := joinWords(c.opts.operands).text + " "
	for sub := range strings.SplitSeq(revealing(c.name), "|") {
		if sub != "" && strings.HasPrefix(words, sub+" ") && !strings.HasPrefix(words, sub+" set ") && !strings.HasPrefix(words, sub+" delete ") {
			c.signal(engine.SignalCredential)
		}
	}
	switch c.name {
	case "sops":
		c.s.signalIf(c.opts.has("-d", "--decrypt"), engine.SignalCredential)
	case "kubectl":
		c.s.signalIf(strings.HasPrefix(words, "config view ") && c.opts.has("--raw"), engine.SignalCredential)
	case "npm", "pnpm", "yarn":
		c.s.signalIf(strings.HasPrefix(words, "config get ") && strings.Contains(words, "_auth"), engine.SignalCredential)
	case "ps":
		first := c.opts.operand(0).text // without a dash: letters of BSD, of which e shows the environment
		c.s.signalIf(strings.Contains(first, "e") && strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") == "", engine.SignalEnvDump)
	}
}

// unlocks notes subcommands that take hooks out of a repository, or let others
// into this machine, of programs that mostly do something else.
func (c *call) unlocks() {
	first := c.opts.operand(0)
	switch c.name {
	case "pre-commit", "husky", "lefthook", "overcommit":
		c.s.signalIf(first.is("uninstall") || c.opts.has("--uninstall"), engine.SignalGitNoVerify)
	case "code", "code-insiders", "cursor":
		c.s.signalIf(first.is("tunnel"), engine.SignalTunnel)
	case "devtunnel":
		c.s.signalIf(first.is("host"), engine.SignalTunnel)
	}
}

// bindOptions name the address at which a server waits.
var bindOptions = []string{
	"--host", "--hostname", "--bind", "--bind-address", "--bind_ip", "--listen", "--listen-address", "--address", "--addr", "--ip",
	"--http", "-b", "-H", "-S", "-a", "-l", "-p", "--publish",
}

// exposes notes that an option binds a program to all addresses of this
// machine: whatever the program is, other machines reach it.
func (c *call) exposes() {
	if c.s.frame.isolated {
		return
	}
	containers := slices.Contains([]string{"docker", "podman", "nerdctl"}, c.name) // all but -p is what runs inside
	for i, a := range c.args {
		name, value, glued := strings.Cut(a.text, "=")
		if !glued && i+1 < len(c.args) {
			value = c.args[i+1].text
		}
		if slices.Contains(bindOptions, name) && everyAddress(value) && (!containers || slices.Contains([]string{"-p", "--publish"}, name)) {
			c.listens(word("0.0.0.0"), nil)
			return
		}
	}
	if c.name == "vite" && len(c.args) > 0 && c.args[len(c.args)-1].is("--host") {
		c.listens(word("0.0.0.0"), nil)
	}
}

// everyAddress tells whether an address, with or without ports, is the one that
// stands for all of a machine's.
func everyAddress(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "tcp://"), "http://")
	for _, all := range []string{"0.0.0.0", "[::]", "*"} {
		if rest, ok := strings.CutPrefix(text, all); ok && (rest == "" || strings.HasPrefix(rest, ":") && strings.Trim(rest, ":0123456789/tcpud") == "") {
			return text != "*" || all != "*"
		}
	}
	return text == "::"
}
