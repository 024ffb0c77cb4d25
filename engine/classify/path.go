package classify

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Limits of what one action may cost in looks at the disk. What is over them
// stays lexical: facts are absent, never guessed.
const (
	maxLookups = 4096 // lstat and readlink calls
	maxLinks   = 40   // links followed for one path, as Linux does
	maxGit     = 64   // paths whose git state is asked
)

// resolver turns raw effects into effects, by real paths.
type resolver struct {
	world     World
	workspace string // real; empty: none, or the root, which would make everything inside
	home      string // real
	temps     []string
	homes     []string
	guard     []string
	infos     map[string]fs.FileInfo // nil: not there
	classes   map[string]engine.Class
	lookups   int
	git       func(string) string // nil: not known
	asked     int                 // paths whose git state was asked
	protected []string            // files that another name may stand for; nil: not listed yet
	far       *resolver           // for paths of other machines; nil: not made yet
}

func newResolver(w World, workspace string) *resolver {
	r := &resolver{world: w, infos: map[string]fs.FileInfo{}, classes: map[string]engine.Class{}}
	if w.Git != nil {
		r.git = w.Git()
	}
	if r.workspace = r.known(workspace); r.workspace == "/" {
		r.workspace = ""
	}
	r.home = r.known(w.Home)
	for _, t := range w.temps() {
		r.temps = appendNew(r.temps, path.Clean(t), r.known(t))
	}
	for _, h := range w.homes() {
		r.homes = appendNew(r.homes, path.Clean(h), r.known(h))
	}
	for _, g := range w.Guard {
		r.guard = appendNew(r.guard, path.Clean(g), r.known(g))
	}
	return r
}

