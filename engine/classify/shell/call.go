package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
	"mvdan.cc/sh/v3/syntax"
)

// Call is one simple command that is about to run.
type Call struct {
	Shell   *Machine
	Node    *syntax.CallExpr
	Path    abstract.Arg // the program as written
	Name    string
	Args    []abstract.Arg
	Opts    options.Options
	Subs    []string     // subcommands that the program's function found
	Words   []string     // words that a row passes to the function that it names
	Known   bool         // the program is in the tables
	NoRow   bool         // no row says what the call does
	Service abstract.Arg // the service that the program connects to, by its row
	Index   int
	Out     abstract.Arg
}

// call runs a simple command: once for each argument list that it may have.
func (s *Machine) call(x *syntax.CallExpr) Outcome {
	if len(x.Args) == 0 {
		saved := s.first
		for _, as := range x.Assigns {
			s.assign(as)
		}
		s.first = saved
		return Outcome{Fail: s.Scope.Dirs}
	}
	var argvs [][]abstract.Arg
	s.variants(func() { argvs = append(argvs, s.Expand(x.Args)) })
	run := func() Outcome { return s.runAll(argvs, x) }
	if len(x.Assigns) == 0 {
		return run()
	}
	return s.withLocals(func() {
		for _, as := range x.Assigns {
			if as.Name != nil {
				s.Scope.hold(as.Name.Value)
			}
			s.assign(as)
		}
	}, run)
}

// withLocals runs code in a scope whose local variables end with it; all its other
// changes remain.
func (s *Machine) withLocals(prepare func(), run func() Outcome) Outcome {
	saved := s.Scope
	s.Scope = saved.child()
	prepare()
	o := run()
	inner := s.Scope
	s.Scope = saved
	for name := range inner.locals {
		delete(inner.vars, name)
	}
	args, bound := saved.args, saved.bound
	saved.merge(inner)
	saved.args, saved.bound = args, bound
	return o
}

func (s *Machine) runAll(argvs [][]abstract.Arg, x *syntax.CallExpr) Outcome {
	if len(argvs) == 1 {
		return s.Invoke(argvs[0], x)
	}
	var all Outcome
	var branches []*scope
	for _, argv := range argvs {
		b, o := s.branch(func() Outcome { return s.Invoke(argv, x) })
		branches = append(branches, b)
		all.Out = eitherOut(all.Out, o.Out)
		all.Fail = abstract.UnionValues(all.Fail, o.Fail)
	}
	s.Scope.merge(branches...)
	return all
}

// Invoke runs one argument list.
func (s *Machine) Invoke(argv []abstract.Arg, x *syntax.CallExpr) Outcome {
	if len(argv) == 0 || !s.Spend(len(argv)) {
		return Outcome{Out: abstract.UnknownArg(), Fail: s.Scope.Dirs}
	}
	c := &Call{Shell: s, Node: x, Path: argv[0], Args: argv[1:], Index: -1, Out: abstract.Arg{Text: abstract.HoleText}}
	if s.Frame.Stdin != nil {
		c.Out.Taint = s.Frame.Stdin.Taint &^ (abstract.Filed | abstract.Picked)
	}
	if !c.resolve() {
		return c.unknown()
	}
	return s.watched(argv, c.started)
}

// started runs a command whose name is known.
func (c *Call) started() Outcome {
	s := c.Shell
	if bodies := s.Scope.function(c.Path.Text); bodies != nil {
		return s.function(bodies, c)
	}
	if body, ok := s.Scope.alias(c.Path.Text); ok && body.Text != "" {
		return s.aliased(body, c)
	}
	return c.run()
}

// run interprets a command that is neither a function nor an alias.
func (c *Call) run() Outcome {
	if o, ok := c.script(); ok {
		return o
	}
	if o, ok := c.builtin(); ok {
		return o
	}
	return c.Shell.In.Knows.Run(c)
}

