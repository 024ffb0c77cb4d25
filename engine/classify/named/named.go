// Package named finds the names in an agent's last message: commands that it tells a person to
// run, packages, functions and types. It reports only what is known to be
// absent.
//
// Out of scope: reading the message (package prompt), and what the session itself did
// (package history).
package named

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Bounds of what is read.
const (
	maxAbsent   = 8
	maxManifest = 256 << 10 // bytes of a makefile, a manifest or a lock file
	maxPath     = 64        // directories
)

// Finder looks for names in a workspace.
type Finder struct {
	World place.World
	Res   *place.Resolver
	Rows  *rows.Set
	Dirs  []string // the agent's directory and the workspace, absolute
}

// Commands returns the command lines that name something absent: the program, its target or its
// script.
func (f *Finder) Commands(lines []string) []string {
	var list []string
	for _, line := range lines {
		name := f.absent(strings.Fields(line), lines)
		if name != "" && !slices.Contains(list, name) && len(list) < maxAbsent {
			list = append(list, name)
		}
	}
	return list
}

// absent returns the part of a command that does not exist; empty: all of it
// may exist.
func (f *Finder) absent(words, lines []string) string {
	if len(words) == 0 || f.World.System == place.Windows || !f.Res.Looking() {
		return ""
	}
	name, args := words[0], words[1:]
	switch {
	case strings.Contains(name, "="), f.is("told.syntax", name):
		return ""
	case f.is("told.make", name):
		return f.target(words)
	case f.is("told.scripts", name) && len(args) > 1 && args[0] == "run" && !slices.ContainsFunc(args, isFlag):
		return f.script(words)
	case f.is("told.interpreters", name) && len(args) > 0:
		return f.file(args[0])
	case strings.Contains(name, "/"):
		return f.file(name)
	}
	return f.program(name, lines)
}

func (f *Finder) is(list, word string) bool { return slices.Contains(f.Rows.Words(list), word) }

func isFlag(s string) bool { return strings.HasPrefix(s, "-") }

// target returns the target of make that no makefile of a directory has.
func (f *Finder) target(words []string) string {
	var text string
	for _, dir := range f.Dirs {
		for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
			text += f.read(dir, name)
		}
	}
	if text == "" || slices.ContainsFunc(words, isFlag) || includes().MatchString(text) {
		return ""
	}
	for _, goal := range words[1:] {
		known := regexp.MustCompile(`(?m)^([^\s#:=][^#:=]*\s)?` + regexp.QuoteMeta(goal) + `(\s[^#:=]*)?::?($|[^=])`)
		if !strings.Contains(goal, "=") && !known.MatchString(text) && f.there(goal) == "" {
			return "make " + goal
		}
	}
	return ""
}

// includes matches lines after which the targets of a makefile are not
// completely known.
var includes = engine.Regexp(`(?m)^\s*-?s?include\s|^[^\s#]*%|^[^\s#]*\$[({].*:|\$\(eval`)

// script returns the script that no package.json of a directory has.
func (f *Finder) script(words []string) string {
	found := false
	for _, dir := range f.Dirs {
		var file struct{ Scripts map[string]string }
		text := f.read(dir, "package.json")
		if text == "" {
			continue
		}
		if json.Unmarshal([]byte(text), &file) != nil || file.Scripts[words[2]] != "" {
			return ""
		}
		found = true
	}
	if !found || f.there(words[2]) != "" {
		return ""
	}
	return strings.Join(words[:3], " ")
}

// file returns a script that is in none of the directories, as effects spell it.
func (f *Finder) file(name string) string {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "..") || !strings.Contains(name, "/") ||
		!f.is("told.endings", path.Ext(name)) {
		return ""
	}
	short := ""
	for _, dir := range f.Dirs {
		full, ok := f.Res.Named(name, dir)
		if !ok || f.Res.Lstat(full) != nil || f.Res.Generated(full) || !f.Res.Looking() {
			return ""
		}
		short = f.Res.Short(full)
	}
	return short
}

var plainName = engine.Regexp(`^[a-z][a-z0-9_-]{2,40}$`)

// program returns a program that no row, directory of programs or file of the project
// names, and that no other line installs.
func (f *Finder) program(name string, lines []string) string {
	if f.World.Path == nil || !plainName().MatchString(name) || f.Rows.HasRow("programs", name) {
		return ""
	}
	if _, known, err := f.Rows.Program(name); known || err != nil {
		return ""
	}
	for _, line := range lines {
		if _, operands, _ := strings.Cut(line, " "); strings.Contains(operands, name) {
			return ""
		}
	}
	for _, dir := range slices.Concat(f.World.Path[:min(len(f.World.Path), maxPath)], f.personal()) {
		if f.Res.Lstat(path.Join(place.Slashes(dir), name)) != nil {
			return ""
		}
	}
	if f.there(name) != "" || f.mentions(name) || !f.Res.Looking() {
		return ""
	}
	return name
}

// personal lists directories that are on the path of a person's shell, and often not on
// that of a hook.
func (f *Finder) personal() []string {
	dirs := []string{"/usr/local/bin", "/opt/homebrew/bin", "/snap/bin"}
	for _, sub := range f.Rows.Words("told.personal") {
		if f.World.Home != "" {
			dirs = append(dirs, path.Join(f.World.Home, sub))
		}
	}
	return dirs
}

// there returns the path at which the project has something with a name; empty:
// there is none.
func (f *Finder) there(name string) string {
	for _, dir := range f.Dirs {
		for _, sub := range append([]string{""}, f.Rows.Words("told.folders")...) {
			if at := path.Join(dir, sub, name); f.Res.Lstat(at) != nil {
				return at
			}
		}
	}
	return ""
}

// mentions reports whether a manifest of the project names something.
func (f *Finder) mentions(name string) bool {
	text, _ := f.manifests()
	return strings.Contains(text, plain(name))
}

// manifests returns the manifests and lock files of the directories, in lower case, and
// whether they could all be read.
func (f *Finder) manifests() (text string, whole bool) {
	var b strings.Builder
	for _, dir := range f.Dirs {
		for _, name := range f.Rows.Words("told.manifests") {
			b.WriteString(f.read(dir, name))
			if f.Res.Lstat(path.Join(dir, name)) != nil && f.read(dir, name) == "" {
				return "", false
			}
		}
	}
	return plain(b.String()), true
}

// plain returns a string in which names are spelled uniformly.
func plain(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// Packages returns the packages that no manifest names, if there is a manifest.
func (f *Finder) Packages(names []string) []string {
	text, whole := f.manifests()
	if text == "" || !whole {
		return nil
	}
	var list []string
	for _, name := range names {
		if !strings.Contains(text, plain(name)) && len(list) < maxAbsent {
			list = append(list, name)
		}
	}
	return list
}

func (f *Finder) read(dir, name string) string {
	if f.World.ReadFile == nil || f.Res.Lstat(path.Join(dir, name)) == nil {
		return ""
	}
	raw, err := f.World.ReadFile(path.Join(dir, name), maxManifest)
	if err != nil {
		return ""
	}
	return string(raw)
}