// elsewhere resolves paths of other machines, by their names alone: nothing here
// says what is there, and no workspace is.
func (r *resolver) elsewhere() *resolver {
	if r.far == nil {
		r.far = &resolver{home: r.home, temps: r.temps, homes: r.homes, infos: map[string]fs.FileInfo{}, classes: map[string]engine.Class{}}
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

// known returns the real path of a configured absolute path, or nothing.
func (r *resolver) known(p string) string {
	p = slashes(p)
	if !strings.HasPrefix(p, "/") {
		if drive(p) {
			return windowsClean(p)
		}
		return ""
	}
	return r.real(p, "/", true)
}

func (r *resolver) lstat(p string) fs.FileInfo {
	if info, ok := r.infos[p]; ok {
		return info
	}
	if r.world.Lstat == nil || r.lookups >= maxLookups {
		return nil
	}
	r.lookups++
	info, err := r.world.Lstat(p)
	if err != nil {
		info = nil
	}
	r.infos[p] = info
	return info
}

// looking says whether facts about files can be had.
func (r *resolver) looking() bool { return r.world.Lstat != nil && r.lookups < maxLookups }

// real resolves links, . and .. from the root, as the kernel does; where a
// component does not exist the rest is taken as written. cwd is what
// /proc/self/cwd means to the command.
func (r *resolver) real(p, cwd string, followLast bool) string {
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
		if !followLast && lastName(rest) {
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

// lastName says that nothing follows; a slash at the end does follow, since
// it makes the kernel go through a link.
func lastName(rest []string) bool { return len(rest) == 0 }

func (r *resolver) link(p string) (string, bool) {
	if r.world.Readlink == nil {
		return "", false
	}
	info := r.lstat(p)
	if info == nil || info.Mode()&fs.ModeSymlink == 0 || r.lookups >= maxLookups {
		return "", false
	}
	r.lookups++
	to, err := r.world.Readlink(p)
	return to, err == nil && to != ""
}

// procLink knows the links below /proc that lead out of it: another spelling
// of the root and of the working directory.
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

// place is where a path lies, as written and really.
type place struct {
	written string // absolute, cleaned
	real    string
	base    bool // the base directory is known
}

// locate resolves text as seen from dir.
func (r *resolver) locate(text, dir string, follow bool) place {
	text = slashes(text)
	if drive(text) {
		p := windowsClean(text)
		return place{p, p, true}
	}
	abs, ok := r.absolute(text, dir)
	if !ok {
		return place{}
	}
	follow = follow || strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.")
	return place{path.Clean(abs), r.spelling(r.real(abs, dir, follow)), true}
}

// absolute applies the home directory and the working directory.
func (r *resolver) absolute(text, dir string) (string, bool) {
	switch {
	case strings.HasPrefix(text, "/"):
		return text, true
	case text == "~" || strings.HasPrefix(text, "~/"):
		if r.world.Home == "" {
			return r.homes[0] + "/~" + text[1:], true // some home, whosever it is
		}
		return r.world.Home + text[1:], true
	case strings.HasPrefix(text, "~+"):
		return dir + text[2:], strings.HasPrefix(dir, "/")
	case strings.HasPrefix(text, "~") && plainName(userOf(text)):
		return r.userHome(text), true
	}
	return dir + "/" + text, strings.HasPrefix(dir, "/")
}

func userOf(text string) string {
	user, _, _ := strings.Cut(text[1:], "/")
	return user
}

func (r *resolver) userHome(text string) string {
	user, rest, _ := strings.Cut(text[1:], "/")
	switch {
	case user == "root":
		return "/root/" + rest
	case r.world.Home != "" && path.Base(r.world.Home) == user:
		return r.world.Home + "/" + rest
	}
	return r.homes[0] + "/" + user + "/" + rest
}

// plainName says that ~name is a user and not a file that begins with a tilde.
func plainName(s string) bool {
	if s == "" || !(s[0] >= 'a' && s[0] <= 'z') {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// spelling replaces the beginning of a path that is the workspace, home or
// one that holds them under another spelling (a disk that ignores case, a bind
// mount), by the spelling that we know: told by device and inode.
func (r *resolver) spelling(p string) string {
	if !r.looking() {
		return p
	}
	for _, known := range []string{r.workspace, r.home} {
		if known == "" || within(known, p) {
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

// same says that two paths are one file.
func (r *resolver) same(a, b string) bool {
	x, y := r.lstat(a), r.lstat(b)
	switch {
	case x == nil || y == nil:
		return false
	case r.world.Same != nil:
		return r.world.Same(x, y)
	}
	return os.SameFile(x, y)
}

// within says that p is dir or below it.
func within(dir, p string) bool {
	return dir != "" && (p == dir || dir == "/" || strings.HasPrefix(p, dir) && p[len(dir)] == '/')
}

// slashes turns Windows separators around where the text is a Windows path.
func slashes(p string) string {
	if drive(p) || strings.HasPrefix(p, `\\`) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// drive says that a path begins with a drive letter.
func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

// windowsClean returns C:/x in one spelling.
func windowsClean(p string) string {
	rest := path.Clean("/" + strings.ReplaceAll(p[2:], `\`, "/"))
	return strings.ToUpper(p[:1]) + ":" + rest
}

// short writes a path as people do: from the workspace, else from home.
func (r *resolver) short(p string) string {
	switch {
	case p == "":
		return ""
	case r.workspace != "" && p == r.workspace:
		return "."
	case r.workspace != "" && within(r.workspace, p):
		return "." + p[len(r.workspace):]
	case r.home != "" && within(r.home, p):
		return "~" + p[len(r.home):]
	}
	return p
}

// entry names what kind of thing is there.
func entry(info fs.FileInfo) string {
	switch {
	case info == nil:
		return ""
	case info.Mode()&fs.ModeSymlink != 0:
		return "link"
	case info.IsDir():
		return "dir"
	case info.Mode().IsRegular():
		return "file"
	}
	return "other"
}

// noFollow are the verbs that act on a link itself.
func noFollow(raw rawEffect) bool {
	return raw.kind == engine.EffectFileDelete && raw.verb != "shred" || raw.verb == "rename"
}