// resolve finds the program's name.
func (c *Call) resolve() bool {
	s := c.Shell
	if c.Path.Glob && c.Path.Known() {
		c.Path = s.globCommand(c.Path)
	}
	if s.ownShell(c.Path) {
		c.Path = abstract.Word("bash")
	}
	base, ok := c.Path.Base()
	base = s.original(c.Path, base)
	if !ok || strings.ContainsAny(base, abstract.Holes) || base == "" && !c.Path.Quoted && !c.Path.Known() {
		return false
	}
	for _, r := range base {
		if r > 0x7f {
			s.Opaque("encoding", c.Path.Text)
			s.Signal(engine.SignalUnknownCommand)
			break
		}
	}
	if c.Path.Taint&abstract.Decoded != 0 {
		s.Signal(engine.SignalObfuscated)
	}
	if s.In.Program != "" && c.Path.Is(s.In.Program) {
		base = "reviewer"
	}
	c.Name = strings.TrimSuffix(strings.ToLower(base), ".exe")
	if base != c.Name && !(s.In.Knows.Program(c.Name) || IsShell(c.Name)) {
		c.Name = base
	}
	return true
}

// ownShell reports whether a word is $SHELL, $BASH or $0 and the code does not set it:
// then it is the user's shell.
func (s *Machine) ownShell(a abstract.Arg) bool {
	if a.Text != abstract.HoleText && a.Text != abstract.VacancyText || a.Word == nil {
		return false
	}
	parts := a.Word.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return false
	}
	p, ok := parts[0].(*syntax.ParamExp)
	return ok && plainParam(p) && slices.Contains([]string{"SHELL", "BASH", "0"}, p.Param.Value) && s.outside(p.Param.Value)
}

func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Names == 0 &&
		p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil
}

// Copied remembers that a file that the script creates is a copy of one of the system's programs:
// cp /bin/rm x.
func (s *Machine) Copied(source, target abstract.Arg) {
	base, ok := source.Base()
	program := source.HasPrefix("/") || strings.HasPrefix(source.Text, abstract.HoleText+"/") // the output of which NAME
	for _, dir := range s.Scope.Dirs {
		if v := abstract.JoinDir(dir, target); ok && program && v.Sure == abstract.Literal && len(s.programs) < 64 {
			s.programs[v.Text] = base
		}
	}
}

// original returns the name of the program at a path, which differs from the path's if
// it is a copy or a link. zsh looks up =rm in PATH.
func (s *Machine) original(path abstract.Arg, base string) string {
	if len(base) > 1 && base[0] == '=' && path.HasPrefix("=") {
		return base[1:]
	}
	switch {
	case !path.HasPrefix("/proc/") || base != "exe":
	case path.Is("/proc/self/exe", "/proc/thread-self/exe"):
		return "bash" // the shell itself
	default:
		return abstract.HoleText // the program of another process
	}
	if !strings.Contains(path.Text, "/") {
		return base
	}
	at := abstract.JoinDir(s.Scope.Dirs[0], path)
	if name, ok := s.programs[at.Text]; ok {
		return name
	}
	if s.In.Disk != nil && s.here() && at.Sure == abstract.Literal && !s.In.Knows.Program(base) {
		return cmp.Or(s.In.Disk.original(at.Text, s.Scope.Dirs[0].Text), base)
	}
	return base
}

// BaseName returns the last element of a path.
func BaseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// globCommand looks up a pattern in the place of a command, first in the real
// directory, then among the known programs.
func (s *Machine) globCommand(a abstract.Arg) abstract.Arg {
	dir, pattern := path.Split(a.Text)
	if at := abstract.JoinDir(s.Scope.Dirs[0], abstract.Word(dir)); s.In.ListDir != nil && dir != "" && at.Sure == abstract.Literal &&
		!strings.ContainsAny(dir, "*?[") {
		if names, err := s.In.ListDir(at.Text); err == nil {
			for _, n := range names {
				if wildcard.Text(pattern, n) {
					return abstract.Arg{Text: dir + n, Taint: a.Taint | abstract.Decoded}
				}
			}
		}
	}
	for _, n := range patternNames() {
		if wildcard.Text(pattern, n) {
			return abstract.Arg{Text: path.Join(dir, n), Taint: a.Taint | abstract.Decoded}
		}
	}
	return abstract.UnknownArg()
}

