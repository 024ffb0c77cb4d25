package classify

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// effect resolves one raw effect, with what is known of the machine on which
// it happens.
func (r *resolver) effect(raw rawEffect) engine.Effect {
	if raw.host == "" {
		return r.resolve(raw)
	}
	e := r.elsewhere().resolve(raw)
	e.Host = raw.host
	if e.Reversibility == "" && e.Kind == engine.EffectFileDelete && e.Location != engine.LocationTemp && e.Class != engine.ClassGenerated {
		e.Reversibility = engine.R5
		if onMachine(e.Host) {
			e.Reversibility = engine.R4
		}
	}
	return e
}

// onMachine says that a place is one of this machine: a container, not a host.
func onMachine(host string) bool {
	for part := range strings.SplitSeq(host, "/") {
		if kind, _, _ := strings.Cut(part, ":"); !slices.Contains([]string{"container", "vm", "volume", "device", "wsl"}, kind) {
			return false
		}
	}
	return true
}

func (r *resolver) resolve(raw rawEffect) engine.Effect {
	e := engine.Effect{
		Kind: raw.kind, Verb: raw.verb, Certainty: sureness(raw.target), Recursive: raw.recursive, Forced: raw.forced,
		Privileged: raw.privileged, Egress: raw.egress, Persistence: raw.persistence, Reversibility: raw.reversible, Command: raw.command, Object: raw.object, Bytes: raw.bytes,
	}
	switch raw.kind {
	case engine.EffectNetwork:
		if p, ok := filePath(raw.target.text); ok {
			raw.kind, raw.target.text, raw.egress = engine.EffectFileRead, p, false
			e.Kind, e.Verb, e.Egress = raw.kind, "read", false
			r.file(&e, raw)
			break
		}
		network(&e, raw.target)
	case engine.EffectFileDelete, engine.EffectFileWrite, engine.EffectFileRead:
		r.file(&e, raw)
	default:
		e.Target = raw.target.text
		if raw.discards.Stash && raw.dir.sure == literal {
			if e.Git = r.unsaved(raw.dir.text, raw.discards); e.Git == "clean" {
				e.Reversibility = engine.R2
			}
		}
		e.Loopback = strings.Contains(raw.target.text, "://") && loopback(hostOf(raw.target))
		if strings.HasPrefix(raw.target.text, "/") && raw.target.sure != unknown && raw.verb != "mount" && raw.verb != "unmount" {
			e.Location = r.location(r.locate(raw.target.text, "/", true).real)
		}
	}
	if e.Verb == "trash" && e.Exists != "" && e.Certainty != engine.CertaintyPrefix {
		e.Recursive = e.Entry == "dir" // the trash takes both, a file is no tree
	}
	if e.Reversibility == "" {
		e.Reversibility = reversibility(&e)
	}
	return e
}

func sureness(v value) engine.Certainty {
	switch v.sure {
	case literal:
		if v.text != "" {
			return engine.CertaintyExact
		}
	case glob:
		return engine.CertaintyGlob
	case prefix:
		if v.text != "" {
			return engine.CertaintyPrefix
		}
	}
	return engine.CertaintyUnknown
}

// file fills in the facts of a path.
func (r *resolver) file(e *engine.Effect, raw rawEffect) {
	dir := ""
	if raw.dir.sure == literal {
		dir = slashes(raw.dir.text)
	}
	switch e.Certainty {
	case engine.CertaintyExact:
		r.exact(e, raw, dir)
	case engine.CertaintyGlob:
		r.glob(e, raw.target.text, dir, !noFollow(raw))
	case engine.CertaintyPrefix:
		r.prefix(e, raw.target.text, dir)
	default:
		e.Location = engine.LocationUnknown
	}
	if e.Certainty == engine.CertaintyUnknown && raw.dir.sure == prefix && staysBelow(raw.target) {
		class := e.Class
		e.Certainty = engine.CertaintyPrefix
		r.prefix(e, raw.dir.text, "")
		e.Class = cmp.Or(class, e.Class)
	}
	if e.Kind == engine.EffectFileDelete && e.Verb == "delete" && e.Location == engine.LocationSystem && packageCache(e) {
		e.Location = engine.LocationTemp
	}
	name := r.below(e.Target)
	if e.Certainty == engine.CertaintyGlob {
		name += strings.TrimPrefix(e.Short, r.short(e.Target)) // all that **/__pycache__ matches has that name
	}
	if e.Class == "" && disposable(e.Location) && (e.Git == "" || e.Git == "ignored") && generated(name) {
		e.Class = engine.ClassGenerated
	}
	if e.Class == "" && disposable(e.Location) && testFile(name, e.Location == engine.LocationInside) {
		e.Class = engine.ClassTest
	}
}

