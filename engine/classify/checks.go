package classify

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// checkPrograms look whether the work is good, whatever they are asked.
var checkPrograms = []string{"pytest", "py.test", "tox", "nox", "nose2", "nosetests", "unittest", "jest", "vitest", "mocha",
	"ava", "jasmine", "karma", "tap", "tape", "lab", "qunit", "rspec", "minitest", "cucumber", "behave", "phpunit", "pest",
	"paratest", "codecept", "ctest", "bats", "shellspec", "busted", "prove", "gotestsum", "ginkgo", "gotest", "eslint", "oxlint",
	"standard", "xo", "stylelint", "tslint", "jshint", "htmlhint", "markdownlint", "markdownlint-cli2", "textlint", "alex",
	"vale", "mypy", "pyright", "basedpyright", "pyre", "pylint", "flake8", "pycodestyle", "pydocstyle", "bandit", "vulture",
	"pyflakes", "shellcheck", "checkbashisms", "hadolint", "yamllint", "actionlint", "ansible-lint", "cfn-lint", "tflint",
	"tfsec", "checkov", "golangci-lint", "staticcheck", "revive", "errcheck", "govulncheck", "nilaway", "phpstan", "psalm",
	"phpcs", "phpmd", "rubocop", "reek", "brakeman", "standardrb", "ktlint", "detekt", "checkstyle", "pmd", "spotbugs",
	"swiftlint", "cppcheck", "clang-tidy", "cpplint", "vue-tsc", "svelte-check", "tsd", "attw", "publint", "knip", "depcheck",
	"madge", "dialyzer", "credo", "hlint", "luacheck", "selene", "buf-lint", "spectral", "kubeval", "kubeconform", "conftest",
	"datree", "semgrep", "lychee", "linkinator", "proselint", "codespell", "cspell", "nextest", "cargo-nextest", "pa11y", "lhci"}

// checkWords are programs that do so with one of some words.
var checkWords = []struct{ names, words []string }{
	{[]string{"go"}, []string{"test", "vet"}},
	{[]string{"cargo"}, []string{"test", "check", "clippy", "nextest", "miri"}},
	{[]string{"mvn", "mvnw", "gradle", "gradlew", "sbt", "mill", "lein", "ant", "bazel", "bazelisk", "buck", "buck2",
		"pants"}, []string{"test", "check", "verify", "integrationtest", "integration-test", "connectedcheck", "lint", "ktlintcheck",
		"detekt", "checkstyle", "checkstylemain", "pmdmain", "spotlesscheck", "testdebugunittest", "testonly", "scalafmtcheck"}},
	{[]string{"make", "gmake", "just", "task", "rake", "mage", "invoke", "inv", "nox", "mix", "composer", "zig", "dune", "cabal",
		"stack", "swift", "flutter", "dart", "deno", "bun", "rails", "dotnet", "phoenix", "hatch", "pdm", "rye"}, []string{"test",
		"tests", "check", "checks", "lint", "vet", "validate", "verify", "typecheck", "type-check", "unit", "spec", "specs", "e2e",
		"analyze", "analyse", "smoke", "selftest", "distcheck", "test:unit", "test:e2e"}},
	{[]string{"xcodebuild"}, []string{"test", "test-without-building", "analyze"}},
	{[]string{"playwright", "cypress", "ng", "nx", "turbo", "lerna", "wtr", "web-test-runner"},
		[]string{"test", "run", "lint", "e2e", "check"}},
	{[]string{"ruff", "biome", "dprint"}, []string{"check", "lint", "ci"}},
	{[]string{"rome"}, []string{"check", "ci"}},
	{[]string{"terraform", "tofu", "packer", "nomad", "vault", "consul"}, []string{"validate", "test"}},
	{[]string{"helm"}, []string{"lint", "test"}},
	{[]string{"docker-compose"}, []string{"config"}},
	{[]string{"black", "isort", "prettier", "gofumpt", "rustfmt", "yapf", "autopep8", "clang-format"},
		[]string{"--check", "--check-only", "--diff", "--dry-run", "-c", "--list-different"}},
	{[]string{"tsc"}, []string{"--noemit"}},
	{[]string{"terragrunt"}, []string{"validate", "hclvalidate"}},
	{[]string{"manage.py", "artisan"}, []string{"test", "check"}},
	{[]string{"setup.py"}, []string{"test", "check"}},
	{[]string{"node"}, []string{"--test"}},
	{[]string{"python", "python3", "py"}, []string{"-m=unittest", "-m=doctest", "-m=pytest"}},
	{[]string{"pre-commit"}, []string{"run"}},
	{[]string{"nginx", "sshd", "apachectl", "httpd", "haproxy"}, []string{"-t", "configtest"}},
}

// scriptRunners run the scripts of a project by their names.
var scriptRunners = []string{"npm", "pnpm", "yarn", "bun"}

// interpreters run the file that is their first operand.
var scriptInterpreters = []string{"bash", "sh", "zsh", "dash", "ksh", "fish", "python", "python2", "python3", "py", "pypy",
	"node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "ts-node", "tsx", "rscript", "pwsh", "powershell", "julia",
	"elixir"}

// checks says that an action looks whether the work is good. Checks that a
// script of another name runs in passing do not count.
func checks(a *engine.Action) bool {
	for i := range a.Commands {
		if !inFile(a, i) && checkCommand(a.Commands[i]) {
			return true
		}
	}
	return false
}

