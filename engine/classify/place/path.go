package place

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Limits of the disk accesses for one action. What exceeds them stays
// lexical: facts are absent, never guessed.
const (
	maxLookups = 4096 // lstat and readlink calls
	maxLinks   = 40   // links followed for one path, as Linux does
	maxGit     = 64   // paths whose git state is queried
)

// Resolver turns raw effects into effects, by resolving real paths.
type Resolver struct {
	World     World
	workspace string // real; empty: none, or the root, which would make everything inside
	home      string // real
	temps     []string
	homes     []string
	guard     []string
	states    []string               // state folders of reviewer
	programs  []string               // its programs
	infos     map[string]fs.FileInfo // nil: not there, or hidden
	hidden    map[string]bool        // whether these are there could not be seen
	classes   map[string]engine.Class
	lookups   int
	counted   int                 // names that were looked at to count files
	Git       func(string) string // nil: unknown
	Secret    func(string) bool   // reports whether a string contains a secret; nil: unknown
	asked     int                 // paths whose git state was queried
	tables    *tables
	protected []string // files that another name may stand for; nil: not listed yet
	trees     []string // other working trees of the workspace's repository
	treesRead bool
	mac       bool      // the session ran on macOS
	spelled   []string  // folders as they are written; nil: not listed yet
	far       *Resolver // for paths of other machines; nil: not made yet
	away      bool      // it is such a resolver
}

// NewResolver returns a resolver for one action. workspace is the session's folder,
// absolute; empty: none. set defines the classes of files.
func NewResolver(w World, workspace string, set *rows.Set) *Resolver {
	w.Home = Slashes(w.Home)
	r := &Resolver{World: w, tables: tablesOf(set), mac: w.mac(workspace)}
	r.infos, r.hidden, r.classes = map[string]fs.FileInfo{}, map[string]bool{}, map[string]engine.Class{}
	if w.Git != nil {
		r.Git = w.Git()
	}
	if r.workspace = r.known(workspace); r.workspace == "/" {
		r.workspace = ""
	}
	r.home = r.known(w.Home)
	for _, t := range append(slices.Clone(w.TempDirs), usualTemps...) {
		r.temps = appendNew(r.temps, r.clean(t), r.known(t))
	}
	for _, h := range w.homes() {
		r.homes = appendNew(r.homes, r.clean(h), r.known(h))
	}
	for _, g := range w.Guard {
		r.guard = appendNew(r.guard, r.clean(g), r.known(g))
	}
	for _, p := range w.Programs {
		r.programs = appendNew(r.programs, r.clean(p), r.known(p))
	}
	if w.State != "" {
		r.states = appendNew(r.states, r.clean(w.State), r.known(w.State))
	}
	return r
}

// elsewhere resolves paths of other machines, by their names alone: nothing here shows what
// exists there, and there is no workspace.
func (r *Resolver) elsewhere() *Resolver {
	if r.far == nil {
		r.far = &Resolver{away: true, tables: r.tables, home: r.home, temps: r.temps, homes: r.homes, mac: r.mac}
		r.far.World.System = r.World.System
		r.far.infos, r.far.hidden, r.far.classes = map[string]fs.FileInfo{}, map[string]bool{}, map[string]engine.Class{}
	}
	return r.far
}

