// Package standing reads the instruction files of a workspace and of the person, such as CLAUDE.md and AGENTS.md: which files
// there are, whether they are the person's own or in version control, and what they forbid.
//
// Out of scope: what a sentence forbids (prompt), what that means for a call (policy), and permissions: a file grants none.
package standing

import (
	"bytes"
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
	maxBytes  = 1 << 20 // of all files
	maxNested = 32      // files in folders of the workspace
	maxParts  = 64      // files in a folder of instructions
	maxImport = 5       // levels
)

// Limits of what is kept of them in one record.
const (
	maxText  = 160  // bytes of a sentence
	maxFacts = 3600 // bytes of all statements: with the rest of the event they stay below engine.MaxFacts
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
	f := &finder{Reader: r, seen: map[string]bool{}, left: maxBytes, top: r.top()}
	if r.World.Git != nil {
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
	names := r.Rows.Words("instructions.nested")
	named := func(base string) bool { return slices.Contains(names, base) }
	for _, p := range r.World.Tracked(place.Slashes(r.Workspace), named, maxNested) {
		if f.scope = ""; !f.foreign(p) {
			f.scope = strings.TrimPrefix(place.DirOf(p)+"/", strings.TrimSuffix(place.Slashes(r.Workspace), "/")+"/")
			f.file(p, 0)
		}
	}
	return f.list
}

// Facts returns what the files forbid, and a digest of them. Nil: there are none.
func Facts(files []File, mac func([]byte) string) *engine.Standing {
	if len(files) == 0 {
		return nil
	}
	var all bytes.Buffer
	s := &engine.Standing{}
	left := maxFacts
	for _, f := range files {
		all.WriteString(f.Path + "\x00" + strconv.FormatBool(f.Trusted) + "\x00")
		all.Write(f.text)
		all.WriteByte(0)
		for _, sentence := range f.Sentences {
			for _, st := range sentence.Statements {
				if st.Text = engine.ClipJSON(st.Text, maxText); left < sizeOf(st) {
					st.Text = "" // what is forbidden counts more than how it was said
				}
				if left -= sizeOf(st); left >= 0 && len(s.Statements) < engine.MaxStanding {
					s.Statements = append(s.Statements, st)
				}
			}
		}
	}
	s.MAC = mac(all.Bytes())
	return s
}

// sizeOf is the most that a statement takes in a record.
func sizeOf(s engine.Statement) int {
	n := 120 + len(s.Act) + len(s.Until) + engine.JSONLen(s.From) + engine.JSONLen(s.Text)
	for _, o := range s.Objects {
		n += engine.JSONLen(o) + 1
	}
	return n
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
	left   int64
	list   []File
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
	resolver := place.NewResolver(f.World, f.Workspace, f.Rows)
	return resolver.OfOthers(p) || resolver.Generated(p)
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
	if f.seen[p] || len(f.list) >= maxFiles {
		return
	}
	info, err := f.World.Lstat(p)
	if err != nil {
		return
	}
	f.seen[p] = true
	if info.Mode()&fs.ModeSymlink != 0 {
		f.link(p, level)
		return
	}
	file := File{Path: f.shown(p), Trusted: f.trusted(p)}
	at := len(f.list)
	f.list = append(f.list, file)
	if !info.Mode().IsRegular() {
		f.list[at].Problem = "not a regular file"
		return
	}
	text, err := f.World.ReadHead(p, f.left+1)
	if err != nil {
		f.list[at].Problem = "cannot be read"
		return
	}
	if int64(len(text)) > f.left {
		text = text[:f.left]
		f.list[at].Problem = "only the beginning was read: instruction files have at most 1 MiB together"
	}
	f.left -= int64(len(text))
	f.list[at].text = text
	f.list[at].Sentences = f.sentences(p, f.list[at], string(text))
	if slices.Contains(f.Rows.Words("instructions.imports"), path.Base(p)) || level > 0 {
		f.imports(p, string(text), level)
	}
}

// link reads what a link leads to, in the same repository.
func (f *finder) link(p string, level int) {
	if f.World.Readlink != nil {
		if to, err := f.World.Readlink(p); err == nil {
			if to = place.Slashes(to); !path.IsAbs(to) && !place.Drive(to) {
				to = path.Clean(place.Join(place.DirOf(p), to))
			}
			if info, err := f.World.Lstat(to); err == nil && info.Mode().IsRegular() && strings.HasPrefix(to, f.top+"/") && !f.foreign(to) {
				f.file(to, level)
				return
			}
		}
	}
	f.list = append(f.list, File{Path: f.shown(p), Problem: "not read: a link that leads to no file of the repository"})
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
		if word == "" || path.IsAbs(word) || strings.HasPrefix(path.Clean(word), "..") {
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
			for n, o := range s.Objects {
				if f.scope != "" && exists(dir, o) {
					s.Objects[n] = f.scope + strings.TrimPrefix(o, "./")
				}
			}
			if f.scope != "" && len(s.Objects) == 0 {
				continue // for a part of the workspace only, which most acts cannot be told from
			}
			kept = append(kept, s)
		}
		list[i].Statements = kept
	}
	return list
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
	home := place.Slashes(f.World.Home)
	inside := strings.HasPrefix(target, f.top+"/")
	near := home != "" && strings.HasPrefix(from, home+"/") && strings.HasPrefix(target, place.DirOf(from)+"/") && place.DirOf(from) != home
	class := place.NewResolver(f.World, f.Workspace, f.Rows).Class(target)
	if !inside && !near || class == engine.ClassCredential || class == engine.ClassEnvFile {
		if _, err := f.World.Lstat(target); err == nil && !f.seen[target] && len(f.list) < maxFiles {
			f.seen[target] = true
			problem := "imported by " + f.shown(from) + ", and not read: it is outside the repository, or holds credentials"
			f.list = append(f.list, File{Path: f.shown(target), Problem: problem})
		}
		return
	}
	if inside && f.foreign(target) {
		return
	}
	f.file(target, level+1)
}
