// Package standing reads the instruction files of a workspace and of the person, such as CLAUDE.md and AGENTS.md: which files
// there are, whether they are the person's own or in version control, and what they forbid.
//
// Out of scope: what a sentence forbids (prompt), what that means for a call (policy), and permissions: a file grants none.
package standing

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Limits of what is read at the start of a session.
const (
	maxFiles  = 64
	maxFile   = 128 << 10 // bytes of one file
	maxBytes  = 512 << 10 // bytes of all files
	maxNested = 32        // files in folders of the workspace
	maxParts  = 64        // files in a folder of instructions
	maxImport = 5         // levels
	maxNames  = 64        // names of imports that are looked up
)

// Reader reads instruction files.
type Reader struct {
	World     place.World
	Rows      *rows.Set
	Masker    *mask.Masker
	Workspace string // absolute
	Harness   string // agent whose files of the person are read
}

// File is an instruction file, or a part of it.
type File struct {
	Path    string // relative to the workspace if it is in the same repository, else below ~/ or absolute
	Trusted bool   // it is the person's, or version control has this content: what it forbids is denied, and not only asked about
	Problem string // why it was not read, or only in part; empty: it was read
	// What it forbids, and sentences that seem to forbid something and were not understood.
	Sentences []prompt.Sentence

	text []byte
}

// Files reads all instruction files: those of the person first, then those of the repository from its root to the workspace
// and then those in its folders. A World without a disk has none.
func (r *Reader) Files() []File {
	if r.World.ReadHead == nil || r.World.Lstat == nil || !path.IsAbs(place.Slashes(r.Workspace)) && !place.Drive(r.Workspace) {
		return nil
	}
	f := &finder{Reader: r, seen: map[string]bool{}, left: maxBytes, names: maxNames, top: r.top(),
		resolver: place.NewResolver(r.World, r.Workspace, r.Rows)}
	names := r.Rows.Words("instructions.nested")
	nested, staged := r.World.Tracked(place.Slashes(r.Workspace), func(base string) bool { return slices.Contains(names, base) })
	if r.World.Git != nil && !staged {
		f.git = r.World.Git()
	}
	if r.World.Home != "" {
		for _, entry := range r.Rows.Words("instructions.person") {
			if agent, name, ok := strings.Cut(entry, ":"); ok && agent == r.Harness {
				f.person = true
				f.file(place.Join(place.Slashes(r.World.Home), name), 0)
			}
		}
		f.person = false
	}
	for _, dir := range f.dirs() {
		for _, name := range r.Rows.Words("instructions.project") {
			f.entry(place.Join(dir, name))
		}
	}
	left := maxNested
	for _, p := range nested {
		if f.seen[p] || f.foreign(p) {
			continue
		}
		if left--; left < 0 {
			f.problem(p, "not read, nor are those after it: there are too many instruction files in folders")
			break
		}
		f.scope = strings.TrimPrefix(place.DirOf(p)+"/", strings.TrimSuffix(place.Slashes(r.Workspace), "/")+"/")
		f.file(p, 0)
	}
	return f.list
}

// top is the folder with the repository that the workspace is in, or the workspace.
func (r *Reader) top() string {
	start := strings.TrimSuffix(place.Slashes(r.Workspace), "/")
	for dir := start; ; dir = place.DirOf(dir) {
		if dir == place.Slashes(r.World.Home) || dir == "/" || strings.HasSuffix(dir, ":/") {
			return start
		}
		if _, err := r.World.Lstat(place.Join(dir, ".git")); err == nil {
			return dir
		}
		if next := place.DirOf(dir); next == dir {
			return start
		}
	}
}

// finder collects files, each once.
type finder struct {
	*Reader
	git    func(string) string
	top    string
	person bool   // the files that are being read are the person's own
	scope  string // folder in the workspace to which the files that are being read apply, with a slash at its end; empty: all of it
	seen   map[string]bool
	left   int64 // bytes that may still be read
	names  int   // names of imports that may still be looked up
	read   int   // files that were read
	list   []File

	resolver *place.Resolver
}