func appendNew(list []string, names ...string) []string {
	for _, n := range names {
		if n != "" && n != "." && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// known returns the real path of a configured absolute path; empty if there is none.
func (r *Resolver) known(p string) string {
	switch p = Slashes(p); {
	case Drive(p):
		return r.realOnDrive(p, true)
	case !strings.HasPrefix(p, "/"):
		return ""
	}
	return r.Real(p, "/", true)
}

// clean returns a configured path as written, in a normalised spelling.
func (r *Resolver) clean(p string) string {
	if p = Slashes(p); Drive(p) {
		return WindowsClean(p)
	}
	return r.public(path.Clean(p))
}

// Lstat returns what is known about a file; nil: nothing.
func (r *Resolver) Lstat(p string) fs.FileInfo {
	if info, ok := r.infos[p]; ok {
		return info
	}
	if r.World.Lstat == nil || r.lookups >= maxLookups {
		return nil
	}
	r.lookups++
	info, err := r.World.Lstat(p)
	if err != nil {
		info = nil
		if !missing(err) {
			r.hidden[p] = true
		}
	}
	r.infos[p] = info
	return info
}

// missing reports whether an error says that nothing has the name. Any other one, such as a folder that may
// not be searched, says nothing about it.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ENAMETOOLONG)
}

// Looking reports whether facts about files are available.
func (r *Resolver) Looking() bool { return r.World.Lstat != nil && r.lookups < maxLookups }

// Real resolves links, . and .. from the root, as the kernel does; where a
// component does not exist, the rest is taken as written. cwd is what
// /proc/self/cwd means to the command.
func (r *Resolver) Real(p, cwd string, followLast bool) string {
	if p = r.Native(p); Drive(p) {
		return r.realOnDrive(p, followLast)
	}
	return r.public(r.unlinked(p, cwd, followLast))
}

func (r *Resolver) unlinked(p, cwd string, followLast bool) string {
	rest := strings.Split(p, "/")
	cur, links := "/", 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			cur = path.Dir(cur)
			continue
		}
		next := path.Join(cur, name)
		if to, ok := procLink(next, cwd); ok {
			cur = to
			continue
		}
		if !followLast && len(rest) == 0 {
			return next
		}
		if to, ok := r.link(next); ok && links < maxLinks {
			links++
			if strings.HasPrefix(to, "/") {
				cur = "/"
			}
			rest = append(strings.Split(to, "/"), rest...)
			continue
		}
		cur = next
	}
	return cur
}

func (r *Resolver) link(p string) (string, bool) {
	if r.World.Readlink == nil {
		return "", false
	}
	info := r.Lstat(p)
	if !isLink(info) || r.lookups >= maxLookups {
		return "", false
	}
	r.lookups++
	to, err := r.World.Readlink(p)
	return to, err == nil && to != ""
}

// procLink resolves the links under /proc that lead out of it: other spellings of the root
// and of the working directory.
func procLink(p, cwd string) (string, bool) {
	if !strings.HasPrefix(p, "/proc/") {
		return "", false
	}
	parts := strings.Split(p, "/") // "", proc, PID, name
	if len(parts) == 6 && parts[3] == "task" {
		parts = slices.Delete(parts, 3, 5)
	}
	if len(parts) != 4 {
		return "", false
	}
	switch parts[3] {
	case "root":
		return "/", true
	case "cwd":
		return cwd, strings.HasPrefix(cwd, "/")
	}
	return "", false
}

// resolvedPath is a path as written, and its real path.
type resolvedPath struct {
	written string // absolute, cleaned
	real    string
	base    bool // the base directory is known
}

