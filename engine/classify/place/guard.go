package place

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Displaced reports whether the target is in another place afterwards.
func Displaced(e *engine.Effect) bool {
	return e.Kind == engine.EffectFileDelete && e.Verb == "move" || e.Verb == "rename"
}

// Gone reports whether the target is no longer where it was.
func Gone(e *engine.Effect) bool { return e.Kind == engine.EffectFileDelete || Displaced(e) }

// HoldsGit reports whether deleting a directory also deletes a repository.
func (r *Resolver) HoldsGit(e *engine.Effect) bool {
	return Gone(e) && e.Verb != "discard" && (e.Recursive || Displaced(e)) && e.Exists == "yes" && e.Entry == "dir" &&
		r.Lstat(Join(e.Target, ".git")) != nil
}

// checkpoints is the folder of reviewer's state that contains the contents of other files.
const checkpoints = "checkpoints"

// readsStored reports whether the contents of checkpoints are read: files with secrets are
// among them, so it is as if these were read.
func (r *Resolver) readsStored(e *engine.Effect) bool {
	if e.Kind != engine.EffectFileRead || e.Class != engine.ClassGuard || e.Verb == engine.VerbList {
		return false
	}
	return slices.ContainsFunc(r.guard, func(g string) bool {
		stored := Join(g, checkpoints)
		return Within(stored, e.Target) || e.Recursive && Within(g, e.Target) && Within(e.Target, stored)
	})
}

// Guard returns the relation between an effect and what guards the session, as in
// engine.Effect.Guard.
func (r *Resolver) Guard(e *engine.Effect) string {
	switch {
	case e.Kind == engine.EffectFileRead || e.Kind == engine.EffectNetwork:
		return e.Guard // found with the effect
	case e.Kind == engine.EffectSystemCall && e.Verb == "mount":
		if r.coversGuard(e.Target) {
			return guardIs
		}
	case e.Kind == engine.EffectProcess || e.Kind == engine.EffectSystemCall:
		if e.Verb == "kill" && slices.ContainsFunc(r.guard, func(g string) bool {
			return path.Base(g) == path.Base(e.Target) || Within(g, e.Target)
		}) {
			return guardIs
		}
	case !Alters(e):
	case e.Class == engine.ClassGuard || e.Class == engine.ClassAgent && (r.guards(e.Target) || r.guards(e.Short)):
		return guardIs
	case Gone(e) && (r.guardBelow(e) || r.sweepsSettings(e)):
		return guardHolds
	case e.Kind == engine.EffectFileWrite && r.sweepsSettings(e):
		return guardHolds
	}
	return ""
}

// The values of Effect.Guard.
const (
	guardIs       = "is"
	guardHolds    = "holds"
	guardKey      = "key"
	guardHoldsKey = "holds_key"

	GuardMinor = "minor" // settings of the client change, and none that decide anything
	GuardMay   = "may"   // a request to this machine whose port is unknown; SettlePorts replaces it
)

// guardBelow reports whether part of the guard is deleted or moved together with the
// target.
func (r *Resolver) guardBelow(e *engine.Effect) bool {
	if !e.Recursive && !Displaced(e) || e.Target == "" || e.Host != "" {
		return false
	}
	return slices.ContainsFunc(r.guard, func(g string) bool { return Within(e.Target, g) && mayMatch(e, g) })
}

// mayMatch reports whether a pattern under a directory can match a path in it: one of the
// names on the way matches the pattern's last part.
func mayMatch(e *engine.Effect, p string) bool {
	last := strings.ToLower(path.Base(e.Short))
	if e.Certainty != engine.CertaintyGlob || strings.ContainsAny(last, "[]{}()\\!+@") {
		return true
	}
	last = strings.ReplaceAll(last, "?", "*") // also stands for what is unknown
	below := strings.Trim(strings.TrimPrefix(p, e.Target), "/")
	return slices.ContainsFunc(strings.Split(strings.ToLower(below), "/"), func(name string) bool {
		return wildcard.Match(last, name)
	})
}

// maxSettings limits what is read of an editor's settings, in bytes.
const maxSettings = 64 << 10

// Now returns the contents of a file; empty if it does not exist.
func (r *Resolver) Now(e *engine.Effect) (text string, known bool) {
	if e.Exists == "no" {
		return "{}", true
	}
	if e.Exists != "yes" || r.World.ReadFile == nil {
		return "", false
	}
	b, err := r.World.ReadFile(e.Target, maxSettings)
	return string(b), err == nil
}

// GuardProgram is the name of reviewer's program.
const GuardProgram = "reviewer"

// GuardPrograms are the names of reviewer's programs: itself, and what an agent's hooks start.
func GuardPrograms() []string { return []string{GuardProgram, "reviewer-hook"} }

// NamesGuard reports whether a name or a pattern of a process, a service or a package
// refers, or may refer, to reviewer: [r]eviewer, reviewer.service.
func NamesGuard(a abstract.Arg) bool {
	letters := strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]().*?^$\\\"'", r) {
			return -1
		}
		return r
	}, strings.ToLower(a.Text))
	return strings.Contains(letters, GuardProgram)
}

// MatchesGuard reports whether a pattern for command lines matches the one with which a
// client runs reviewer, or that of the resident process by its name. A pattern that
// happens to match the latter as well (serve) takes nothing away: it is started again.
func MatchesGuard(a abstract.Arg) bool {
	const line, resident = "reviewer hook claude-code pretooluse", "reviewer serve --home"
	text := strings.Trim(strings.ToLower(a.Text), `^$'"`)
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("|()", r) }) {
		plain := strings.NewReplacer("[", "", "]", "", `\`, "").Replace(part)
		plain = strings.Trim(strings.ReplaceAll(plain, ".*", "*"), "*")
		plain = "*" + strings.ReplaceAll(plain, ".", "?") + "*"
		if len(plain) >= 6 && (wildcard.Match(plain, line) || strings.Contains(plain, "review") && wildcard.Match(plain, resident)) {
			return true
		}
	}
	return false
}

// guardProgram reports whether a file is reviewer's program, by its name in a directory of
// programs. In the workspace itself, a file of that name is a product of the work there.
func (r *Resolver) guardProgram(n *names) bool {
	at := len(n.parts) - 2
	program := at >= 0 && slices.Contains(GuardPrograms(), strings.TrimSuffix(n.base, ".exe")) &&
		(n.parts[at] == "bin" || n.parts[at] == "sbin")
	return program && r.workspace != "" && !Within(strings.ToLower(r.workspace), n.full)
}

// coversGuard reports whether mounting something at a path hides files of the guard.
func (r *Resolver) coversGuard(at string) bool {
	if class := r.Class(at); class == engine.ClassGuard || class == engine.ClassAgent && r.guards(at) {
		return true
	}
	return slices.ContainsFunc(r.guard, func(g string) bool { return Within(at, g) || Within(g, at) })
}

// sweepsSettings reports whether a pattern that recurses through all folders under a
// directory matches, by more than its extension, the name of a client's settings there.
func (r *Resolver) sweepsSettings(e *engine.Effect) bool {
	if e.Certainty != engine.CertaintyGlob || !strings.Contains(e.Short, "/**/") {
		return false
	}
	pattern := strings.ToLower(path.Base(e.Short)) // the search may ignore case
	letters := strings.Trim(pattern, "*?[]")
	return slices.ContainsFunc(r.tables.settings, func(name string) bool {
		named := wildcard.Match(pattern, strings.ToLower(path.Base(name))) && !strings.HasPrefix(path.Ext(name), letters)
		return named && r.Lstat(Join(e.Target, name)) != nil
	})
}
