package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// reveals notes that a program shows the tokens of a registry of packages.
func reveals(c *shell.Call) {
	switch c.Name {
	case "npm", "pnpm", "yarn":
		words := shell.JoinWords(c.Opts.Operands).Text + " "
		c.Shell.SignalIf(strings.HasPrefix(words, "config get ") && strings.Contains(words, "_auth"), engine.SignalCredential)
	case "dotnet":
		first, second := c.Opts.Operand(0), c.Opts.Operand(1)
		c.Shell.SignalIf(first.Is("user-secrets") && second.Is("list"), engine.SignalCredential)
	}
}

// exposes notes that an option binds a program to all addresses of this
// machine: whatever the program is, other machines reach it.
func exposes(c *shell.Call) {
	if c.Shell.Frame.Isolated {
		return
	}
	options := c.Shell.In.Rows.Words("programs.binding")
	containers := slices.Contains([]string{"docker", "podman", "nerdctl"}, c.Name) // all but -p is what runs inside
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

// unchecked notes that git takes what comes from anybody.
func unchecked(c *shell.Call) {
	words := strings.ReplaceAll(strings.ToLower(textOf(c.Args)), " ", "=")
	c.Shell.SignalIf(c.Name == "git" && strings.Contains(words, "http.sslverify=false"), engine.SignalUnchecked)
}

// indexes notes that a package manager is told to get packages from another
// place from now on, or to run and believe more of what it gets.
func indexes(c *shell.Call) {
	words := " " + strings.ToLower(shell.JoinWords(c.Opts.Operands).Text) + " "
	says := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(words, p) {
				return true
			}
		}
		return false
	}
	switch c.Name {
	case "npm", "pnpm", "yarn":
		sets := says(" config set ", " c set ") || strings.HasPrefix(words, " set ")
		c.Shell.SignalIf(sets && says("registry", "ignore-scripts false", "ignore-scripts=false", "strict-ssl"), engine.SignalPackageSource)
		c.Shell.SignalIf(sets && says("strict-ssl false", "strict-ssl=false"), engine.SignalUnchecked)
	case "pip", "pip3", "uv":
		c.Shell.SignalIf(says(" config set ") && says("index-url", "trusted-host"), engine.SignalPackageSource)
	case "poetry", "pdm":
		c.Shell.SignalIf(says(" source add ", " config repositories."), engine.SignalPackageSource)
	case "gem", "bundle":
		c.Shell.SignalIf(says(" sources ") && c.Opts.Has("-a", "--add") || says(" config ") && says(" mirror."), engine.SignalPackageSource)
	case "composer":
		c.Shell.SignalIf(says(" config ") && says(" repositor"), engine.SignalPackageSource)
	case "dotnet", "nuget":
		c.Shell.SignalIf(says(" nuget add source ", " sources add "), engine.SignalPackageSource)
	case "go":
		c.Shell.SignalIf(says(" env ") && strings.Contains(textOf(c.Args), "-w") && says("goproxy=", "gosumdb=", "gonosumdb=",
			"goinsecure=", "gonosumcheck="), engine.SignalPackageSource)
	}
}
