package place

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Effect resolves one raw effect, with what is known about the machine on which it happens.
func (r *Resolver) Effect(raw abstract.RawEffect) engine.Effect {
	var share bool
	if raw.Host == "" && (raw.Kind == engine.EffectFileDelete || raw.Kind == engine.EffectFileWrite || raw.Kind == engine.EffectFileRead) {
		raw.Host = r.onNetwork(raw.Target.Text)
		share = raw.Host != ""
	}
	if raw.Host == "" {
		return r.resolve(raw)
	}
	e := r.elsewhere().resolve(raw)
	e.Host = raw.Host
	if share {
		e.Target, e.Short = onShare(e.Target), onShare(e.Short)
	}
	if e.Reversibility == "" && e.Kind == engine.EffectFileDelete && e.Location != engine.LocationTemp && e.Class != engine.ClassGenerated {
		e.Reversibility = engine.R5
		if onMachine(e.Host) {
			e.Reversibility = engine.R4
		}
	}
	return e
}

// startedByCall reports whether an effect ends a process that a call of the client started, by its process ID.
func (r *Resolver) startedByCall(e *engine.Effect) bool {
	if r.World.Started == nil || e.Certainty != engine.CertaintyExact {
		return false
	}
	pid, err := strconv.Atoi(e.Target)
	return err == nil && pid > 1 && r.World.Started(pid)
}

func (r *Resolver) resolve(raw abstract.RawEffect) engine.Effect {
	e := engine.Effect{
		Kind: raw.Kind, Verb: raw.Verb, Certainty: sureness(raw.Target), Recursive: raw.Recursive, Forced: raw.Forced,
		Privileged: raw.Privileged, Egress: raw.Egress, Persistence: raw.Persistence, Reversibility: raw.Reversible,
		Command: raw.Command, Object: raw.Object, Mode: raw.Mode, Signal: raw.Signal, Server: raw.Server, Bytes: raw.Bytes, Own: raw.Own,
	}
	switch raw.Kind {
	case engine.EffectNetwork:
		if p, ok := filePath(raw.Target.Text); ok {
			raw.Kind, raw.Target.Text, raw.Egress = engine.EffectFileRead, p, false
			e.Kind, e.Verb, e.Egress = raw.Kind, "read", false
			r.file(&e, raw)
			break
		}
		r.network(&e, raw.Target)
	case engine.EffectFileDelete, engine.EffectFileWrite, engine.EffectFileRead:
		r.file(&e, raw)
		if r.readsStored(&e) {
			e.Class = engine.ClassCredential
		}
	default:
		e.Target = raw.Target.Text
		e.Own = e.Own || raw.ByNumber && raw.Host == "" && r.startedByCall(&e)
		if raw.Discards.Stash && raw.Dir.Sure == abstract.Literal {
			if e.Git = r.unsaved(raw.Dir.Text, raw.Discards); e.Git == "clean" {
				e.Reversibility = engine.R2
			}
		}
		e.Loopback = strings.Contains(raw.Target.Text, "://") && Loopback(HostOf(raw.Target))
		if strings.HasPrefix(raw.Target.Text, "/") && raw.Target.Sure != abstract.Unknown && raw.Verb != "mount" && raw.Verb != "unmount" {
			e.Location = r.Location(r.locate(raw.Target.Text, "/", true).real)
		}
	}
	if raw.Names {
		e.Guard = "" // that of a match
	}
	if e.Kind == engine.EffectFileRead && e.Guard == "" && raw.Host == "" {
		e.Guard = cmp.Or(r.readsKey(&e, raw), r.readsProgram(&e))
	}
	if e.Verb == "trash" && e.Exists != "" && e.Certainty != engine.CertaintyPrefix {
		e.Recursive = e.Entry == "dir" // the trash takes both, a file is not a tree
	}
	if e.Reversibility == "" {
		e.Reversibility = r.reversibility(&e)
	}
	return e
}

