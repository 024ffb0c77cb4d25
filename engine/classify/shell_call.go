package classify

import (
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
	"mvdan.cc/sh/v3/syntax"
)

// call is one simple command that is about to run.
type call struct {
	s     *shell
	node  *syntax.CallExpr
	path  arg // the program as written
	name  string
	args  []arg
	opts  options
	subs  []string // subcommands that the program's own code has found
	known bool     // the program is in the tables
	index int
	out   arg
}

// call runs a simple command: once for each argument list that it may have.
func (s *shell) call(x *syntax.CallExpr) outcome {
	if len(x.Args) == 0 {
		saved := s.first
		for _, as := range x.Assigns {
			s.assign(as)
		}
		s.first = saved
		return outcome{fail: s.scope.dirs}
	}
	var argvs [][]arg
	s.variants(func() { argvs = append(argvs, s.expand(x.Args)) })
	run := func() outcome { return s.runAll(argvs, x) }
	if len(x.Assigns) == 0 {
		return run()
	}
	return s.withLocals(func() {
		for _, as := range x.Assigns {
			if as.Name != nil {
				s.scope.hold(as.Name.Value)
			}
			s.assign(as)
		}
	}, run)
}

// withLocals runs code in a scope whose held variables end with it; all else
// that it changes stays.
func (s *shell) withLocals(prepare func(), run func() outcome) outcome {
	saved := s.scope
	s.scope = saved.child()
	prepare()
	o := run()
	inner := s.scope
	s.scope = saved
	for name := range inner.locals {
		delete(inner.vars, name)
	}
	args, bound := saved.args, saved.bound
	saved.merge(inner)
	saved.args, saved.bound = args, bound
	return o
}

func (s *shell) runAll(argvs [][]arg, x *syntax.CallExpr) outcome {
	if len(argvs) == 1 {
		return s.invoke(argvs[0], x)
	}
	var all outcome
	var branches []*scope
	for _, argv := range argvs {
		b, o := s.branch(func() outcome { return s.invoke(argv, x) })
		branches = append(branches, b)
		all.out = eitherOut(all.out, o.out)
		all.fail = unionValues(all.fail, o.fail)
	}
	s.scope.merge(branches...)
	return all
}

// invoke runs one argument list.
func (s *shell) invoke(argv []arg, x *syntax.CallExpr) outcome {
	if len(argv) == 0 || !s.spend(len(argv)) {
		return outcome{out: unknownArg(), fail: s.scope.dirs}
	}
	c := &call{s: s, node: x, path: argv[0], args: argv[1:], index: -1, out: arg{text: holeText}}
	if s.frame.stdin != nil {
		c.out.taint = s.frame.stdin.taint &^ filed
	}
	if !c.resolve() {
		return c.unknown()
	}
	if bodies := s.scope.function(c.path.text); bodies != nil {
		return s.function(bodies, c)
	}
	if body, ok := s.scope.alias(c.path.text); ok && body.text != "" {
		return s.aliased(body, c)
	}
	return c.run()
}

// run finds out what a program does that is neither a function nor an alias.
func (c *call) run() outcome {
	if o, ok := c.script(); ok {
		return o
	}
	if o, ok := c.builtin(); ok {
		return o
	}
	if o, ok := c.wrapper(); ok {
		return o
	}
	p, ok := lookup(c.name)
	if ok && c.local() && p.reads() {
		ok = false // ./ls is not ls
	}
	c.known = ok
	c.opts = parseOptions(c.args, p)
	c.record()
	switch {
	case c.hop():
	case c.bareSQL():
	case !ok:
		c.unlisted()
	case c.asksHelp(p):
		c.s.signal(engine.SignalDryRun)
		c.out = arg{}
		c.process()
	default:
		p.run(c)
	}
	c.notes()
	c.finish()
	return outcome{out: c.out, fail: c.s.scope.dirs}
}

// notes adds what holds of many programs alike, by their options alone.
func (c *call) notes() {
	c.reveals()
	c.unchecked()
	c.indexes()
	c.exposes()
	c.unlocks()
	c.s.signalIf(c.speaksAsClient(), engine.SignalGuardTamper)
}

// asksHelp tells whether a program only prints its help or version.
func (c *call) asksHelp(p program) bool {
	if p.own || len(c.args) == 0 {
		return false
	}
	if len(c.args) == 1 && c.args[0].is("--help", "--version", "-help", "-version", "-V", "help", "version") {
		return c.args[0].hasPrefix("-")
	}
	return c.opts.exact("--help") || c.opts.exact("--version") && len(c.args) <= 2
}

