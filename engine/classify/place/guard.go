package place

import (
	"bytes"
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
		return Within(stored, e.Target) || e.Recursive && Within(g, e.Target) && Within(e.Target, stored) && !r.isProgram(g)
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
	case !Alters(e) || e.Verb == "create" && e.Class == engine.ClassAgent && r.bareFolder(e.Target):
	case e.Class == engine.ClassGuard || e.Class == engine.ClassAgent && (r.guards(e.Target) || r.guards(e.Short)):
		return guardIs
	case Gone(e) && (r.guardBelow(e) || r.sweepsSettings(e)):
		return guardHolds
	case e.Kind == engine.EffectFileWrite && r.sweepsSettings(e):
		return guardHolds
	}
	return ""
}

// bareFolder reports whether a path is the folder of an agent, whose existence alone decides nothing.
func (r *Resolver) bareFolder(p string) bool {
	n := r.bare(p)
	return slices.ContainsFunc(r.tables.of(string(engine.ClassAgent)).known, func(m *matcher) bool { return m.folders.names.exact[n.base] })
}

// Elsewhere reports whether settings of a client apply neither to this session nor to others of this person: they are in a folder
// that is not the home directory, the workspace, or above it.
func (r *Resolver) Elsewhere(p string) bool {
	n := r.bare(p)
	folder := path.Dir(p)
	for i, part := range n.parts {
		if strings.HasPrefix(part, ".") && r.bareFolder("/"+strings.Join(n.parts[:i+1], "/")) {
			folder = strings.Join(strings.Split(strings.Trim(p, "/"), "/")[:i], "/")
			if !Drive(p) {
				folder = "/" + folder
			}
			break
		}
	}
	if r.workspace == "" || Within(folder, r.workspace) || r.homeRoot(folder) {
		return false
	}
	known := []engine.Location{engine.LocationInside, engine.LocationHome, engine.LocationWorktree, engine.LocationTemp, engine.LocationBeside,
		engine.LocationOutside}
	return slices.Contains(known, r.Location(folder)) && !strings.Contains(folder, "/.")
}

