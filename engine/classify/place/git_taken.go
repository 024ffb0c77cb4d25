package place

import (
	"encoding/hex"
	"io/fs"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// Limits of what is read of the files that version control takes with one call. What exceeds them is not read.
const (
	maxTakenFiles = 1000
	maxTakenBytes = 512 << 10 // of one file
	maxTakenAll   = 4 << 20   // of all files
	maxTakenNames = 4000      // names that are looked at
)

// Content is the text of a file.
type Content struct {
	Path string // real
	Text string
}

// takings reads the files that version control takes.
type takings struct {
	res   *Resolver
	list  []Content
	seen  map[string]bool
	bytes int
	names int
}

// Taken returns the files that version control takes with a call and does not have yet, as far as they can be read.
func (r *Resolver) Taken(all []abstract.Taken) []Content {
	if r.World.ReadFile == nil || r.World.Lstat == nil || r.Git == nil {
		return nil
	}
	t := &takings{res: r, seen: map[string]bool{}}
	for _, one := range all {
		text := one.Path.Text
		switch one.Path.Sure {
		case abstract.Literal:
		case abstract.Glob:
			text, _ = Pathspec(text)
		default:
			continue
		}
		name := r.Real(text, "/", true)
		if one.Staged {
			t.staged(name)
		} else if info := r.Lstat(name); info != nil {
			t.at(name, info, one, true)
		}
	}
	return t.list
}

// at reads a file, or those in a folder.
func (t *takings) at(name string, info fs.FileInfo, one abstract.Taken, named bool) {
	if t.names++; t.names > maxTakenNames || len(t.list) >= maxTakenFiles {
		return
	}
	if info.IsDir() {
		if state := t.res.Git(name); state == "clean" || state == "ignored" && !one.Ignored && !named {
			return
		}
		list, err := t.res.World.ReadDir(name, maxTakenNames)
		if err != nil {
			return
		}
		for _, d := range list {
			if info, err := d.Info(); err == nil && d.Name() != ".git" {
				t.at(Join(name, d.Name()), info, one, false)
			}
		}
		return
	}
	switch state := t.res.Git(name); {
	case state == "dirty", state == "untracked" && one.New, state == "ignored" && one.Ignored:
		t.read(name, info)
	}
}

// read reads a text file once.
func (t *takings) read(name string, info fs.FileInfo) {
	if t.seen[name] || !info.Mode().IsRegular() || info.Size() > maxTakenBytes || t.bytes+int(info.Size()) > maxTakenAll {
		return
	}
	t.seen[name] = true
	if b, err := t.res.World.ReadFile(name, maxTakenBytes); err == nil {
		t.keep(name, b)
	}
}

func (t *takings) keep(name string, b []byte) {
	t.bytes += len(b)
	if text := string(b); !strings.Contains(text[:min(len(text), 8000)], "\x00") {
		t.list = append(t.list, Content{name, text})
	}
}

// staged reads the files of the index that were added since the last commit. Which these are, the times of the files in the index
// tell; those of the objects would have to be looked up one by one.
func (t *takings) staged(dir string) {
	if t.res.World.Added == nil { // the disk is not this machine's
		return
	}
	v := &gitView{world: t.res.World, repos: map[string]*repository{}}
	r := v.repository(dir)
	if r == nil || r.broken {
		return
	}
	since := int64(0)
	if info, err := v.world.Lstat(Join(r.dir, "logs/HEAD")); err == nil {
		since = info.ModTime().Unix()
	}
	for _, e := range r.entries {
		if int64(e.sec) < since || len(t.list) >= maxTakenFiles || e.size > maxTakenBytes || t.bytes > maxTakenAll {
			continue
		}
		name := Join(r.root, e.path)
		hash := hex.EncodeToString(e.hash[:])
		text := v.object(r, hash)
		if text == nil || len(text) >= maxObject {
			if info := t.res.Lstat(name); info != nil {
				t.read(name, info)
			}
			continue
		}
		t.keep(name, text) // the file may have changed since
	}
}