func sureness(v abstract.Value) engine.Certainty {
	switch v.Sure {
	case abstract.Literal:
		if v.Text != "" {
			return engine.CertaintyExact
		}
	case abstract.Glob:
		return engine.CertaintyGlob
	case abstract.Prefix:
		if v.Text != "" {
			return engine.CertaintyPrefix
		}
	}
	return engine.CertaintyUnknown
}

// file fills in the facts of a path.
func (r *Resolver) file(e *engine.Effect, raw abstract.RawEffect) {
	dir := ""
	if raw.Dir.Sure == abstract.Literal {
		dir = Slashes(raw.Dir.Text)
	}
	switch e.Certainty {
	case engine.CertaintyExact:
		r.exact(e, raw, dir)
	case engine.CertaintyGlob:
		r.glob(e, raw.Target.Text, dir, !noFollow(raw))
	case engine.CertaintyPrefix:
		r.prefix(e, raw.Target.Text, dir)
	default:
		e.Location = engine.LocationUnknown
	}
	if e.Certainty == engine.CertaintyUnknown && raw.Dir.Sure == abstract.Prefix && staysBelow(raw.Target) {
		class := e.Class
		e.Certainty = engine.CertaintyPrefix
		r.prefix(e, raw.Dir.Text, "")
		e.Class = cmp.Or(class, e.Class)
	}
	if e.Kind == engine.EffectFileDelete && e.Verb == "delete" && e.Location == engine.LocationSystem && packageCache(e) {
		e.Location = engine.LocationTemp
	}
	r.area(e)
	name := r.Below(e.Target)
	if e.Certainty == engine.CertaintyGlob {
		name += strings.TrimPrefix(e.Short, r.short(e.Target)) // all that **/__pycache__ matches has that name
	}
	if e.Class == "" && disposable(e.Location) && (e.Git == "" || e.Git == "ignored") && r.Generated(name) {
		e.Class = engine.ClassGenerated
	}
	if e.Class == "" && disposable(e.Location) && r.testFile(name, e.Location == engine.LocationInside) {
		e.Class = engine.ClassTest
	}
}

// packageCache reports whether a path is completely known and is the cache of the system's
// package manager, which downloads its contents again.
func packageCache(e *engine.Effect) bool {
	if e.Certainty != engine.CertaintyExact && e.Certainty != engine.CertaintyGlob {
		return false
	}
	return slices.ContainsFunc([]string{"/var/lib/apt/lists", "/var/cache/apt", "/var/cache/apk", "/var/cache/dnf", "/var/cache/yum",
		"/var/cache/pacman/pkg", "/var/cache/zypp"}, func(dir string) bool { return Within(dir, e.Target) })
}

// staysBelow reports whether a relative path never leads upwards: it is under a directory
// of which only the beginning is known, cd "$(mktemp -d)".
func staysBelow(v abstract.Value) bool {
	return (v.Sure == abstract.Literal || v.Sure == abstract.Glob) && v.Text != "" && !strings.HasPrefix(path.Clean(Slashes(v.Text)), "..") &&
		!strings.Contains(v.Text, "/../")
}

// disposable reports whether a folder with a tool's name can belong to a project at that
// location.
func disposable(l engine.Location) bool {
	switch l {
	case engine.LocationInside, engine.LocationTemp, engine.LocationHome, engine.LocationOutside, engine.LocationBeside, engine.LocationWorktree:
		return true
	}
	return false
}

// Below returns the part of a path that is in the workspace, so that the names
// above it do not count; elsewhere the whole path.
func (r *Resolver) Below(p string) string {
	if r.workspace != "" && Within(r.workspace, p) {
		return p[len(r.workspace):]
	}
	return p
}

