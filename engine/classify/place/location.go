package place

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Location returns the location of a real absolute path.
func (r *Resolver) Location(p string) engine.Location {
	switch {
	case p == "":
		return engine.LocationUnknown
	case Drive(p):
		return r.windowsLocation(p)
	case strings.HasPrefix(p, "//"):
		if l, ok := device(p); ok {
			return l
		}
		return engine.LocationOutside
	case p == "/":
		return engine.LocationRoot
	case Within("/dev", p) && !Within("/dev/shm", p):
		return deviceLocation(p)
	case r.homeRoot(p):
		return engine.LocationHomeRoot
	case r.workspace != "" && p == r.workspace:
		return engine.LocationSelf
	case r.workspace != "" && Within(r.workspace, p):
		return engine.LocationInside
	}
	return r.awayLocation(p)
}

// awayLocation handles paths outside the workspace.
func (r *Resolver) awayLocation(p string) engine.Location {
	if rootDir(p) || slices.Contains(r.homes, p) {
		if loc := r.tempLocation(p); loc == engine.LocationTempRoot {
			return loc
		}
		return engine.LocationRoot
	}
	if r.workspace != "" && Within(p, r.workspace) {
		return engine.LocationAncestor
	}
	if r.inWorktree(p) {
		return engine.LocationWorktree
	}
	if loc := r.tempLocation(p); loc != "" {
		return loc
	}
	switch {
	case r.ownNotes(p):
		return engine.LocationNotes
	case r.home != "" && Within(r.home, p) || r.belowHomes(p) || Within("/root", p):
		return engine.LocationHome
	case r.systemPath(p):
		return engine.LocationSystem
	}
	return engine.LocationOutside
}

func (r *Resolver) homeRoot(p string) bool {
	if p == r.home && r.home != "" || p == "/root" || p == "/var/root" {
		return true
	}
	dir := path.Dir(p)
	return slices.ContainsFunc(r.homes, func(h string) bool { return dir == h && path.Base(p) != "Shared" })
}

func (r *Resolver) belowHomes(p string) bool {
	return slices.ContainsFunc(r.homes, func(h string) bool { return Within(h, p) })
}

// tempLocation returns temp only if the workspace is not under the same temporary
// directory: next to the workspace, files may be someone's work, except for what mktemp
// created.
func (r *Resolver) tempLocation(p string) engine.Location {
	for _, t := range r.temps {
		if !Within(t, p) || Within(t, r.home) && Within(r.home, p) {
			continue // a home directory below a temporary one is a home
		}
		if r.workspace != "" && Within(t, r.workspace) {
			return beside(t, p, r.workspace)
		}
		if p == t {
			return engine.LocationTempRoot
		}
		return engine.LocationTemp
	}
	for _, t := range []string{"/var/folders", "/private/var/folders"} {
		if Within(t, p) && p != t && Within(t, r.workspace) {
			return engine.LocationBeside
		}
		if Within(t, p) && p != t {
			return engine.LocationTemp
		}
	}
	return ""
}

// beside reports the location of a path in a temporary directory that contains the
// workspace.
func beside(dir, p, workspace string) engine.Location {
	first, _, _ := strings.Cut(strings.TrimPrefix(p[len(dir):], "/"), "/")
	if strings.HasPrefix(first, "tmp.") && !Within(Join(dir, first), workspace) {
		return engine.LocationTemp
	}
	return engine.LocationBeside
}

// ownNotes reports whether a file is one of the agent's notes about this workspace, or
// about a folder above it, under the home directory: clients name the notes after the
// folder in which they were started. Notes about another folder belong to that project.
func (r *Resolver) ownNotes(p string) bool {
	home := r.home
	if home == "" {
		home = HomeOf(p) // of a recorded session
	}
	if home == "" || r.workspace == "" || alike(r.workspace, home) || !Within(alikened(home), alikened(p)) || alike(p, home) {
		return false
	}
	parts := strings.Split(alikened(p)[len(home)+1:], "/")
	return slices.ContainsFunc(r.tables.notes, func(pattern string) bool {
		return slices.ContainsFunc(notedFolders(r.workspace, home), func(dir string) bool {
			pattern := strings.ReplaceAll(pattern, "{workspace}", dashed(dir))
			if Drive(p) {
				pattern = strings.ToLower(pattern)
			}
			return wildcard.Path(strings.Split(pattern, "/"), parts)
		})
	})
}