// resolve finds the program's name.
func (c *call) resolve() bool {
	s := c.s
	if c.path.glob && c.path.known() {
		c.path = s.globCommand(c.path)
	}
	base, ok := c.path.base()
	base = s.original(c.path, base)
	if !ok || strings.ContainsAny(base, holes) || base == "" && !c.path.quoted && !c.path.known() {
		return false
	}
	for _, r := range base {
		if r > 0x7f {
			s.opaque("encoding", c.path.text)
			s.signal(engine.SignalUnknownCommand)
			break
		}
	}
	if c.path.taint&decoded != 0 {
		s.signal(engine.SignalObfuscated)
	}
	if s.in.program != "" && c.path.is(s.in.program) {
		base = "reviewer"
	}
	c.name = strings.TrimSuffix(strings.ToLower(base), ".exe")
	if base != c.name && !caseMatters(c.name) {
		c.name = base
	}
	return true
}

// copied remembers that a file of the script's own is one of the system's
// programs: cp /bin/rm x.
func (s *shell) copied(source, target arg) {
	base, ok := source.base()
	program := source.hasPrefix("/") || strings.HasPrefix(source.text, holeText+"/") // which NAME
	for _, dir := range s.scope.dirs {
		if v := joinDir(dir, target); ok && program && v.sure == literal && len(s.programs) < 64 {
			s.programs[v.text] = base
		}
	}
}

// original is the name of the program that a path stands for: another one than
// its own where it is a copy or a link. zsh looks up =rm in PATH.
func (s *shell) original(path arg, base string) string {
	if len(base) > 1 && base[0] == '=' && path.hasPrefix("=") {
		return base[1:]
	}
	if path.hasPrefix("/proc/") && base == "exe" {
		return "bash" // the shell itself
	}
	if len(s.programs) == 0 || !strings.Contains(path.text, "/") {
		return base
	}
	if name, ok := s.programs[joinDir(s.scope.dirs[0], path).text]; ok {
		return name
	}
	return base
}

// caseMatters tells whether a name in other letter case is worth knowing: on a
// file system that ignores case /bin/RM is rm.
func caseMatters(lower string) bool {
	_, ok := lookup(lower)
	return ok || shellName(lower)
}

func baseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// globCommand looks a pattern in the command's place up, first in the real
// directory, then among the programs that are known.
func (s *shell) globCommand(a arg) arg {
	dir, pattern := path.Split(a.text)
	if at := joinDir(s.scope.dirs[0], word(dir)); s.in.listDir != nil && dir != "" && at.sure == literal && !strings.ContainsAny(dir, "*?[") {
		if names, err := s.in.listDir(at.text); err == nil {
			for _, n := range names {
				if wildcard.Text(pattern, n) {
					return arg{text: dir + n, taint: a.taint | decoded}
				}
			}
		}
	}
	for _, n := range patternNames() {
		if wildcard.Text(pattern, n) {
			return arg{text: path.Join(dir, n), taint: a.taint | decoded}
		}
	}
	return unknownArg()
}

// patternNames are the programs that people hide behind patterns, the worst
// first.
func patternNames() []string {
	return []string{"rm", "dd", "sh", "bash", "curl", "wget", "nc", "mkfs", "shred", "chmod", "chown", "mv", "cp", "cat", "kill",
		"python3", "python", "perl", "ruby", "node", "shutdown", "reboot", "sudo", "tee", "find", "truncate", "base64"}
}

// unknown is a command whose program is known only when it runs.
func (c *call) unknown() outcome {
	s := c.s
	s.signal(engine.SignalUnknownCommand)
	s.opaque("command", c.path.text)
	if c.path.taint&fetched != 0 {
		s.signal(engine.SignalRemoteCode)
	}
	c.record()
	c.finish()
	o := outcome{out: c.out, fail: s.scope.dirs}
	// $SUDO rm x: a variable that is empty leaves the rest as the command.
	if _, ok := c.path.emptied(); ok && c.path.splits && len(c.args) > 0 && s.frame.depth < maxDepth {
		s.frame.depth++
		inner := s.invoke(c.args, c.node)
		s.frame.depth--
		o.fail = inner.fail
	}
	return o
}

// record enters the command into the list of commands.
func (c *call) record() {
	s := c.s
	if c.index >= 0 {
		return
	}
	e := engine.Command{Name: c.name, Wrappers: s.frame.wrappers, Via: s.frame.via}
	key := commandKey{c.node, c.key(e)}
	if i, ok := s.indexes[key]; ok {
		c.index = i
	} else if len(s.out.commands) >= maxCommands {
		s.overBudget("commands")
		return
	} else {
		c.index = len(s.out.commands)
		s.indexes[key] = c.index
		s.out.commands = append(s.out.commands, e)
		s.out.origins = append(s.out.origins, origin{node: c.node, name: c.path, args: c.args})
	}
	if s.first < 0 {
		s.first = c.index
	}
}

// key is equal for the same command, started in the same way.
func (c *call) key(e engine.Command) string {
	var b strings.Builder
	b.WriteString(c.name)
	for _, list := range [][]string{e.Via, e.Wrappers} {
		b.WriteByte(1)
		for _, w := range list {
			b.WriteString(w)
			b.WriteByte(1)
		}
	}
	for _, a := range c.args {
		b.WriteByte(0)
		b.WriteString(a.text)
	}
	return b.String()
}

