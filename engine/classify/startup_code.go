package classify

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxStartup bounds how many texts that run later are looked into for one call:
// a write to a start-up file is judged as such all the same.
const maxStartup = 8

// maxLater bounds how deep is looked into code that writes code which runs later:
// a start-up file defines an alias. Such code may write itself.
const maxLater = 2

// shellStartup are files that a shell runs as it starts.
var shellStartup = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv",
	".zlogin", ".zlogout", ".kshrc", "bash.bashrc", "zshrc", "zprofile",
}

// startsShells says that a shell runs a file as it starts.
func startsShells(p string) bool {
	return slices.Contains(shellStartup, path.Base(p)) ||
		p == "/etc/profile" || p == "/etc/environment" || within("/etc/profile.d", p)
}

// laterGuard notes that code which runs later, in every new shell, takes away
// what guards a session. What else it does counts when it runs.
func laterGuard(code string, in shellInput, signals map[engine.Signal]bool) {
	if in.later >= maxLater {
		return
	}
	in.disk = nil
	in.later++
	later := interpretShell(code, in)
	for _, id := range []engine.Signal{engine.SignalGuardTamper, engine.SignalAgentUnguarded} {
		if later.signals[id] {
			signals[id] = true
		}
	}
	res := newResolver(World{Home: in.home, Guard: in.guard}, in.cwd.text)
	for _, raw := range later.effects {
		if e := res.effect(raw); tampers(&e, res) {
			signals[engine.SignalGuardTamper] = true
		}
	}
}

// startup looks into what the script puts into a start-up file.
func (s *shell) startup(file, text string) {
	if startsShells(file) {
		s.runsLater(text)
	}
}

// runsLater looks into code that new shells or later commands run.
func (s *shell) runsLater(text string) {
	if s.startups[text] || len(s.startups) >= maxStartup || len(text) > maxStartupText {
		return
	}
	if s.startups == nil {
		s.startups = map[string]bool{}
	}
	s.startups[text] = true
	laterGuard(text, s.in, s.out.signals)
}

// maxStartupText is the length of a text that is looked into, in bytes.
const maxStartupText = 64 << 10

// startup looks into what a tool puts into a start-up file, and what it takes
// out of one.
func (r *reading) startup() {
	for _, e := range r.script.effects {
		if e.command >= 0 || e.kind != engine.EffectFileWrite || !startsShells(e.target.text) {
			continue
		}
		for i, name := range slices.Sorted(maps.Keys(r.contents)) {
			if text := r.contents[name]; i < maxStartup && len(text) <= maxStartupText {
				laterGuard(text, r.in, r.script.signals)
			}
		}
		return
	}
}

// editsStartup looks at the script of an editor that changes start-up files in place.
func (c *call) editsStartup(scripts, files []arg) {
	for _, f := range files {
		for _, script := range scripts {
			c.s.signalIf(startsShells(f.text) && (namesGuard(script) || strings.Contains(script.text, "CLAUDE_CONFIG_DIR")), engine.SignalGuardTamper)
		}
	}
}
