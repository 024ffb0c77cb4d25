package marks

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// commandPrograms are the first words of lines that tell someone to run something.
var commandPrograms = []string{"curl", "wget", "bash", "sh", "zsh", "pip", "pip3", "pipx", "uv", "uvx", "npm", "npx", "pnpm",
	"yarn", "bun", "bunx", "deno", "node", "python", "python3", "ruby", "perl", "php", "gem", "cargo", "go", "brew", "apt",
	"apt-get", "yum", "dnf", "apk", "pacman", "snap", "choco", "winget", "git", "gh", "chmod", "chown", "rm", "sudo", "eval",
	"nc", "ncat", "ssh", "scp", "rsync", "docker", "podman", "kubectl", "helm", "terraform", "aws", "gcloud", "az", "iwr", "irm",
	"iex", "invoke-webrequest", "powershell", "pwsh", "make", "crontab", "base64", "openssl", "dd", "mkfs", "psql", "mysql",
	"mongo", "redis-cli"}

// knownPrograms is the set of commandPrograms.
var knownPrograms = sync.OnceValue(func() map[string]bool { return setOf(commandPrograms) })

// commandsIn returns the commands in a line of text with normalised white space: the line
// itself, what is in backquotes, and the parts between | and &&.
func commandsIn(line string) []string {
	var list []string
	for i, span := range strings.Split(line, "`") {
		if i == 0 || i%2 == 1 {
			list = appendCommands(list, span)
		}
	}
	return list
}

func appendCommands(list []string, text string) []string {
	words := strings.Fields(strings.TrimLeft(strings.TrimSpace(text), "$>#-*0123456789.) \t"))
	at := slices.IndexFunc(words, func(w string) bool { return knownPrograms()[mask.Lower(w)] })
	if at < 0 || at > 0 && !strings.HasSuffix(words[at-1], ":") && !slices.Contains(beforeCommand, mask.Lower(words[at-1])) {
		return list
	}
	start := at
	for i := at; i <= len(words); i++ {
		if i == len(words) || words[i] == "|" || words[i] == "&&" || words[i] == ";" || words[i] == "||" {
			list = appendCommand(list, words[start:i])
			start = i + 1
		}
	}
	return list
}

// beforeCommand are words that precede a command in a sentence, and goingOn words that
// follow one.
var (
	beforeCommand = []string{"run", "runs", "running", "execute", "executing", "type", "try", "invoke", "call", "enter", "issue",
		"use", "then", "and", "please"}
	goingOn = []string{"and", "then", "to", "in", "at", "before", "after", "for", "so", "which", "that", "with", "from", "on",
		"if", "or", "first", "now"}
)

// appendCommand adds a command, also without the rest of a sentence.
func appendCommand(list []string, words []string) []string {
	if _, ok := installed(words); ok {
		return list // installed packages have marks of their own
	}
	end := slices.IndexFunc(words, func(w string) bool { return slices.Contains(goingOn, w) })
	for _, n := range []int{len(words), end} {
		command := strings.Trim(strings.Join(words[:max(n, 0)], " "), "\"'.,;")
		if n > 1 && len(command) >= longToken && !slices.Contains(list, command) {
			list = append(list, command)
		}
	}
	return list
}

// installers are programs that fetch packages by name, with their subcommands that do so;
// runners fetch what they run.
var installers = map[string][]string{
	"npm": {"install", "i", "add", "exec", "x"}, "pnpm": {"install", "i", "add", "dlx"}, "yarn": {"add", "dlx"},
	"bun": {"install", "i", "add", "x"}, "deno": {"install", "add"}, "pip": {"install"}, "pip3": {"install"}, "uv": {"add"},
	"pipx": {"install", "run"}, "poetry": {"add"}, "pdm": {"add"}, "conda": {"install"}, "mamba": {"install"}, "gem": {"install"},
	"cargo": {"install", "add"}, "go": {"get", "install"}, "brew": {"install"}, "apt": {"install"}, "apt-get": {"install"},
	"yum": {"install"}, "dnf": {"install"}, "apk": {"add"}, "pacman": {"-s"}, "snap": {"install"}, "choco": {"install"},
	"winget": {"install"}, "composer": {"require"}, "dotnet": {"add"},
}

