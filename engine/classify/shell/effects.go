package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"mvdan.cc/sh/v3/syntax"
)

// Listens records a server on this machine. Other machines can reach it unless it is
// bound to loopback.
func (c *Call) Listens(bind abstract.Arg, args []abstract.Arg) {
	for i, a := range args {
		if a.Is("--bind", "-b", "--host", "-H") && i+1 < len(args) {
			bind = args[i+1]
		}
	}
	if !bind.Is("127.0.0.1", "localhost", "::1") {
		c.Signal(engine.SignalListen)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "listen"}, bind)
}

// Deletes records that files are deleted.
func (c *Call) Deletes(recursive, forced bool, targets ...abstract.Arg) {
	c.Removes(abstract.RawEffect{Verb: "delete", Recursive: recursive, Forced: forced}, targets...)
}

// Removes records deletions; e describes them.
func (c *Call) Removes(e abstract.RawEffect, targets ...abstract.Arg) {
	e.Kind = engine.EffectFileDelete
	for _, t := range targets {
		if t.Text != "" && !t.Is("/dev/null") {
			c.Emit(e, t)
		}
	}
}

// StaysNear reports whether a move keeps a file in its directory or nearby.
func (s *Machine) StaysNear(src, dest abstract.Arg) bool {
	if !src.Known() || !dest.Known() || dest.Text == "" || dest.HasPrefix("/dev/") {
		return false
	}
	dir := s.Scope.Dirs[0]
	if len(s.Scope.Dirs) > 1 && (!src.HasPrefix("/") || !dest.HasPrefix("/")) {
		return false
	}
	a, b := abstract.JoinDir(dir, src), abstract.JoinDir(dir, dest)
	if dir.Sure == abstract.Unknown && !strings.HasPrefix(src.Text, "/") && !strings.HasPrefix(dest.Text, "/") {
		return !strings.Contains(src.Text+dest.Text, "..")
	}
	return path.Dir(a.Text) == path.Dir(b.Text) && !src.Glob || below(a.Text, dir.Text) && below(b.Text, dir.Text)
}

func below(p, dir string) bool { return dir != "" && dir != "/" && strings.HasPrefix(p, dir+"/") }

// Unbounded records a command that does not end on its own, unless a time limit ends it.
func (c *Call) Unbounded(verb string, target abstract.Arg) {
	if !c.Shell.bounded() {
		c.Signal(engine.SignalUnbounded)
		c.Emit(abstract.RawEffect{Kind: engine.EffectResource, Verb: verb}, target)
	}
}

// bounded reports whether a time limit ends what runs now. Code that
// catches the signal may continue.
func (s *Machine) bounded() bool { return s.Frame.Bounded && !s.traps }

// InDirectory runs f as if the command had changed into the last of dirs.
func (c *Call) InDirectory(dirs []abstract.Arg, f func()) {
	if len(dirs) == 0 {
		f()
		return
	}
	c.Shell.Subshell(func() Outcome {
		var to []abstract.Value
		for _, d := range c.Shell.Scope.Dirs {
			for _, a := range dirs {
				d = abstract.JoinDir(d, a)
			}
			to = append(to, d)
		}
		c.Shell.Scope.Enter(to)
		f()
		return Outcome{}
	})
}

// Place returns the name of the place in which the shell runs.
func (s *Machine) Place() string {
	list := []string{s.Frame.Host}
	for _, dir := range s.Scope.Dirs {
		list = append(list, dir.Text)
	}
	return strings.Join(list, "\n")
}

// emit adds an effect on each of the targets, seen from each directory in which
// the shell may be.
func (s *Machine) emit(e abstract.RawEffect, targets ...abstract.Arg) {
	for _, t := range targets {
		s.emitOne(e, t)
	}
}

func (s *Machine) emitOne(e abstract.RawEffect, t abstract.Arg) {
	e.Privileged = e.Privileged || s.Frame.Privileged
	e.Host = s.Frame.Host
	if s.Frame.Isolated && Walled(e.Kind) {
		for _, m := range s.ThroughMounts(e, t) {
			e.Host = m.On
			s.emitAt(e, m.Host)
		}
		return
	}
	s.emitAt(e, t)
}