// patternNames are the programs that a pattern may hide, the most dangerous first.
func patternNames() []string {
	return []string{"rm", "dd", "sh", "bash", "curl", "wget", "nc", "mkfs", "shred", "chmod", "chown", "mv", "cp", "cat", "kill",
		"python3", "python", "perl", "ruby", "node", "shutdown", "reboot", "sudo", "tee", "find", "truncate", "base64"}
}

// unknown is a command whose program is known only when it runs.
func (c *Call) unknown() Outcome {
	s := c.Shell
	s.Signal(engine.SignalUnknownCommand)
	s.Opaque("command", c.Path.Text)
	if c.Path.Taint&abstract.Fetched != 0 {
		s.RemoteCode()
	}
	c.Record()
	c.Finish()
	o := Outcome{Out: c.Out, Fail: s.Scope.Dirs}
	// $SUDO rm x: a variable that is empty leaves the rest as the command.
	if _, ok := c.Path.Emptied(); ok && c.Path.Splits && len(c.Args) > 0 && s.Frame.Depth < MaxDepth {
		s.Frame.Depth++
		inner := s.Invoke(c.Args, c.Node)
		s.Frame.Depth--
		o.Fail = inner.Fail
	}
	return o
}

// Record adds the command to the list of commands.
func (c *Call) Record() {
	s := c.Shell
	if c.Index >= 0 {
		return
	}
	e := engine.Command{Name: c.Name, Wrappers: s.Frame.Wrappers, Via: s.Frame.Via}
	key := commandKey{c.Node, c.key(e)}
	if i, ok := s.indexes[key]; ok {
		c.Index = i
	} else if len(s.Out.Commands) >= MaxCommands {
		s.OverBudget("commands")
		return
	} else {
		c.Index = len(s.Out.Commands)
		s.indexes[key] = c.Index
		s.Out.Commands = append(s.Out.Commands, e)
		s.Out.Origins = append(s.Out.Origins, abstract.Origin{Node: c.Node, Name: c.Path, Args: c.Args})
	}
	if s.first < 0 {
		s.first = c.Index
	}
}

// key identifies a command and the way in which it was started.
func (c *Call) key(e engine.Command) string {
	var b strings.Builder
	b.WriteString(c.Name)
	for _, list := range [][]string{e.Via, e.Wrappers} {
		b.WriteByte(1)
		for _, w := range list {
			b.WriteString(w)
			b.WriteByte(1)
		}
	}
	for _, a := range c.Args {
		b.WriteByte(0)
		b.WriteString(a.Text)
	}
	return b.String()
}

// Finish fills in the command's entry.
func (c *Call) Finish() {
	if c.Index < 0 {
		return
	}
	e := &c.Shell.Out.Commands[c.Index]
	if e.Flags != nil || e.Operands != nil {
		return
	}
	flags, operands := c.Opts.Flags, c.Opts.Operands
	if !c.Opts.Parsed {
		flags, operands = plainFlags(c.Args)
	}
	o := &c.Shell.Out.Origins[c.Index]
	o.Subs, o.Flags, o.Operands, o.Known, o.Complete = c.Subs, flags, operands, c.Known, true
	e.Sub, e.Flags, e.Unlisted = c.Subs, options.TextsOf(flags), c.NoRow
	if names := c.Opts.Names(); c.Opts.Parsed && !slices.Equal(names, engine.OptionWords(e.Flags)) {
		e.Options = names
	}
	_, rest := CutSubs(c.Subs, operands)
	for _, a := range rest {
		e.Operands = append(e.Operands, a.Show())
	}
}

// CutSubs removes the words of the subcommands from the operands.
func CutSubs(subs []string, operands []abstract.Arg) (found, rest []abstract.Arg) {
	for _, a := range operands {
		if len(found) < len(subs) && a.Known() && a.Text == subs[len(found)] {
			found = append(found, a)
		} else {
			rest = append(rest, a)
		}
	}
	return found, rest
}