var (
	runners     = []string{"npx", "pnpx", "bunx", "uvx"}
	valuedFlags = []string{"-r", "-c", "-i", "-f", "-t", "-C", "-w", "--requirement", "--constraint", "--index-url",
		"--extra-index-url", "--registry", "--prefix", "--cwd", "--filter", "--workspace", "--target", "--find-links", "--source"}
)

// installed returns the packages that a command fetches, without their versions; ok reports
// whether it is such a command.
func installed(words []string) (names []string, ok bool) {
	if len(words) > 2 && (mask.Lower(words[0]) == "uv" || strings.HasPrefix(mask.Lower(words[0]), "python")) &&
		(words[1] == "pip" || words[1] == "-m" && words[2] == "pip") {
		words = words[slices.Index(words, "pip"):]
	}
	if len(words) < 2 {
		return nil, false
	}
	program := mask.Lower(words[0])
	rest := words[1:]
	if verbs := installers[program]; verbs != nil && slices.Contains(verbs, mask.Lower(words[1])) {
		rest = words[2:]
	} else if !slices.Contains(runners, program) {
		return nil, false
	}
	for i := 0; i < len(rest); i++ {
		switch w := strings.Trim(rest[i], "\"'`,;"); {
		case slices.Contains(valuedFlags, w):
			i++
		case strings.HasPrefix(w, "-"):
		case slices.Contains(goingOn, w) || w == "":
			return names, true
		default:
			if name := packageName(w); name != "" {
				names = append(names, name)
			}
			if slices.Contains(runners, program) || strings.HasSuffix(w, ".") {
				return names, true
			}
		}
	}
	return names, true
}

// packageName returns the name of a package in a command, in lower case and without its
// version; empty: it is a file, a folder or an address.
func packageName(w string) string {
	w = mask.Lower(strings.TrimRight(w, ".:!?"))
	if i := strings.LastIndexByte(w, '@'); i > 0 {
		w = w[:i]
	}
	if i := strings.IndexAny(w, "=<>~![;("); i > 0 {
		w = w[:i]
	}
	if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789-_./@") != "" || w[0] == '.' || w[0] == '/' ||
		FileName(w) && !strings.HasSuffix(w, ".js") || w[0] != '@' && strings.Count(w, "/") == 1 {
		return ""
	}
	return w
}

// installs returns the packages that a call installs, as packageStem does.
func installs(a *engine.Action) []string {
	if a == nil || !slices.Contains(a.Signals, engine.SignalPackageInstall) {
		return nil
	}
	var list []string
	for i := range a.Commands {
		c := &a.Commands[i]
		names, _ := installed(slices.Concat([]string{c.Name}, c.Sub, c.Operands))
		for _, name := range names {
			list = append(list, packageStem(name))
		}
	}
	return list
}

// knows reports whether a name is that of a package that the call itself asked for, perhaps at another path.
func (l *literals) knows(name string) bool {
	return len(l.asked) > 0 && !strings.ContainsAny(name, ":?=+") && len(packageStem(name)) >= minStem &&
		slices.Contains(l.asked, packageStem(name))
}

// packageStem returns the last part of the path of a package, without its version: termview for view.example/termview/v2.
func packageStem(name string) string {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	folder, last := path.Split(name)
	if strings.Trim(last, "v0123456789") == "" {
		last = path.Base(folder)
	}
	return mask.Lower(last)
}

// minStem is the minimum length of a name that tells a package from others, in bytes.
const minStem = 5

// optionName reports whether a piece is an option without a value: --break-system-packages.
func optionName(p string) bool {
	name, ok := strings.CutPrefix(p, "--")
	return ok && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// packages collects the packages that a line of text tells someone to install, in commands
// and sentences.
func (l *literals) packages(line string) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || r == '`' || r == '|' || r == '&' || r == '"' || r == '\'' })
	for i := range words {
		if low := mask.Lower(words[i]); installers[low] == nil && !slices.Contains(runners, low) {
			continue
		}
		names, _ := installed(words[i:min(len(words), i+maxOperands)])
		for _, name := range names {
			if !l.knows(name) {
				l.add(rankPlace, packageLiteral+name)
			}
		}
	}
}

// packageLiteral is the prefix of literals that represent packages; it occurs in no text.
const packageLiteral = "package\x00"

// maxOperands limits how many words of a command are examined for packages.
const maxOperands = 24