// notedFolders returns the folders whose notes belong to a session.
func notedFolders(workspace, home string) []string {
	list := []string{workspace}
	if !Within(alikened(home), alikened(workspace)) {
		return list
	}
	for dir := path.Dir(workspace); len(dir) > len(home); dir = path.Dir(dir) {
		list = append(list, dir)
	}
	return list
}

// alike reports whether two paths are equal; on drives, case is ignored.
func alike(a, b string) bool { return alikened(a) == alikened(b) }

func alikened(p string) string {
	if Drive(p) {
		return strings.ToLower(p)
	}
	return p
}

// dashed returns a path in the form in which clients use it as the name of a single folder.
func dashed(p string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '-'
	}, p)
}

// rootDirs are directories just under the root that belong to the system, or where disks
// are mounted.
var rootDirs = []string{"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt", "proc", "run",
	"sbin", "snap", "srv", "sys", "usr", "var", "System", "Library", "Applications", "Volumes", "private", "cores", "nix", "efi"}

// rootDir reports whether a path is such a directory, or a mounted disk itself.
func rootDir(p string) bool {
	parent, name := path.Split(p)
	switch parent {
	case "/":
		return slices.Contains(rootDirs, name)
	case "/mnt/", "/media/", "/Volumes/":
		return true
	}
	return false
}

// systemPath reports whether a path belongs to the operating system or to installed software, by the rows. On another machine,
// where nothing shows whose a folder is, exceptions do not count.
func (r *Resolver) systemPath(p string) bool {
	n, system := r.bare(p), r.tables.of(rows.System)
	if r.away {
		return slices.ContainsFunc(slices.Concat(system.known, system.added), func(m *matcher) bool { return m.means(n) })
	}
	return anyMatches(system.known, n) || anyMatches(system.added, n)
}

// area adds to an effect outside the workspace what its place is for, and to which repository it belongs.
func (r *Resolver) area(e *engine.Effect) {
	if e.Certainty != engine.CertaintyExact && e.Certainty != engine.CertaintyGlob {
		return
	}
	if !slices.Contains([]engine.Location{engine.LocationHome, engine.LocationOutside, engine.LocationSystem}, e.Location) {
		return
	}
	n := r.names(e.Target)
	if anyMatches(r.tables.of(rows.Data).known, n) {
		e.Area = engine.AreaData
	}
	e.Document = anyMatches(r.tables.of(rows.Documents).known, n)
	for dir := e.Target; r.Looking() && r.Here(dir) && dir != path.Dir(dir); dir = path.Dir(dir) {
		if r.Lstat(Join(dir, ".git")) != nil {
			e.Checkout = r.short(dir)
			break
		}
	}
}

