package classify

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// venue is where code runs that does not run here, or not on this file system.
type venue struct {
	wrapper  string  // the program that leads there
	host     string  // its name behind its kind: ssh:build-3, container:web; empty: this machine
	dir      value   // the directory in which it begins
	mounts   []mount // what of the machine it sees
	isolated bool    // its own files are thrown away, or are not files at all
	reaches  bool    // it has the powers of the machine that it is on
}

// mount is a directory of a machine as another file system sees it.
type mount struct {
	host     arg    // the directory
	on       string // where that is; empty: on this machine
	inside   string // what it is called inside; "/": the whole file system
	readonly bool
}

// at runs f in another place, where nothing is known of variables, functions
// and files.
func (c *call) at(p venue, f func()) {
	s, in := c.s, c.s.in
	defer func() { s.in = in }()
	c.child(func() outcome {
		s.frame.wrappers = appendText(s.frame.wrappers, p.wrapper)
		if p.host != s.frame.host {
			s.frame.muted, s.frame.privileged = false, false
		}
		s.frame.host, s.frame.mounts, s.frame.isolated, s.frame.reaches = p.host, p.mounts, p.isolated, p.reaches
		if p.dir == (value{}) {
			p.dir.sure = unknown
		}
		s.scope = &scope{vars: map[string]variable{}, dirs: []value{p.dir}}
		if s.in.env = nil; !s.here() {
			s.in.listDir = nil
		}
		f()
		return outcome{}
	})
}

// here tells whether the files of this machine are those that the code sees.
func (s *shell) here() bool { return s.frame.host == "" && !s.frame.isolated }

// hostName names a place behind the one in which the shell is.
func (s *shell) hostName(kind string, name arg) string {
	text := kind + ":" + name.show()
	if s.frame.host != "" {
		return s.frame.host + "/" + text
	}
	return text
}

// walled tells whether effects of a kind end at the walls of a container.
func walled(k engine.EffectKind) bool {
	return k != engine.EffectNetwork && k != engine.EffectProcess && k != engine.EffectResource
}

// contains tells whether what a signal says stays in the container in which the
// code runs.
func (f frame) contains(id engine.Signal) bool {
	if !f.isolated || f.reaches {
		return false
	}
	switch id {
	case engine.SignalPower, engine.SignalDiskWrite, engine.SignalKillAll, engine.SignalPersistence, engine.SignalPrivilege, engine.SignalDeferred:
		return true
	}
	return false
}

// throughMounts lists what an effect in a container does to what it sees of
// the machine. The host of each is a path there.
func (s *shell) throughMounts(e rawEffect, t arg) []mount {
	f := s.frame
	if e.kind == engine.EffectSystemCall && !t.hasPrefix("/") {
		if f.reaches {
			return []mount{{host: t, on: f.host}}
		}
		return nil
	}
	var hit []mount
	for _, at := range s.inside(t) {
		hit = append(hit, f.onHost(at, e.recursive)...)
	}
	if e.kind != engine.EffectFileRead && !f.reaches {
		hit = slices.DeleteFunc(hit, func(m mount) bool { return m.readonly })
	}
	return hit
}

// inside lists what a path in a container may be. An image begins in a
// directory of its own choice; where it sees some of the machine, there.
func (s *shell) inside(t arg) []arg {
	at := joinDir(s.scope.dirs[0], t)
	if at.sure != unknown {
		whole := at.arg()
		whole.glob, whole.taint = t.glob, t.taint
		return []arg{whole}
	}
	var out []arg
	for _, m := range s.frame.mounts {
		out = append(out, t.with(strings.TrimSuffix(m.inside, "/")+"/"+t.text))
	}
	return out
}

// onHost maps a path in a container to what it is outside: below the innermost
// of the mounts, or, for a tree, all mounts in it.
func (f frame) onHost(t arg, tree bool) []mount {
	best, below := -1, []mount(nil)
	for i, m := range f.mounts {
		if underMount(t.text, m.inside) && (best < 0 || len(m.inside) > len(f.mounts[best].inside)) {
			best = i
		}
		if tree && m.inside != "/" && covers(t, m.inside) {
			below = append(below, m)
		}
	}
	if best < 0 {
		return below
	}
	m := f.mounts[best]
	rest := strings.TrimPrefix(t.text, strings.TrimSuffix(m.inside, "/"))
	m.host = joinText(m.host, rest, t)
	return append(below, m)
}

func underMount(p, inside string) bool {
	return inside == "/" && strings.HasPrefix(p, "/") || p == inside || strings.HasPrefix(p, inside+"/")
}

// covers tells whether a tree holds a mount: what is deleted there goes with it.
func covers(t arg, inside string) bool {
	for dir := path.Dir(inside); ; dir = path.Dir(dir) {
		if t.glob && wildcard.Text(t.text, dir) || !t.glob && strings.TrimSuffix(t.text, "/") == strings.TrimSuffix(dir, "/") {
			return true
		}
		if dir == "/" || dir == "." {
			return t.glob && wildcard.Text(t.text, inside)
		}
	}
}

// joinText puts the rest of a path behind a directory.
func joinText(dir arg, rest string, like arg) arg {
	if rest == "" {
		return dir
	}
	out := dir.with(strings.TrimSuffix(dir.text, "/") + rest)
	out.glob, out.taint = like.glob || dir.glob, dir.taint|like.taint
	return out
}

// changedRoot is chroot and its like: every path is one below another root, but
// for what such roots share with the machine.
func (c *call) changedRoot(root arg) venue {
	s := c.s
	root = joinDir(s.scope.dirs[0], root).arg()
	p := venue{wrapper: c.name, host: s.frame.host, dir: value{literal, "/"}, isolated: true, reaches: true}
	bases := []mount{{host: root, on: s.frame.host}}
	if s.frame.isolated {
		bases = s.frame.onHost(root, false)
		p.reaches = s.frame.reaches
	}
	for _, b := range bases {
		b.inside = "/"
		p.mounts = append(p.mounts, b)
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if p.reaches {
			p.mounts = append(p.mounts, mount{host: word(dir), on: s.frame.host, inside: dir})
		}
	}
	return p
}