// finish fills in the command's entry.
func (c *call) finish() {
	if c.index < 0 {
		return
	}
	e := &c.s.out.commands[c.index]
	if e.Flags != nil || e.Operands != nil {
		return
	}
	flags, operands := c.opts.flags, c.opts.operands
	if !c.opts.parsed {
		flags, operands = plainFlags(c.args)
	}
	o := &c.s.out.origins[c.index]
	o.subs, o.flags, o.operands, o.known, o.complete = c.subs, flags, operands, c.known, true
	e.Sub, e.Flags = c.subs, textsOf(flags)
	_, rest := cutSubs(c.subs, operands)
	for _, a := range rest {
		e.Operands = append(e.Operands, a.show())
	}
}

// cutSubs takes the words of the subcommands out of the operands.
func cutSubs(subs []string, operands []arg) (found, rest []arg) {
	for _, a := range operands {
		if len(found) < len(subs) && a.known() && a.text == subs[len(found)] {
			found = append(found, a)
		} else {
			rest = append(rest, a)
		}
	}
	return found, rest
}

// function runs the bodies that a function may have.
func (s *shell) function(bodies []*syntax.Stmt, c *call) outcome {
	var all outcome
	all.fail = s.scope.dirs
	for _, body := range bodies {
		if s.running(body) >= 3 {
			continue // what recursion does again has been seen
		}
		o := s.withLocals(func() {
			s.scope.args, s.scope.bound = c.args, true
		}, func() outcome {
			s.calls = append(s.calls, body)
			o := s.stmt(body)
			s.calls = s.calls[:len(s.calls)-1]
			return o
		})
		all.out = eitherOut(all.out, o.out)
		all.fail = o.fail
	}
	return all
}

func (s *shell) running(body *syntax.Stmt) int {
	n := 0
	for _, b := range s.calls {
		if b == body {
			n++
		}
	}
	return n
}

// aliased runs an alias: its text is code, followed by the arguments.
func (s *shell) aliased(body arg, c *call) outcome {
	code := body
	for i, a := range c.args {
		text := quote(a.text)
		if next, ok := s.scope.alias(a.text); ok && i == 0 && strings.HasSuffix(body.text, " ") {
			text = next.text // an alias that ends with a blank: the next word may be one too
		}
		code = concat(code, a.with(" "+text))
	}
	saved := s.scope
	s.scope = saved.child()
	s.scope.aliases = map[string]arg{c.path.text: {}}
	o := s.embed(code, "alias", true)
	inner := s.scope
	inner.aliases = nil
	s.scope = saved
	s.scope.merge(inner)
	return o
}

// quote makes one word of a text again.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// local tells whether the program is a file of the project rather than one of
// the system that is found by its name.
func (c *call) local() bool {
	if !strings.Contains(c.path.text, "/") {
		return false
	}
	for _, dir := range []string{"/bin/", "/sbin/", "/usr/", "/opt/", "/nix/", "/snap/"} {
		if c.path.hasPrefix(dir) {
			return false
		}
	}
	return true
}

// process is the effect of a program that is only known to run.
func (c *call) process() {
	target := c.path
	if !c.path.known() {
		target = word(c.name)
	}
	c.emit(rawEffect{kind: engine.EffectProcess, verb: "exec"}, target)
	if c.out.taint == 0 && printsSetup(c.args) {
		c.out.taint = filed
	}
}

// printsSetup tells whether a program prints code for the shell that installed
// it, as "kubectl completion bash" does: as well known as a file of its own.
func printsSetup(args []arg) bool {
	for _, a := range args {
		if a.is("completion", "completions", "shellenv", "init", "hook", "activate", "shell-init", "env", "docker-env", "podman-env", "--completion", "gen-completion") {
			return true
		}
	}
	return false
}

// script runs the code of a file that goes by the program's name. What lies on
// the disk under a name that is known does also what that program does.
func (c *call) script() (outcome, bool) {
	for _, p := range c.places() {
		code, ok := c.s.codeIn(p, "")
		if !ok {
			continue
		}
		c.record()
		if code.via == "script" {
			c.reads(p)
		}
		whole := c.runsCode(code, append([]arg{c.path}, c.args...))
		if _, known := lookup(c.name); code.via == "script" && (known || !whole) {
			break
		}
		c.finish()
		return outcome{out: c.out, fail: c.s.scope.dirs}, true
	}
	return outcome{}, false
}

// places are where the program's file may lie: its path, or its name in the
// directories of a PATH that the script has set.
func (c *call) places() []arg {
	if strings.Contains(c.path.text, "/") {
		return []arg{c.path}
	}
	if _, set := c.s.scope.lookup("PATH"); !set || len(c.s.files) == 0 {
		return nil
	}
	var list []arg
	for dir := range strings.SplitSeq(c.s.read("PATH").text, ":") {
		list = append(list, word(dir+"/"+c.path.text))
	}
	return list
}
