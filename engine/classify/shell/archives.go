package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// maxOverwritten bounds the files that are noted for one archive.
const maxOverwritten = 64

// Unpacking is a call that unpacks an archive.
type Unpacking struct {
	File, Dir abstract.Arg   // the archive, and the folder it is unpacked in
	Members   []abstract.Arg // members that are extracted; empty: all
	Strip     int            // number of leading path components that are dropped
	Keeps     bool           // existing files are not changed
	Forced    bool           // an option makes it overwrite existing files
	Silent    bool           // existing files are overwritten even without an option
	Absolute  bool           // names that begin with a slash or lead out of the folder are used as they are
}

// Unpacks records the files that an archive overwrites, and those that have an effect because of their names.
// If its contents are unknown, any file of the folder may be one of them, and with absolute names
// any file at all.
func (c *Call) Unpacks(u Unpacking) {
	names, known := c.Shell.members(u)
	if !c.Shell.InVersionControl(u.File) {
		c.Shell.Arrives(u.Dir)
	}
	if !known && u.Silent && !u.Keeps && len(u.Members) == 0 && c.Shell.isFile(u.File) {
		u.Forced = true
	}
	if !known && u.Absolute {
		c.WritesAs(abstract.RawEffect{Verb: "write", Recursive: true}, abstract.Word("/"+abstract.HoleText))
	}
	if !known || len(u.Members) > 0 {
		c.WritesAs(abstract.RawEffect{Verb: "write"}, belowFolder(u.Dir, u.Members)...)
	}
	if known {
		c.WritesAs(abstract.RawEffect{Verb: "write"}, names...)
	}
	if known || len(u.Members) == 0 {
		open := u.Dir.With(strings.TrimSuffix(u.Dir.Text, "/") + "/" + abstract.HoleText)
		c.WritesAs(abstract.RawEffect{Verb: "write", Recursive: true, Forced: u.Forced && !known && c.Shell.mayExist(u.Dir)}, open)
	}
}

// belowFolder returns the members as paths, if their names are known.
func belowFolder(dir abstract.Arg, members []abstract.Arg) (list []abstract.Arg) {
	for _, m := range members {
		if m.Known() && !strings.ContainsAny(m.Text, "*?[") {
			list = append(list, m.With(place.Join(dir.Text, strings.TrimPrefix(m.Text, "/"))))
		}
	}
	return list
}

// members returns the paths of members that exist already, or that have an effect
// because of their place.
func (s *Machine) members(u Unpacking) (list []abstract.Arg, known bool) {
	d := s.In.Disk
	if d == nil || !s.here() || len(s.Scope.Dirs) != 1 || !u.File.Known() || !u.Dir.Known() || u.File.From != nil {
		return nil, false
	}
	file, dir := abstract.JoinDir(s.Scope.Dirs[0], u.File), abstract.JoinDir(s.Scope.Dirs[0], u.Dir)
	if file.Sure != abstract.Literal || dir.Sure != abstract.Literal || !abstract.InDirectory(file.Text) {
		return nil, false
	}
	names, known := d.res.Archive(d.res.Real(file.Text, s.Scope.Dirs[0].Text, true))
	for _, name := range names {
		if len(list) == maxOverwritten {
			break
		}
		if !u.takes(name) {
			continue
		}
		p, ok := u.lands(dir.Text, name)
		if !ok {
			continue
		}
		if info := d.res.Lstat(p); info != nil && !info.IsDir() && !u.Keeps || info == nil && decides(d.res.Class(p)) {
			list = append(list, abstract.Word(p))
		}
	}
	return list, known
}

// lands returns the path of a member that is a file. Unless the call asks for names as
// they are, it is under the folder, whatever its name in the archive.
func (u Unpacking) lands(dir, name string) (string, bool) {
	absolute := u.Absolute && strings.HasPrefix(name, "/")
	if !u.Absolute {
		name = path.Clean("/"+name) + name[len(strings.TrimRight(name, "/")):]
	}
	parts := strings.Split(strings.TrimLeft(name, "/"), "/")
	if strings.HasSuffix(name, "/") || len(parts) <= u.Strip {
		return "", false
	}
	if absolute && u.Strip == 0 {
		return path.Clean(name), true
	}
	return path.Join(dir, strings.Join(parts[u.Strip:], "/")), true
}

// isFile reports whether an archive exists as a file, readable or not.
func (s *Machine) isFile(file abstract.Arg) bool {
	if s.In.Disk == nil || !s.here() || len(s.Scope.Dirs) != 1 || !file.Known() || file.From != nil || file.Text == "" {
		return false
	}
	v := abstract.JoinDir(s.Scope.Dirs[0], file)
	if v.Sure != abstract.Literal || !s.In.Disk.res.Looking() {
		return false
	}
	info := s.In.Disk.res.Lstat(path.Clean(v.Text))
	return info != nil && info.Mode().IsRegular()
}

// takes reports whether a call extracts a member.
func (u Unpacking) takes(name string) bool {
	return len(u.Members) == 0 || slices.ContainsFunc(u.Members, func(m abstract.Arg) bool {
		ok, err := path.Match(m.Text, name)
		return !m.Known() || err != nil || ok || place.Within("/"+strings.Trim(m.Text, "/"), path.Clean("/"+name))
	})
}

// decides reports whether files of a class have an effect by existing: settings,
// hooks, workflows and start-up files.
func decides(c engine.Class) bool {
	switch c {
	case "", engine.ClassGenerated, engine.ClassTest, engine.ClassBackup, engine.ClassDatabase:
		return false
	}
	return true
}

// mayExist reports whether a folder may already contain something that is not in
// any commit.
func (s *Machine) mayExist(dir abstract.Arg) bool {
	if s.In.Disk == nil || !s.here() || len(s.Scope.Dirs) != 1 {
		return true
	}
	v, res := abstract.JoinDir(s.Scope.Dirs[0], dir), s.In.Disk.res
	if v.Sure != abstract.Literal || !res.Looking() {
		return true
	}
	at := path.Clean(v.Text)
	return res.Lstat(at) != nil && !res.EmptyTree(at) && s.In.Disk.state(at) != "clean"
}
