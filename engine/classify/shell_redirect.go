package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// redirs are the redirections of one statement.
type redirs struct {
	stdin  *arg
	muted  bool
	stdout bool // standard output does not go on to the next command
	lasts  bool // they hold for all that follows: exec
	files  []redirected
}

type redirected struct {
	target arg
	verb   string // read, write, append
	forced bool
	stdout bool
}

// redirections evaluates the redirections of a statement, which happens before
// its command runs.
func (s *shell) redirections(list []*syntax.Redirect) redirs {
	var r redirs
	null := false // standard output goes nowhere
	for _, x := range list {
		switch x.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			s.supply(&r, x, s.heredoc(x))
			continue
		case syntax.WordHdoc:
			s.supply(&r, x, concat(s.single(x.Word), word("\n")))
			continue
		}
		for _, target := range s.alternatives(x.Word) {
			s.redirect(&r, x, target, &null)
		}
	}
	return r
}

func (s *shell) redirect(r *redirs, x *syntax.Redirect, target arg, null *bool) {
	fd := ""
	if x.N != nil {
		fd = x.N.Value
	}
	isNull := target.is("/dev/null")
	switch x.Op {
	case syntax.RdrIn:
		s.input(r, x, target)
	case syntax.DplIn, syntax.DplOut:
		if isDescriptor(target) {
			s.duplicate(r, x.Op, fd, target)
			r.muted = r.muted || fd == "2" && target.is("1") && *null
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
		*null = *null || out && isNull
		r.muted = r.muted || fd == "2" && isNull
		s.output(r, x.Op, target, out)
	}
}

// isDescriptor tells whether the word of >& is a number or a minus.
func isDescriptor(a arg) bool {
	return strings.Trim(a.text, "0123456789-") == "" || !a.known() && a.value().sure == unknown
}

// supply is what one of the inputs of a command holds.
func (s *shell) supply(r *redirs, x *syntax.Redirect, text arg) {
	if x.N == nil || x.N.Value == "0" {
		r.stdin = &text
		return
	}
	s.files["/dev/fd/"+x.N.Value] = text
}

// descriptor is what is read from a descriptor; empty: standard input.
func (s *shell) descriptor(fd string) *arg {
	if text, ok := s.files["/dev/fd/"+fd]; ok {
		return &text
	}
	if fd == "" || fd == "0" {
		return s.frame.stdin
	}
	return nil
}

// duplicate is <&3 and >&3, for descriptors that the script itself has opened.
func (s *shell) duplicate(r *redirs, op syntax.RedirOperator, fd string, from arg) {
	if text, ok := s.files["/dev/fd/"+from.text]; ok && op == syntax.DplIn && (fd == "" || fd == "0") {
		r.stdin = &text
	}
	if file, ok := s.outputs[from.text]; ok && op == syntax.DplOut && (fd == "" || fd == "1") {
		s.output(r, syntax.AppOut, file, true)
	}
}

func (s *shell) input(r *redirs, x *syntax.Redirect, target arg) {
	text := arg{text: holeText, taint: filed}
	if target.from != nil {
		text = *target.from
	} else if known, ok := s.shown(target); ok {
		text = known
	}
	s.supply(r, x, text)
	r.files = append(r.files, redirected{target: target, verb: "read"})
}

func (s *shell) output(r *redirs, op syntax.RedirOperator, target arg, stdout bool) {
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

// finish emits the effects of redirections once the command is known that they
// belong to.
func (s *shell) finish(r redirs, o *outcome, cmd syntax.Command) {
	for _, f := range r.files {
		if !harmlessDevice(f.target) {
			s.opened(f, *o, cmd)
		}
	}
	if r.stdout {
		o.out = arg{}
	}
}

func (s *shell) opened(f redirected, o outcome, cmd syntax.Command) {
	if f.target.hasPrefix("/dev/tcp/") || f.target.hasPrefix("/dev/udp/") {
		s.socket(f, cmd)
		return
	}
	if f.target.from != nil || f.verb != "read" && f.target.value().sure == unknown && f.target.tail() == "" && f.target.taint == 0 && isProcess(f) {
		return
	}
	if f.verb == "read" {
		s.note(engine.EffectFileRead, "read", f.target)
		return
	}
	e := rawEffect{kind: engine.EffectFileWrite, verb: f.verb, forced: f.forced, command: s.first}
	if f.verb == "write" && f.stdout && o.out.text == "" {
		e.verb, e.leaves = "truncate", 1
	}
	s.diskWrite(f.target)
	s.emit(e, f.target)
	if f.stdout {
		s.store(f.target, o.out, f.verb == "append")
	}
}

// isProcess tells whether the target of > is a process substitution: its
// commands have been seen already.
func isProcess(f redirected) bool { return f.target.quoted && f.target.text == holeText }

// socket is a redirection to /dev/tcp/HOST/PORT, which bash opens itself.
func (s *shell) socket(f redirected, cmd syntax.Command) {
	host, _, _ := strings.Cut(f.target.text[len("/dev/tcp/"):], "/")
	s.emit(rawEffect{kind: engine.EffectNetwork, verb: "send", egress: true, command: s.first}, word(host))
	if call, ok := cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		if name := call.Args[0].Lit(); shellName(baseName(name)) || name == "exec" {
			s.signal(engine.SignalReverseShell)
		}
	}
}

func harmlessDevice(a arg) bool {
	return a.is("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero", "/dev/full") || a.hasPrefix("/dev/fd/")
}

// diskWrite signals a write to a device that is none of the harmless ones.
func (s *shell) diskWrite(target arg) {
	if target.hasPrefix("/dev/") && !harmlessDevice(target) && !target.hasPrefix("/dev/shm") && !target.hasPrefix("/dev/pts") &&
		!target.hasPrefix("/dev/tty") && !target.hasPrefix("/dev/tcp") && !target.hasPrefix("/dev/udp") &&
		!target.hasPrefix("/dev/random") && !target.hasPrefix("/dev/urandom") {
		s.signal(engine.SignalDiskWrite)
	}
}

// store remembers what a file holds, so that running it later is seen.
func (s *shell) store(target, text arg, add bool) {
	for _, dir := range s.scope.dirs {
		v := joinDir(dir, target)
		if v.sure != literal || len(s.files) > 256 {
			continue
		}
		s.startup(v.text, text.text)
		if add {
			text = concat(s.files[v.text], text)
		}
		s.files[v.text] = text
	}
}

// written returns what the script itself has put into a file.
func (s *shell) written(target arg) (arg, bool) {
	if len(s.files) == 0 {
		return arg{}, false
	}
	for _, dir := range s.scope.dirs {
		v := joinDir(dir, target)
		if text, ok := s.files[v.text]; ok && v.sure == literal {
			return text, true
		}
	}
	return arg{}, false
}