// function runs the bodies that a function may have.
func (s *Machine) function(bodies []*syntax.Stmt, c *Call) Outcome {
	var all Outcome
	all.Fail = s.Scope.Dirs
	for _, body := range bodies {
		if s.running(body) >= 3 {
			continue // recursive calls have been interpreted already
		}
		o := s.withLocals(func() {
			s.Scope.args, s.Scope.bound = c.Args, true
		}, func() Outcome {
			s.calls = append(s.calls, body)
			o := s.stmt(body)
			s.calls = s.calls[:len(s.calls)-1]
			return o
		})
		all.Out = eitherOut(all.Out, o.Out)
		all.Fail = o.Fail
	}
	return all
}

func (s *Machine) running(body *syntax.Stmt) int {
	n := 0
	for _, b := range s.calls {
		if b == body {
			n++
		}
	}
	return n
}

// aliased runs an alias: its text is code, followed by the arguments.
func (s *Machine) aliased(body abstract.Arg, c *Call) Outcome {
	code := body
	for i, a := range c.Args {
		text := Quote(a.Text)
		if next, ok := s.Scope.alias(a.Text); ok && i == 0 && strings.HasSuffix(body.Text, " ") {
			text = next.Text // an alias that ends with a blank: the next word may be one too
		}
		code = abstract.Concat(code, a.With(" "+text))
	}
	saved := s.Scope
	s.Scope = saved.child()
	s.Scope.aliases = map[string]abstract.Arg{c.Path.Text: {}}
	o := s.Embed(code, "alias", true)
	inner := s.Scope
	inner.aliases = nil
	s.Scope = saved
	s.Scope.merge(inner)
	return o
}

// Quote quotes a string as one word.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Local reports whether the program is a file of the project rather than one of
// the system that is found by its name.
func (c *Call) Local() bool {
	if !strings.Contains(c.Path.Text, "/") {
		return false
	}
	return !slices.ContainsFunc([]string{"/bin/", "/sbin/", "/usr/", "/opt/", "/nix/", "/snap/"}, func(dir string) bool {
		return c.Path.HasPrefix(dir)
	})
}

