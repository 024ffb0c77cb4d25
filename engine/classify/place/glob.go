package place

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// MaxNames limits how many names of a directory a pattern is matched against.
const MaxNames = 2000

// maxMatches limits how many paths one pattern may match. A pattern with more matches stays
// a pattern about which nothing else is known.
const maxMatches = 256

// matches returns the current matches of a pattern on the disk, as a shell lists them: a
// name that starts with a dot needs a dot in the pattern. It reports whether they could be
// determined.
func (r *Resolver) matches(dir, pattern string) ([]string, bool) {
	list := []string{dir}
	for _, part := range strings.Split(pattern, "/") {
		var next []string
		for _, d := range list {
			found, ok := r.matchesIn(d, part)
			if !ok || len(next)+len(found) > maxMatches {
				return nil, false
			}
			next = append(next, found...)
		}
		list = next
	}
	return list, true
}

func (r *Resolver) matchesIn(dir, part string) (found []string, ok bool) {
	if !strings.ContainsAny(part, "*?[") {
		if p := Join(dir, part); r.Lstat(p) != nil {
			found = append(found, p)
		}
		return found, r.Looking()
	}
	if part == "**" || r.World.ReadDir == nil || !r.Looking() {
		return nil, false
	}
	r.lookups++
	list, err := r.World.ReadDir(dir, MaxNames+1)
	if err != nil || len(list) > MaxNames {
		return nil, err != nil && !errors.Is(err, fs.ErrPermission) // what is not a folder contains nothing
	}
	for _, d := range list {
		hidden := strings.HasPrefix(d.Name(), ".") && !strings.HasPrefix(part, ".")
		if !hidden && wildcard.Match(part, d.Name()) {
			found = append(found, Join(dir, d.Name()))
		}
	}
	return found, true
}

// maxFolders limits how many folders a search in all folders reads, besides maxWalk.
const maxFolders = 256

// search returns what a name or a pattern matches in any folder under a directory, as find
// lists it, as far as the limits allow. It leaves out what a tool generates again, and
// what is in the repository's own folder.
func (r *Resolver) search(dir, name string) (found []string) {
	name = strings.ToLower(name) // the search may ignore case
	folders, left := []string{dir}, maxWalk
	for read := 0; read < len(folders) && read < maxFolders && left > 0 && r.Looking() && r.World.ReadDir != nil; read++ {
		r.lookups++
		list, err := r.World.ReadDir(folders[read], left)
		if err != nil {
			continue
		}
		left -= len(list)
		for _, d := range list {
			p, matches := Join(folders[read], d.Name()), wildcard.Match(name, strings.ToLower(d.Name()))
			if !matches && !d.IsDir() || r.Generated(r.Below(p)) {
				continue
			}
			if matches {
				found = append(found, p)
			}
			if d.IsDir() && d.Name() != ".git" {
				folders = append(folders, p)
			}
		}
	}
	return found[:min(len(found), maxMatches)]
}

// harmless reports whether the loss of a file does not matter. Such files say nothing about a
// search: its limits may have hidden others.
func harmless(one engine.Effect) bool {
	return one.Git != "untracked" && one.Git != "dirty" && !moreSevere(one.Class, engine.ClassGenerated, one.Kind)
}

// each returns what a pattern does to each of its matches.
func (r *Resolver) each(e *engine.Effect, list []string, follow bool) []engine.Effect {
	var effects []engine.Effect
	for _, p := range list {
		effects = append(effects, r.match(e, p, follow))
	}
	return effects
}

// survey assigns the worst facts of its matches to a pattern.
func (r *Resolver) survey(e *engine.Effect, list []engine.Effect) {
	entries := map[string]bool{}
	for i, one := range list {
		if Rank(one.Location) > Rank(e.Location) {
			e.Location = one.Location
		}
		if moreSevere(one.Class, e.Class, e.Kind) {
			e.Class = one.Class
		}
		if i == 0 || gitLoss(one.Git) > gitLoss(e.Git) {
			e.Git = one.Git
		}
		e.Guard = cmp.Or(e.Guard, one.Guard)
		entries[one.Entry] = true
	}
	if len(list) > 0 {
		e.Exists, e.Entry = "yes", entryOf(entries, e.Recursive)
	}
}

// match returns what a pattern does to one of its matches.
func (r *Resolver) match(e *engine.Effect, p string, follow bool) engine.Effect {
	one := engine.Effect{Kind: e.Kind, Verb: e.Verb, Recursive: e.Recursive, Target: r.spelling(r.Real(p, "/", follow))}
	one.Location, one.Class = r.Location(one.Target), r.Class(one.Target)
	if one.Class == "" {
		one.Class = r.Class(p)
	}
	if e.Kind == engine.EffectFileRead && e.Verb != engine.VerbList && r.isKey(one.Target) {
		one.Guard = guardKey
	}
	if r.look(&one); r.HoldsGit(&one) {
		one.Class = engine.ClassGitData
	}
	return one
}

// entryOf returns the kind of entry that a pattern matches, depending on what the command
// can do to it: a folder matters for recursive commands, otherwise a file.
func entryOf(entries map[string]bool, recursive bool) string {
	order := []string{"file", "link", "other", "dir"}
	if recursive {
		order = []string{"dir", "file", "link", "other"}
	}
	for _, kind := range order {
		if entries[kind] {
			return kind
		}
	}
	return ""
}

// moreSevere reports whether a class matters more than another: when writing, files of the
// guard and of agents matter most; when reading, secrets do.
func moreSevere(a, b engine.Class, kind engine.EffectKind) bool {
	order := []engine.Class{"", engine.ClassGenerated, engine.ClassMount, engine.ClassDatabase, engine.ClassBackup,
		engine.ClassCI, engine.ClassGitData,
		engine.ClassGitHook, engine.ClassStartup, engine.ClassEnvFile, engine.ClassCredential, engine.ClassAgent, engine.ClassGuard}
	if kind == engine.EffectFileRead {
		secret := func(c engine.Class) bool { return c == engine.ClassEnvFile || c == engine.ClassCredential }
		if secret(a) != secret(b) {
			return secret(a)
		}
	}
	return slices.Index(order, a) > slices.Index(order, b)
}

// gitLoss orders git states by what a deletion would lose.
func gitLoss(state string) int {
	return slices.Index([]string{"clean", "ignored", "dirty", "", "untracked"}, state)
}