// emitAt adds an effect on a target under the name that it has in its own
// place.
func (s *Machine) emitAt(e abstract.RawEffect, t abstract.Arg) {
	e.Target = t.Value()
	e.Own = e.Kind == engine.EffectProcess && t.Taint&abstract.OwnProcess != 0
	e.Contents = e.Contents || t.Glob && Everything(t.Text)
	e.Recursive = e.Recursive || t.Glob && strings.HasSuffix(t.Text, "/**")
	e.Dir = s.Scope.Dirs[0]
	s.Add(e)
	if relative(e) {
		for _, dir := range s.Scope.Dirs[1:] {
			e.Dir = dir
			s.Add(e)
		}
	}
	if bare, ok := t.Emptied(); ok && e.Recursive && e.Kind == engine.EffectFileDelete && rootPattern(bare) &&
		(e.Verb != "move" || e.Privileged) { // without privileges nothing there can be moved
		e.Target, e.Contents = abstract.Value{Sure: abstract.Glob, Text: "/*"}, true
		s.Add(e)
	}
	s.throughLinks(e, t)
}

func relative(e abstract.RawEffect) bool {
	return e.Kind != engine.EffectNetwork && e.Kind != engine.EffectProcess && !abstract.InDirectory(e.Target.Text)
}

// Everything reports whether a pattern matches everything in its directory.
func Everything(p string) bool {
	last := p[strings.LastIndexByte(p, '/')+1:]
	return last == "*" || last == ".*" || last == "**" || last == ".[!.]*" || last == ".[^.]*"
}

// rootPattern reports whether a path without its variables means the root or
// everything in it.
func rootPattern(bare string) bool {
	return strings.HasPrefix(bare, "/") && strings.Trim(path.Clean(bare), "/*.") == ""
}

// Add notes an effect once.
func (s *Machine) Add(e abstract.RawEffect) {
	if s.Effect(e) && s.Frame.Muted && Changes(e) {
		s.Signal(engine.SignalMuted)
	}
}

// Changes reports whether an effect changes something.
func Changes(e abstract.RawEffect) bool {
	return e.Kind == engine.EffectFileDelete || e.Kind == engine.EffectSystemCall || e.Kind == engine.EffectFileWrite || e.Egress
}

// throughLinks adds an effect on the target of a link that the script created.
func (s *Machine) throughLinks(e abstract.RawEffect, t abstract.Arg) {
	if len(s.Links) == 0 {
		return
	}
	for _, dir := range s.Scope.Dirs {
		v := abstract.JoinDir(dir, t)
		if v.Sure == abstract.Unknown {
			continue
		}
		for at := v.Text; at != "/" && at != "." && at != ""; at = path.Dir(at) {
			dest, ok := s.Links[at]
			if !ok || e.Kind == engine.EffectFileDelete && (at == v.Text && !strings.HasSuffix(t.Text, "/") || slices.Contains(s.hardLinks, at)) {
				continue
			}
			e.Target = abstract.Value{Sure: dest.Sure, Text: strings.TrimSuffix(dest.Text, "/") + v.Text[len(at):]}
			if v.Sure != abstract.Literal {
				e.Target.Sure = v.Sure
			}
			s.Add(e)
		}
	}
}

// Note is emit for effects that belong to the statement rather than to one of
// its commands.
func (s *Machine) Note(kind engine.EffectKind, verb string, targets ...abstract.Arg) {
	s.emit(abstract.RawEffect{Kind: kind, Verb: verb, Command: s.first}, targets...)
}

// Emit adds effects of this command.
func (c *Call) Emit(e abstract.RawEffect, targets ...abstract.Arg) {
	e.Command = c.Index
	c.Shell.emit(e, targets...)
	if e.Kind == engine.EffectNetwork && e.Verb != "listen" {
		for _, t := range targets {
			c.Hands(HostOf(t))
		}
	}
}

// Reads records that files are read.
func (c *Call) Reads(targets ...abstract.Arg) {
	for _, t := range targets {
		if t.HasPrefix("/proc/") && strings.HasSuffix(t.Text, "/environ") {
			c.Signal(engine.SignalEnvDump)
		}
		if t.From == nil && !t.Is("-") && !HarmlessDevice(t) && t.Text != "" {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", Names: len(c.searchesFor()) > 0}, t)
		}
	}
}

// Lists records that the names of files are shown, but not their contents.
func (c *Call) Lists(targets ...abstract.Arg) {
	for _, t := range targets {
		if t.From == nil && !t.Is("-") && !HarmlessDevice(t) && t.Text != "" {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: engine.VerbList}, t)
		}
	}
}