// packageCache says that a path is known whole and lies where the system's
// package manager keeps what it fetches, and fetches it again.
func packageCache(e *engine.Effect) bool {
	if e.Certainty != engine.CertaintyExact && e.Certainty != engine.CertaintyGlob {
		return false
	}
	return slices.ContainsFunc([]string{"/var/lib/apt/lists", "/var/cache/apt", "/var/cache/apk", "/var/cache/dnf", "/var/cache/yum", "/var/cache/pacman/pkg", "/var/cache/zypp"},
		func(dir string) bool { return within(dir, e.Target) })
}

// staysBelow says that a relative path leads nowhere up: what lies there is below
// the directory of which only the beginning is known, cd "$(mktemp -d)".
func staysBelow(v value) bool {
	return (v.sure == literal || v.sure == glob) && v.text != "" && !strings.HasPrefix(path.Clean(slashes(v.text)), "..") && !strings.Contains(v.text, "/../")
}

// disposable says that a folder with a tool's name can belong to a project there.
func disposable(l engine.Location) bool {
	switch l {
	case engine.LocationInside, engine.LocationTemp, engine.LocationHome, engine.LocationOutside:
		return true
	}
	return false
}

// below returns the part of a path that lies in the workspace, so that the
// names above it do not count; elsewhere the whole path.
func (r *resolver) below(p string) string {
	if r.workspace != "" && within(r.workspace, p) {
		return p[len(r.workspace):]
	}
	return p
}

func (r *resolver) exact(e *engine.Effect, raw rawEffect, dir string) {
	p := r.locate(raw.target.text, dir, !noFollow(raw))
	if !p.base {
		e.Certainty, e.Location, e.Class = engine.CertaintyUnknown, engine.LocationUnknown, r.class("/?/"+raw.target.text)
		return
	}
	e.Target, e.Short, e.Location = p.real, r.short(p.real), r.location(p.real)
	if e.Class = r.class(p.real); e.Class == "" && e.Location != engine.LocationNull {
		e.Class = r.class(p.written)
	}
	if e.Location == engine.LocationTempRoot && e.Kind == engine.EffectFileWrite &&
		slices.Contains([]string{"write", "move", "link", "copy", "create"}, e.Verb) {
		e.Location = engine.LocationTemp // what is copied to a directory lands in it
	}
	if raw.contents {
		e.Certainty, e.Short = engine.CertaintyGlob, e.Short+"/*"
	}
	if r.look(e); raw.contents && r.holdsGit(e) {
		e.Class = engine.ClassGitData
	}
	if info := r.infos[e.Target]; raw.leaves > 0 && info != nil && info.Mode().IsRegular() {
		e.Shrinks = (raw.leaves-1)*10 <= info.Size() && info.Size() > 0
	}
	if raw.discards != (Discard{}) {
		e.Git = r.unsaved(e.Target, raw.discards)
	}
}

// look asks the disk what is there.
func (r *resolver) look(e *engine.Effect) {
	if !r.looking() || drive(e.Target) || e.Location == engine.LocationNull {
		return
	}
	info := r.lstat(e.Target)
	if e.Exists, e.Entry = "no", entry(info); info == nil {
		return
	}
	e.Exists = "yes"
	if e.Class == "" {
		e.Class = r.sameAs(e.Target, info)
	}
	if alters(e) && info.IsDir() {
		r.twin(e)
	}
	if alters(e) && r.git != nil && r.asked < maxGit && e.Verb != "mkdir" {
		r.asked++
		e.Git = r.git(e.Target)
	}
}

