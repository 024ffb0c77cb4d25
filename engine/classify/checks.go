package classify

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/named"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// checks reports whether an action checks the work. Checks that a script of another name also
// runs do not count.
func checks(a *engine.Action, set *rows.Set) bool {
	k := checker{set}
	for i := range a.Commands {
		if !inFile(a, i) && k.command(a.Commands[i]) {
			return true
		}
	}
	return false
}

// checker recognises checks by the rows of a policy.
type checker struct{ set *rows.Set }

// in reports whether a word is in a list of the policy.
func (k checker) in(list, word string) bool {
	return slices.Contains(k.set.Words("checks."+list), word)
}

func (k checker) command(c engine.Command) bool {
	words := lowerAll(slices.Concat(c.Sub, c.Operands))
	name := strings.TrimSuffix(mask.Lower(c.Name), ".exe")
	all := slices.Concat(words, lowerAll(c.Flags))
	switch {
	case abstract.AnyOf(all, k.set.Words("checks.idle")...):
		return false
	case k.program(name, all), k.in("runners", name) && k.scripts(words), k.script(name, false):
		return true
	}
	return k.in("interpreters", name) && len(c.Operands) > 0 && k.file(words)
}

// program reports whether a row marks a program with such words as a check.
func (k checker) program(name string, words []string) bool {
	known, _, err := k.set.Program(name)
	return err == nil && (rows.Has(known.Checks, "true") || abstract.AnyOf(words, strings.Fields(known.Checks)...))
}

func lowerAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = mask.Lower(s)
	}
	return out
}

// file reports whether the first word that an interpreter is given is a check: a file, or a
// program of its own kind (php vendor/bin/phpunit, manage.py test).
func (k checker) file(words []string) bool {
	base := path.Base(place.Slashes(words[0]))
	return k.script(base, true) || k.program(base, words[1:])
}

// scripts reports whether the script that npm and the like run is a check: npm test, yarn
// lint, pnpm run test:unit.
func (k checker) scripts(words []string) bool {
	for _, w := range words {
		if k.in("passed_over", w) || strings.HasPrefix(w, "-") {
			continue
		}
		lead, _, _ := strings.Cut(w, ":")
		lead, _, _ = strings.Cut(lead, "-")
		return k.in("whole", w) || k.in("scripts", lead)
	}
	return false
}

// script reports whether a script's name marks it as a check: validate_all.py,
// check-links.sh, cart_test.sh. A bare name without an extension or parts must be such a
// word on its own, but not the shell's test.
func (k checker) script(base string, file bool) bool {
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	parts := strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	if len(parts) == 0 || !file && len(parts) == 1 && ext == "" && parts[0] == "test" {
		return false
	}
	first, last := parts[0], parts[len(parts)-1]
	lead, end := k.in("leads", first), k.in("ends", last)
	if !file && ext == "" && len(parts) > 1 {
		// programs only, such as test-connection and check-update
		return lead && first != "test" && first != "check" || end && last != "check"
	}
	return lead || end || first == "run" && len(parts) > 1 && k.in("behind_run", parts[1])
}

// waits reports whether an action sleeps, or waits for something to change.
func waits(r *toolReader, a *engine.Action) bool {
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

// statement reports what the agent's last message claims, and what it names that does not
// exist; nil: nothing.
func (c *Classifier) statement(m *mask.Masker, e engine.Event, workspace string) *engine.LastMessage {
	if e.LastMessage == "" {
		return nil
	}
	set := c.rowsOf(e)
	said, claimed := prompt.ClaimsOf(set, m, e.LastMessage)
	find := named.Finder{World: c.World, Res: place.NewResolver(c.World, workspace, set), Rows: set,
		Dirs: slices.Compact([]string{place.Slashes(e.CWD), place.Slashes(workspace)})}
	commands := find.Commands(prompt.ToldCommands(set, m, e.LastMessage))
	if said == nil && commands == nil {
		return nil
	}
	if said == nil {
		said = &engine.LastMessage{Claims: []engine.Claim{}}
	}
	said.Again, said.Commands = e.Again, commands
	said.Packages, said.Symbols = find.Packages(claimed.Packages), find.Symbols(claimed.Symbols)
	for _, name := range claimed.Files {
		if short, missing := missingFile(find.Res, name, e.CWD, workspace); missing {
			said.Missing = append(said.Missing, m.Text(short))
		}
	}
	return said
}

// missingFile looks for a file by the name that a message gives it: in the
// agent's directory, and in the workspace.
func missingFile(res *place.Resolver, name, cwd, workspace string) (short string, missing bool) {
	for _, dir := range []string{cwd, workspace} {
		full, ok := res.Named(name, place.Slashes(dir))
		if !ok || !res.Looking() || res.Lstat(full) != nil {
			return "", false
		}
		short = res.Short(full)
	}
	return strings.TrimSuffix(short, "/"), true
}
