package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// uncheckedOptions are the options by which a program does without a check of
// who is at the other end, or of who signed what comes from there.
func uncheckedOptions(name string) string {
	switch name {
	case "curl", "curlie":
		return "-k --insecure --proxy-insecure"
	case "wget", "wget2":
		return "--no-check-certificate"
	case "pip", "pip3", "uv", "pipenv", "poetry", "pdm":
		return "--trusted-host --allow-insecure-host"
	case "npm", "pnpm", "yarn":
		return "--no-strict-ssl"
	case "apt", "apt-get", "aptitude":
		return "--allow-unauthenticated --force-yes --allow-insecure-repositories"
	case "yum", "dnf", "zypper":
		return "--nogpgcheck --no-gpg-checks"
	case "rpm":
		return "--nosignature --nogpgcheck"
	case "apk":
		return "--allow-untrusted"
	case "snap":
		return "--dangerous"
	case "helm", "kubectl":
		return "--insecure-skip-tls-verify"
	}
	return ""
}

// unchecked notes that a program takes what comes from anybody.
func (c *call) unchecked() {
	off := uncheckedOptions(c.name)
	git := c.name == "git" && strings.Contains(strings.ReplaceAll(strings.ToLower(textOf(c.args)), " ", "="), "http.sslverify=false")
	if git || off != "" && c.opts.has(strings.Fields(off)...) {
		c.signal(engine.SignalUnchecked)
	}
}

// trustVariable looks at variables that switch such checks off, or say where
// packages come from.
func (s *shell) trustVariable(name string, v arg) {
	switch name {
	case "NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY":
		s.signalIf(v.is("0"), engine.SignalUnchecked)
	case "npm_config_strict_ssl", "NPM_CONFIG_STRICT_SSL":
		s.signalIf(v.is("false"), engine.SignalUnchecked)
	case "GOSUMDB":
		s.signalIf(v.is("off"), engine.SignalUnchecked)
	case "GIT_SSL_NO_VERIFY", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "PIP_TRUSTED_HOST", "UV_INSECURE_HOST":
		s.signalIf(v.text != "" && !v.is("0", "false"), engine.SignalUnchecked)
	case "GOFLAGS":
		s.signalIf(strings.Contains(v.text, "-insecure"), engine.SignalUnchecked)
	case "GOPROXY":
		s.signalIf(!v.is("", "direct", "off"), engine.SignalPackageSource)
	case "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER":
		s.signalIf(v.text != "", engine.SignalPackageSource)
	}
}

func (s *shell) signalIf(holds bool, id engine.Signal) {
	if holds {
		s.signal(id)
	}
}

// indexes notes that a package manager is told to get packages from another
// place from now on, or to run and believe more of what it gets.
func (c *call) indexes() {
	words := " " + strings.ToLower(joinWords(c.opts.operands).text) + " "
	says := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(words, p) {
				return true
			}
		}
		return false
	}
	switch c.name {
	case "npm", "pnpm", "yarn":
		sets := says(" config set ", " c set ") || strings.HasPrefix(words, " set ")
		c.s.signalIf(sets && says("registry", "ignore-scripts false", "ignore-scripts=false", "strict-ssl"), engine.SignalPackageSource)
		c.s.signalIf(sets && says("strict-ssl false", "strict-ssl=false"), engine.SignalUnchecked)
	case "pip", "pip3", "uv":
		c.s.signalIf(says(" config set ") && says("index-url", "trusted-host"), engine.SignalPackageSource)
	case "poetry", "pdm":
		c.s.signalIf(says(" source add ", " config repositories."), engine.SignalPackageSource)
	case "gem", "bundle":
		c.s.signalIf(says(" sources ") && c.opts.has("-a", "--add") || says(" config ") && says(" mirror."), engine.SignalPackageSource)
	case "composer":
		c.s.signalIf(says(" config ") && says(" repositor"), engine.SignalPackageSource)
	case "dotnet", "nuget":
		c.s.signalIf(says(" nuget add source ", " sources add "), engine.SignalPackageSource)
	case "go":
		c.s.signalIf(says(" env ") && strings.Contains(textOf(c.args), "-w") && says("goproxy=", "gosumdb=", "gonosumdb=", "goinsecure=", "gonosumcheck="), engine.SignalPackageSource)
	}
}
