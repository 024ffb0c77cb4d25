package place

import (
	"io/fs"

	"github.com/agent-reviewer/reviewer/engine"
)

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