func (r *Resolver) exact(e *engine.Effect, raw abstract.RawEffect, dir string) {
	p := r.locate(raw.Target.Text, dir, !noFollow(raw))
	if !p.base {
		e.Certainty, e.Location, e.Class = engine.CertaintyUnknown, engine.LocationUnknown, r.Class("/?/"+raw.Target.Text)
		return
	}
	e.Target, e.Short, e.Location = p.real, r.short(p.real), r.Location(p.real)
	if e.Class = r.Class(p.real); e.Class == "" && e.Location != engine.LocationNull {
		e.Class = r.Class(p.written)
	}
	if e.Location == engine.LocationTempRoot && e.Kind == engine.EffectFileWrite &&
		slices.Contains([]string{"write", "move", "link", "copy", "create"}, e.Verb) {
		e.Location = engine.LocationTemp // what is copied to a directory lands in it
	}
	if raw.Contents {
		e.Certainty, e.Short = engine.CertaintyGlob, e.Short+"/*"
	}
	r.ofWorktree(e, raw)
	if r.look(e); raw.Contents && r.HoldsGit(e) {
		e.Class = engine.ClassGitData
	}
	if info := r.infos[e.Target]; raw.Leaves > 0 && info != nil && info.Mode().IsRegular() {
		e.Lost = lost(info.Size(), raw.Leaves-1)
		e.Shrinks = e.Lost >= 90 // for policies of earlier versions
	}
	if raw.Discards != (abstract.Discard{}) {
		e.Git = r.unsaved(e.Target, raw.Discards)
	}
}

// lost returns how much of a file is lost if the given number of bytes remain, in percent.
func lost(size, left int64) int64 {
	if left >= size {
		return 0
	}
	return (size - left) * 100 / size
}

// look asks the disk what exists at the path.
func (r *Resolver) look(e *engine.Effect) {
	if !r.Looking() || !r.Here(e.Target) || e.Location == engine.LocationNull {
		return
	}
	info := r.mounted(e)
	if r.hidden[e.Target] || info == nil && r.ofAnotherDisk(e.Target) {
		return
	}
	if e.Exists, e.Entry = "no", entry(info); info == nil {
		return
	}
	e.Exists = "yes"
	r.held(e, e.Target)
	if e.Class == "" {
		e.Class = r.sameAs(e.Target, info)
	}
	if Alters(e) && info.IsDir() {
		r.twin(e)
	}
	if Alters(e) && r.Git != nil && r.asked < maxGit && e.Verb != "mkdir" {
		r.asked++
		e.Git = r.Git(e.Target)
	}
}

// Above returns the missing parent folders that are created together with a target: they
// belong to the session as the target does.
func (r *Resolver) Above(e engine.Effect) []engine.Effect {
	var made []engine.Effect
	for e.Exists == "no" && e.Certainty == engine.CertaintyExact {
		e.Target = path.Dir(e.Target)
		if !r.Looking() || r.Lstat(e.Target) != nil {
			break
		}
		e.Short, e.Location, e.Class = r.short(e.Target), r.Location(e.Target), r.Class(e.Target)
		made = append(made, e)
	}
	return made
}

// unsaved returns what version control would discard at or under a path.
func (r *Resolver) unsaved(name string, what abstract.Discard) string {
	if r.World.Unsaved == nil || r.asked >= maxGit {
		return ""
	}
	r.asked++
	return r.World.Unsaved(name, what)
}

// Alters reports whether the target's current contents can be lost.
func Alters(e *engine.Effect) bool {
	return e.Kind == engine.EffectFileDelete || e.Kind == engine.EffectFileWrite
}

// twin recognises the workspace, its parents and the home directory under another name of
// the same directory: on a disk that ignores case, or through a bind mount.
func (r *Resolver) twin(e *engine.Effect) {
	known := []string{r.home}
	for dir := r.workspace; dir != "" && dir != "/" && dir != "."; dir = path.Dir(dir) {
		known = append(known, dir)
	}
	for _, k := range known {
		if k != "" && k != e.Target && r.same(k, e.Target) {
			if l := r.Location(k); Rank(l) > Rank(e.Location) {
				e.Location = l
			}
		}
	}
}

