package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// uncheckedOptions are the options by which a program does without a check of
// who is at the other end, or of who signed what comes from there.
func uncheckedOptions(name string) string {
	is, _ := rowOf(uncheckedOptionsTable, name)
	return is
}

var uncheckedOptionsTable = []row[string]{
	{[]string{"curl", "curlie"}, "-k --insecure --proxy-insecure"},
	{[]string{"wget", "wget2"}, "--no-check-certificate"},
	{[]string{"pip", "pip3", "uv", "pipenv", "poetry", "pdm"}, "--trusted-host --allow-insecure-host"},
	{[]string{"npm", "pnpm", "yarn"}, "--no-strict-ssl"},
	{[]string{"apt", "apt-get", "aptitude"}, "--allow-unauthenticated --force-yes --allow-insecure-repositories"},
	{[]string{"yum", "dnf", "zypper"}, "--nogpgcheck --no-gpg-checks"},
	{[]string{"rpm"}, "--nosignature --nogpgcheck"},
	{[]string{"apk"}, "--allow-untrusted"},
	{[]string{"snap"}, "--dangerous"},
	{[]string{"helm", "kubectl"}, "--insecure-skip-tls-verify"},
}

// unchecked notes that a program takes what comes from anybody.
func unchecked(c *shell.Call) {
	off := uncheckedOptions(c.Name)
	git := c.Name == "git" && strings.Contains(strings.ReplaceAll(strings.ToLower(textOf(c.Args)), " ", "="), "http.sslverify=false")
	if git || off != "" && c.Opts.Has(strings.Fields(off)...) {
		c.Signal(engine.SignalUnchecked)
	}
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
