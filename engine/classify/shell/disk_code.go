package shell

import (
	"bytes"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// Limits of the code that is read for one action. Code beyond them is opaque "budget".
const (
	maxFileCode  = MaxSource // bytes of one file
	MaxCodeFiles = 16        // files of one action
	maxFileDepth = 4         // a file that runs a file that runs a file …
	maxAgain     = 3         // how often a file that runs itself is interpreted: make runs make
)

// Disk finds the code in files that an action runs.
//
// Only code that has not been reviewed is examined: files that version control contains
// unchanged are a team's reviewed work, and examining them would repeat the same
// alarms with every run. Files that were added during the session have not been
// reviewed, even if they are staged or committed. Programs of the system and other
// people's packages are not examined, nor are files that are not text.
type Disk struct {
	res   *place.Resolver
	files map[string]codeFile // by real path
	read  int
	began int64 // when the session began, Unix milliseconds; 0: unknown
}

// codeFile describes one file.
type codeFile struct {
	path   string // real
	text   string
	found  bool   // text is code that has not been reviewed
	over   bool   // it exceeds the limits
	clean  bool   // it is identical to the version in version control
	Own    bool   // it is in the workspace or in a temporary directory: the work of the session
	unread string // why its code is not read, as in engine.Effect; empty: it is, or it is a program of the system
	output bool   // a tool generated it: it is in such a tool's folder, and git ignores it
}

// NewDisk returns a reader of code on the disk; nil if nothing is known about
// the disk.
func NewDisk(res *place.Resolver) *Disk {
	if res.World.ReadHead == nil || res.World.Lstat == nil {
		return nil
	}
	return &Disk{res: res, files: map[string]codeFile{}}
}

// Since reports when the session began.
func (d *Disk) Since(began int64) {
	if d != nil {
		d.began = began
	}
}

// file looks at a file, given by an absolute path; cwd is what /proc/self/cwd
// means.
func (d *Disk) file(name, cwd string) codeFile {
	real := d.res.Real(name, cwd, true)
	if !d.res.Here(real) {
		return codeFile{path: real}
	}
	if f, ok := d.files[real]; ok {
		return f
	}
	f := d.look(real)
	d.files[real] = f
	return f
}

func (d *Disk) look(real string) codeFile {
	f := codeFile{path: real}
	if !d.res.Looking() {
		f.over = true
		return f
	}
	location := d.res.Location(real)
	f.Own = location == engine.LocationInside || location == engine.LocationWorktree || location == engine.LocationTemp
	info := d.res.Lstat(real)
	switch {
	case info != nil && info.Mode()&fs.ModeNamedPipe != 0:
		f.unread = engine.UnreadPipe
		return f
	case info == nil || !info.Mode().IsRegular() || info.Size() == 0 || d.foreign(real):
		return f
	case d.res.OfOthers(real):
		f.unread = engine.UnreadPackage
		return f
	}
	state := d.state(real)
	if state == "clean" {
		added := d.added(real)
		if f.clean = d.began == 0 || added <= d.began; f.clean {
			if added == 0 {
				f.unread = engine.UnreadCommitted
			}
			return f
		}
	}
	f.output = state == "ignored" && d.res.Generated(d.res.Below(path.Dir(real)))
	return d.head(f)
}

// state asks version control.
func (d *Disk) state(real string) string {
	if d.res.Git == nil {
		return ""
	}
	return d.res.Git(real)
}

// added returns when a file was added to version control, in Unix milliseconds; 0: unknown. Adding and committing a file in
// this session is not a review.
func (d *Disk) added(real string) int64 {
	if d.res.World.Added == nil {
		return 0
	}
	return d.res.World.Added(real)
}

// foreign reports whether a file belongs to the system or to reviewer itself.
func (d *Disk) foreign(real string) bool {
	switch d.res.Location(real) {
	case engine.LocationSystem, engine.LocationDevice, engine.LocationNull:
		return true
	}
	return d.res.Class(real) == engine.ClassGuard
}

// head reads the file, unless it is not text.
func (d *Disk) head(f codeFile) codeFile {
	if d.read >= MaxCodeFiles {
		f.over = true
		return f
	}
	d.read++
	b, err := d.res.World.ReadHead(f.path, maxFileCode+1)
	switch {
	case err != nil:
		return f
	case bytes.IndexByte(b, 0) >= 0:
		f.unread = engine.UnreadBinary
		return f
	case len(b) > maxFileCode:
		f.over = true
		return f
	}
	f.found, f.text = true, strings.ToValidUTF8(string(b), abstract.HoleText)
	return f
}

// maxPrograms bounds the files of a directory among which a program is looked for.
const maxPrograms = 8192

// original returns the name of the program of the system, or of reviewer, that a file is a link to, or has the contents of;
// empty: it is neither, or that is unknown.
func (d *Disk) original(name, cwd string) string {
	if !d.res.Looking() || d.res.Location(name) == engine.LocationSystem {
		return ""
	}
	real := d.res.Real(name, cwd, true)
	if !d.res.Here(real) {
		return ""
	}
	if d.res.Location(real) == engine.LocationSystem {
		return path.Base(real)
	}
	if d.file(name, cwd).unread != engine.UnreadBinary {
		return ""
	}
	info, err := d.res.World.Lstat(real)
	if err != nil {
		return ""
	}
	copied := func(program string, other fs.FileInfo, err error) bool {
		return err == nil && other.Mode().IsRegular() && other.Size() == info.Size() && d.same(real, program)
	}
	for _, program := range d.res.World.Programs {
		if other, err := d.res.World.Lstat(program); copied(program, other, err) {
			return path.Base(program)
		}
	}
	for _, dir := range d.res.World.Path {
		if d.res.Location(dir) != engine.LocationSystem {
			continue
		}
		list, _ := d.res.World.ReadDir(dir, maxPrograms) // a directory that is missing contains no program
		for _, entry := range list {
			program := place.Join(dir, entry.Name())
			if other, err := entry.Info(); copied(program, other, err) {
				return entry.Name()
			}
		}
	}
	return ""
}

// same reports whether files of one size begin with the same bytes.
func (d *Disk) same(a, b string) bool {
	x, errA := d.res.World.ReadHead(a, maxFileCode)
	y, errB := d.res.World.ReadHead(b, maxFileCode)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// Texts are the contents that were read, for the masker.
func (d *Disk) Texts() []string {
	if d == nil {
		return nil
	}
	var list []string
	for _, f := range d.files {
		if f.found {
			list = append(list, f.text)
		}
	}
	return list
}

// Above finds the first of some names in a directory, else in its parents, as task
// runners do.
func (d *Disk) Above(dir string, names ...string) (string, bool) {
	for dir = d.res.Native(dir); d.res.Here(dir); dir = path.Dir(dir) {
		for _, n := range names {
			if info := d.res.Lstat(place.Join(dir, n)); info != nil && !info.Mode().IsDir() {
				return place.Join(dir, n), true
			}
		}
		if dir == "/" || !abstract.InDirectory(dir) {
			break
		}
	}
	return "", false
}
