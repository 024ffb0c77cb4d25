package classify

import "strings"

// windowsShell runs cmd or PowerShell where another shell has started it.
func windowsShell(c *call) {
	s := c.s
	if c.index < 0 {
		return // over budget
	}
	w := newWindows(s.in)
	w.dirs = s.scope.dirs
	for name, text := range s.files {
		w.files[strings.ToLower(name)] = text
	}
	w.steps, w.bytes, w.parsed = s.steps, s.bytes, s.parsed
	w.frame = winFrame{host: s.frame.host, wrappers: s.frame.wrappers, via: s.frame.via, privileged: s.frame.privileged, muted: s.frame.muted, stdin: s.frame.stdin, depth: s.frame.depth + 1}
	inner := w.call(word(c.name), c.args)
	inner.index = 0 // the command that has started it is recorded already
	w.out.commands = append(w.out.commands, s.out.commands[c.index])
	winRunner(inner.name)(inner)
	s.steps, s.bytes, s.parsed = w.steps, w.bytes, w.parsed
	c.out = inner.out
	c.adopt(w.out)
}

// adopt joins what code of another interpreter would do to what this command
// does; its first command is this one.
func (c *call) adopt(sub script) {
	s := c.s
	base := len(s.out.commands) - 1
	if base+len(sub.commands) > maxCommands {
		s.overBudget(c.name)
		return
	}
	for _, cmd := range sub.commands[1:] {
		s.out.commands = append(s.out.commands, cmd)
		s.out.origins = append(s.out.origins, origin{})
	}
	for _, e := range sub.effects {
		if e.command > 0 {
			e.command += base
		} else {
			e.command = c.index
		}
		if !s.frame.isolated || !walled(e.kind) {
			s.add(e)
			continue
		}
		for _, m := range s.throughMounts(e, e.target.arg()) {
			e.host, e.target = m.on, m.host.value()
			s.add(e)
		}
	}
	for id, on := range sub.signals {
		if on {
			s.signal(id)
		}
	}
	s.out.waits = s.out.waits || sub.waits
	for _, o := range sub.opaque {
		s.opaque(o.Reason, o.Where)
	}
}