// prefix handles targets of which only the beginning is known: they are somewhere below the
// part that is complete.
func (r *Resolver) prefix(e *engine.Effect, text, dir string) {
	i := strings.LastIndexByte(Slashes(text), '/')
	head, tail := text[:i+1], text[i+1:]
	if head == "" {
		head = "."
	}
	p := r.locate(head, dir, true)
	if !p.base {
		e.Certainty, e.Location = engine.CertaintyUnknown, engine.LocationUnknown
		return
	}
	if e.Target = p.real; tail != "" {
		e.Target = Join(p.real, tail)
	}
	e.Short = Join(r.short(p.real), tail) + "?"
	e.Location = r.Location(Join(p.real, "x"))
	if r.workspace != "" && p.real != r.workspace && Within(p.real, r.workspace) || p.real == "/" ||
		r.Location(p.real) == engine.LocationRoot {
		e.Location = engine.LocationUnknown // it may be the workspace, or anything
		if near := r.Location(Join(p.real, tail+"x")); tail != "" && !strings.HasPrefix(r.workspace, e.Target) &&
			(near == engine.LocationTemp || near == engine.LocationBeside) {
			e.Location = near // what mktemp makes, next to a workspace among temporary files
		}
	}
	e.Class = r.Class(Join(p.real, tail))
}

// Join returns the path of a name in a directory.
func Join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// glob handles patterns. It assumes the worst location that the pattern can match, and the
// worst of its current matches.
func (r *Resolver) glob(e *engine.Effect, text, dir string, follow bool) {
	abs, ok := r.absolute(Slashes(text), dir)
	if !ok {
		e.Certainty, e.Location, e.Class = engine.CertaintyUnknown, engine.LocationUnknown, r.Class("/?/"+text)
		return
	}
	fixed, pattern := cutPattern(abs)
	if fixed = r.Real(fixed, dir, true); !Drive(fixed) {
		fixed = r.spelling(fixed)
	}
	fixed = r.respell(fixed)
	e.Target = fixed
	if pattern == "" {
		e.Short = r.short(fixed)
		e.Location, e.Class = r.Location(fixed), r.Class(fixed)
		return
	}
	e.Short = Join(r.short(fixed), pattern)
	e.Location = r.patternLocation(fixed, pattern)
	e.Class = r.patternClass(fixed, pattern)
	if !r.Looking() || !r.Here(fixed) {
		return
	}
	name, inAll := strings.CutPrefix(pattern, "**/")
	inAll = inAll && !strings.Contains(name, "/")
	if r.Lstat(fixed) == nil {
		if !r.hidden[fixed] {
			e.Exists = "no"
		}
	} else if inAll && e.Kind == engine.EffectFileDelete && r.workspace != "" && Within(r.workspace, fixed) {
		r.survey(e, slices.DeleteFunc(r.each(e, r.search(fixed, name), follow), harmless))
	} else if list, ok := r.matches(fixed, pattern); ok {
		r.survey(e, r.each(e, list, follow))
		r.held(e, list...)
	}
}

// cutPattern splits an absolute pattern after its last fixed directory.
func cutPattern(abs string) (fixed, pattern string) {
	if !Drive(abs) {
		abs = path.Clean(abs)
	}
	i := strings.IndexAny(abs, "*?[")
	if i < 0 {
		return abs, ""
	}
	cut := strings.LastIndexByte(abs[:i], '/')
	if fixed = abs[:cut]; fixed == "" || strings.HasSuffix(fixed, ":") {
		fixed += "/"
	}
	return fixed, abs[cut+1:]
}

// wholePatterns are patterns that match everything in a directory, or all of its hidden
// entries.
var wholePatterns = []string{"*", ".*", "**", "*.*", ".[!.]*", ".[^.]*", "..?*", ".??*", "*.?", "?*", "[!.]*", "**/*"}