// above returns the folders that come into being with a target, since they are
// missing above it: they belong to the session as the target does.
func (r *resolver) above(e engine.Effect) []engine.Effect {
	var made []engine.Effect
	for e.Exists == "no" && e.Certainty == engine.CertaintyExact {
		e.Target = path.Dir(e.Target)
		if !r.looking() || r.lstat(e.Target) != nil {
			break
		}
		e.Short, e.Location, e.Class = r.short(e.Target), r.location(e.Target), r.class(e.Target)
		made = append(made, e)
	}
	return made
}

// unsaved tells what version control would throw away at or below a path.
func (r *resolver) unsaved(name string, what Discard) string {
	if r.world.Unsaved == nil || r.asked >= maxGit {
		return ""
	}
	r.asked++
	return r.world.Unsaved(name, what)
}

// alters says that what is in the target now can be lost.
func alters(e *engine.Effect) bool {
	return e.Kind == engine.EffectFileDelete || e.Kind == engine.EffectFileWrite
}

// twin finds the workspace, what holds it, and the home directory behind
// another name for the same directory: a disk without case, a bind mount.
func (r *resolver) twin(e *engine.Effect) {
	known := []string{r.home}
	for dir := r.workspace; dir != "" && dir != "/" && dir != "."; dir = path.Dir(dir) {
		known = append(known, dir)
	}
	for _, k := range known {
		if k != "" && k != e.Target && r.same(k, e.Target) {
			if l := r.location(k); rank(l) > rank(e.Location) {
				e.Location = l
			}
		}
	}
}

// prefix is for targets of which only the beginning is known: it lies
// somewhere below the directory that is complete.
func (r *resolver) prefix(e *engine.Effect, text, dir string) {
	i := strings.LastIndexByte(slashes(text), '/')
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
		e.Target = join(p.real, tail)
	}
	e.Short = join(r.short(p.real), tail) + "?"
	e.Location = r.location(join(p.real, "x"))
	if r.workspace != "" && p.real != r.workspace && within(p.real, r.workspace) || p.real == "/" || r.location(p.real) == engine.LocationRoot {
		e.Location = engine.LocationUnknown // it may be the workspace, or anything
	}
	e.Class = r.class(join(p.real, tail))
}

func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// glob is for patterns. It takes the worst place that the pattern can match, and
// the worst of what it matches now.
func (r *resolver) glob(e *engine.Effect, text, dir string, follow bool) {
	abs, ok := r.absolute(slashes(text), dir)
	if drive(slashes(text)) {
		abs, ok = windowsClean(slashes(text)), true
	}
	if !ok {
		e.Certainty, e.Location, e.Class = engine.CertaintyUnknown, engine.LocationUnknown, r.class("/?/"+text)
		return
	}
	fixed, pattern := cutPattern(abs)
	if !drive(fixed) {
		fixed = r.spelling(r.real(fixed, dir, true))
	}
	e.Target = fixed
	if pattern == "" {
		e.Short = r.short(fixed)
		e.Location, e.Class = r.location(fixed), r.class(fixed)
		return
	}
	e.Short = join(r.short(fixed), pattern)
	e.Location = r.patternLocation(fixed, pattern)
	e.Class = r.patternClass(fixed, pattern)
	if !r.looking() || drive(fixed) {
		return
	}
	if r.lstat(fixed) == nil {
		e.Exists = "no"
	} else if list, ok := r.matches(fixed, pattern); ok {
		r.survey(e, list, follow)
	}
}

