package shell

import (
	"bytes"
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
	found  bool // text is code that has not been reviewed
	over   bool // it exceeds the limits
	clean  bool // it is identical to the version in version control
	Own    bool // it is in the workspace or in a temporary directory: the work of the session
	output bool // a tool generated it: it is in such a tool's folder, and git ignores it
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
	info := d.res.Lstat(real)
	if info == nil || !info.Mode().IsRegular() || info.Size() == 0 || d.foreign(real) {
		return f
	}
	location := d.res.Location(real)
	f.Own = location == engine.LocationInside || location == engine.LocationWorktree || location == engine.LocationTemp
	state := d.state(real)
	if f.clean = state == "clean" && !d.lately(real); f.clean {
		return f
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

// lately reports whether a file was added to version control after the session began:
// adding and committing a file is not a review.
func (d *Disk) lately(real string) bool {
	return d.began > 0 && d.res.World.Added != nil && d.res.World.Added(real) > d.began
}

// foreign reports whether a file belongs to the system or to other people's
// packages.
func (d *Disk) foreign(real string) bool {
	switch d.res.Location(real) {
	case engine.LocationSystem, engine.LocationDevice, engine.LocationNull:
		return true
	}
	return d.res.OfOthers(real) || d.res.Class(real) == engine.ClassGuard
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
	case err != nil || bytes.IndexByte(b, 0) >= 0:
		return f
	case len(b) > maxFileCode:
		f.over = true
		return f
	}
	f.found, f.text = true, strings.ToValidUTF8(string(b), abstract.HoleText)
	return f
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