// Writes records that files are written, with a verb such as write or append.
func (c *Call) Writes(verb string, targets ...abstract.Arg) {
	c.WritesAs(abstract.RawEffect{Verb: verb}, targets...)
}

// WritesAs records writes; e describes them. Writing to a harmless device has no effect,
// but changing its permissions does.
func (c *Call) WritesAs(e abstract.RawEffect, targets ...abstract.Arg) {
	e.Kind = engine.EffectFileWrite
	rights := e.Verb == "chmod" || e.Verb == "chown" || e.Verb == "restrict"
	for _, t := range targets {
		if rights || !HarmlessDevice(t) && t.Text != "" && !t.Is("-") {
			c.Shell.DiskWrite(t)
			c.Emit(e, t)
		}
	}
}

// System records a change of the machine.
func (c *Call) System(verb string, targets ...abstract.Arg) {
	if len(targets) == 0 {
		targets = []abstract.Arg{{}}
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb}, targets...)
}

// Signal records signals of the command.
func (c *Call) Signal(ids ...engine.Signal) {
	for _, id := range ids {
		c.Shell.Signal(id)
	}
}

// Sends records that data is sent to a host.
func (c *Call) Sends(verb string, to abstract.Arg) { c.SendsObject(verb, "", to) }

// SendsObject records that an object of a known kind is sent.
func (c *Call) SendsObject(verb, object string, to abstract.Arg) {
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: verb, Object: object, Egress: true}, to)
	if c.Shell.Frame.Piped && c.Shell.Frame.Stdin != nil {
		c.Signal(engine.SignalPipeExternal)
		c.Shell.SignalIf(c.ownForge(to), engine.SignalOwnForge)
	}
}

// Fetches records that the command fetches something from a host.
func (c *Call) Fetches(from abstract.Arg) {
	c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch"}, from)
	c.Out.Taint |= abstract.Fetched
	c.Shell.checks = 0
}

// redirs are the redirections of one statement.
type redirs struct {
	begin  int // number of effects before the pipeline
	stdin  *abstract.Arg
	muted  bool
	stdout bool // standard output does not go on to the next command
	lasts  bool // they apply to all that follows: exec
	files  []redirected
}

type redirected struct {
	target  abstract.Arg
	verb    string // read, write, append
	forced  bool
	stdout  bool
	process bool // the target is a process substitution, whose commands have been interpreted already
	apart   bool // through a descriptor of its own, not the standard streams
}

// redirections evaluates the redirections of a statement, which happens before
// its command runs.
func (s *Machine) redirections(list []*syntax.Redirect) redirs {
	var r redirs
	null := false // standard output is discarded
	for _, x := range list {
		switch x.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			s.supply(&r, x, s.heredoc(x))
			continue
		case syntax.WordHdoc:
			s.supply(&r, x, abstract.Concat(s.Single(x.Word), abstract.Word("\n")))
			continue
		}
		for _, target := range s.targets(x.Word) {
			before := len(r.files)
			s.redirect(&r, x, target, &null)
			for i := before; i < len(r.files); i++ {
				r.files[i].process, r.files[i].apart = isProcess(x.Word), apart(x)
			}
		}
	}
	return r
}

// targets returns what the word of a redirection may stand for.
func (s *Machine) targets(w *syntax.Word) []abstract.Arg {
	var all []abstract.Arg
	for _, a := range s.alternatives(w) {
		if f := s.fields(w.Parts); len(f) == 1 && f[0].Glob { // bash looks for the file, and takes it if there is one
			a.Glob, a.One = true, true
		}
		if a.Found != nil {
			all = append(all, a.Found.Files...)
		} else {
			all = append(all, a)
		}
	}
	return all
}

func (s *Machine) redirect(r *redirs, x *syntax.Redirect, target abstract.Arg, null *bool) {
	fd := ""
	if x.N != nil {
		fd = x.N.Value
	}
	isNull := target.Is("/dev/null")
	switch x.Op {
	case syntax.RdrIn:
		s.input(r, x, target)
	case syntax.DplIn, syntax.DplOut:
		if isDescriptor(target) {
			s.duplicate(r, x.Op, fd, target)
			r.muted = r.muted || fd == "2" && target.Is("1") && *null
			return
		}
		s.output(r, x.Op, target, true)
		r.muted = r.muted || isNull
	case syntax.RdrAll, syntax.RdrAllClob, syntax.AppAll, syntax.AppAllClob:
		s.output(r, x.Op, target, true)
		r.muted = r.muted || isNull
	default:
		out := fd == "" || fd == "1"
		if !out && fd != "2" && x.Op != syntax.RdrInOut {
			s.outputs[fd] = target
		}
		if x.Op == syntax.RdrInOut && fd != "" && isSocket(target) {
			s.Files["/dev/fd/"+fd] = abstract.Arg{Text: abstract.HoleText, Taint: abstract.Fetched}
		}
		*null = *null || out && isNull
		r.muted = r.muted || fd == "2" && isNull
		s.output(r, x.Op, target, out)
	}
}