// cutPattern splits an absolute pattern behind its last fixed directory.
func cutPattern(abs string) (fixed, pattern string) {
	if !drive(abs) {
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

// wholePatterns are patterns that match everything in a directory, or all of its hidden part.
var wholePatterns = []string{"*", ".*", "**", "*.*", ".[!.]*", ".[^.]*", "..?*", ".??*", "*.?", "?*", "[!.]*", "**/*"}

// takesAll says that a pattern takes all that is in a directory.
func takesAll(pattern string) bool {
	return slices.Contains(wholePatterns, pattern)
}

func (r *resolver) patternLocation(fixed, pattern string) engine.Location {
	worst := r.location(join(fixed, plain(pattern, "x")))
	if takesAll(pattern) {
		worst = r.location(fixed)
	}
	if fixed == "/" && !strings.Contains(pattern, "/") {
		return engine.LocationRoot
	}
	for _, dir := range []string{r.workspace, r.home} {
		for ; dir != "" && dir != "/" && dir != "."; dir = path.Dir(dir) {
			if wildcard.Match(join(fixed, pattern), dir) {
				if l := r.location(dir); rank(l) > rank(worst) {
					worst = l
				}
			}
		}
	}
	return worst
}

// plain replaces what a pattern leaves open.
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

// telling are names that a pattern may match and that say what is at stake.
var telling = []string{".git", ".env", ".ssh", ".aws", ".gnupg", "id_rsa", ".bashrc", ".claude", ".netrc", ".ssh/id_rsa", ".aws/credentials", ".config/gh", ".kube/config"}

func (r *resolver) patternClass(fixed, pattern string) engine.Class {
	if c := r.class(fixed); c != "" {
		return c
	}
	for _, with := range []string{"", "x"} {
		if c := r.class(join(fixed, plain(pattern, with))); c != "" {
			return c
		}
	}
	if takesAll(pattern) && pattern != ".*" && pattern != ".[!.]*" {
		return ""
	}
	for _, name := range telling {
		if pattern[0] != name[0] {
			continue // a star does not match a hidden name, and * alone says nothing
		}
		if wildcard.Match(pattern, name) {
			return r.class(join(fixed, name))
		}
	}
	return ""
}

// reversibility is what is known without a checkpoint and without policy.
func reversibility(e *engine.Effect) engine.Reversibility {
	switch e.Kind {
	case engine.EffectFileRead:
		return engine.R0
	case engine.EffectNetwork:
		if e.Egress && !e.Loopback {
			return engine.R5
		}
	case engine.EffectFileDelete, engine.EffectFileWrite:
		return fileReversibility(e)
	}
	return ""
}

func fileReversibility(e *engine.Effect) engine.Reversibility {
	switch {
	case e.Location == engine.LocationNull:
		return engine.R0
	case e.Location == engine.LocationTemp && e.Kind == engine.EffectFileDelete && e.Verb == "move":
		return engine.R3 // it is where it was moved to, and a scratch file is not missed
	case e.Location == engine.LocationTemp && e.Kind == engine.EffectFileWrite && e.Exists == "" && strings.HasPrefix(path.Base(e.Target), "tmp."):
		return engine.R3 // what mktemp has made is new
	case e.Git == "clean":
		return engine.R2
	case e.Verb == "discard":
		return ""
	case e.Kind == engine.EffectFileWrite && e.Exists == "no" && e.Certainty == engine.CertaintyExact:
		return engine.R3 // undone by deleting it
	case e.Exists != "yes" || e.Class == engine.ClassGenerated || generated(e.Target):
		return ""
	case e.Kind == engine.EffectFileDelete && e.Verb != "move" || e.Kind == engine.EffectFileWrite && overwrites(e.Verb):
		if e.Git == "" && e.Entry == "dir" {
			return "" // too much to look at, or no repository
		}
		return engine.R4
	}
	return ""
}

// overwrites says that a verb replaces the whole content.
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
		return rest[i:], true
	}
	return rest, true
}

// network fills in the facts of a URL or host.
func network(e *engine.Effect, target value) {
	e.Target = target.text
	host := hostOf(target)
	e.Loopback = loopback(host)
	e.Egress = e.Egress || holdsSecret(target.text)
}

// hostOf returns the host of a URL, of user@host:path, host:port or a bare
// name, in lower case; nothing where it is not certain.
func hostOf(target value) string {
	s := target.text
	if target.sure == unknown || s == "" {
		return ""
	}
	if i := strings.Index(s, "://"); i >= 0 {
		s = s[i+3:]
	}
	end := strings.IndexAny(s, "/?# \\")
	if end < 0 {
		if target.sure != literal {
			return "" // the rest may still belong to the host
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
	return s
}

func nonASCII(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

func loopback(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasPrefix(host, "127.") && strings.Trim(host, "0123456789.") == "" ||
		host == "::1" || host == "0.0.0.0" || host == "::" || host == "ip6-localhost"
}