// problem lists a file that is not read.
func (f *finder) problem(p, why string) {
	f.seen[p] = true
	if len(f.list) < 2*maxFiles {
		f.list = append(f.list, File{Path: f.shown(p), Problem: why})
	}
}

// dirs lists the folders from the repository's root to the workspace.
func (f *finder) dirs() []string {
	var list []string
	for dir := strings.TrimSuffix(place.Slashes(f.Workspace), "/"); ; dir = place.DirOf(dir) {
		list = append(list, dir)
		if dir == f.top || len(dir) <= len(f.top) {
			slices.Reverse(list)
			return list
		}
	}
}

// foreign reports whether a file belongs to a dependency, or a tool made it.
func (f *finder) foreign(p string) bool {
	return f.resolver.OfOthers(p) || f.resolver.Generated(p)
}

// entry reads a file, or the files of a folder in Markdown.
func (f *finder) entry(p string) {
	info, err := f.World.Lstat(p)
	if err != nil {
		return
	}
	if !info.IsDir() {
		f.file(p, 0)
		return
	}
	if f.World.ReadDir == nil {
		return
	}
	list, err := f.World.ReadDir(p, maxParts)
	if err != nil {
		return
	}
	for _, d := range list {
		if ext := path.Ext(d.Name()); ext == ".md" || ext == ".mdc" {
			f.file(place.Join(p, d.Name()), 0)
		}
	}
}

// file reads one file, and what it imports.
func (f *finder) file(p string, level int) {
	if f.seen[p] {
		return
	}
	info, err := f.World.Lstat(p)
	if err != nil {
		return
	}
	f.seen[p] = true
	switch {
	case !f.person && f.linked(p):
		f.problem(p, "not read: a folder on the way to it is a link")
	case info.Mode()&fs.ModeSymlink != 0:
		f.link(p, level)
	case !info.Mode().IsRegular():
		f.problem(p, "not read: not a regular file")
	case f.read >= maxFiles:
		f.problem(p, "not read: there are too many instruction files")
	default:
		f.text(p, level)
	}
}

// text reads the text of a file.
func (f *finder) text(p string, level int) {
	f.read++
	file := File{Path: f.shown(p), Trusted: f.trusted(p)}
	limit := min(maxFile, f.left)
	text, err := f.World.ReadHead(p, limit+1)
	if err != nil {
		f.problem(p, "cannot be read")
		return
	}
	if int64(len(text)) > limit {
		text, file.Problem = text[:limit], "only the beginning was read: one file has at most 128 KiB, all have at most 512 KiB"
	}
	f.left -= int64(len(text))
	file.text = text
	file.Sentences = f.sentences(p, file, string(text))
	f.list = append(f.list, file)
	if slices.Contains(f.Rows.Words("instructions.imports"), path.Base(p)) || level > 0 {
		f.imports(p, string(text), level)
	}
}