// The values of Effect.Guard.
const (
	guardIs       = "is"
	guardHolds    = "holds"
	guardKey      = "key"
	guardHoldsKey = "holds_key"
	guardProgram  = "program"
	guardPrograms = "programs"

	GuardElsewhere = "elsewhere" // settings of a client that apply in other folders than the session's
	GuardUnsafe    = "unsafe"    // the same, and they set hooks, variables or rights, or switch hooks off
	GuardWidens    = "widens"    // servers, permissions or a status line are added to the settings of a client, and nothing else
	GuardMinor     = "minor"     // settings of the client change, and none that decide anything
	GuardMay       = "may"       // a request to this machine whose port is unknown; SettlePorts replaces it
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

// readsProgram returns whether an effect reads the contents of reviewer's programs, as in engine.Effect.Guard.
func (r *Resolver) readsProgram(e *engine.Effect) string {
	switch {
	case e.Verb == engine.VerbList || e.Target == "":
		return ""
	case e.Class == engine.ClassGuard && r.isProgram(e.Target):
		return guardProgram
	}
	if slices.ContainsFunc(r.programs, func(p string) bool {
		return path.Dir(p) == e.Target || e.Certainty == engine.CertaintyGlob && Within(e.Target, p) && mayMatch(e, p)
	}) {
		return guardPrograms
	}
	return ""
}

// isProgram reports whether a file is one of reviewer's programs: it is installed there, has the same contents under another
// name, or has its name in a directory of programs.
func (r *Resolver) isProgram(p string) bool {
	installed := func(program string) bool { return p == program || r.same(p, program) }
	return slices.ContainsFunc(r.programs, installed) || r.guardProgram(r.names(p))
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

// keyFiles are the files in reviewer's state folder that no tool may open: the key of the log, the
// token of the HTTP API and the file of the approval code.
var keyFiles = []string{"key", "api.token", "approval.code"}

// usualStates are the state folders below a home directory that reviewer uses if none is named.
var usualStates = []string{".local/state/reviewer", "appdata/local/reviewer"}

// statesFor returns the state folders that matter for a path, in lower case: the one in use,
// and a usual one of anybody that the path is in.
func (r *Resolver) statesFor(p string) []string {
	states := r.states
	if len(states) == 0 && r.home != "" {
		states = []string{Join(r.home, usualStates[0])}
	}
	list := make([]string, 0, len(states)+1)
	for _, s := range states {
		list = append(list, r.lower(s))
	}
	for _, usual := range usualStates {
		if i := strings.Index(p+"/", "/"+usual+"/"); i >= 0 {
			list = appendNew(list, p[:i+1+len(usual)])
		}
	}
	return list
}

// readsKey returns what an effect that reads has to do with reviewer's keys, as in
// engine.Effect.Guard.
func (r *Resolver) readsKey(e *engine.Effect, raw abstract.RawEffect) string {
	if e.Verb == engine.VerbList || e.Target == "" {
		return ""
	}
	at := reach{dir: r.lower(e.Target), all: e.Recursive, bare: raw.Names, except: r.lower(raw.Except), next: strings.HasSuffix(e.Short, "/?")}
	full := at.dir
	switch e.Certainty {
	case engine.CertaintyExact:
		if r.isKey(e.Target) {
			return guardKey
		}
	case engine.CertaintyGlob:
		at.pattern = strings.TrimPrefix(r.lower(e.Short), strings.TrimSuffix(r.lower(r.short(e.Target)), "/")+"/")
		full = Join(at.dir, at.pattern)
	case engine.CertaintyPrefix:
		at.open = true
	}
	found := ""
	for _, state := range r.statesFor(full) {
		if e.Certainty == engine.CertaintyExact && path.Base(at.dir) == "lock" && Within(state, at.dir) {
			return guardKey
		}
		for _, name := range keyFiles {
			switch known := at.covers(state, Join(state, name)); {
			case known == guardKey:
				return guardKey
			case known != "" && !(at.open && wide(r.Location(e.Target))):
				found = known
			}
		}
	}
	return found
}

// wide reports whether a location contains much else, so that a name of which only the folder
// is known says nothing.
func wide(l engine.Location) bool {
	return slices.Contains([]engine.Location{engine.LocationHomeRoot, engine.LocationRoot, engine.LocationAncestor, engine.LocationSelf,
		engine.LocationTempRoot}, l)
}

// reach is what an effect reads, in lower case.
type reach struct {
	dir     string
	pattern string // relative to dir; empty: dir itself
	all     bool   // everything below
	bare    bool   // nothing but the names there
	open    bool   // dir is only the beginning of the path
	next    bool   // what is unknown begins with the next name
	except  string // as RawEffect.Except
}

// covers reports whether a key in a state folder is read.
func (at reach) covers(state, key string) string {
	switch {
	case at.dir == key && !at.open:
		return guardKey
	case at.bare:
		return ""
	case at.open:
		return at.begins(state, key)
	case !Within(at.dir, key):
		return at.spells(state, key)
	case at.all && at.leavesOut(key):
		return ""
	case at.pattern != "":
		return at.matches(state, key)
	case at.dir == state:
		return guardKey
	case at.all:
		return guardHoldsKey
	}
	return ""
}

// leavesOut reports whether a path below dir is among what is left out.
func (at reach) leavesOut(p string) bool {
	below := "/" + strings.Trim(p[len(at.dir):], "/")
	return slices.ContainsFunc(strings.FieldsFunc(at.except, func(c rune) bool { return c == '\n' }), func(name string) bool {
		return name == abstract.HiddenNames && strings.Contains(below, "/.") || strings.Contains(below, "/"+name+"/")
	})
}

// spells handles a pattern above a folder whose names the pattern spells out: /home/*/.local/….
func (at reach) spells(state, key string) string {
	rest, ok := strings.CutPrefix(Join(at.dir, at.pattern), state)
	if at.pattern == "" || !ok {
		return ""
	}
	if rest = strings.TrimPrefix(rest, "/"); rest == "" || wildcard.Path(loose(rest), []string{path.Base(key)}) {
		return guardKey
	}
	return ""
}

// begins handles a path of which only the beginning is known.
func (at reach) begins(state, key string) string {
	text, parent := at.dir, path.Dir(state)+"/"
	if at.next {
		text += "/"
	}
	switch {
	case !strings.HasPrefix(key, text):
		return ""
	case len(text) > len(parent):
		return guardKey
	case text == parent:
		return guardHoldsKey
	}
	return ""
}

// matches handles a pattern that may lead to the key. A * at the start of a name does not match
// a hidden name, unless the pattern is that of a search.
func (at reach) matches(state, key string) string {
	pattern, all := loose(at.pattern), at.all
	search := slices.Contains(pattern, "**")
	if n := len(pattern); search && pattern[n-1] == "*" && n > 1 && pattern[n-2] == "**" {
		pattern = pattern[:n-1]
	}
	if n := len(pattern); pattern[n-1] == "**" {
		pattern, all = pattern[:n-1], true
	}
	below := strings.Split(strings.Trim(key[len(at.dir):], "/"), "/")
	if wildcard.Path(pattern, below) {
		return guardKey
	}
	for n := len(below) - 1; n >= 0 && all; n-- {
		if !wildcard.Path(pattern, below[:n]) || !search && hides(pattern, below) {
			continue
		}
		if Within(state, strings.TrimSuffix(Join(at.dir, strings.Join(below[:n], "/")), "/")) {
			return guardKey
		}
		return guardHoldsKey
	}
	return ""
}

// hides reports whether a hidden name is not matched by the part of a pattern in its place.
func hides(pattern, names []string) bool {
	for i, part := range pattern {
		if i < len(names) && strings.HasPrefix(names[i], ".") && strings.ContainsAny(part[:min(1, len(part))], "*?[") {
			return true
		}
	}
	return false
}

// loose returns a pattern that matches at least what the pattern of any shell does.
func loose(pattern string) []string {
	parts := strings.Split(strings.ReplaceAll(pattern, "?", "*"), "/")
	for i, p := range parts {
		if strings.ContainsAny(p, `(){}\`) {
			parts[i] = "*"
		}
	}
	return parts
}

// maxKey limits the size of a file that may be a copy of a key, in bytes.
const maxKey = 4 << 10

// isKey reports whether a file is one of the keys under another name: a hard link or a copy.
func (r *Resolver) isKey(p string) bool {
	info := r.Lstat(p)
	if info == nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxKey {
		return false
	}
	for _, state := range r.states {
		for _, name := range keyFiles {
			key := Join(state, name)
			other := r.Lstat(key)
			if other == nil || other.Size() != info.Size() {
				continue
			}
			if p == key || r.same(p, key) || r.sameContents(p, key) {
				return true
			}
		}
	}
	return false
}

func (r *Resolver) sameContents(a, b string) bool {
	if r.World.ReadFile == nil {
		return false
	}
	x, err := r.World.ReadFile(a, maxKey)
	y, err2 := r.World.ReadFile(b, maxKey)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}