// Process adds the effect of a program about which only its name is known.
func (c *Call) Process() {
	target := c.Path
	if !c.Path.Known() {
		target = abstract.Word(c.Name)
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec"}, target)
	if c.Out.Taint == 0 && printsSetup(c.Args) {
		c.Out.Taint = abstract.Filed
	}
}

// printsSetup reports whether a program prints code for the shell that installed it,
// as "kubectl completion bash" does: it is trusted like the program itself.
func printsSetup(args []abstract.Arg) bool {
	for _, a := range args {
		if a.Is("completion", "completions", "shellenv", "init", "hook", "activate", "shell-init", "env", "docker-env", "podman-env",
			"--completion", "gen-completion") {
			return true
		}
	}
	return false
}

// script runs the code of a file with the program's name. If the name is that of a
// known program, the effects of that program are added.
func (c *Call) script() (Outcome, bool) {
	for _, p := range c.places() {
		code, ok := c.Shell.CodeIn(p, "")
		if !ok && (code.File.unread == "" || !code.File.Own) {
			continue
		}
		c.Record()
		if !ok {
			c.Reads(p)
			continue
		}
		if code.Via == "script" {
			c.Reads(p)
		}
		whole := c.RunsCode(code, append([]abstract.Arg{c.Path}, c.Args...))
		if code.Via == "script" && (c.Shell.In.Knows.Program(c.Name) || !whole) {
			break
		}
		c.Finish()
		return Outcome{Out: c.Out, Fail: c.Shell.Scope.Dirs}, true
	}
	return Outcome{}, false
}

// places returns where the program's file may be: its path, or its name in the
// directories of a PATH that the script has set.
func (c *Call) places() []abstract.Arg {
	if strings.Contains(c.Path.Text, "/") {
		return []abstract.Arg{c.Path}
	}
	if _, set := c.Shell.Scope.Lookup("PATH"); !set || len(c.Shell.Files) == 0 && c.Shell.In.Disk == nil {
		return nil
	}
	var list []abstract.Arg
	for dir := range strings.SplitSeq(c.Shell.Read("PATH").Text, ":") {
		list = append(list, abstract.Word(dir+"/"+c.Path.Text))
	}
	return list
}

// On reports whether one of the options is on: the last of them, and of those that negate
// them (--no-name), decides. One with a value that means off, or may mean it, is off; if sure,
// so is one with any value that does not mean on.
func (c *Call) On(sure bool, names ...string) bool {
	var ons []string
	if sure {
		ons = c.Shell.In.Rows.Words("programs.switched_on")
	}
	return c.Opts.On(ons, c.Shell.In.Rows.Words("programs.switched_off"), names...)
}

// ReadsTree records that everything below the targets is read.
func (c *Call) ReadsTree(targets ...abstract.Arg) {
	c.readsBelow(abstract.RawEffect{}, targets)
}

// Sweeps records that everything below the targets is read, or what the options of a search
// select there. It counts only for what guards the session: what else there is to say, the effects
// on the targets themselves say.
func (c *Call) Sweeps(targets ...abstract.Arg) {
	only := c.searchesFor()
	if len(only) == 0 {
		c.readsBelow(abstract.RawEffect{ForGuard: true}, targets)
		return
	}
	for _, t := range targets {
		for _, pattern := range only {
			below := t.With(strings.TrimSuffix(t.Text, "/") + "/**/" + strings.TrimPrefix(pattern.Text, "/"))
			below.Glob = true
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read", ForGuard: true}, below)
		}
	}
}

// searchesFor returns the patterns that restrict a search to files of some names; none: it is not
// restricted, or it is not known how.
func (c *Call) searchesFor() []abstract.Arg {
	var only []abstract.Arg
	switch {
	case c.named("grep", "egrep", "fgrep", "zgrep", "bzgrep", "ugrep"):
		only = c.Opts.All("--include")
	case c.named("rg", "ripgrep"):
		only = slices.DeleteFunc(c.Opts.All("-g", "--glob", "--iglob"), func(a abstract.Arg) bool { return a.HasPrefix("!") })
	}
	if slices.ContainsFunc(only, func(a abstract.Arg) bool { return !a.Known() || a.Text == "" }) {
		return nil
	}
	return only
}

func (c *Call) readsBelow(e abstract.RawEffect, targets []abstract.Arg) {
	e.Kind, e.Verb, e.Recursive, e.Except = engine.EffectFileRead, "read", true, c.leavesOut()
	for _, t := range targets {
		if t.From == nil && !t.Is("-") && !HarmlessDevice(t) && t.Text != "" {
			c.Emit(e, t)
		}
	}
}

// leavesOut returns the names that a search or a copy leaves out, as in RawEffect.Except. Options
// that may bring them back, and those that follow links to other names, make it unknown.
func (c *Call) leavesOut() string {
	o := c.Opts
	if o.Has("-h", "--dereference", "-R", "--dereference-recursive", "-L", "--copy-links", "--follow", "--include", "--filter", "--anchored",
		"--no-wildcards") {
		return ""
	}
	copies := c.named("tar", "gtar", "bsdtar", "rsync") // to others, --exclude is about files
	var list []string
	if c.named("rg", "ripgrep", "ag") && !o.Has("--hidden", "-.", "-u", "--unrestricted", "-uu", "-uuu", "-a") {
		list = append(list, abstract.HiddenNames)
	}
	for _, option := range o.List {
		if option.Name != "--exclude-dir" && option.Name != "--ignore-dir" && !(option.Name == "--exclude" && copies && option.At == 0) {
			continue // tar applies it only to what follows
		}
		a := option.Value
		if name := strings.Trim(strings.TrimPrefix(a.Text, "./"), "/"); a.Known() && !a.HasPrefix("/") && !strings.ContainsAny(name, `*?[\`) {
			list = append(list, name)
		}
	}
	return strings.Join(list, "\n")
}

func (c *Call) named(names ...string) bool { return slices.Contains(names, BaseName(c.Path.Text)) }

// plainFlags splits the arguments of a program whose grammar is not known.
func plainFlags(args []abstract.Arg) (flags []abstract.Given, operands []abstract.Arg) {
	for _, a := range args {
		if a.HasPrefix("-") && len(a.Text) > 1 {
			flags = append(flags, abstract.Given{Text: a.Show(), Word: a})
		} else {
			operands = append(operands, a)
		}
	}
	return flags, operands
}