// linked reports whether a folder between the repository's root and a file is a link.
func (f *finder) linked(p string) bool {
	for dir := place.DirOf(p); len(dir) > len(f.top); dir = place.DirOf(dir) {
		if info, err := f.World.Lstat(dir); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// link reads what a link leads to: in the same repository or, of the person's own file, in the home directory.
func (f *finder) link(p string, level int) {
	within := f.top + "/"
	if f.person {
		within = strings.TrimSuffix(place.Slashes(f.World.Home), "/") + "/"
	}
	if f.World.Readlink != nil {
		if to, err := f.World.Readlink(p); err == nil {
			if to = place.Slashes(to); !path.IsAbs(to) && !place.Drive(to) {
				to = path.Clean(place.Join(place.DirOf(p), to))
			}
			info, err := f.World.Lstat(to)
			if err == nil && info.Mode().IsRegular() && strings.HasPrefix(to, within) && !f.foreign(to) && !f.secret(to) {
				f.file(to, level)
				return
			}
		}
	}
	f.problem(p, "not read: a link that leads to no file that may be read")
}

// secret reports whether a file contains credentials, by its name and place.
func (f *finder) secret(p string) bool {
	class := f.resolver.Class(p)
	return class == engine.ClassCredential || class == engine.ClassEnvFile
}

// trusted reports whether a file is the person's own, or version control has its content.
func (f *finder) trusted(p string) bool {
	return f.person || f.git != nil && f.git(p) == "clean"
}

// shown returns the path of a file as messages name it: relative to the workspace where it is in the same repository.
func (f *finder) shown(p string) string {
	home, inHome := strings.CutPrefix(p, strings.TrimSuffix(place.Slashes(f.World.Home), "/")+"/")
	inHome = inHome && f.World.Home != ""
	if f.person && inHome {
		return "~/" + home
	}
	if strings.HasPrefix(p, f.top+"/") {
		if rel, err := filepath.Rel(f.Workspace, filepath.FromSlash(p)); err == nil {
			return place.Slashes(rel)
		}
	}
	if inHome {
		return "~/" + home
	}
	return p
}

// sentences reads a text. What a file in a folder of the workspace forbids is about its own folder.
func (f *finder) sentences(p string, file File, text string) []prompt.Sentence {
	dir := place.DirOf(p)
	exists := func(base, word string) bool {
		if word = path.Clean(word); word == "." || path.IsAbs(word) || word == ".." || strings.HasPrefix(word, "../") {
			return false
		}
		_, err := f.World.Lstat(place.Join(base, word))
		return err == nil
	}
	list := prompt.InstructionsOf(f.Rows, f.Masker, text, func(w string) bool {
		return exists(dir, w) || exists(place.Slashes(f.Workspace), w)
	})
	for i := range list {
		var kept []engine.Statement
		for _, s := range list[i].Statements {
			s.From = file.Path + ":" + strconv.Itoa(list[i].Line)
			if !file.Trusted {
				s.Until = engine.UntilAsked
			}
			if f.scope == "" || f.ofFolder(&s) {
				kept = append(kept, inParts(s)...)
			}
		}
		list[i].Statements = kept
	}
	return list
}

// ofFolder limits a statement of a file in a folder to that folder. Only what is changed or deleted there can be told from
// what is done elsewhere.
func (f *finder) ofFolder(s *engine.Statement) bool {
	if s.Act != "change" && s.Act != "delete" {
		return false
	}
	var objects []string
	for _, o := range s.Objects {
		if o = path.Clean(o); !path.IsAbs(o) && o != ".." && !strings.HasPrefix(o, "../") {
			objects = append(objects, f.scope+o)
		}
	}
	s.Objects = objects
	return len(objects) > 0
}

// imports reads the files that a text names after an @: inside the repository, or in the folder of the person's own file, and none
// that holds credentials.
func (f *finder) imports(p, text string, level int) {
	if level >= maxImport {
		return
	}
	fence := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fence = !fence
		}
		if fence {
			continue
		}
		for _, word := range strings.Fields(line) {
			name, ok := strings.CutPrefix(strings.Trim(word, "(),.;:*_"), "@")
			if !ok || name == "" || !strings.ContainsAny(name, "./") {
				continue
			}
			target := path.Clean(place.Join(place.DirOf(p), name))
			if rest, home := strings.CutPrefix(name, "~/"); home {
				target = path.Clean(place.Join(place.Slashes(f.World.Home), rest))
			} else if path.IsAbs(name) {
				target = path.Clean(name)
			}
			f.imported(p, target, level)
		}
	}
}

func (f *finder) imported(from, target string, level int) {
	if f.names--; f.names < 0 || f.seen[target] {
		return
	}
	if _, err := f.World.Lstat(target); err != nil {
		return
	}
	home := place.Slashes(f.World.Home)
	inside := strings.HasPrefix(target, f.top+"/")
	near := f.person && strings.HasPrefix(target, place.DirOf(from)+"/") && place.DirOf(from) != home
	switch {
	case !inside && !near || f.secret(target):
		f.problem(target, "imported by "+f.shown(from)+", and not read: it is outside the repository, or holds credentials")
	case !f.foreign(target):
		f.file(target, level+1)
	}
}