func checkCommand(c engine.Command) bool {
	words := lowerAll(slices.Concat(c.Sub, c.Operands))
	name := strings.TrimSuffix(mask.Lower(c.Name), ".exe")
	all := slices.Concat(words, lowerAll(c.Flags))
	switch {
	case abstract.AnyOf(all, "--version", "-version", "version", "--help", "-h", "help", "--init", "--showconfig", "--collect-only", "--listtests"):
		return false
	case slices.Contains(checkPrograms, name), slices.Contains(scriptRunners, name) && scriptCheck(words), checkScript(name, false):
		return true
	case slices.Contains(scriptInterpreters, name) && len(c.Operands) > 0 && scriptOf(words):
		return true
	}
	for _, row := range checkWords {
		if slices.Contains(row.names, name) && abstract.AnyOf(all, row.words...) {
			return true
		}
	}
	return false
}

func lowerAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = mask.Lower(s)
	}
	return out
}

// scriptOf says that the first word that an interpreter is given is a check:
// a file, a program of its own kind (php vendor/bin/phpunit), manage.py test.
func scriptOf(words []string) bool {
	base := path.Base(place.Slashes(words[0]))
	if slices.Contains(checkPrograms, base) || checkScript(base, true) {
		return true
	}
	for _, row := range checkWords {
		if slices.Contains(row.names, base) && abstract.AnyOf(words[1:], row.words...) {
			return true
		}
	}
	return false
}

// checkScripts begin the names of scripts that look whether the work is good.
var checkScripts = []string{"test", "lint", "check", "typecheck", "tsc", "types", "type", "validate", "verify", "e2e", "spec",
	"unit", "coverage", "audit"}

// scriptCheck says that what npm and its kin run is a check: npm test, yarn
// lint, pnpm run test:unit.
func scriptCheck(words []string) bool {
	for _, w := range words {
		if slices.Contains([]string{"run", "run-script", "exec", "dlx", "x", "workspace", "-r"}, w) || strings.HasPrefix(w, "-") {
			continue
		}
		if slices.Contains([]string{"t", "tst", "tests", "vitest", "jest", "mocha", "eslint"}, w) {
			return true
		}
		lead, _, _ := strings.Cut(w, ":")
		lead, _, _ = strings.Cut(lead, "-")
		return slices.Contains(checkScripts, lead)
	}
	return false
}

// checkLeads begin the names of scripts that check.
var checkLeads = []string{"validate", "validator", "validation", "verify", "verifier", "verification", "check", "checks",
	"checker", "audit", "lint", "linter", "grade", "grader", "evaluate", "evaluation", "test", "tests", "runtests", "smoke"}

// checkEnds end the names of scripts that check.
var checkEnds = []string{"test", "tests", "spec", "validator", "checker", "verifier", "check", "verify", "lint"}

// checkScript says that a script's name calls it a check: validate_all.py,
// check-links.sh, cart_test.sh. A bare name without an extension or parts must
// be such a word on its own, but not the shell's test.
func checkScript(base string, file bool) bool {
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	parts := strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	if len(parts) == 0 || !file && len(parts) == 1 && ext == "" && parts[0] == "test" {
		return false
	}
	first, last := parts[0], parts[len(parts)-1]
	lead := slices.Contains(checkLeads, first)
	end := slices.Contains(checkEnds, last)
	if !file && ext == "" && len(parts) > 1 {
		// Of programs: not test-connection, check-update.
		return lead && first != "test" && first != "check" || end && last != "check"
	}
	return lead || end || first == "run" && len(parts) > 1 && slices.Contains([]string{"tests", "test", "checks", "lint"}, parts[1])
}

// waits says that an action sleeps, or stays to see what happens.
func waits(r *reading, a *engine.Action) bool {
	unless := r.tool.row.Waits
	if unless == "true" || unless != "" && r.args[unless] != false {
		return true
	}
	return r.script.Waits || slices.ContainsFunc(a.Commands, waitCommand)
}

func waitCommand(c engine.Command) bool {
	if slices.Contains(c.Via, "watch") || slices.Contains(c.Wrappers, "watch") {
		return true
	}
	follow := abstract.AnyOf(c.Flags, "-f", "-F", "--follow", "-w", "--watch", "-fn")
	switch c.Name {
	case "sleep":
		return slices.ContainsFunc(c.Operands, func(s string) bool { return languages.SleepSeconds(s) >= languages.LongWait })
	case "start-sleep":
		return psSleep(c)
	case "inotifywait", "fswatch", "entr", "wait-on", "wait-for-it.sh", "wait-for-it", "dockerize":
		return true
	case "tail", "journalctl":
		return follow
	case "kubectl", "oc", "gh", "aws", "gcloud", "az":
		words := slices.Concat(c.Sub, c.Operands)
		watched := abstract.AnyOf(c.Flags, "-w", "--watch", "--follow") || slices.Contains(words, "logs") && follow
		return watched || abstract.AnyOf(words, "wait", "watch") || len(words) > 1 && words[0] == "rollout" && words[1] == "status"
	case "docker", "podman":
		words := slices.Concat(c.Sub, c.Operands) // -w is a folder there
		return slices.Contains(words, "logs") && follow || len(words) > 0 && words[0] == "wait"
	}
	// timeout /t 5 of Windows
	return slices.Contains(c.Wrappers, "timeout") && c.Name != "" && languages.SleepSeconds(c.Name) >= languages.LongWait
}

// psSleep reads Start-Sleep.
func psSleep(c engine.Command) bool {
	for _, s := range slices.Concat(c.Flags, c.Operands) {
		name, text, ok := strings.Cut(s, "=")
		if !ok {
			name, text = "-seconds", s
		}
		seconds := languages.SleepSeconds(text)
		if strings.HasPrefix(mask.Lower(name), "-m") {
			seconds /= 1000
		}
		if seconds >= languages.LongWait {
			return true
		}
	}
	return false
}