// takesAll reports whether a pattern matches everything in a directory.
func takesAll(pattern string) bool { return slices.Contains(wholePatterns, pattern) }

func (r *Resolver) patternLocation(fixed, pattern string) engine.Location {
	worst := r.Location(Join(fixed, plain(pattern, "x")))
	if takesAll(pattern) {
		worst = r.Location(fixed)
	}
	if fixed == "/" && !strings.Contains(pattern, "/") {
		return engine.LocationRoot
	}
	for _, dir := range []string{r.workspace, r.home} {
		for ; dir != "" && dir != "/" && dir != "."; dir = path.Dir(dir) {
			if wildcard.Match(Join(fixed, pattern), dir) {
				if l := r.Location(dir); Rank(l) > Rank(worst) {
					worst = l
				}
			}
		}
	}
	return worst
}

// plain replaces the variable parts of a pattern.
func plain(pattern, with string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?':
			b.WriteString(with)
		case '[':
			if j := strings.IndexByte(pattern[i:], ']'); j > 0 {
				i += j
			}
			b.WriteString(with)
		default:
			b.WriteByte(pattern[i])
		}
	}
	return b.String()
}

func (r *Resolver) patternClass(fixed, pattern string) engine.Class {
	if c := r.Class(fixed); c != "" {
		return c
	}
	for _, with := range []string{"", "x"} {
		if c := r.Class(Join(fixed, plain(pattern, with))); c != "" {
			return c
		}
	}
	if takesAll(pattern) && pattern != ".*" && pattern != ".[!.]*" {
		return ""
	}
	for _, name := range r.tables.telling {
		if pattern[0] != name[0] {
			continue // a star does not match a hidden name, and * alone shows nothing
		}
		if wildcard.Match(pattern, name) {
			return r.Class(Join(fixed, name))
		}
	}
	return ""
}

// reversibility returns what is known without a checkpoint and without policy.
func (r *Resolver) reversibility(e *engine.Effect) engine.Reversibility {
	switch e.Kind {
	case engine.EffectFileRead:
		return engine.R0
	case engine.EffectNetwork:
		if e.Egress && !e.Loopback {
			return engine.R5
		}
	case engine.EffectFileDelete, engine.EffectFileWrite:
		return r.fileReversibility(e)
	}
	return ""
}

func (r *Resolver) fileReversibility(e *engine.Effect) engine.Reversibility {
	switch {
	case e.Location == engine.LocationNull:
		return engine.R0
	case e.Location == engine.LocationTemp && e.Kind == engine.EffectFileDelete && e.Verb == "move":
		return engine.R3 // it is where it was moved to, and a scratch file is not missed
	case e.Location == engine.LocationTemp && e.Kind == engine.EffectFileWrite && e.Exists == "" && strings.HasPrefix(path.Base(e.Target), "tmp."):
		return engine.R3 // what mktemp has made is new
	case e.Git == "clean":
		return engine.R2
	case e.Kind == engine.EffectFileDelete && e.Exists == "no" && e.Certainty == engine.CertaintyExact && e.Verb == "delete":
		return engine.R1 // nothing is there
	case e.Kind == engine.EffectFileDelete && e.Entry == "dir" && e.Certainty == engine.CertaintyExact && e.Verb == "delete" && r.EmptyTree(e.Target):
		return engine.R3 // made again by a name
	case e.Location == engine.LocationTemp && e.Kind == engine.EffectFileDelete && scratch(e):
		return engine.R3
	case e.Verb == "discard":
		return ""
	case e.Kind == engine.EffectFileWrite && e.Exists == "no" && e.Certainty == engine.CertaintyExact:
		return engine.R3 // undone by deleting it
	case e.Exists != "yes" || e.Class == engine.ClassGenerated || r.Generated(e.Target):
		return ""
	case e.Kind == engine.EffectFileDelete && e.Verb != "move" || e.Kind == engine.EffectFileWrite && overwrites(e.Verb):
		if e.Git == "" && e.Entry == "dir" {
			return "" // too much to examine, or no repository
		}
		return engine.R4
	}
	return ""
}