// nullDevices discard or produce bytes, or are the process's own streams.
var nullDevices = []string{"null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "ptmx"}

func deviceLocation(p string) engine.Location {
	name := strings.TrimPrefix(strings.TrimPrefix(p, "/dev"), "/")
	switch {
	case name == "":
		return engine.LocationRoot
	case slices.Contains(nullDevices, name) || strings.HasPrefix(name, "fd/") || strings.HasPrefix(name, "pts/"):
		return engine.LocationNull
	}
	return engine.LocationDevice
}

// windowsLocation handles drives, the system's folders and profiles.
func (r *Resolver) windowsLocation(p string) engine.Location {
	low := strings.ToLower(p[2:])
	parts := strings.Split(strings.Trim(low, "/"), "/")
	ws := strings.ToLower(r.workspace)
	if l, ok := reserved(parts[len(parts)-1]); ok {
		return l
	}
	switch {
	case low == "/":
		return engine.LocationRoot
	case r.home != "" && strings.EqualFold(p, r.home):
		return engine.LocationHomeRoot
	case ws != "" && ws == strings.ToLower(p):
		return engine.LocationSelf
	case ws != "" && Within(ws, strings.ToLower(p)):
		return engine.LocationInside
	case len(parts) == 1 && slices.Contains(windowsSystem, parts[0]):
		return engine.LocationRoot
	case ws != "" && Within(strings.ToLower(p), ws):
		return engine.LocationAncestor
	case parts[0] == "users" && len(parts) == 1:
		return engine.LocationRoot
	case parts[0] == "users" && len(parts) == 2:
		return engine.LocationHomeRoot
	case parts[0] == "users" && strings.HasSuffix(low, "/appdata/local/temp") || low == "/windows/temp":
		return engine.LocationTempRoot
	case r.windowsTemp(p) != "":
		return r.windowsTemp(p)
	case strings.Contains(low, "/appdata/local/temp/") || strings.HasPrefix(low, "/windows/temp/"):
		return engine.LocationTemp
	case r.ownNotes(p):
		return engine.LocationNotes
	case parts[0] == "users", r.home != "" && Within(alikened(r.home), alikened(p)):
		return engine.LocationHome
	case slices.Contains(windowsSystem, parts[0]):
		return engine.LocationSystem
	}
	return engine.LocationOutside
}

// windowsTemp returns the location of a path in the session's folder for temporary files;
// empty if it is not in there.
func (r *Resolver) windowsTemp(p string) engine.Location {
	for _, t := range r.temps {
		switch {
		case !Drive(t) || !Within(alikened(t), alikened(p)):
		case r.workspace != "" && Within(alikened(t), alikened(r.workspace)):
			return beside(alikened(t), alikened(p), alikened(r.workspace))
		case alike(t, p):
			return engine.LocationTempRoot
		default:
			return engine.LocationTemp
		}
	}
	return ""
}

var windowsSystem = []string{"windows", "programdata", "boot", "recovery", "program files", "program files (x86)",
	"system volume information"}

// Rank orders locations by how much is lost if something there is deleted.
func Rank(l engine.Location) int {
	switch l {
	case engine.LocationRoot:
		return 12
	case engine.LocationHomeRoot:
		return 11
	case engine.LocationAncestor:
		return 10
	case engine.LocationSelf:
		return 9
	case engine.LocationDevice:
		return 8
	case engine.LocationSystem:
		return 7
	case engine.LocationUnknown:
		return 6
	case engine.LocationHome:
		return 5
	case engine.LocationOutside, engine.LocationBeside:
		return 4
	case engine.LocationTempRoot:
		return 3
	case engine.LocationInside, engine.LocationWorktree, engine.LocationNotes:
		return 2
	case engine.LocationTemp:
		return 1
	}
	return 0
}

// maxHeld limits the files that are counted for one effect; maxCounted the names that are looked at for a call.
const (
	maxHeld    = 2001
	maxCounted = 4 * maxHeld
)

// held counts what is at targets that a call deletes or changes. What git discards is left out: only some of the files
// there are lost.
func (r *Resolver) held(e *engine.Effect, targets ...string) {
	if !Alters(e) || e.Verb == "discard" || e.Class == engine.ClassGenerated || r.World.ReadDir == nil {
		return
	}
	for _, t := range targets {
		if info := r.Lstat(t); info != nil {
			r.heldAt(e, t, info)
		}
	}
}

func (r *Resolver) heldAt(e *engine.Effect, name string, info fs.FileInfo) {
	r.counted++
	switch {
	case e.HeldFiles >= maxHeld || r.counted > maxCounted:
		return
	case !info.IsDir():
		e.HeldFiles++
		if info.Mode().IsRegular() {
			e.HeldBytes += info.Size()
		}
		return
	case !e.Recursive || e.Kind != engine.EffectFileDelete:
		return
	}
	list, err := r.World.ReadDir(name, maxHeld)
	if err != nil {
		return // what cannot be read is not counted
	}
	for _, d := range list {
		if info, err := d.Info(); err == nil {
			r.heldAt(e, Join(name, d.Name()), info)
		}
	}
}

// Closes reports whether a mode leaves a file to its owner, who can still read it.
func Closes(mode string) bool {
	if strings.Trim(mode, "01234567") == "" {
		mode = strings.TrimPrefix(mode, "0")
		return len(mode) == 3 && mode[0] >= '4' && mode[1:] == "00"
	}
	return slices.Contains([]string{"go-rwx", "go=", "og-rwx", "og=", "u=rw,go=", "u=r,go=", "u=rwx,go="}, mode)
}

// mounted returns what is at an effect's path, and adds where a disk that is written is mounted.
func (r *Resolver) mounted(e *engine.Effect) fs.FileInfo {
	if e.Location == engine.LocationDevice && Alters(e) {
		e.Mounted = mountedAt(r.World.ReadFile, e.Target)
	}
	return r.Lstat(e.Target)
}
