package classify

import (
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// emit adds an effect on each of the targets, seen from each directory in which
// the shell may be.
func (s *shell) emit(e rawEffect, targets ...arg) {
	for _, t := range targets {
		s.emitOne(e, t)
	}
}

func (s *shell) emitOne(e rawEffect, t arg) {
	e.privileged = e.privileged || s.frame.privileged
	e.host = s.frame.host
	if s.frame.isolated && walled(e.kind) {
		for _, m := range s.throughMounts(e, t) {
			e.host = m.on
			s.emitAt(e, m.host)
		}
		return
	}
	s.emitAt(e, t)
}

// emitAt adds an effect on a target as it is named where it lies.
func (s *shell) emitAt(e rawEffect, t arg) {
	e.target = t.value()
	e.contents = e.contents || t.glob && everything(t.text)
	e.recursive = e.recursive || t.glob && strings.HasSuffix(t.text, "/**")
	e.dir = s.scope.dirs[0]
	s.add(e)
	if relative(e) {
		for _, dir := range s.scope.dirs[1:] {
			e.dir = dir
			s.add(e)
		}
	}
	if bare, ok := t.emptied(); ok && e.recursive && e.kind == engine.EffectFileDelete && rootPattern(bare) {
		e.target, e.contents = value{glob, "/*"}, true
		s.add(e)
	}
	s.throughLinks(e, t)
}

func relative(e rawEffect) bool {
	return e.kind != engine.EffectNetwork && e.kind != engine.EffectProcess && !strings.HasPrefix(e.target.text, "/")
}

// everything tells whether a pattern takes all that is in its directory.
func everything(p string) bool {
	last := p[strings.LastIndexByte(p, '/')+1:]
	return last == "*" || last == ".*" || last == "**" || last == ".[!.]*" || last == ".[^.]*"
}

// rootPattern tells whether a path without its variables means the root or all
// that is in it.
func rootPattern(bare string) bool {
	return strings.HasPrefix(bare, "/") && strings.Trim(path.Clean(bare), "/*.") == ""
}

func (s *shell) add(e rawEffect) {
	if s.effects[e] {
		return
	}
	if len(s.out.effects) >= maxEffects {
		s.overBudget("effects")
		return
	}
	s.effects[e] = true
	s.out.effects = append(s.out.effects, e)
	if s.frame.muted && changes(e) {
		s.signal(engine.SignalMuted)
	}
}

func changes(e rawEffect) bool {
	return e.kind == engine.EffectFileDelete || e.kind == engine.EffectSystemCall || e.kind == engine.EffectFileWrite || e.egress
}

// throughLinks adds what an effect does to the target of a link that the script
// itself has made.
func (s *shell) throughLinks(e rawEffect, t arg) {
	if len(s.links) == 0 {
		return
	}
	for _, dir := range s.scope.dirs {
		v := joinDir(dir, t)
		if v.sure == unknown {
			continue
		}
		for at := v.text; at != "/" && at != "." && at != ""; at = path.Dir(at) {
			dest, ok := s.links[at]
			if !ok || at == v.text && e.kind == engine.EffectFileDelete && !strings.HasSuffix(t.text, "/") {
				continue
			}
			e.target = value{dest.sure, strings.TrimSuffix(dest.text, "/") + v.text[len(at):]}
			if v.sure != literal {
				e.target.sure = v.sure
			}
			s.add(e)
		}
	}
}

// note is emit for effects that belong to the statement rather than to one of
// its commands.
func (s *shell) note(kind engine.EffectKind, verb string, targets ...arg) {
	s.emit(rawEffect{kind: kind, verb: verb, command: s.first}, targets...)
}

// emit adds effects of this command.
func (c *call) emit(e rawEffect, targets ...arg) {
	e.command = c.index
	c.s.emit(e, targets...)
}

func (c *call) reads(targets ...arg) {
	for _, t := range targets {
		if t.hasPrefix("/proc/") && strings.HasSuffix(t.text, "/environ") {
			c.signal(engine.SignalEnvDump)
		}
		if t.from == nil && !t.is("-") && !harmlessDevice(t) && t.text != "" {
			c.emit(rawEffect{kind: engine.EffectFileRead, verb: "read"}, t)
		}
	}
}

// readsTree is a copy of all that is below the targets.
func (c *call) readsTree(targets ...arg) {
	for _, t := range targets {
		if t.from == nil && !t.is("-") && !harmlessDevice(t) && t.text != "" {
			c.emit(rawEffect{kind: engine.EffectFileRead, verb: "read", recursive: true}, t)
		}
	}
}

func (c *call) writes(verb string, targets ...arg) {
	c.writesAs(rawEffect{verb: verb}, targets...)
}

func (c *call) writesAs(e rawEffect, targets ...arg) {
	e.kind = engine.EffectFileWrite
	for _, t := range targets {
		if !harmlessDevice(t) && t.text != "" && !t.is("-") {
			c.s.diskWrite(t)
			c.emit(e, t)
		}
	}
}

func (c *call) system(verb string, targets ...arg) {
	if len(targets) == 0 {
		targets = []arg{{}}
	}
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: verb}, targets...)
}

func (c *call) signal(ids ...engine.Signal) {
	for _, id := range ids {
		c.s.signal(id)
	}
}

// sends is data that leaves for a host.
func (c *call) sends(verb string, to arg) { c.sendsObject(verb, "", to) }

// sendsObject sends something of a known kind.
func (c *call) sendsObject(verb, object string, to arg) {
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: verb, object: object, egress: true}, to)
	if c.s.frame.piped && c.s.frame.stdin != nil {
		c.signal(engine.SignalPipeExternal)
	}
}

func (c *call) fetches(from arg) {
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "fetch"}, from)
	c.out.taint |= fetched
}
