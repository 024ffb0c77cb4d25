package place

import (
	"io/fs"
	"os"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// maxTwins limits how many protected files a file with several names is compared with.
const maxTwins = 512

// sameAs finds the protected file that a file without a class is another name of, and
// returns its class. Only files with more than one name are compared.
func (r *Resolver) sameAs(p string, info fs.FileInfo) engine.Class {
	if !info.Mode().IsRegular() || osfile.Links(info) == 1 || r.OfOthers(p) || Within("/usr", p) {
		return ""
	}
	if r.protected == nil {
		r.protected = r.protectedFiles()
	}
	for _, name := range r.protected {
		if other := r.Lstat(name); name != p && other != nil && os.SameFile(info, other) {
			return r.Class(name)
		}
	}
	return ""
}

// protectedFiles lists the existing files of the guard, and those in the home directory
// that contain secrets or run automatically.
func (r *Resolver) protectedFiles() []string {
	list := []string{}
	add := func(name string) {
		info := r.Lstat(name)
		if info == nil || len(list) >= maxTwins {
			return
		}
		if !info.IsDir() {
			list = append(list, name)
			return
		}
		if r.World.ReadDir == nil {
			return
		}
		entries, _ := r.World.ReadDir(name, maxTwins)
		for _, d := range entries {
			if !d.IsDir() && len(list) < maxTwins {
				list = append(list, Join(name, d.Name()))
			}
		}
	}
	for _, g := range r.guard {
		add(g)
	}
	if r.home != "" {
		add(Join(r.home, ".ssh"))
		for _, n := range r.tables.homes() {
			add(Join(r.home, n))
		}
	}
	add("/etc/shadow")
	return list
}