// isDescriptor reports whether the word of >& is a number or a minus.
func isDescriptor(a abstract.Arg) bool {
	return strings.Trim(a.Text, "0123456789-") == "" || !a.Known() && a.Value().Sure == abstract.Unknown
}

// supply sets the contents of one of a command's inputs.
func (s *Machine) supply(r *redirs, x *syntax.Redirect, text abstract.Arg) {
	if x.N == nil || x.N.Value == "0" {
		r.stdin = &text
		return
	}
	s.Files["/dev/fd/"+x.N.Value] = text
}

// descriptor is the text read from a descriptor; empty: standard input.
func (s *Machine) descriptor(fd string) *abstract.Arg {
	if text, ok := s.Files["/dev/fd/"+fd]; ok {
		return &text
	}
	if fd == "" || fd == "0" {
		return s.Frame.Stdin
	}
	return nil
}

// duplicate evaluates <&3 and >&3, for descriptors that the script itself has
// opened.
func (s *Machine) duplicate(r *redirs, op syntax.RedirOperator, fd string, from abstract.Arg) {
	if text, ok := s.Files["/dev/fd/"+from.Text]; ok && op == syntax.DplIn && (fd == "" || fd == "0") {
		r.stdin = &text
	}
	if file, ok := s.outputs[from.Text]; ok && op == syntax.DplOut && (fd == "" || fd == "1") {
		s.output(r, syntax.AppOut, file, true)
	}
}

func (s *Machine) input(r *redirs, x *syntax.Redirect, target abstract.Arg) {
	text := abstract.Arg{Text: abstract.HoleText, Taint: s.OfFile(target)}
	if isSocket(target) {
		text.Taint = abstract.Fetched
	} else if target.Is("/dev/null") {
		text = abstract.Arg{}
	}
	if target.From != nil {
		text = *target.From
	} else if known, ok := s.Shown(target); ok {
		text = known
	}
	if class := s.classOf(s.Scope.Dirs[0], target.Value()); class != "" && target.From == nil {
		text.Taint |= s.Secret(abstract.Secret{What: engine.FlowFile, Path: abstract.JoinDir(s.Scope.Dirs[0], target), Class: class})
	}
	s.supply(r, x, text)
	r.files = append(r.files, redirected{target: target, verb: "read"})
}

func (s *Machine) output(r *redirs, op syntax.RedirOperator, target abstract.Arg, stdout bool) {
	f := redirected{target: target, verb: "write", stdout: stdout}
	switch op {
	case syntax.AppOut, syntax.AppClob, syntax.AppAll, syntax.AppAllClob:
		f.verb = "append"
	case syntax.RdrClob, syntax.RdrAllClob:
		f.forced = true
	}
	r.stdout = r.stdout || stdout
	r.files = append(r.files, f)
}

// finish emits the effects of redirections once the command that they belong
// to is known.
func (s *Machine) finish(r redirs, o *Outcome, cmd syntax.Command) {
	if len(r.files) > 0 {
		reads := s.readFilesOf(r)
		for _, f := range r.files {
			if !HarmlessDevice(f.target) {
				s.opened(f, reads, *o, cmd)
			}
		}
	}
	if r.stdout {
		o.Out = abstract.Arg{}
	}
}

func (s *Machine) opened(f redirected, reads *readFiles, o Outcome, cmd syntax.Command) {
	if isSocket(f.target) {
		s.socket(f, o.Out, cmd)
		return
	}
	if f.target.From != nil || f.verb != "read" && f.process {
		return
	}
	if f.verb == "read" {
		s.Note(engine.EffectFileRead, "read", f.target)
		return
	}
	e := abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: f.verb, Forced: f.forced, Command: s.first}
	if f.verb == "write" && f.stdout && (o.Out.Text == "" || reads.has(s, f.target)) {
		e.Verb, e.Leaves = "truncate", 1
	}
	s.DiskWrite(f.target)
	s.emit(e, f.target)
	if f.stdout {
		s.Store(f.target, o.Out, f.verb == "append")
	}
}