// maxHollow limits how many folders are examined to determine that all are empty.
const maxHollow = 64

// EmptyTree reports whether a directory contains nothing but empty directories.
func (r *Resolver) EmptyTree(dir string) bool {
	if r.World.ReadDir == nil {
		return false
	}
	for dirs, seen := []string{dir}, 0; len(dirs) > 0; dirs = dirs[1:] {
		list, err := r.World.ReadDir(dirs[0], maxHollow)
		if seen += len(list); err != nil || seen >= maxHollow {
			return false
		}
		for _, d := range list {
			if !d.IsDir() {
				return false
			}
			dirs = append(dirs, Join(dirs[0], d.Name()))
		}
	}
	return true
}

// scratch reports whether an effect deletes a single named temporary file of no important
// class.
func scratch(e *engine.Effect) bool {
	return e.Verb == "delete" && !e.Recursive && e.Certainty == engine.CertaintyExact && e.Entry != "dir" && e.Class == ""
}

// Arrives corrects a deletion whose facts rely on the current contents of its target, if
// another effect of the action moves, links or mounts something there first: that is
// deleted too.
func Arrives(e *engine.Effect, all []engine.Effect) bool {
	if e.Kind != engine.EffectFileDelete || e.Target == "" {
		return false
	}
	return slices.ContainsFunc(all, func(o engine.Effect) bool {
		brings := o.Kind == engine.EffectFileWrite && slices.Contains([]string{"move", "rename", "link"}, o.Verb) || o.Verb == "mount"
		return brings && (o.Target == "" || o.Certainty != engine.CertaintyExact || Within(e.Target, o.Target) || Within(o.Target, e.Target))
	})
}

// overwrites reports whether a verb replaces the whole content.
func overwrites(verb string) bool {
	return slices.Contains([]string{"write", "truncate", "overwrite", "create", "copy", "download", "move"}, verb)
}

// filePath returns the path of a file: URL.
func filePath(text string) (string, bool) {
	if len(text) < 7 || !strings.EqualFold(text[:7], "file://") {
		return "", false
	}
	rest := text[7:]
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		if rest = rest[i:]; Drive(rest[1:]) {
			rest = rest[1:] // file:///C:/a
		}
	}
	return rest, true
}

// network fills in the facts of a URL or host.
func (r *Resolver) network(e *engine.Effect, target abstract.Value) {
	e.Target = target.Text
	host := HostOf(target)
	e.Loopback = Loopback(host)
	e.Egress = e.Egress || r.Secret != nil && r.Secret(target.Text)
	e.Guard = r.asksGuard(e, target)
}

// HostOf returns the host of a URL, of user@host:path, host:port or a bare name, in lower
// case; empty if it is uncertain.
func HostOf(target abstract.Value) string {
	s := target.Text
	if target.Sure == abstract.Unknown || s == "" {
		return ""
	}
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	end := strings.IndexAny(s, "/?# \\")
	if end < 0 {
		if target.Sure != abstract.Literal {
			return linkLocal(s) // the rest may still belong to the host
		}
		end = len(s)
	}
	s = s[strings.LastIndexByte(s[:end], '@')+1 : end]
	if strings.HasPrefix(s, "[") {
		s, _, _ = strings.Cut(s[1:], "]")
	} else if strings.Count(s, ":") == 1 {
		s, _, _ = strings.Cut(s, ":")
	}
	s = strings.TrimSuffix(strings.ToLower(s), ".")
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.-_:") != "" && !nonASCII(s) {
		return ""
	}
	return canonicalHost(s)
}

func nonASCII(s string) bool { return strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) }
