package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// Venue is another machine or file system on which code runs.
type Venue struct {
	Wrapper  string         // the program that leads there
	Host     string         // its name after its kind: ssh:build-3, container:web; empty: this machine
	Dir      abstract.Value // the directory in which it begins
	Mounts   []Mount        // the parts of the machine that it can access
	Isolated bool           // its own files are discarded, or it has none
	Reaches  bool           // it has the privileges of its host
}

// Mount is a directory of a machine that is visible in another file system.
type Mount struct {
	Host     abstract.Arg // the directory
	On       string       // where that is; empty: on this machine
	Inside   string       // what it is called inside; "/": the whole file system
	Readonly bool
}

// At runs f in another place, where variables, functions and files are unknown.
func (c *Call) At(p Venue, f func()) {
	s, in := c.Shell, c.Shell.In
	defer func() { s.In = in }()
	c.Child(func() Outcome {
		s.Frame.Wrappers = AppendText(s.Frame.Wrappers, p.Wrapper)
		if p.Host != s.Frame.Host {
			s.Frame.Muted, s.Frame.Privileged = false, false
		}
		s.Frame.Host, s.Frame.mounts, s.Frame.Isolated, s.Frame.reaches = p.Host, p.Mounts, p.Isolated, p.Reaches
		if p.Dir == (abstract.Value{}) {
			p.Dir.Sure = abstract.Unknown
		}
		s.Scope = &scope{vars: map[string]variable{}, Dirs: []abstract.Value{p.Dir}}
		if s.In.Env = nil; !s.here() {
			s.In.ListDir = nil
		}
		f()
		return Outcome{}
	})
}

// here reports whether the files of this machine are those that the code sees.
func (s *Machine) here() bool { return s.Frame.Host == "" && !s.Frame.Isolated }

// HostName names a place, as reached from the one in which the shell is.
func (s *Machine) HostName(kind string, name abstract.Arg) string {
	text := kind + ":" + name.Show()
	if s.Frame.Host != "" {
		return s.Frame.Host + "/" + text
	}
	return text
}

// Walled reports whether effects of a kind are confined to a container.
func Walled(k engine.EffectKind) bool {
	return k != engine.EffectNetwork && k != engine.EffectProcess && k != engine.EffectResource
}

// contains reports whether a signal concerns only the container in which the code
// runs.
func (f Frame) contains(id engine.Signal) bool {
	if !f.Isolated || f.reaches {
		return false
	}
	switch id {
	case engine.SignalPower, engine.SignalDiskWrite, engine.SignalPersistence, engine.SignalPrivilege, engine.SignalDeferred:
		return true
	}
	return false
}

// ThroughMounts returns the effects on the machine that an effect in a container has
// through mounts. Each has a path of the machine.
func (s *Machine) ThroughMounts(e abstract.RawEffect, t abstract.Arg) []Mount {
	f := s.Frame
	if e.Kind == engine.EffectSystemCall && !t.HasPrefix("/") {
		if f.reaches {
			return []Mount{{Host: t, On: f.Host}}
		}
		return nil
	}
	var hit []Mount
	for _, at := range s.inside(t) {
		hit = append(hit, f.onHost(at, e.Recursive)...)
	}
	if e.Kind != engine.EffectFileRead && !f.reaches {
		hit = slices.DeleteFunc(hit, func(m Mount) bool { return m.Readonly })
	}
	return hit
}

// inside returns the paths that a path in a container may be. The image determines the
// working directory; if directories of the machine are mounted, it is one of them.
func (s *Machine) inside(t abstract.Arg) []abstract.Arg {
	at := abstract.JoinDir(s.Scope.Dirs[0], t)
	if at.Sure != abstract.Unknown {
		whole := at.Arg()
		whole.Glob, whole.Taint = t.Glob, t.Taint
		return []abstract.Arg{whole}
	}
	var out []abstract.Arg
	for _, m := range s.Frame.mounts {
		out = append(out, t.With(strings.TrimSuffix(m.Inside, "/")+"/"+t.Text))
	}
	return out
}

// onHost maps a path in a container to the path outside: below the innermost of the
// mounts, or, for a tree, all mounts in it.
func (f Frame) onHost(t abstract.Arg, tree bool) []Mount {
	best, below := -1, []Mount(nil)
	for i, m := range f.mounts {
		if underMount(t.Text, m.Inside) && (best < 0 || len(m.Inside) > len(f.mounts[best].Inside)) {
			best = i
		}
		if tree && m.Inside != "/" && covers(t, m.Inside) {
			below = append(below, m)
		}
	}
	if best < 0 {
		return below
	}
	m := f.mounts[best]
	rest := strings.TrimPrefix(t.Text, strings.TrimSuffix(m.Inside, "/"))
	m.Host = joinText(m.Host, rest, t)
	return append(below, m)
}

func underMount(p, inside string) bool {
	return inside == "/" && strings.HasPrefix(p, "/") || p == inside || strings.HasPrefix(p, inside+"/")
}

// covers reports whether a tree contains a mount, which is deleted with it.
func covers(t abstract.Arg, inside string) bool {
	for dir := path.Dir(inside); ; dir = path.Dir(dir) {
		if t.Glob && wildcard.Text(t.Text, dir) || !t.Glob && strings.TrimSuffix(t.Text, "/") == strings.TrimSuffix(dir, "/") {
			return true
		}
		if dir == "/" || dir == "." {
			return t.Glob && wildcard.Text(t.Text, inside)
		}
	}
}

// joinText appends the rest of a path to a directory.
func joinText(dir abstract.Arg, rest string, like abstract.Arg) abstract.Arg {
	if rest == "" {
		return dir
	}
	out := dir.With(strings.TrimSuffix(dir.Text, "/") + rest)
	out.Glob, out.Taint = like.Glob || dir.Glob, dir.Taint|like.Taint
	return out
}

// ChangedRoot is chroot and its like: every path is under another root, except those
// that such roots share with the machine.
func (c *Call) ChangedRoot(root abstract.Arg) Venue {
	s := c.Shell
	root = abstract.JoinDir(s.Scope.Dirs[0], root).Arg()
	p := Venue{Wrapper: c.Name, Host: s.Frame.Host, Dir: abstract.Value{Sure: abstract.Literal, Text: "/"}, Isolated: true, Reaches: true}
	bases := []Mount{{Host: root, On: s.Frame.Host}}
	if s.Frame.Isolated {
		bases = s.Frame.onHost(root, false)
		p.Reaches = s.Frame.reaches
	}
	for _, b := range bases {
		b.Inside = "/"
		p.Mounts = append(p.Mounts, b)
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if p.Reaches {
			p.Mounts = append(p.Mounts, Mount{Host: abstract.Word(dir), On: s.Frame.Host, Inside: dir})
		}
	}
	return p
}