// locate resolves text relative to dir.
func (r *Resolver) locate(text, dir string, follow bool) resolvedPath {
	far := r.onNetwork(text) != ""
	if text = Slashes(text); r.drives() && strings.HasPrefix(text, "//") {
		text = ownShare(text)
	}
	if r.drives() && !strings.HasPrefix(text, "/") {
		text = strings.ReplaceAll(r.onDrive(text, Slashes(dir)), `\`, "/")
	}
	if far {
		text = "/" + WindowsClean("C:" + text[1:])[2:]
	}
	if far || strings.HasPrefix(text, "//?/") || strings.HasPrefix(text, "//./") && r.drives() {
		return resolvedPath{text, text, true}
	}
	abs, ok := r.absolute(text, dir)
	if !ok {
		return resolvedPath{}
	}
	follow = follow || strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.")
	if Drive(abs) {
		return resolvedPath{r.respell(abs), r.respell(r.realOnDrive(abs, follow)), true}
	}
	return resolvedPath{r.respell(r.public(path.Clean(abs))), r.respell(r.spelling(r.Real(abs, dir, follow))), true}
}

// absolute applies the home directory and the working directory.
func (r *Resolver) absolute(text, dir string) (string, bool) {
	abs, ok := r.based(r.Native(text), r.Native(dir))
	if ok && Drive(abs) {
		abs = WindowsClean(abs)
	}
	return abs, ok
}

// Native converts a path to Windows notation if the session's folders have drives: the
// shells there write /c/Users for C:/Users, some with a prefix.
func (r *Resolver) Native(p string) string {
	if !r.drives() || !strings.HasPrefix(p, "/") {
		return p
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(p, "/cygdrive"), "/mnt")
	if len(rest) < 2 || rest[0] != '/' || len(rest) > 2 && rest[2] != '/' || !Drive(rest[1:2]+":") {
		return p
	}
	return rest[1:2] + ":/" + strings.TrimPrefix(rest[2:], "/")
}

// based returns a path relative to a folder.
func (r *Resolver) based(text, dir string) (string, bool) {
	switch {
	case Drive(text):
		return text, true
	case strings.HasPrefix(text, "/"):
		return text, true
	case text == "~" || strings.HasPrefix(text, "~/"):
		if r.World.Home == "" {
			return r.homes[0] + "/~" + text[1:], true // some home, whosever it is
		}
		return r.World.Home + text[1:], true
	case strings.HasPrefix(text, "~+"):
		return dir + text[2:], abstract.InDirectory(dir)
	case strings.HasPrefix(text, "~") && plainName(userOf(text)):
		return r.userHome(text), true
	}
	return dir + "/" + text, abstract.InDirectory(dir)
}

func userOf(text string) string {
	user, _, _ := strings.Cut(text[1:], "/")
	return user
}

func (r *Resolver) userHome(text string) string {
	user, rest, _ := strings.Cut(text[1:], "/")
	switch {
	case user == "root":
		return "/root/" + rest
	case r.World.Home != "" && path.Base(r.World.Home) == user:
		return r.World.Home + "/" + rest
	}
	return r.homes[0] + "/" + user + "/" + rest
}

// plainName reports whether ~name refers to a user rather than a file that starts with a
// tilde.
func plainName(s string) bool {
	if s == "" || !(s[0] >= 'a' && s[0] <= 'z') {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// spelling replaces the beginning of a path that is the workspace, the home directory or
// one of their parents under another spelling (a disk that ignores case, a bind mount)
// with the known spelling, as identified by device and inode.
func (r *Resolver) spelling(p string) string {
	if !r.Looking() {
		return p
	}
	for _, known := range []string{r.workspace, r.home} {
		if known == "" || Within(known, p) {
			continue
		}
		n := strings.Count(known, "/")
		head, tail := splitAt(p, n)
		if head != "" && strings.EqualFold(head, known) && r.same(head, known) {
			return known + tail
		}
	}
	return p
}

// splitAt cuts a path after n components.
func splitAt(p string, n int) (head, tail string) {
	at := 0
	for range n {
		i := strings.IndexByte(p[min(at+1, len(p)):], '/')
		if i < 0 {
			if strings.Count(p, "/") == n {
				return p, ""
			}
			return "", ""
		}
		at += 1 + i
	}
	return p[:at], p[at:]
}

// same reports whether two paths are one file.
func (r *Resolver) same(a, b string) bool {
	x, y := r.Lstat(a), r.Lstat(b)
	switch {
	case x == nil || y == nil:
		return false
	case r.World.Same != nil:
		return r.World.Same(x, y)
	}
	return os.SameFile(x, y)
}

// Within reports whether p is dir or under it.
func Within(dir, p string) bool {
	return dir != "" && (p == dir || dir == "/" || strings.HasPrefix(p, dir) && p[len(dir)] == '/')
}

// Drive reports whether a path begins with a drive letter.
func Drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

// short returns a path as people write it: relative to the workspace, else to the home
// directory. If the session's home directory is unknown, a path in a home directory shows
// it.
func (r *Resolver) short(p string) string {
	home := r.home
	if home == "" && r.World.Home == "" {
		home = HomeOf(p)
	}
	switch {
	case p == "":
		return ""
	case r.workspace != "" && p == r.workspace:
		return "."
	case r.workspace != "" && Within(r.workspace, p):
		return "." + p[len(r.workspace):]
	case home != "" && Within(home, p):
		return "~" + p[len(home):]
	}
	return p
}

// entry returns the kind of a directory entry.
func entry(info fs.FileInfo) string {
	switch {
	case info == nil:
		return ""
	case isLink(info):
		return "link"
	case info.IsDir():
		return "dir"
	case info.Mode().IsRegular():
		return "file"
	}
	return "other"
}

// noFollow are the verbs that act on a link itself.
func noFollow(raw abstract.RawEffect) bool {
	return raw.Kind == engine.EffectFileDelete && raw.Verb != "shred" || raw.Verb == "rename"
}