// readFiles are the files that a pipeline reads, for the question whether it reads
// the file that its output goes to: the shell empties that before anything is read.
type readFiles struct {
	named   map[string]bool         // as redirections of the same command name them
	effects map[abstract.Value]bool // targets of the effects up to next
	next    int
}

func (s *Machine) readFilesOf(r redirs) *readFiles {
	reads := &readFiles{named: map[string]bool{}, effects: map[abstract.Value]bool{}, next: min(r.begin, len(s.Out.Effects))}
	for _, f := range r.files {
		if f.verb == "read" {
			reads.named[f.target.Text] = true
		}
	}
	return reads
}

// has reports whether the pipeline reads the target. It looks at each effect once.
func (reads *readFiles) has(s *Machine, target abstract.Arg) bool {
	for ; reads.next < len(s.Out.Effects); reads.next++ {
		if e := s.Out.Effects[reads.next]; e.Kind == engine.EffectFileRead && e.Verb == "read" && e.Host == s.Frame.Host {
			reads.effects[e.Target] = true
		}
	}
	value := target.Value()
	return target.Known() && reads.named[target.Text] || value.Sure == abstract.Literal && reads.effects[value]
}

// isProcess reports whether a word is a process substitution.
func isProcess(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	_, is := w.Parts[0].(*syntax.ProcSubst)
	return is
}

// HarmlessDevice reports whether a word is a device to which writing changes nothing.
func HarmlessDevice(a abstract.Arg) bool {
	return a.HasPrefix("/dev/fd/") ||
		a.Is("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full", "/dev/nul")
}

// DiskWrite signals a write to a device that is not one of the harmless ones.
func (s *Machine) DiskWrite(target abstract.Arg) {
	if target.HasPrefix("/dev/") && !HarmlessDevice(target) && !target.HasPrefix("/dev/shm") && !target.HasPrefix("/dev/pts") &&
		!target.HasPrefix("/dev/tty") && !target.HasPrefix("/dev/tcp") && !target.HasPrefix("/dev/udp") &&
		!target.HasPrefix("/dev/random") && !target.HasPrefix("/dev/urandom") {
		s.Signal(engine.SignalDiskWrite)
	}
}

// Store remembers the contents of a file, so that they are interpreted if it runs
// later.
func (s *Machine) Store(target, text abstract.Arg, add bool) {
	for _, dir := range s.Scope.Dirs {
		v := abstract.JoinDir(dir, target)
		if v.Sure != abstract.Literal || len(s.Files) > 256 {
			continue
		}
		s.startup(v.Text, text.Text)
		if add {
			text = abstract.Concat(s.Files[v.Text], text)
		}
		s.Files[v.Text] = text
	}
}

// Written returns what the script itself has written to a file.
func (s *Machine) Written(target abstract.Arg) (abstract.Arg, bool) {
	if len(s.Files) == 0 {
		return abstract.Arg{}, false
	}
	for _, dir := range s.Scope.Dirs {
		v := abstract.JoinDir(dir, target)
		if text, ok := s.Files[v.Text]; ok && v.Sure == abstract.Literal {
			return text, true
		}
	}
	return abstract.Arg{}, false
}

// socket evaluates a redirection to /dev/tcp/HOST/PORT, which bash opens itself. A
// command's output is sent through it, like the body of a request.
func (s *Machine) socket(f redirected, out abstract.Arg, cmd syntax.Command) {
	host, _, _ := strings.Cut(f.target.Text[len("/dev/tcp/"):], "/")
	s.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Egress: true, Command: s.first}, abstract.Word(host))
	if f.verb != "read" && f.stdout {
		s.flow(s.first, host, out, false)
		s.SignalIf(!out.Known() && cmd != nil && !startsShell(cmd), engine.SignalPipeExternal)
	}
	attached := !f.apart || !place.Loopback(host) || !execsNothing(cmd)
	s.SignalIf(startsShell(cmd) && attached, engine.SignalReverseShell)
}

// startsShell reports whether a command is a shell, or is to become one.
func startsShell(cmd syntax.Command) bool {
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "exec" || IsShell(BaseName(name))
}
